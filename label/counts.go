package label

import (
	"cmp"
	"slices"

	"github.com/proviso-eval/proviso/stats"
)

// Counts counts deciding labels, as tables of two verdicts.
type Counts struct {
	Judged []JudgedCount // by assertion, judge and both verdicts
	Pairs  []PairCount   // by two people and both verdicts
}

// JudgedCount counts labels on subjects that the judge passed or failed.
type JudgedCount struct {
	Assertion, Judge string
	Human            Verdict
	Verdict          Verdict // the judge's verdict
	N                int
}

// PairCount counts subjects that two people labelled. A sorts before B by name.
type PairCount struct {
	A, B          string
	First, Second Verdict // verdicts of A and of B
	N             int
}

// Count counts labels, of which each person has one per subject. by limits the count to
// one person's labels and other people's labels on the same subjects; "" means everybody.
func Count(list []*Label, by string) Counts {
	judged := map[JudgedCount]int{}
	pairs := map[PairCount]int{}
	of := map[Subject][]*Label{}
	for _, l := range list {
		if !l.Decides() {
			continue
		}
		if v := Verdict(l.Judged); (v == Pass || v == Fail) && (by == "" || by == l.By) {
			judged[JudgedCount{Assertion: l.Assertion, Judge: l.Judge, Human: l.Verdict, Verdict: v}]++
		}
		for _, other := range of[l.Subject] {
			a, b := l, other
			if a.By > b.By {
				a, b = b, a
			}
			if by == "" || a.By == by || b.By == by {
				pairs[PairCount{A: a.By, B: b.By, First: a.Verdict, Second: b.Verdict}]++
			}
		}
		of[l.Subject] = append(of[l.Subject], l)
	}
	var out Counts
	for n, count := range judged {
		n.N = count
		out.Judged = append(out.Judged, n)
	}
	for n, count := range pairs {
		n.N = count
		out.Pairs = append(out.Pairs, n)
	}
	return out
}

// Table counts how often two raters agree and differ.
type Table struct {
	Both, OnlyFirst, OnlySecond, Neither int // subjects by who passed them
}

// N returns the number of subjects.
func (t Table) N() int { return t.Both + t.OnlyFirst + t.OnlySecond + t.Neither }

// Agree returns the number of subjects on which the raters agree.
func (t Table) Agree() int { return t.Both + t.Neither }

// add counts n subjects.
func (t *Table) add(first, second Verdict, n int) {
	switch {
	case first == Pass && second == Pass:
		t.Both += n
	case first == Pass:
		t.OnlyFirst += n
	case second == Pass:
		t.OnlySecond += n
	default:
		t.Neither += n
	}
}

// Kappa returns Cohen's kappa with its interval. It returns nil if kappa is undefined:
// there are no subjects, or all verdicts are the same.
func (t Table) Kappa(confidence float64) *stats.Estimate {
	k, err := stats.Kappa(float64(t.Both), float64(t.OnlyFirst), float64(t.OnlySecond), float64(t.Neither), confidence)
	if err != nil {
		return nil
	}
	return &k
}

// WithJudge returns the table of people (first) and judges (second). assertion limits it
// to one assertion; "" means all.
func (c *Counts) WithJudge(assertion string) Table {
	var t Table
	for _, n := range c.Judged {
		if assertion == "" || n.Assertion == assertion {
			t.add(n.Human, n.Verdict, n.N)
		}
	}
	return t
}

// Assertions returns the names of the assertions that have labels and verdicts, sorted.
func (c *Counts) Assertions() []string {
	var names []string
	for _, n := range c.Judged {
		names = append(names, n.Assertion)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Pair is the table of two people.
type Pair struct {
	A, B string
	Table
}

// Between returns a table for each two people who labelled the same subjects, sorted by
// decreasing number of subjects.
func (c *Counts) Between() []Pair {
	var list []Pair
	for _, n := range c.Pairs {
		i := slices.IndexFunc(list, func(p Pair) bool { return p.A == n.A && p.B == n.B })
		if i < 0 {
			i, list = len(list), append(list, Pair{A: n.A, B: n.B})
		}
		list[i].add(n.First, n.Second, n.N)
	}
	slices.SortFunc(list, func(a, b Pair) int {
		return cmp.Or(cmp.Compare(b.N(), a.N()), cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B))
	})
	return list
}

// Together adds the tables of all pairs. With more than two people, the subjects are not
// independent of each other, so an interval would be too narrow: see [Counts.Between].
func Together(pairs []Pair) Table {
	var t Table
	for _, p := range pairs {
		t.Both, t.OnlyFirst, t.OnlySecond, t.Neither = t.Both+p.Both, t.OnlyFirst+p.OnlyFirst, t.OnlySecond+p.OnlySecond, t.Neither+p.Neither
	}
	return t
}
