package gate

import (
	"hash/maphash"
	"math"

	"github.com/proviso-eval/proviso"
)

// tally sums the verdicts on one assertion, or on a whole case, on one side of a pair.
type tally struct {
	passed, decided float64
	undecided       int
	repeats         int    // rows that have the assertion
	criterion       uint64 // sum of the criterion hashes in the first row
	unknown         bool   // a criterion has no hash
}

// known reports whether there is a verdict and none is undecided.
func (t *tally) known() bool { return t.decided > 0 && t.undecided == 0 }

// none reports whether the assertion did not apply or does not exist.
func (t *tally) none() bool { return t.decided == 0 && t.undecided == 0 }

// mean returns the share of passed verdicts, NaN if one is undecided or there are none.
func (t *tally) mean() float64 {
	if !t.known() {
		return math.NaN()
	}
	return t.passed / t.decided
}

// tallies holds the tallies for one side of a pair, one for each assertion of the
// comparison.
type tallies struct {
	seed    maphash.Seed
	list    []tally
	touched []int

	status tally   // row statuses
	score  float64 // sum over rows without verdicts
	scored int     // rows without verdicts that have a score
	shares sums    // passed share of the decided verdicts, per row
	bare   int     // undecided rows without verdicts, as after a provider error
}

func (t *tallies) reset() {
	for _, a := range t.touched {
		t.list[a] = tally{}
	}
	*t = tallies{seed: t.seed, list: t.list, touched: t.touched[:0]}
}

// add adds the rows of a case. names numbers the assertions.
func (t *tallies) add(c *caseRows, names map[string]int) {
	for i, row := range c.rows {
		t.status.add(row.Status)
		if row.Status == proviso.Errored && len(row.Verdicts) == 0 {
			t.bare++
		}
		if len(row.Verdicts) == 0 {
			if score := scoreOf(row); !math.IsNaN(score) {
				t.score += score
				t.scored++
				t.shares.add(score)
			}
		}
		var all tally
		for j := range row.Verdicts {
			v := &row.Verdicts[j]
			all.add(v.Status)
			a := names[v.Assertion]
			x := &t.list[a]
			if x.repeats == 0 {
				t.touched = append(t.touched, a)
			}
			x.repeats++
			x.add(v.Status)
			if i == 0 {
				x.unknown = x.unknown || v.Criterion == ""
				x.criterion += maphash.String(t.seed, v.Criterion)
			}
		}
		if all.known() {
			t.shares.add(all.mean())
		}
	}
}

func (t *tally) add(s proviso.Status) {
	switch s {
	case proviso.Pass:
		t.passed++
		t.decided++
	case proviso.Fail:
		t.decided++
	case proviso.Errored:
		t.undecided++
	}
}

// sums are the sums needed for a variance.
type sums struct{ n, sum, squares float64 }

func (s *sums) add(v float64) { s.n, s.sum, s.squares = s.n+1, s.sum+v, s.squares+v*v }

// variance returns the sample variance of a single value, 0 for fewer than two values.
func (s *sums) variance() float64 {
	if s.n < 2 {
		return 0
	}
	return max(0, (s.squares-s.sum*s.sum/s.n)/(s.n-1))
}
