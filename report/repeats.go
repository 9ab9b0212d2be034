package report

import "github.com/proviso-eval/proviso"

// group identifies a case in a column, whose repeats belong together.
type group struct {
	caseID string
	column int
}

// repeats counts the repeats of a group.
type repeats struct {
	seen, of, need int
	Counts
	failing []int // indices of failed rows
}

// met reports whether enough repeats passed for the suite.
func (g repeats) met() bool { return g.Decided() > 1 && g.Passed >= g.need }

func (s *Summary) repetition(f *facts) {
	if f.repeats <= 1 {
		return
	}
	key := group{f.caseID, f.column}
	g := s.groups[key]
	g.of, g.need = f.repeats, passesNeeded(f.repeats, f.pass)
	g.seen++
	g.Counts.add(f.status)
	if f.status == proviso.Fail && len(g.failing) < shownRows {
		g.failing = append(g.failing, f.index)
	}
	if g.seen < g.of {
		s.groups[key] = g
		return
	}
	delete(s.groups, key)
	s.repeats.add(g)
	s.settle(f.column, g)
}

// settle counts the failed rows of a group as passed if enough of its repeats passed.
func (s *Summary) settle(column int, g repeats) {
	for _, rows := range [...]*Counts{&s.column(column).Rows, &s.rows} {
		switch {
		case g.Errors == 0:
		case g.Passed >= g.need:
			rows.WillPass += g.Errors
		case g.Passed+g.Errors >= g.need:
			rows.MayPass += g.Failed
		}
		if g.met() {
			rows.Passed += g.Failed
			rows.Failed -= g.Failed
		}
	}
	if g.met() {
		return
	}
	for _, index := range g.failing {
		s.failed.add(index)
	}
}

func (r *RepeatSummary) add(g repeats) {
	if g.Decided() < 2 {
		return
	}
	r.Groups++
	if g.Passed > 0 && g.Failed > 0 {
		r.Flaky++
	}
	if g.met() {
		r.Met++
		r.Forgiven += g.Failed
	}
}
