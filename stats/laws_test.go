package stats_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/proviso-eval/proviso/stats"
)

func drawCount(t *rapid.T, name string) stats.Count {
	n := rapid.IntRange(1, 400).Draw(t, name+" n")
	return stats.Count{Pass: rapid.IntRange(0, n).Draw(t, name+" pass"), N: n}
}

func drawConfusion(t *rapid.T) stats.Confusion {
	draw := func(name string) int { return rapid.IntRange(0, 60).Draw(t, name) }
	return stats.Confusion{TP: draw("TP"), FP: draw("FP"), TN: draw("TN"), FN: draw("FN")}
}

func drawLevel(t *rapid.T) float64 { return rapid.Float64Range(0.5, 0.999).Draw(t, "confidence") }

// within fails unless an interval contains its value and lies within bounds.
func within(t *rapid.T, what string, e stats.Estimate, low, high float64) {
	if !(low <= e.Low && e.Low <= e.Value && e.Value <= e.High && e.High <= high) {
		t.Fatalf("%s: %+v is not ordered within %v and %v", what, e, low, high)
	}
}

func must[T any](t *rapid.T) func(v T, err error) T {
	return func(v T, err error) T {
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestLawsOfShares(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b, level := drawCount(t, "a"), drawCount(t, "b"), drawLevel(t)
		exact := must[stats.Interval](t)(stats.ClopperPearson(a, level))
		within(t, "Clopper-Pearson", stats.Estimate{Value: a.Share(), Interval: exact}, 0, 1)
		mirror := must[stats.Interval](t)(stats.ClopperPearson(stats.Count{Pass: a.N - a.Pass, N: a.N}, level))
		if math.Abs(mirror.Low-(1-exact.High)) > 1e-9 {
			t.Fatalf("Clopper-Pearson: %v is not the mirror of %v", mirror, exact)
		}
		if same := must[stats.Interval](t)(stats.WilsonEffective(a.Share(), float64(a.N), level)); same != stats.Wilson(a.Pass, a.N, level) {
			t.Fatalf("Wilson of %v: %v", a, same)
		}
		d, r := must[stats.Estimate](t)(stats.Newcombe(a, b, level)), must[stats.Estimate](t)(stats.Newcombe(b, a, level))
		within(t, "Newcombe", d, -1, 1)
		if math.Abs(d.Low+r.High) > 1e-9 || math.Abs(d.High+r.Low) > 1e-9 {
			t.Fatalf("Newcombe: %+v and %+v are not mirrors", d, r)
		}
	})
}

func TestLawsOfPairs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c, level := drawConfusion(t), drawLevel(t)
		p := stats.Pairs{Both: c.TP, OnlyFirst: c.FP, OnlySecond: c.FN, Neither: c.TN}
		one := must[float64](t)(stats.McNemar(p.OnlyFirst, p.OnlySecond, stats.FirstMore, false))
		other := must[float64](t)(stats.McNemar(p.OnlySecond, p.OnlyFirst, stats.SecondMore, false))
		two := must[float64](t)(stats.McNemar(p.OnlyFirst, p.OnlySecond, stats.TwoSided, false))
		mid := must[float64](t)(stats.McNemar(p.OnlyFirst, p.OnlySecond, stats.TwoSided, true))
		if one != other || two > 1 || mid > two || mid < 0 || two > 2*one+1e-12 {
			t.Fatalf("%+v: one-sided %v and %v, two-sided %v, mid-p %v", p, one, other, two, mid)
		}
		if p.N() == 0 {
			return
		}
		d := must[stats.Estimate](t)(stats.NewcombePaired(p, level))
		swapped := p
		swapped.OnlyFirst, swapped.OnlySecond = p.OnlySecond, p.OnlyFirst
		r := must[stats.Estimate](t)(stats.NewcombePaired(swapped, level))
		within(t, "Newcombe paired", d, -1, 1)
		if math.Abs(d.Low+r.High) > 1e-9 {
			t.Fatalf("Newcombe paired: %+v and %+v are not mirrors", d, r)
		}
		k, err := stats.Kappa(float64(c.TP), float64(c.FP), float64(c.FN), float64(c.TN), level)
		if err != nil {
			return // all verdicts are equal
		}
		within(t, "kappa", k, -1, 1)
		renamed := must[stats.Estimate](t)(stats.Kappa(float64(c.TN), float64(c.FN), float64(c.FP), float64(c.TP), level))
		if math.Abs(k.Value-renamed.Value) > 1e-9 || math.Abs(k.Low-renamed.Low) > 1e-9 {
			t.Fatalf("kappa depends on what is called a pass: %+v and %+v", k, renamed)
		}
	})
}

