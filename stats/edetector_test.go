package stats_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/proviso-eval/proviso/stats"
)

// runLength runs a detector until its alarm and returns the number of items.
func runLength(r *rand.Rand, inControl, p, threshold float64) int {
	var d stats.EDetector
	for n := 1; ; n++ {
		if d.Add(r.Float64() < p, inControl, 1); d.Value() >= threshold {
			return n
		}
	}
}

func TestEDetectorIsAMartingale(t *testing.T) {
	t.Parallel()
	// One item from any state: the mean over both outcomes grows by exactly the weight.
	r := rand.New(rand.NewPCG(1, 1))
	for range 100 {
		var d stats.EDetector
		p, weight := r.Float64(), r.Float64()
		for range r.IntN(30) {
			d.Add(r.IntN(3) == 0, r.Float64(), 1)
		}
		before, failed, passed := d.Value(), d, d
		failed.Add(true, p, weight)
		passed.Add(false, p, weight)
		if got := p*failed.Value() + (1-p)*passed.Value(); math.Abs(got-before-weight) > 1e-9*(1+got) {
			t.Fatalf("p %v: %v + %v became %v", p, before, weight, got)
		}
	}
}

func TestEDetectorRunLength(t *testing.T) {
	t.Parallel()
	const threshold, paths = 1000.0, 400
	for _, p := range []float64{0.02, 0.05, 0.2} {
		r := rand.New(rand.NewPCG(7, uint64(p*1000)))
		sum := 0.0
		for range paths {
			sum += float64(runLength(r, p, p, threshold)) / paths
		}
		if sum < threshold || sum > 1.6*threshold { // the simulation of package monitor is exact enough for 1.5
			t.Errorf("p %v: mean run length %.0f for a threshold of %v", p, sum, threshold)
		}
	}
}

func TestEDetectorStaysFinite(t *testing.T) {
	t.Parallel()
	var d stats.EDetector
	for range 10_000 {
		d.Add(true, -1, -1)
		d.Add(true, 0, 1)
	}
	if v := d.Value(); math.IsInf(v, 0) || math.IsNaN(v) || v < 1e200 {
		t.Error(v)
	}
}

// delays are mean delays in simulations: in-control rate, threshold, and the delays for
// increases by 1.5, 2, 3 and 5 times.
var delays = []struct {
	p, threshold float64
	mean         [4]float64
}{
	{.01, 3_000, [4]float64{841, 420, 186, 87}},
	{.01, 15_000, [4]float64{1910, 776, 303, 134}},
	{.01, 60_000, [4]float64{3111, 1143, 420, 170}},
	{.01, 300_000, [4]float64{4930, 1595, 549, 215}},
	{.02, 15_000, [4]float64{1255, 471, 183, 77}},
	{.02, 300_000, [4]float64{2736, 848, 304, 119}},
	{.05, 3_000, [4]float64{364, 151, 60, 25}},
	{.05, 15_000, [4]float64{639, 240, 89, 35}},
	{.05, 60_000, [4]float64{895, 303, 112, 42}},
	{.05, 300_000, [4]float64{1197, 393, 137, 50}},
	{.10, 15_000, [4]float64{369, 132, 46, 17}},
	{.10, 300_000, [4]float64{642, 206, 69, 24}},
	{.20, 15_000, [4]float64{192, 63, 22, 0}},
	{.20, 300_000, [4]float64{306, 95, 29, 0}},
}

func TestDetectionDelay(t *testing.T) {
	t.Parallel()
	for _, row := range delays {
		for i, times := range []float64{1.5, 2, 3, 5} {
			if row.mean[i] == 0 {
				continue
			}
			got := stats.DetectionDelay(row.p, times*row.p, row.threshold)
			if off := got/row.mean[i] - 1; math.Abs(off) > 0.25 {
				t.Errorf("p %v, threshold %v, %v times: %.0f, simulated %v (%+.0f %%)", row.p, row.threshold, times, got, row.mean[i], 100*off)
			}
		}
	}
	if got := stats.DetectionDelay(.05, .05, 1000); got != 1000 {
		t.Error("no change:", got)
	}
}

func TestSmallestChange(t *testing.T) {
	t.Parallel()
	for _, items := range []float64{50, 500, 5000} {
		p, ok := stats.SmallestChange(.05, 15_000, items)
		if d := stats.DetectionDelay(.05, p, 15_000); !ok || math.Abs(d/items-1) > 0.01 {
			t.Errorf("%v items: %v %v, delay %v", items, p, ok, d)
		}
	}
	if p, ok := stats.SmallestChange(.05, 15_000, 3); ok {
		t.Error("3 items see", p)
	}
}

