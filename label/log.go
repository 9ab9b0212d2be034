package label

// Log follows the lines of a label file: a person's later label replaces the earlier one,
// and removing the later label restores the earlier one. The zero value is ready to use.
// A Log is not safe for concurrent use.
type Log struct {
	list []*Label
	at   map[string]int // index in list, by id
}

// Add adds the next label. It ignores a label whose id is known.
func (g *Log) Add(l *Label) {
	if _, again := g.at[l.ID]; again {
		return
	}
	if g.at == nil {
		g.at = map[string]int{}
	}
	g.at[l.ID] = len(g.list)
	g.list = append(g.list, l)
}

// Remove removes a label.
func (g *Log) Remove(id string) {
	if i, ok := g.at[id]; ok {
		g.list[i] = nil
	}
}

// InForce returns the labels in force, in the order in which they were added.
func (g *Log) InForce() []*Label {
	type said struct {
		Subject
		by string
	}
	last := map[said]int{}
	for i, l := range g.list {
		if l != nil {
			last[said{l.Subject, l.By}] = i
		}
	}
	var list []*Label
	for i, l := range g.list {
		if l != nil && last[said{l.Subject, l.By}] == i {
			list = append(list, l)
		}
	}
	return list
}

// Majority returns the verdict of most deciding labels. ok is false if there are no such
// labels or if there is a tie; split reports a tie.
func Majority(list []*Label) (v Verdict, ok, split bool) {
	pass, fail := 0, 0
	for _, l := range list {
		switch l.Verdict {
		case Pass:
			pass++
		case Fail:
			fail++
		}
	}
	switch {
	case pass > fail:
		return Pass, true, false
	case fail > pass:
		return Fail, true, false
	}
	return "", false, pass > 0
}