func TestLawsOfCorrectedRates(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c, level := drawConfusion(t), drawLevel(t)
		if c.N() == 0 {
			c.TP = 1
		}
		if e, err := stats.RoganGladen(drawCount(t, "judged"), c, level); err == nil {
			within(t, "Rogan-Gladen", e, 0, 1)
		} else if !errors.Is(err, stats.ErrInput) {
			t.Fatal(err)
		}
		passes, fails := c.TP+c.FP+rapid.IntRange(0, 500).Draw(t, "more passes"), c.FN+c.TN+rapid.IntRange(0, 500).Draw(t, "more fails")
		judged := stats.Count{Pass: passes, N: passes + fails}
		passed, failed := c.Strata()
		e := must[stats.Estimate](t)(stats.PostStratified(judged, passed, failed, level))
		within(t, "post-stratified", e, 0, 1)
		turned, other := stats.Confusion{TP: c.TN, FP: c.FN, TN: c.TP, FN: c.FP}.Strata()
		mirror := must[stats.Estimate](t)(stats.PostStratified(stats.Count{Pass: fails, N: judged.N}, turned, other, level))
		if math.Abs(e.Value-(1-mirror.Value)) > 1e-9 || math.Abs(e.Low-(1-mirror.High)) > 1e-9 {
			t.Fatalf("%+v is not the mirror of %+v", e, mirror)
		}
		r := must[stats.Rates](t)(stats.PartlyVerified(judged, passed, failed, level))
		for what, e := range map[string]*stats.Estimate{"TPR": r.TPR, "TNR": r.TNR} {
			if e != nil {
				within(t, what, *e, 0, 1)
			}
		}
		if r.Kappa != nil {
			within(t, "kappa", *r.Kappa, -1, 1)
		}
		if more := must[int](t)(stats.LabelsToHalve(judged, passed, failed, level)); more < 1 {
			t.Fatalf("%d more labels halve the interval", more)
		}
	})
}

