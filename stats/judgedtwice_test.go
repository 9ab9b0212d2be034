package stats_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/proviso-eval/proviso/stats"
)

// twoJudges is a population: how often the judges pass good outputs and fail bad ones, and
// how often they decide for the same reason.
type twoJudges struct {
	bad        float64 // share of outputs that people fail
	tpr1, tnr1 float64
	tpr2, tnr2 float64
	same       float64
}

// draw draws n labelled outputs, with size outputs per case. The outputs of a case have the
// same label, and mostly the same verdicts.
func (p twoJudges) draw(random *rand.Rand, n, size int) []stats.JudgedTwice {
	pair := func() (u, v float64) {
		u, v = random.Float64(), random.Float64()
		if random.Float64() < p.same {
			v = u
		}
		return u, v
	}
	var items []stats.JudgedTwice
	for len(items) < n {
		good := random.Float64() >= p.bad
		pass1, pass2 := 1-p.tnr1, 1-p.tnr2
		if good {
			pass1, pass2 = p.tpr1, p.tpr2
		}
		u, v := pair()
		cluster := len(items)
		for k := range min(size, n-len(items)) {
			x, y := u, v
			if k > 0 && random.Float64() > 0.6 {
				x, y = pair()
			}
			items = append(items, stats.JudgedTwice{Good: good, First: x < pass1, Second: y < pass2, Cluster: cluster})
		}
	}
	return items
}

// kappa is the true kappa of a judge.
func (p twoJudges) kappa(tpr, tnr float64) float64 {
	pass := (1-p.bad)*tpr + p.bad*(1-tnr)
	agree, chance := (1-p.bad)*tpr+p.bad*tnr, (1-p.bad)*pass+p.bad*(1-pass)
	return (agree - chance) / (1 - chance)
}

func populations() []twoJudges {
	var list []twoJudges
	for _, bad := range []float64{0.1, 0.3, 0.5} {
		for _, j := range [][4]float64{{0.9, 0.6, 0.9, 0.6}, {0.9, 0.6, 0.95, 0.9}, {0.8, 0.8, 0.97, 0.7}, {0.97, 0.95, 0.97, 0.95}, {0.6, 0.9, 0.95, 0.9}} {
			for _, same := range []float64{0, 0.6, 0.95} {
				list = append(list, twoJudges{bad, j[0], j[1], j[2], j[3], same})
			}
		}
	}
	return list
}

// TestCoverageOfAgreementChange simulates how often the 95 % intervals contain the true
// differences.
func TestCoverageOfAgreementChange(t *testing.T) {
	t.Parallel()
	if os.Getenv("PROVISO_TEST_SLOW")+os.Getenv("PROVISO_NIGHTLY") == "" {
		t.Skip("it takes seconds; make test-slow runs it")
	}
	rounds := 300
	if os.Getenv("PROVISO_NIGHTLY") != "" {
		rounds = 4000
	}
	for _, size := range []int{1, 3} {
		for _, n := range []int{20, 50, 100} {
			random := rand.New(rand.NewPCG(uint64(n), uint64(size)))
			var kappa, tpr, tnr coverage
			for _, p := range populations() {
				var held, known, width [3]float64
				truth := [3]float64{p.kappa(p.tpr2, p.tnr2) - p.kappa(p.tpr1, p.tnr1), p.tpr2 - p.tpr1, p.tnr2 - p.tnr1}
				for range rounds {
					c, err := stats.ChangeOfAgreement(p.draw(random, n, size), 0.95)
					if err != nil {
						t.Fatal(err)
					}
					for i, e := range []*stats.Estimate{c.Kappa, c.TPR, c.TNR} {
						if e == nil {
							continue
						}
						known[i]++
						width[i] += e.Width()
						if e.Low <= truth[i]+1e-9 && truth[i] <= e.High+1e-9 {
							held[i]++
						}
					}
				}
				for i, to := range []*coverage{&kappa, &tpr, &tnr} {
					to.add(held[i]/known[i], width[i]/known[i])
				}
			}
			t.Logf("%d outputs, %d of each case: kappa %.3f–%.3f, mean %.3f, width %.2f; TPR %.3f–%.3f, mean %.3f; TNR %.3f–%.3f, mean %.3f", n, size,
				kappa.low, kappa.high, kappa.mean(kappa.sum), kappa.mean(kappa.width), tpr.low, tpr.high, tpr.mean(tpr.sum), tnr.low, tnr.high, tnr.mean(tnr.sum))
			if mean := kappa.mean(kappa.sum); kappa.low < 0.88 || mean < 0.945 || mean > 0.995 {
				t.Errorf("%d outputs, %d of each case: kappa %.3f at the lowest, %.3f on average", n, size, kappa.low, mean)
			}
		}
	}
}

// Independent outputs are compared as pairs are, and equal judges do not differ.
func TestChangeOfAgreement(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		items := twoJudges{0.4, 0.8, 0.7, 0.9, 0.8, 0.5}.draw(random, 40, 1)
		var good stats.Pairs
		var counts [2]stats.Confusion
		for _, x := range items {
			for i, pass := range []bool{x.First, x.Second} {
				switch {
				case x.Good && pass:
					counts[i].TP++
				case x.Good:
					counts[i].FN++
				case pass:
					counts[i].FP++
				default:
					counts[i].TN++
				}
			}
			switch {
			case !x.Good:
			case x.First && x.Second:
				good.Both++
			case x.Second:
				good.OnlyFirst++ // of the second judge
			case x.First:
				good.OnlySecond++
			default:
				good.Neither++
			}
		}
		c := sure[stats.AgreementChange](t)(stats.ChangeOfAgreement(items, 0.95))
		if want := sure[stats.Estimate](t)(stats.NewcombePaired(good, 0.95)); math.Abs(c.TPR.Low-want.Low)+math.Abs(c.TPR.High-want.High)+math.Abs(c.TPR.Value-want.Value) > 1e-9 {
			t.Fatalf("%+v: %v, want %v", good, *c.TPR, want)
		}
		kappa := func(c stats.Confusion) float64 {
			return sure[stats.Estimate](t)(stats.Kappa(float64(c.TP), float64(c.FN), float64(c.FP), float64(c.TN), 0.95)).Value
		}
		if want := kappa(counts[1]) - kappa(counts[0]); math.Abs(c.Kappa.Value-want) > 1e-12 {
			t.Fatalf("kappa %v, want %v", c.Kappa.Value, want)
		}
		for i := range items {
			items[i].Second = items[i].First
		}
		same := sure[stats.AgreementChange](t)(stats.ChangeOfAgreement(items, 0.95))
		if k := same.Kappa; k.Value != 0 || !(k.Low < 0 && k.High > 0) || same.TPR.Value != 0 || same.TNR.Value != 0 {
			t.Fatalf("equal judges: %+v", *k)
		}
	}
	onlyGood := []stats.JudgedTwice{{Good: true, First: true, Second: true}, {Good: true, First: true, Second: false, Cluster: 1}}
	if c, err := stats.ChangeOfAgreement(onlyGood, 0.95); err != nil || c.Kappa != nil || c.TNR != nil || c.TPR == nil || c.TPR.Value != -0.5 {
		t.Errorf("%+v %v", c, err)
	}
	for _, items := range [][]stats.JudgedTwice{nil, onlyGood} {
		if _, err := stats.ChangeOfAgreement(items, 1); !errors.Is(err, stats.ErrInput) {
			t.Error("a confidence of 1 is accepted")
		}
	}
}

func sure[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
