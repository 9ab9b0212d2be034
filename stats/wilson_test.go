package stats_test

import (
	"math"
	"testing"

	"github.com/proviso-eval/proviso/stats"
)

// The expected bounds are method 3 of table I in R. G. Newcombe, "Two-sided
// confidence intervals for the single proportion", Statistics in Medicine 17
// (1998) 857-872, printed there with four decimals.
func TestWilsonPublished(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pass, n   int
		low, high float64
	}{
		{81, 263, 0.2553, 0.3662},
		{15, 148, 0.0624, 0.1605},
		{0, 20, 0, 0.1611},
		{1, 29, 0.0061, 0.1718},
	} {
		got := stats.Wilson(c.pass, c.n, 0.95)
		if math.Abs(got.Low-c.low) > 5e-5 || math.Abs(got.High-c.high) > 5e-5 {
			t.Errorf("Wilson(%d, %d) = %.4f to %.4f, want %.4f to %.4f", c.pass, c.n, got.Low, got.High, c.low, c.high)
		}
	}
}

func TestWilsonLaws(t *testing.T) {
	t.Parallel()
	if got := stats.Wilson(0, 0, 0.95); got != (stats.Interval{Low: 0, High: 1}) {
		t.Errorf("no trials: %v", got)
	}
	for n := 1; n <= 60; n++ {
		for pass := 0; pass <= n; pass++ {
			narrow, wide := stats.Wilson(pass, n, 0.8), stats.Wilson(pass, n, 0.99)
			share := float64(pass) / float64(n)
			if narrow.Low < wide.Low || narrow.High > wide.High || share < narrow.Low || share > narrow.High {
				t.Fatalf("%d of %d: 80%% %v, 99%% %v", pass, n, narrow, wide)
			}
			mirror := stats.Wilson(n-pass, n, 0.8)
			if math.Abs(mirror.Low-(1-narrow.High)) > 1e-12 {
				t.Fatalf("%d of %d is not the mirror of its complement", pass, n)
			}
		}
	}
	if got := stats.Wilson(9, 5, 0.95); got.High != 1 {
		t.Errorf("more passes than trials: %v", got)
	}
}
