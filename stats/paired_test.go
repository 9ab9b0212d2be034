package stats_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/proviso-eval/proviso/stats"
)

// signFlipBrute enumerates all signs of the differences.
func signFlipBrute(d []float64, side stats.Side, midP bool) float64 {
	observed := 0.0
	for _, v := range d {
		observed += v
	}
	tail, point := 0.0, 0.0
	for signs := range 1 << len(d) {
		sum := 0.0
		for i, v := range d {
			if signs>>i&1 == 1 {
				v = -v
			}
			sum += v
		}
		at, want := sum, observed
		switch side {
		case stats.SecondMore:
			at, want = -sum, -observed
		case stats.TwoSided:
			at, want = sum, math.Abs(observed)
		}
		switch {
		case math.Abs(at-want) < 1e-9:
			tail++
			point++
		case at > want:
			tail++
		}
	}
	p := tail
	if midP {
		p -= point / 2
	}
	if side == stats.TwoSided {
		p *= 2
	}
	if !slices.ContainsFunc(d, func(v float64) bool { return v != 0 }) {
		return 1
	}
	return min(1, math.Ldexp(p, -len(d)))
}

func TestSignFlipIsExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		divisor := rapid.SampledFrom([]float64{1, 2, 3, 7, 15, 60}).Draw(t, "divisor")
		d := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) float64 {
			return float64(rapid.IntRange(-8, 8).Draw(t, "d")) / divisor
		}), 0, 11).Draw(t, "differences")
		side := rapid.SampledFrom([]stats.Side{stats.TwoSided, stats.FirstMore, stats.SecondMore}).Draw(t, "side")
		midP := rapid.Bool().Draw(t, "midP")
		got := must[float64](t)(stats.SignFlip(d, side, midP))
		if want := signFlipBrute(d, side, midP); math.Abs(got-want) > 1e-12 {
			t.Fatalf("%v: %v, want %v", d, got, want)
		}
		if least := stats.SignFlipLeast(d, midP); side != stats.TwoSided && got < least-1e-15 {
			t.Fatalf("%v: %v is below the least %v", d, got, least)
		}
	})
}

// With one verdict per case the sign-flip test equals McNemar's test.
func TestSignFlipIsMcNemar(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		worse, better := rapid.IntRange(0, 300).Draw(t, "worse"), rapid.IntRange(0, 300).Draw(t, "better")
		d := slices.Concat(slices.Repeat([]float64{1}, worse), slices.Repeat([]float64{-1}, better), make([]float64, 5))
		side := rapid.SampledFrom([]stats.Side{stats.TwoSided, stats.FirstMore, stats.SecondMore}).Draw(t, "side")
		midP := rapid.Bool().Draw(t, "midP")
		got := must[float64](t)(stats.SignFlip(d, side, midP))
		if want := must[float64](t)(stats.McNemar(worse, better, side, midP)); math.Abs(got-want) > 1e-12 {
			t.Fatalf("%d and %d: %v, want %v", worse, better, got, want)
		}
	})
}

// Differences without a common divisor are rounded, or approximated if there are many. The
// result stays close to that of a normal sum, and is small far out in the tail.
func TestSignFlipOfManyDifferences(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{300, 3000, 20000} {
		d, squares, sum := make([]float64, n), 0.0, 0.0
		for i := range d {
			d[i] = random.NormFloat64() + 1.5/math.Sqrt(float64(n))
			squares += d[i] * d[i]
			sum += d[i]
		}
		got, err := stats.SignFlip(d, stats.FirstMore, true)
		if want := math.Erfc(sum/math.Sqrt(2*squares)) / 2; err != nil || math.Abs(got-want) > 0.05*want {
			t.Errorf("%d: %v %v, want about %v", n, got, err, want)
		}
		back, err := stats.SignFlip(d, stats.SecondMore, true)
		if err != nil || math.Abs(got+back-1) > 1e-9 {
			t.Errorf("%d: %v one way and %v the other", n, got, back)
		}
		for i := range d {
			d[i] = math.Abs(d[i])
		}
		if got, err := stats.SignFlip(d, stats.FirstMore, false); err != nil || !(got >= 0 && got < 1e-20) {
			t.Errorf("%d, all worse: %v %v", n, got, err)
		}
	}
}

