package stats_test

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/proviso-eval/proviso/stats"
)

// reference has results computed by SciPy and statsmodels, and by testdata/reference.py
// from the papers' formulas.
type reference struct {
	Wilson []struct {
		Pass, N       int
		Level         float64
		Wilson, Exact [2]float64
	} `json:"wilson_and_exact"`
	Newcombe []struct {
		First, Second [2]int
		Value         float64
		Interval      [2]float64
	}
	Paired []struct {
		Table    [4]int
		Value    float64
		Interval [2]float64
	} `json:"newcombe_paired"`
	McNemar []struct {
		Flips                   [2]int
		Two, First, Second, Mid float64
	}
	Adjusted []struct{ P, Holm []float64 }
	Kappa    []struct {
		Table    [4]float64
		Value    float64
		Interval [2]float64
	}
	RoganGladen []struct {
		Judged   [2]int
		Labels   [4]int // TP, FP, TN, FN
		Value    float64
		Interval [2]float64
	} `json:"rogan_gladen"`
	PPI []struct {
		Human, Predicted, Unlabelled []float64
		Tuning, Value                float64
		Interval                     [2]float64
	}
	Bootstrap []struct {
		Clusters [][]float64
		Value    float64
		Interval [2]float64
	}
}

func readReference(t *testing.T) *reference {
	t.Helper()
	data, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	r := &reference{}
	if err := json.Unmarshal(data, r); err != nil {
		t.Fatal(err)
	}
	return r
}

// near fails unless two numbers are equal within a tolerance.
func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: got %.10g, want %.10g", what, got, want)
	}
}

func nearEstimate(t *testing.T, what string, got stats.Estimate, err error, value float64, interval [2]float64, tolerance float64) {
	t.Helper()
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	near(t, what+" value", got.Value, value, 1e-9)
	near(t, what+" low", got.Low, interval[0], tolerance)
	near(t, what+" high", got.High, interval[1], tolerance)
}

func TestReference(t *testing.T) {
	t.Parallel()
	r := readReference(t)
	for _, c := range r.Wilson {
		got := stats.Wilson(c.Pass, c.N, c.Level)
		near(t, "Wilson low", got.Low, c.Wilson[0], 1e-12)
		near(t, "Wilson high", got.High, c.Wilson[1], 1e-12)
		exact, err := stats.ClopperPearson(stats.Count{Pass: c.Pass, N: c.N}, c.Level)
		if err != nil {
			t.Error(err)
		}
		near(t, "Clopper-Pearson low", exact.Low, c.Exact[0], 1e-9)
		near(t, "Clopper-Pearson high", exact.High, c.Exact[1], 1e-9)
	}
	for _, c := range r.Newcombe {
		got, err := stats.Newcombe(stats.Count{Pass: c.First[0], N: c.First[1]}, stats.Count{Pass: c.Second[0], N: c.Second[1]}, 0.95)
		nearEstimate(t, "Newcombe", got, err, c.Value, c.Interval, 1e-9)
	}
	for _, c := range r.Paired {
		got, err := stats.NewcombePaired(stats.Pairs{Both: c.Table[0], OnlyFirst: c.Table[1], OnlySecond: c.Table[2], Neither: c.Table[3]}, 0.95)
		nearEstimate(t, "Newcombe paired", got, err, c.Value, c.Interval, 1e-9)
	}
	for _, c := range r.Adjusted {
		holm, err := stats.Holm(c.P)
		if err != nil {
			t.Fatal(err)
		}
		for i := range c.P {
			near(t, "Holm", holm[i], c.Holm[i], 1e-12)
		}
	}
	for _, c := range r.Kappa {
		got, err := stats.Kappa(c.Table[0], c.Table[1], c.Table[2], c.Table[3], 0.95)
		nearEstimate(t, "kappa", got, err, c.Value, c.Interval, 1e-9)
	}
	for _, c := range r.RoganGladen {
		labels := stats.Confusion{TP: c.Labels[0], FP: c.Labels[1], TN: c.Labels[2], FN: c.Labels[3]}
		got, err := stats.RoganGladen(stats.Count{Pass: c.Judged[0], N: c.Judged[1]}, labels, 0.95)
		nearEstimate(t, "Rogan-Gladen", got, err, c.Value, c.Interval, 1e-9)
	}
	for _, c := range r.PPI {
		got, tuning := predictionPowered(c.Human, c.Predicted, c.Unlabelled)
		nearEstimate(t, "prediction-powered", got, nil, c.Value, c.Interval, 1e-9)
		near(t, "tuning", tuning, c.Tuning, 1e-9)
	}
}