func TestUpperJeffreys(t *testing.T) {
	t.Parallel()
	// Quantiles of Beta(x + ½, n − x + ½), by R's qbeta.
	for _, row := range []struct {
		x, n int
		c, w float64
	}{{0, 10, .9, .1236}, {5, 100, .9, .0856}, {10, 200, .9, .0727}, {10, 10, .9, 1}} {
		got, err := stats.UpperJeffreys(stats.Count{Pass: row.x, N: row.n}, row.c)
		if err != nil || math.Abs(got-row.w) > 0.0015 {
			t.Errorf("%+v: %v %v", row, got, err)
		}
	}
	// The limit is above the true share about as often as the confidence claims.
	r := rand.New(rand.NewPCG(5, 5))
	for _, p := range []float64{.02, .05, .1} {
		above := 0
		for range 4000 {
			x := 0
			for range 500 {
				if r.Float64() < p {
					x++
				}
			}
			if u, _ := stats.UpperJeffreys(stats.Count{Pass: x, N: 500}, .9); u >= p {
				above++
			}
		}
		if share := float64(above) / 4000; share < .86 || share > .94 {
			t.Errorf("p %v: above in %v", p, share)
		}
	}
}

// TestLocateRise simulates alarms and locates where the rise began.
func TestLocateRise(t *testing.T) {
	t.Parallel()
	for _, times := range []float64{2, 3} {
		r := rand.New(rand.NewPCG(11, uint64(times)))
		const p, threshold, change, paths = .05, 15_000, 2000, 300
		held, sum := 0, 0.0
		for range paths {
			var d stats.EDetector
			var list []stats.Failure
			n := 0
			for ; n < change || d.Value() < threshold; n++ {
				now := p
				if n >= change {
					now = times * p
				}
				failed := r.Float64() < now
				if d.Add(failed, p, 1); failed {
					list = append(list, stats.Failure{Before: n, Expected: float64(n) * p})
				}
				if n < change && d.Value() >= threshold { // a false alarm
					d, list, n = stats.EDetector{}, nil, -1
				}
			}
			rise, err := stats.LocateRise(list, n, float64(n)*p)
			if err != nil {
				t.Fatal(err)
			}
			low := 0
			if rise.Low > 0 {
				low = list[rise.Low-1].Before + 1
			}
			if low <= change && change <= list[rise.High].Before {
				held++
			}
			sum += math.Abs(float64(list[rise.Best].Before - change))
		}
		share := float64(held) / paths
		t.Logf("%v times: the interval holds the change in %.3f, mean error %.0f items", times, share, sum/paths)
		if share < .9 {
			t.Errorf("%v times: the interval holds the change in %v", times, share)
		}
	}
	if _, err := stats.LocateRise(nil, 0, 0); err == nil {
		t.Error("no failures have a place")
	}
}

// TestHajek samples a population with differing segments at unequal rates.
func TestHajek(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(13, 13))
	share, rate, probability := []float64{.7, .22, .07, .01}, []float64{.03, .06, .15, .30}, []float64{.016, .025, .06, .3}
	truth := 0.0
	for i := range share {
		truth += share[i] * rate[i]
	}
	held, bias, ignoring := 0, 0.0, 0.0
	const days = 400
	for range days {
		var w, plain stats.Weighted
		for range 20_000 {
			s, u := 0, r.Float64()
			for ; s < 3 && u > share[s]; s++ {
				u -= share[s]
			}
			if r.Float64() < probability[s] {
				failed := r.Float64() < rate[s]
				w.Add(failed, probability[s])
				plain.Add(failed, 1)
			}
		}
		e, err := w.Hajek(.95)
		if err != nil {
			t.Fatal(err)
		}
		bias += (e.Value - truth) / days
		ignoring += (plain.Yes/plain.Weight - truth) / days
		if e.Low <= truth && truth <= e.High {
			held++
		}
	}
	if c := float64(held) / days; c < .90 || math.Abs(bias) > .002 || ignoring < .01 {
		t.Errorf("coverage %v, bias %v; without weights %v", c, bias, ignoring)
	}
}

func TestHajekOfFew(t *testing.T) {
	t.Parallel()
	var w stats.Weighted
	if _, err := w.Hajek(.95); err == nil {
		t.Error("nothing has a share")
	}
	for range 10 {
		w.Add(false, 0.5)
	}
	e, err := w.Hajek(.95)
	if want := stats.Wilson(0, 10, .95); err != nil || e.Value != 0 || math.Abs(e.High-want.High) > 1e-9 {
		t.Errorf("%+v %v, not %+v", e, err, want)
	}
}

func TestCompareMix(t *testing.T) {
	t.Parallel()
	// χ² of [[10 20 30] [6 9 17]] is 0.27157, p 0.8730 (R's chisq.test).
	m, err := stats.CompareMix([]int{10, 20, 30, 0}, []int{6, 9, 17, 0}, 1)
	if err != nil || m.Freedom != 2 || math.Abs(m.ChiSquare-0.27157) > 1e-4 || math.Abs(m.P-0.8730) > 1e-3 {
		t.Errorf("%+v %v", m, err)
	}
	if m, _ := stats.CompareMix([]int{500, 500}, []int{800, 200}, 1); m.P > 1e-20 || math.Abs(m.Distance-.3) > 1e-9 {
		t.Errorf("%+v", m)
	}
	if m, _ := stats.CompareMix([]int{500}, []int{800}, 1); m.P != 1 {
		t.Errorf("one group differs: %+v", m)
	}
	if _, err := stats.CompareMix([]int{0}, []int{800}, 1); err == nil {
		t.Error("nothing has a mix")
	}
}
