package stats_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/proviso-eval/proviso/stats"
)

// TestAssociation compares with values computed by hand.
func TestAssociation(t *testing.T) {
	t.Parallel()
	e, err := stats.OddsRatio(70, 30, 135, 765, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "odds ratio", e.Value, 13.0, 0.3)
	if e.Low > 9 || e.Low < 7 || e.High < 19 || e.High > 22 {
		t.Errorf("%+v", e)
	}
	if e, err = stats.OddsRatio(0, 3, 0, 5, 0.95); err != nil || e.Low > 0.2 || e.High < 5 {
		t.Errorf("%+v, %v", e, err)
	}
	near(t, "AUC", stats.AUC([]float64{3, 4, 5}, []float64{1, 2, 3}), 8.5/9, 1e-12)
	near(t, "AUC of equals", stats.AUC([]float64{1, 1}, []float64{1, 1, 1}), 0.5, 1e-12)
	if !math.IsNaN(stats.AUC(nil, []float64{1})) {
		t.Error("an empty group has an AUC")
	}
	if e, err = stats.AUCOfVerdicts(stats.Count{Pass: 70, N: 205}, stats.Count{Pass: 30, N: 795}, 0.95); err != nil {
		t.Fatal(err)
	}
	near(t, "AUC of verdicts", e.Value, 0.652, 1e-3)
	for _, wrong := range []func() error{
		func() error { _, err := stats.OddsRatio(-1, 0, 0, 1, 0.95); return err }, func() error { _, err := stats.OddsRatio(0, 0, 0, 0, 0.95); return err },
		func() error {
			_, err := stats.AUCOfVerdicts(stats.Count{}, stats.Count{Pass: 1, N: 2}, 0.95)
			return err
		},
		func() error { _, err := stats.OddsRatio(1, 1, 1, 1, 2); return err },
	} {
		if wrong() == nil {
			t.Error("it is accepted")
		}
	}
}

// TestCoverageOfAssociation: the fail rate is .10. Thumbs are down on .70 of the failed and
// .15 of the passed outputs. Only some people vote.
func TestCoverageOfAssociation(t *testing.T) {
	t.Parallel()
	const trials = 1500
	truth := (0.7 / 0.3) / (0.15 / 0.85)
	random := rand.New(rand.NewPCG(1, 2))
	for _, votes := range []int{30, 100, 300} {
		ratio, auc, of := 0, 0, 0
		for range trials {
			var both, onlyFail, onlyDown, neither int
			for range votes {
				fail := random.Float64() < 0.1
				down := random.Float64() < map[bool]float64{true: 0.7, false: 0.15}[fail]
				switch {
				case fail && down:
					both++
				case fail:
					onlyFail++
				case down:
					onlyDown++
				default:
					neither++
				}
			}
			e, err := stats.OddsRatio(both, onlyFail, onlyDown, neither, 0.95)
			if err != nil {
				t.Fatal(err)
			}
			if e.Low <= truth && truth <= e.High {
				ratio++
			}
			// The probability that a random thumbs-down is on a worse output.
			a, err := stats.AUCOfVerdicts(stats.Count{Pass: both, N: both + onlyDown}, stats.Count{Pass: onlyFail, N: onlyFail + neither}, 0.95)
			if err != nil {
				continue // nobody voted down
			}
			of++
			if a.Low <= 0.652 && 0.652 <= a.High {
				auc++
			}
		}
		r, a := float64(ratio)/trials, float64(auc)/float64(of)
		t.Logf("%d votes: coverage of the odds ratio %.3f, of the AUC %.3f", votes, r, a)
		if r < 0.94 || a < 0.85 {
			t.Errorf("%d votes: coverage of the odds ratio %.3f, of the AUC %.3f", votes, r, a)
		}
	}
}
