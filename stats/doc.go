// Package stats turns counts into estimates with intervals, and comparisons into
// tests: numbers in, numbers out. Start at [Wilson], the interval shown beside
// every pass rate, and [Kappa], the agreement of a judge with people.
//
// Proportions: [Wilson], [WilsonEffective], [ClopperPearson], [Newcombe],
// [NewcombePaired]. Paired runs: [McNemar]; with repeats or clusters,
// [SignFlip], [PairedMeans]; of any unit, [PairedMedians]. Clustered cases: [Bootstrap].
// Many tests at once: [Holm], [Testable]. Judges: [Kappa], [RoganGladen],
// [ChangeOfAgreement], [RoganGladenDifference], [PostStratified], [PartlyVerified],
// [LabelsToHalve]. Watching a sequence: [EDetector], [SmallestChange], [LocateRise],
// [UpperJeffreys], [CompareMix]. Unequal sampling: [Weighted].
//
// Functions are safe for concurrent use, deterministic, and never panic. If the result
// cannot be computed from the arguments, the error wraps [ErrInput].
package stats

import (
	"errors"
	"fmt"
	"math"
)

// ErrInput is wrapped by every error of this package: an argument is invalid, or the
// result is undefined for the arguments.
var ErrInput = errors.New("cannot be computed")

func inputError(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrInput, fmt.Sprintf(format, args...))
}

// Interval is a range that is expected to contain the true value.
type Interval struct {
	Low, High float64
}

// Width returns High − Low.
func (i Interval) Width() float64 { return i.High - i.Low }

// clamp keeps an interval within bounds and around the value it belongs to,
// which rounding could put outside.
func (i Interval) clamp(low, high, value float64) Interval {
	return Interval{Low: max(low, min(i.Low, value)), High: min(high, max(i.High, value))}
}

// Estimate is a value with the interval around it.
type Estimate struct {
	Value float64
	Interval
}

// Count is a number of passes among N.
type Count struct {
	Pass, N int
}

// Share returns Pass / N, which is NaN if N is 0.
func (c Count) Share() float64 { return float64(c.Pass) / float64(c.N) }

func (c Count) check(what string) error {
	switch {
	case c.N <= 0:
		return inputError("%s: no trials (n = %d)", what, c.N)
	case c.Pass < 0 || c.Pass > c.N:
		return inputError("%s: %d of %d", what, c.Pass, c.N)
	}
	return nil
}

// Confusion counts a judge's verdicts against human labels: of the outputs that people
// pass, the judge passed TP and failed FN; of the outputs that people fail, it failed TN
// and passed FP.
type Confusion struct {
	TP, FP, TN, FN int
}

// N returns the number of verdicts.
func (c Confusion) N() int { return c.TP + c.FP + c.TN + c.FN }

func (c Confusion) check() error {
	if min(c.TP, c.FP, c.TN, c.FN) < 0 {
		return inputError("a negative count: %+v", c)
	}
	return nil
}

// quantile returns z such that a standard normal variable lies within ±z with
// the given probability.
func quantile(confidence float64) (float64, error) {
	if !(confidence > 0 && confidence < 1) {
		return 0, inputError("confidence %v is not between 0 and 1", confidence)
	}
	return math.Sqrt2 * math.Erfinv(confidence), nil
}

// normalCDF is the distribution function of the standard normal distribution.
func normalCDF(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

// normalQuantile is the inverse of normalCDF, infinite at 0 and 1.
func normalQuantile(p float64) float64 { return -math.Sqrt2 * math.Erfcinv(2*p) }
