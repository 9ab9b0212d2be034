package align_test

import (
	"math"
	"testing"

	"github.com/proviso-eval/proviso/judge/align"
	"github.com/proviso-eval/proviso/stats"
)

func TestIndependentLabels(t *testing.T) {
	t.Parallel()
	entry := func(c stats.Confusion, tpr, tnr, effective float64) align.Entry {
		rate := func(value float64) *stats.Estimate {
			i, err := stats.WilsonEffective(value, effective, 0.95)
			if err != nil {
				t.Fatal(err)
			}
			return &stats.Estimate{Value: value, Interval: i}
		}
		return align.Entry{Agreement: align.Agreement{Confusion: c, TPR: rate(tpr), TNR: rate(tnr)}}
	}
	plain := stats.Confusion{TP: 45, FN: 5, TN: 24, FP: 6}
	if got, ok := entry(plain, 0.9, 0.8, 40).IndependentLabels(); !ok || got != plain {
		t.Errorf("%+v", got)
	}
	if got, ok := entry(stats.Confusion{TP: 45, FN: 5, TN: 6, FP: 1}, 0.9, 6.0/7, 40).IndependentLabels(); ok {
		t.Errorf("too few labels of bad outputs: %+v", got)
	}
	// Half of the labels were drawn from fails, so their shares are not the rates.
	got, ok := entry(stats.Confusion{TP: 90, FN: 60, TN: 95, FP: 5}, 0.95, 0.5, 40).IndependentLabels()
	if !ok || got.TP+got.FN != 40 || got.TN+got.FP != 40 || math.Abs(float64(got.TP)-38) > 0.5 || got.TN != 20 {
		t.Errorf("%+v", got)
	}
}