func TestReferenceOfTests(t *testing.T) {
	t.Parallel()
	r := readReference(t)
	for _, c := range r.McNemar {
		for _, p := range []struct {
			side stats.Side
			mid  bool
			want float64
		}{{stats.TwoSided, false, c.Two}, {stats.FirstMore, false, c.First}, {stats.SecondMore, false, c.Second}, {stats.TwoSided, true, c.Mid}} {
			got, err := stats.McNemar(c.Flips[0], c.Flips[1], p.side, p.mid)
			if err != nil {
				t.Fatal(err)
			}
			near(t, "McNemar", got, p.want, 1e-9)
		}
	}
}

// SciPy draws other replicates, so the bounds agree only up to the noise of 20,000 draws.
func TestReferenceOfBootstrap(t *testing.T) {
	t.Parallel()
	for _, c := range readReference(t).Bootstrap {
		b := stats.Bootstrap{Replicates: 20_000, Confidence: 0.95, Seed: 1}
		got, err := b.Interval(len(c.Clusters), clusterMean(c.Clusters))
		nearEstimate(t, "bootstrap", got, err, c.Value, c.Interval, 6e-3)
		again, _ := b.Interval(len(c.Clusters), clusterMean(c.Clusters))
		if again != got {
			t.Errorf("equal seeds gave %v and %v", got, again)
		}
	}
}

// Published examples.
func TestPublished(t *testing.T) {
	t.Parallel()
	// Newcombe (1998), Statistics in Medicine 17:873, table II, contrast (a).
	got, err := stats.Newcombe(stats.Count{Pass: 56, N: 70}, stats.Count{Pass: 48, N: 80}, 0.95)
	nearEstimate(t, "56/70 - 48/80", got, err, 0.2, [2]float64{0.0524, 0.3339}, 5e-5)
	// Fagerland, Lydersen and Laake (2014), Statistics in Medicine 33:2850: airway
	// hyper-responsiveness, -0.286 (-0.507 to -0.026).
	got, err = stats.NewcombePaired(stats.Pairs{Both: 1, OnlyFirst: 1, OnlySecond: 7, Neither: 12}, 0.95)
	nearEstimate(t, "airways", got, err, -6.0/21, [2]float64{-0.507, -0.026}, 5e-4)
	// Fagerland, Lydersen and Laake (2013), the same data: exact 0.070, mid-p 0.039.
	exact, _ := stats.McNemar(1, 7, stats.TwoSided, false)
	mid, _ := stats.McNemar(1, 7, stats.TwoSided, true)
	near(t, "exact", exact, 0.070, 5e-4)
	near(t, "mid-p", mid, 0.039, 5e-4)
	// Benjamini and Hochberg (1995), section 3.2: of these 15, Holm's procedure
	// rejects three at 0.05.
	p := []float64{0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1}
	holm, _ := stats.Holm(p)
	if !(holm[2] <= 0.05 && holm[3] > 0.05) {
		t.Errorf("Holm %v", holm)
	}
	// Begg and Greenes (1983): 650 liver scans, of which 263 of 429 positive and 81
	// of 221 negative ones were verified; sensitivity 0.84 and specificity 0.74, not
	// 0.90 and 0.63. The bounds are those of the delta method.
	passed, failed := stats.Confusion{TP: 231, FP: 32, FN: 27, TN: 54}.Strata()
	r, err := stats.PartlyVerified(stats.Count{Pass: 429, N: 650}, passed, failed, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	nearEstimate(t, "sensitivity", *r.TPR, nil, r.TPR.Value, [2]float64{0.788, 0.884}, 0.01)
	nearEstimate(t, "specificity", *r.TNR, nil, r.TNR.Value, [2]float64{0.662, 0.815}, 0.015)
	near(t, "sensitivity", r.TPR.Value, 0.836, 5e-4)
	near(t, "specificity", r.TNR.Value, 0.738, 5e-4)
	// A judge that passes 95 % of the good and 20 % of the bad shows 0.95, 0.90 and
	// 0.80 as 0.9125, 0.875 and 0.80.
	for shown, want := range map[int]float64{9125: 0.95, 8750: 0.90, 8000: 0.80} {
		e, err := stats.RoganGladen(stats.Count{Pass: shown, N: 10_000}, stats.Confusion{TP: 95, FN: 5, TN: 80, FP: 20}, 0.95)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "corrected", e.Value, want, 1e-9)
	}
}

// clusterMean returns a statistic for [stats.Bootstrap.Interval]: the mean of all values in
// the sampled clusters. It is NaN if they are empty.
func clusterMean(clusters [][]float64) func(sample []int) float64 {
	sums := make([]float64, len(clusters))
	for i, c := range clusters {
		for _, v := range c {
			sums[i] += v
		}
	}
	return func(sample []int) float64 {
		sum, n := 0.0, 0
		for _, i := range sample {
			sum += sums[i]
			n += len(clusters[i])
		}
		return sum / float64(n)
	}
}
