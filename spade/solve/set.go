package solve

// set is a changing selection with up-to-date measures.
type set struct {
	m       *model
	w       weights
	in      []bool  // by position
	good    []int32 // by row: number of selected candidates that fail it
	bad     []int32
	implied []int32 // by candidate of the instance: number of selected ones that imply it
	failed  int     // failed good examples
	caught  int     // caught bad examples
	value   int64   // value under w
	spent   []int64 // by limit of the instance
	work    int64
}

func newSet(m *model, w weights) *set {
	s := &set{
		m: m, w: w, in: make([]bool, len(m.ids)), good: make([]int32, m.good.len()), bad: make([]int32, m.bad.len()),
		implied: make([]int32, len(m.in.Fails)), spent: make([]int64, len(m.in.Limits)),
	}
	_, bad := m.in.Count()
	s.value = w.bad * int64(bad)
	if m.method == Subsumption {
		s.value += w.left * int64(len(m.in.Fails))
	}
	return s
}

// more counts the good examples that adding k would newly fail.
func (s *set) more(k int) int { return s.fresh(&s.m.good, s.good, k) }

// gain counts the bad examples that adding k would newly catch.
func (s *set) gain(k int) int { return s.fresh(&s.m.bad, s.bad, k) }

// fresh counts the examples that k fails and no selected candidate fails.
func (s *set) fresh(of *rows, failing []int32, k int) int {
	s.work += int64(len(of.of[k]))
	n := 0
	for _, r := range of.of[k] {
		if failing[r] == 0 {
			n += int(of.weight[r])
		}
	}
	return n
}

// price returns how adding k changes the cost and the left-over candidates.
func (s *set) price(k int) int64 {
	j := s.m.ids[k]
	d := s.w.cost * int64(s.m.in.cost(j))
	if s.m.method != Subsumption {
		return d
	}
	if s.implied[j] == 0 {
		d -= s.w.left
	}
	for _, b := range s.m.succ[k] {
		if s.implied[b] == 0 && !s.has(int(b)) {
			d -= s.w.left
		}
	}
	return d
}

// has reports whether candidate j of the instance is selected.
func (s *set) has(j int) bool {
	k := s.m.local[j]
	return k >= 0 && s.in[k]
}

// delta returns how adding k changes the value.
func (s *set) delta(k int) int64 {
	d := s.price(k)
	if s.w.good != 0 {
		d += s.w.good * int64(s.more(k))
	}
	if s.w.bad != 0 {
		d -= s.w.bad * int64(s.gain(k))
	}
	return d
}

func (s *set) fits(k int) bool { return s.affords(k) && s.failed+s.more(k) <= s.m.allow }

func (s *set) add(k int) {
	s.value += s.delta(k)
	s.in[k] = true
	s.spend(k, 1)
	s.failed += s.m.good.enter(s.good, k)
	s.caught += s.m.bad.enter(s.bad, k)
	for _, b := range s.m.succ[k] {
		s.implied[b]++
	}
	s.work += int64(len(s.m.good.of[k]) + len(s.m.bad.of[k]))
}

func (s *set) drop(k int) {
	s.in[k] = false
	s.spend(k, -1)
	for _, b := range s.m.succ[k] {
		s.implied[b]--
	}
	s.failed -= s.m.good.leave(s.good, k)
	s.caught -= s.m.bad.leave(s.bad, k)
	s.value -= s.delta(k)
	s.work += int64(len(s.m.good.of[k]) + len(s.m.bad.of[k]))
}

// enter counts candidate k in the rows that it fails, and returns how many examples it is the
// first to fail.
func (r *rows) enter(failing []int32, k int) (n int) {
	for _, i := range r.of[k] {
		if failing[i]++; failing[i] == 1 {
			n += int(r.weight[i])
		}
	}
	return n
}

// leave removes candidate k from the rows that it fails, and returns how many examples no
// candidate fails any more.
func (r *rows) leave(failing []int32, k int) (n int) {
	for _, i := range r.of[k] {
		if failing[i]--; failing[i] == 0 {
			n += int(r.weight[i])
		}
	}
	return n
}

// selected returns the candidates of the instance, ascending.
func (s *set) selected() []int {
	out := []int{}
	for k, in := range s.in {
		if in {
			out = append(out, s.m.ids[k])
		}
	}
	return out
}