func TestSignFlipRefuses(t *testing.T) {
	t.Parallel()
	if _, err := stats.SignFlip([]float64{math.NaN()}, stats.TwoSided, false); err == nil {
		t.Error("NaN is accepted")
	}
	if _, err := stats.SignFlip(nil, 7, false); err == nil {
		t.Error("side 7 is accepted")
	}
	for _, d := range [][]float64{{1e300, 1e-300}, {1e-320, 5, 5, math.Pi}, {1, 1e9, math.Pi * 1e5}} {
		if p, err := stats.SignFlip(d, stats.FirstMore, false); err != nil || !(p > 0 && p <= 1) {
			t.Errorf("%v: %v %v", d, p, err)
		}
	}
}

// One verdict for each independent case gives Newcombe's method 10.
func TestPairedMeansAreNewcombe(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) int { return rapid.IntRange(0, 60).Draw(t, name) }
		p := stats.Pairs{Both: draw("both"), OnlyFirst: draw("first"), OnlySecond: draw("second"), Neither: draw("neither")}
		if p.N() == 0 {
			return
		}
		m := stats.PairedMeans{FirstTrials: p.N(), SecondTrials: p.N()}
		for _, x := range []struct {
			n             int
			first, second float64
		}{{p.Both, 1, 1}, {p.OnlyFirst, 1, 0}, {p.OnlySecond, 0, 1}, {p.Neither, 0, 0}} {
			m.First = append(m.First, slices.Repeat([]float64{x.first}, x.n)...)
			m.Second = append(m.Second, slices.Repeat([]float64{x.second}, x.n)...)
		}
		level := drawLevel(t)
		got := must[stats.Estimate](t)(must[stats.PairedSummary](t)(m.Summary()).Difference(level))
		want := must[stats.Estimate](t)(stats.NewcombePaired(p, level))
		if math.Abs(got.Value-want.Value)+math.Abs(got.Low-want.Low)+math.Abs(got.High-want.High) > 1e-9 {
			t.Fatalf("%+v: %v, want %v", p, got, want)
		}
	})
}

func TestPairedMeansLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "n")
		repeats := rapid.IntRange(1, 5).Draw(t, "repeats")
		values := func(name string) []float64 {
			list := rapid.SliceOfN(rapid.IntRange(0, repeats), n, n).Draw(t, name)
			out := make([]float64, n)
			for i, v := range list {
				out[i] = float64(v) / float64(repeats)
			}
			return out
		}
		m := stats.PairedMeans{First: values("first"), Second: values("second"), FirstTrials: n * repeats, SecondTrials: n * repeats}
		single := must[stats.PairedSummary](t)(m.Summary())
		if single.FirstSize < float64(n)-1e-9 || single.FirstSize > float64(n*repeats)+1e-9 {
			t.Fatalf("effective size %v of %d cases with %d repeats", single.FirstSize, n, repeats)
		}
		one := must[stats.Estimate](t)(single.Difference(0.95))
		within(t, "difference", one, -1, 1)
		swapped := m
		swapped.First, swapped.Second = m.Second, m.First
		other := must[stats.Estimate](t)(must[stats.PairedSummary](t)(swapped.Summary()).Difference(0.95))
		if math.Abs(one.Low+other.High)+math.Abs(one.High+other.Low) > 1e-9 {
			t.Fatalf("%v and %v do not mirror", one, other)
		}
		// Every case twice, as a cluster of two equal cases, adds no information.
		twice := stats.PairedMeans{FirstTrials: n * repeats, SecondTrials: n * repeats}
		for i := range n {
			twice.First = append(twice.First, m.First[i], m.First[i])
			twice.Second = append(twice.Second, m.Second[i], m.Second[i])
			twice.Cluster = append(twice.Cluster, i, i)
		}
		clustered := must[stats.PairedSummary](t)(twice.Summary())
		limit := float64(max(2*n, n*repeats)) // the number of cases bounds the trials from below
		for _, x := range [][2]float64{{clustered.FirstSize, single.FirstSize}, {clustered.SecondSize, single.SecondSize}} {
			if x[0] < x[1]-1e-6 || x[0] > limit+1e-9 || repeats == 1 && math.Abs(x[0]-x[1]) > 1e-6 {
				t.Fatalf("effective size %v in clusters, %v without", x[0], x[1])
			}
		}
	})
}

