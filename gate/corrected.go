package gate

import (
	"math"

	"github.com/proviso-eval/proviso/stats"
)

// corrected returns an effect corrected for the measured errors of its judge, or nil if
// the labels do not allow it: one kind is missing, or the judge is not better than
// chance.
func corrected(e Effect, labels stats.Confusion) *Effect {
	difference, err := stats.RoganGladenDifference(e.Difference, labels, confidence)
	if err != nil {
		return nil
	}
	result := e
	result.Difference = difference
	judge, n := newJudgeErrors(labels), int(e.Units)
	for _, side := range []*Figure{&result.Base, &result.Head} {
		count := stats.Count{Pass: int(math.Round(side.Value * float64(n))), N: n}
		value := min(1, max(0, judge.correct(side.Value)))
		if side.Estimate, err = stats.RoganGladen(count, labels, confidence); err != nil {
			return nil
		}
		// With repeats or clusters the count is rounded, but the value is not.
		side.Estimate = stats.Estimate{Value: value, Interval: stats.Interval{Low: min(side.Low, value), High: max(side.High, value)}}
	}
	return &result
}

// judgeErrors are the measured errors of an assertion's judge.
type judgeErrors struct {
	index    float64 // Youden's index; 0 if the judge was not measured
	relative float64 // relative standard error of index
	lenience float64 // share of bad outputs that pass
}

func newJudgeErrors(labels stats.Confusion) judgeErrors {
	index, deviation, err := labels.Youden()
	if err != nil {
		return judgeErrors{}
	}
	return judgeErrors{index, deviation / index, float64(labels.FP) / float64(labels.FP+labels.TN)}
}

// correct returns the share of good outputs, given the share that the judge passed. The
// result may lie outside of 0 to 1: clamping each case would bias the mean.
func (j judgeErrors) correct(share float64) float64 {
	if j.index == 0 {
		return share
	}
	return (share - j.lenience) / j.index
}

// correction sums the corrected results of the suite.
type correction struct {
	base, head float64
	n          int
	scale      float64 // largest factor by which a result was stretched; 0 if none was
	relative   float64 // largest relative error of a factor
}

func (c *correction) note(j judgeErrors) {
	if j.index > 0 {
		c.scale, c.relative = max(c.scale, 1/j.index), max(c.relative, j.relative)
	}
}

func (c *correction) add(base, head float64) {
	c.base, c.head, c.n = c.base+base, c.head+head, c.n+1
}

// effect returns the corrected suite, or nil if there is nothing to correct. With several
// judges, or with assertions that no judge decides, the intervals are wider than
// necessary: they are stretched by the largest factor.
func (c *correction) effect(raw Effect) *Effect {
	if c.scale == 0 || c.n == 0 {
		return nil
	}
	result := raw
	n := float64(c.n)
	result.Base.Estimate = c.stretch(raw.Base.Estimate, c.base/n, 0, 0, 1)
	result.Head.Estimate = c.stretch(raw.Head.Estimate, c.head/n, 0, 0, 1)
	result.Difference = c.difference(raw.Difference, confidence)
	return &result
}

// difference corrects a difference of the suite, with an interval at this confidence.
func (c *correction) difference(raw stats.Estimate, confidence float64) stats.Estimate {
	z := math.Sqrt2 * math.Erfinv(confidence)
	value := (c.head - c.base) / float64(c.n)
	return c.stretch(raw, value, z*c.relative*value, -1, 1)
}

func (c *correction) stretch(raw stats.Estimate, value, ofLabels, low, high float64) stats.Estimate {
	clamp := func(v float64) float64 { return min(high, max(low, v)) }
	return stats.Estimate{Value: clamp(value), Interval: stats.Interval{
		Low:  clamp(value - math.Hypot((raw.Value-raw.Low)*c.scale, ofLabels)),
		High: clamp(value + math.Hypot((raw.High-raw.Value)*c.scale, ofLabels)),
	}}
}