// A complete set of labels needs no correction.
func TestEverythingLabelled(t *testing.T) {
	t.Parallel()
	c := stats.Confusion{TP: 29, FP: 2, TN: 8, FN: 1}
	passed, failed := c.Strata()
	e, err := stats.PostStratified(stats.Count{Pass: 31, N: 40}, passed, failed, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	if near(t, "value", e.Value, 0.75, 1e-12); e.Interval != stats.Wilson(30, 40, 0.95) {
		t.Errorf("interval %v, want Wilson's", e.Interval)
	}
	more, err := stats.LabelsToHalve(stats.Count{Pass: 31, N: 40}, passed, failed, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	if n := 40 + more; stats.Wilson(3*n/4, n, 0.95).Width() > e.Width()/2+0.002 || more < 80 || more > 140 {
		t.Errorf("%d more labels do not just halve %v", more, e.Interval)
	}
}

// For pass and fail, tuned prediction-powered inference is post-stratification.
func TestPostStratifiedIsPredictionPowered(t *testing.T) {
	t.Parallel()
	c := stats.Confusion{TP: 60, FP: 8, TN: 25, FN: 7}
	judged := stats.Count{Pass: 68 + 280, N: 100 + 400}
	var human, predicted, unlabelled []float64
	add := func(n int, h, p float64) {
		for range n {
			human, predicted = append(human, h), append(predicted, p)
		}
	}
	add(c.TP, 1, 1)
	add(c.FP, 0, 1)
	add(c.TN, 0, 0)
	add(c.FN, 1, 0)
	for i := range 400 {
		unlabelled = append(unlabelled, map[bool]float64{true: 1}[i < 280])
	}
	ppi, _ := predictionPowered(human, predicted, unlabelled)
	passed, failed := c.Strata()
	post, err := stats.PostStratified(judged, passed, failed, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "value", ppi.Value, post.Value, 2e-3) // the tuning uses the variance of all items, not only of the labelled ones
	near(t, "width", ppi.Width(), post.Width(), 1e-2)
}

// Coverage of the corrected rates: in 600 simulated studies the interval must contain the
// true value in about 95 %. With labels drawn separately by verdict, coverage is at least
// 92 %.
func TestCoverageOfCorrectedRates(t *testing.T) {
	t.Parallel()
	const studies = 600
	for _, c := range []struct {
		rate, tpr, tnr float64
		labels, judged int
		balanced       bool // equal numbers of labels of passes and of fails
	}{{0.9, 0.95, 0.8, 50, 300, false}, {0.7, 0.9, 0.6, 60, 1000, false}, {0.95, 0.97, 0.7, 50, 300, true}, {0.5, 0.8, 0.8, 30, 120, true}} {
		random := rand.New(rand.NewPCG(1, uint64(c.labels)))
		post, rogan, defined, tpr, tnr, kappa := 0, 0, 0, 0, 0, 0
		shown := c.rate*c.tpr + (1-c.rate)*(1-c.tnr)
		chance := c.rate*shown + (1-c.rate)*(1-shown)
		trueKappa := (c.rate*c.tpr + (1-c.rate)*c.tnr - chance) / (1 - chance)
		for range studies {
			judged, labels := simulate(random, c.rate, c.tpr, c.tnr, c.judged, c.labels, c.balanced)
			passed, failed := labels.Strata()
			e, err := stats.PostStratified(judged, passed, failed, 0.95)
			if err != nil {
				t.Fatal(err)
			}
			if e.Low <= c.rate && c.rate <= e.High {
				post++
			}
			r, err := stats.PartlyVerified(judged, passed, failed, 0.95)
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range []struct {
				e    *stats.Estimate
				true float64
				n    *int
			}{{r.TPR, c.tpr, &tpr}, {r.TNR, c.tnr, &tnr}, {r.Kappa, trueKappa, &kappa}} {
				if x.e == nil || x.e.Low <= x.true && x.true <= x.e.High {
					*x.n++
				}
			}
			if e, err := stats.RoganGladen(judged, labels, 0.95); err == nil && !c.balanced {
				defined++
				if e.Low <= c.rate && c.rate <= e.High {
					rogan++
				}
			}
		}
		t.Logf("%+v: post-stratified %d, Rogan-Gladen %d of %d, TPR %d, TNR %d, kappa %d", c, post, rogan, defined, tpr, tnr, kappa)
		if float64(min(tpr, tnr, kappa)) < 0.915*studies || float64(post) < 0.925*studies || float64(rogan) < 0.925*float64(defined) {
			t.Errorf("%+v: of %d intervals these hold the truth: post-stratified %d, TPR %d, TNR %d, kappa %d; of %d of Rogan and Gladen %d", c, studies, post, tpr, tnr, kappa, defined, rogan)
		}
	}
}

// simulate draws judged outputs, and labels for some of them.
func simulate(random *rand.Rand, rate, tpr, tnr float64, n, labelled int, balanced bool) (stats.Count, stats.Confusion) {
	judged := stats.Count{N: n}
	var c stats.Confusion
	taken := map[bool]int{}
	for range n {
		good := random.Float64() < rate
		passed := random.Float64() < map[bool]float64{true: tpr, false: 1 - tnr}[good]
		if passed {
			judged.Pass++
		}
		if c.N() == labelled || balanced && taken[passed] == labelled/2 {
			continue
		}
		taken[passed]++
		switch {
		case good && passed:
			c.TP++
		case good:
			c.FN++
		case passed:
			c.FP++
		default:
			c.TN++
		}
	}
	return judged, c
}

func TestBadInput(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	ok, none := stats.Count{Pass: 1, N: 2}, stats.Count{}
	calls := map[string]func() error{
		"exact without trials":       func() error { _, err := stats.ClopperPearson(none, 0.95); return err },
		"exact with too many":        func() error { _, err := stats.ClopperPearson(stats.Count{Pass: 3, N: 2}, 0.95); return err },
		"exact with fewer than none": func() error { _, err := stats.ClopperPearson(stats.Count{Pass: -1, N: 2}, 0.95); return err },
		"exact at no confidence":     func() error { _, err := stats.ClopperPearson(ok, nan); return err },
		"effective share":            func() error { _, err := stats.WilsonEffective(nan, 5, 0.95); return err },
		"effective size":             func() error { _, err := stats.WilsonEffective(0.5, nan, 0.95); return err },
		"difference without trials":  func() error { _, err := stats.Newcombe(ok, none, 0.95); return err },
		"difference at certainty":    func() error { _, err := stats.Newcombe(ok, ok, 1); return err },
		"no pairs":                   func() error { _, err := stats.NewcombePaired(stats.Pairs{}, 0.95); return err },
		"negative pairs":             func() error { _, err := stats.NewcombePaired(stats.Pairs{Both: 2, Neither: -1}, 0.95); return err },
		"negative flips":             func() error { _, err := stats.McNemar(-1, 0, stats.TwoSided, false); return err },
		"no such side":               func() error { _, err := stats.McNemar(1, 0, 7, false); return err },
		"p-value":                    func() error { _, err := stats.Holm([]float64{0.1, nan}); return err },
		"p-value above 1":            func() error { _, err := stats.Holm([]float64{1.5}); return err },
		"kappa of nothing":           func() error { _, err := stats.Kappa(0, 0, 0, 0, 0.95); return err },
		"kappa of all passed":        func() error { _, err := stats.Kappa(9, 0, 0, 0, 0.95); return err },
		"kappa of no number":         func() error { _, err := stats.Kappa(nan, 1, 1, 1, 0.95); return err },
		"judge no better than chance": func() error {
			_, err := stats.RoganGladen(ok, stats.Confusion{TP: 1, FN: 1, TN: 1, FP: 1}, 0.95)
			return err
		},
		"judge without bad outputs": func() error { _, err := stats.RoganGladen(ok, stats.Confusion{TP: 9}, 0.95); return err },
		"nothing judged":            func() error { _, err := stats.RoganGladen(none, stats.Confusion{TP: 9, TN: 9}, 0.95); return err },
		"no labels":                 func() error { _, err := stats.PostStratified(ok, stats.Stratum{}, stats.Stratum{}, 0.95); return err },
		"more labels than verdicts": func() error {
			_, err := stats.PostStratified(ok, stats.Stratum{Share: 1, Size: 2}, stats.Stratum{}, 0.95)
			return err
		},
		"share of labels": func() error {
			_, err := stats.LabelsToHalve(ok, stats.Stratum{Share: nan, Size: 1}, stats.Stratum{}, 0.95)
			return err
		},
		"one cluster": func() error {
			_, err := stats.Bootstrap{Confidence: 0.95}.Interval(1, clusterMean([][]float64{{1}}))
			return err
		},
		"empty clusters": func() error {
			_, err := stats.Bootstrap{Confidence: 0.95}.Interval(2, clusterMean([][]float64{{}, {}}))
			return err
		},
		"a replicate": func() error {
			_, err := stats.Bootstrap{Confidence: 0.95, Replicates: 1}.Interval(2, clusterMean([][]float64{{1}, {0}}))
			return err
		},
	}
	for name, call := range calls {
		if err := call(); !errors.Is(err, stats.ErrInput) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := stats.Wilson(1, 2, nan); got != (stats.Interval{Low: 0, High: 1}) {
		t.Errorf("Wilson at no confidence: %v", got)
	}
}

// A judge and people that never differ in a sample are not proven to agree perfectly.
func TestPerfectAgreement(t *testing.T) {
	t.Parallel()
	few, err1 := stats.Kappa(3, 0, 0, 2, 0.95)
	many, err2 := stats.Kappa(300, 0, 0, 200, 0.95)
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	if few.Value != 1 || few.High != 1 || few.Low > 0.3 || many.Low < 0.98 {
		t.Errorf("kappa of 5 %+v, of 500 %+v", few, many)
	}
	lenient, err := stats.Kappa(7, 0, 3, 0, 0.95) // passes everything
	if err != nil || lenient.Value != 0 || lenient.Low > -0.1 || lenient.High < 0.1 {
		t.Errorf("kappa of a judge that passes everything: %+v, %v", lenient, err)
	}
	e, err := stats.PostStratified(stats.Count{Pass: 180, N: 200}, stats.Stratum{Share: 1, Size: 18}, stats.Stratum{Size: 2}, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	if e.Value != 0.9 || e.Low > 0.78 || e.High < 0.93 {
		t.Errorf("post-stratified %+v", e)
	}
}

// If all samples are equal, there is no spread to estimate.
func TestBootstrapOfOneValue(t *testing.T) {
	t.Parallel()
	got, err := stats.Bootstrap{Confidence: 0.95}.Interval(3, clusterMean([][]float64{{1, 1}, {1}, {1, 1, 1}}))
	if want := (stats.Estimate{Value: 1, Interval: stats.Interval{Low: 1, High: 1}}); err != nil || got != want {
		t.Errorf("%v, %v", got, err)
	}
}

func FuzzKappa(f *testing.F) {
	f.Add(1.0, 2.0, 3.0, 4.0, 0.95)
	f.Add(0.0, 0.0, 1e300, 1e300, 0.5)
	f.Add(1e-320, 0.0, 0.0, 1e308, 0.999999)
	f.Fuzz(func(t *testing.T, a, b, c, d, level float64) {
		e, err := stats.Kappa(a, b, c, d, level)
		if err == nil && !(-1 <= e.Low && e.Low <= e.Value && e.Value <= e.High && e.High <= 1) {
			t.Errorf("Kappa(%v, %v, %v, %v, %v) = %+v", a, b, c, d, level, e)
		}
	})
}
