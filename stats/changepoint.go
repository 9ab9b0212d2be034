package stats

import "math"

// Failure is a failed item of a sequence in which the failure rate may have risen.
type Failure struct {
	Before   int     // items before it
	Expected float64 // failures expected among them in control
}

// Rise is where the failure rate of a sequence rose. Places are indexes of failures: the
// rise is after the previous failure and not later than the failure at the place.
type Rise struct {
	Best      int     // the most likely place
	Low, High int     // the first and last place that are nearly as likely
	Gain      float64 // log likelihood ratio of a rise at Best, in nats
}

// riseSlack is how much less likely than the best place, in nats, a place may be. On each
// side, the log likelihood exceeds that of the true place by x somewhere with a probability
// of at most exp(−x); 3.7 leaves 5 % for both sides. Source: D. V. Hinkley, "Inference
// about the change-point in a sequence of random variables", Biometrika 57 (1970) 1-17.
// change-point in a sequence of random variables", Biometrika 57 (1970) 1-17.
const riseSlack = 3.7

// LocateRise finds where the failure rate of a sequence rose. It uses the generalised
// likelihood ratio of all items since each failure against their in-control expectation.
// items and expected are the totals of the sequence.
func LocateRise(failures []Failure, items int, expected float64) (Rise, error) {
	if len(failures) == 0 {
		return Rise{}, inputError("no failures")
	}
	gain := make([]float64, len(failures))
	best := 0
	for i, f := range failures {
		n, x, e := float64(items-f.Before), float64(len(failures)-i), expected-f.Expected
		if n < x || f.Before < 0 || !isFinite(e) {
			return Rise{}, inputError("%v failures of %v items, %v expected", x, n, e)
		}
		e = min(n, max(e, math.SmallestNonzeroFloat64))
		if x > e {
			gain[i] = n * divergence(x/n, e/n)
		}
		if gain[i] > gain[best] {
			best = i
		}
	}
	r := Rise{Best: best, Low: best, High: best, Gain: gain[best]}
	for i, g := range gain {
		if g >= gain[best]-riseSlack {
			r.Low, r.High = min(r.Low, i), max(r.High, i)
		}
	}
	return r, nil
}