// A part that is the same in all cases does not widen the interval, and a peculiarity of
// one case hardly does.
func TestPairedMeansOfEqualScores(t *testing.T) {
	t.Parallel()
	for _, odd := range []float64{2. / 3, 1, 0.1} {
		m := stats.PairedMeans{FirstTrials: 300, SecondTrials: 300}
		for range 100 {
			m.First, m.Second = append(m.First, 2./3), append(m.Second, 2./3)
		}
		m.First[0], m.Second[0] = odd, odd
		summary, err := m.Summary()
		if err != nil {
			t.Fatal(err)
		}
		e, err := summary.Difference(0.95)
		if err != nil {
			t.Fatal(err)
		}
		wilson := stats.Wilson(0, 100, 0.95)
		if e.Value != 0 || math.Abs(e.High-wilson.High) > 1e-12 || math.Abs(e.Low+wilson.High) > 1e-12 {
			t.Errorf("with a case of %.2f: %+v, want Wilson's limit for 0 of 100, %.4f, on both sides", odd, e, wilson.High)
		}
	}
}

// 90 % of intervals contain the true difference when cases are repeated and clustered.
func TestPairedMeansCover(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	const rounds, clusters, size, repeats = 1500, 40, 3, 2
	held := 0
	for range rounds {
		m := stats.PairedMeans{FirstTrials: clusters * size * repeats, SecondTrials: clusters * size * repeats}
		for c := range clusters {
			shared := random.Float64() // cases of a cluster have the same difficulty
			for range size {
				draw := func(p float64) (sum float64) {
					for range repeats {
						if random.Float64() < p {
							sum += 1.0 / repeats
						}
					}
					return sum
				}
				m.First, m.Second = append(m.First, draw(shared)), append(m.Second, draw(shared*0.9))
				m.Cluster = append(m.Cluster, c)
			}
		}
		s, err := m.Summary()
		if err != nil {
			t.Fatal(err)
		}
		if e, err := s.Difference(0.9); err != nil {
			t.Fatal(err)
		} else if e.Low <= 0.05 && 0.05 <= e.High {
			held++
		}
	}
	if share := float64(held) / rounds; share < 0.87 || share > 0.98 {
		t.Errorf("%.3f of intervals at 90 %% hold the difference", share)
	}
}

// The examples in the manual of ci.median.ps in the R package statpsych 1.5 and 1.8, by
// the authors of the method: an odd and an even number of cases.
func TestPairedMediansPublished(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		first, second []float64
		want          [5]float64 // both medians, difference, low, high
	}{
		{
			[]float64{21, 4, 9, 12, 35, 18, 10, 22, 24, 1, 6, 8, 13, 16, 19},
			[]float64{67, 28, 30, 28, 52, 40, 25, 37, 44, 10, 14, 20, 28, 40, 51},
			[5]float64{13, 30, -17, -23.58996, -10.41004},
		},
		{
			[]float64{21.1, 4.9, 9.2, 12.4, 35.8, 18.1, 10.7, 22.9, 24.0, 1.2, 6.1, 8.3, 13.1, 16.2},
			[]float64{67.0, 28.1, 30.9, 28.6, 52.0, 40.8, 25.8, 37.4, 44.9, 10.3, 14.9, 20.2, 28.8, 40.6},
			[5]float64{12.75, 29.85, -17.1, -24.36019, -9.839807},
		},
	} {
		a, b, d, err := stats.PairedMedians(c.first, c.second, 1, 0.95)
		if err != nil {
			t.Fatal(err)
		}
		for i, got := range [5]float64{a.Value, b.Value, d.Value, d.Low, d.High} {
			if math.Abs(got-c.want[i]) > 1e-5 {
				t.Errorf("figure %d: %v, want %v", i, got, c.want[i])
			}
		}
	}
}

