package label

// Log follows the lines of a file of labels: a later label of a person replaces the earlier
// one, and a removed label puts it in force again. The zero value is ready to use; it is
// not safe for concurrent use.
type Log struct {
	list []*Label
	at   map[string]int // in list, by id
}

// Add takes the next label. One whose id is known is ignored.
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

// Remove takes away a label.
func (g *Log) Remove(id string) {
	if i, ok := g.at[id]; ok {
		g.list[i] = nil
	}
}

// InForce returns the labels in force, in the order in which they were given.
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

// Majority returns what most of the labels that decide say; ok is false if there are none,
// or as many on either side, which split says.
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