func TestPairedMediansCover(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 6))
	held := 0
	const rounds = 1500
	for range rounds {
		first, second := make([]float64, 60), make([]float64, 60)
		for i := range first {
			common := random.ExpFloat64()
			first[i], second[i] = common+random.NormFloat64()+0.5, common+random.NormFloat64()
		}
		_, _, d, err := stats.PairedMedians(first, second, 1, 0.95)
		if err != nil {
			t.Fatal(err)
		}
		if d.Low <= 0.5 && 0.5 <= d.High {
			held++
		}
	}
	if share := float64(held) / rounds; share < 0.93 || share > 0.985 {
		t.Errorf("%.3f of intervals at 95 %% hold the difference", share)
	}
}

// A judge that passes 95 % of good outputs and fails 85 % of bad ones shows 80 % of a
// change.
func TestRoganGladenDifference(t *testing.T) {
	t.Parallel()
	labels := stats.Confusion{TP: 190, FN: 10, TN: 85, FP: 15}
	index, deviation, err := labels.Youden()
	if err != nil || math.Abs(index-0.8) > 1e-12 || deviation < 0.03 || deviation > 0.05 {
		t.Errorf("index %v ± %v, %v", index, deviation, err)
	}
	raw := stats.Estimate{Value: -0.08, Interval: stats.Interval{Low: -0.12, High: -0.04}}
	got, err := stats.RoganGladenDifference(raw, labels, 0.95)
	if err != nil || math.Abs(got.Value+0.1) > 1e-12 || got.Low > -0.15 || got.Low < -0.16 || got.High < -0.05 || got.High > -0.045 {
		t.Errorf("%+v %v", got, err)
	}
	for _, bad := range []stats.Confusion{{}, {TP: 5, FN: 5, TN: 4, FP: 6}, {TP: 3}} {
		if _, err := stats.RoganGladenDifference(raw, bad, 0.95); err == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
}

// Every finding of Bonferroni's method among all tests is a finding of Holm's method among
// the testable ones, and the chance of a false finding stays below the level.
func TestTestable(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		least := rapid.SliceOfN(rapid.SampledFrom([]float64{1, 0.5, 0.06, 0.03, 0.02, 0.01, 0.004, 1e-6}), 0, 25).Draw(t, "least")
		list := stats.Testable(least, 0.05)
		for i, p := range least {
			in := slices.Contains(list, i)
			if p <= 0.05/float64(len(least)) && !in || in && p > 0.05/float64(len(list)) {
				t.Fatalf("%v of %v", list, least)
			}
		}
	})
	random := rand.New(rand.NewPCG(7, 8))
	false5, false20 := 0, 0
	const rounds = 4000
	for range rounds {
		p, least := make([]float64, 20), make([]float64, 20)
		for i := range p {
			d := make([]float64, random.IntN(12))
			for j := range d {
				d[j] = float64(2*random.IntN(2) - 1)
			}
			p[i], _ = stats.SignFlip(d, stats.FirstMore, false)
			least[i] = stats.SignFlipLeast(d, false)
		}
		list := stats.Testable(least, 0.05)
		for i := range p {
			if p[i] <= 0.05/20 {
				false20++
				break
			}
		}
		for _, i := range list {
			if p[i] <= 0.05/float64(len(list)) {
				false5++
				break
			}
		}
	}
	if share := float64(false5) / rounds; share > 0.055 || false5 <= false20 {
		t.Errorf("%.3f false findings, %d and %d", share, false5, false20)
	}
}
