package stats

import "math"

// Rates are the rates of a judge whose verdicts were partly verified by people. A rate
// is nil if it is undefined, because its denominator is 0.
type Rates struct {
	TPR, TNR            *Estimate
	Kappa               *Estimate
	Agreement, BaseRate float64
}

// PartlyVerified returns the rates of a judge from labels that were sampled separately
// from its passes and its fails. Plain shares of such labels are biased: a sample with
// too many fails makes the TNR too high and the TPR too low. judged counts all verdicts,
// including the labelled ones. A verdict without any labels is assumed to be right, and
// the intervals cover the full uncertainty.
//
// The rates are those of C. B. Begg and R. A. Greenes, "Assessment of diagnostic
// tests when disease verification is subject to selection bias", Biometrics 39
// (1983) 207-215. The intervals combine, by the method of variance estimates recovery
// (Zou and Donner, see [PostStratified]), how far Wilson's limits of the share of passes
// and of the two shares of good outputs move each rate, so that they stay valid if a cell
// of the table is empty.
func PartlyVerified(judged Count, passed, failed Stratum, confidence float64) (Rates, error) {
	s, z, err := newStrata(judged, passed, failed, confidence)
	if err != nil {
		return Rates{}, err
	}
	q := s.passShare
	r := Rates{Agreement: q*s.passed.Share + (1-q)*(1-s.failed.Share), BaseRate: q*s.passed.Share + (1-q)*s.failed.Share}
	r.TPR = s.recovered(z, 0, func(q, a, b float64) float64 { return q * a / (q*a + (1-q)*b) })
	r.TNR = s.recovered(z, 0, func(q, a, b float64) float64 { return (1 - q) * (1 - b) / (q*(1-a) + (1-q)*(1-b)) })
	r.Kappa = s.recovered(z, -1, func(q, a, b float64) float64 {
		base := q*a + (1-q)*b
		chance := q*base + (1-q)*(1-base)
		return (q*a + (1-q)*(1-b) - chance) / (1 - chance)
	})
	return r, nil
}

// recovered returns a rate as a function of three shares: passes, good outputs among
// passes, and good outputs among fails. The rate is between low and 1.
func (s strata) recovered(z, low float64, rate func(q, a, b float64) float64) *Estimate {
	q, a, b := s.passShare, s.passed.Share, s.failed.Share
	value := rate(q, a, b)
	if !isFinite(value) {
		return nil
	}
	down, up := 0.0, 0.0 // squares of how far each share's limits move the rate
	moved := func(low, high float64) {
		if !isFinite(low) || !isFinite(high) {
			low, high = value, value // the limit is at the end of the possible range
		}
		down += square(value - min(low, high, value))
		up += square(max(low, high, value) - value)
	}
	iq, ia, ib := wilson(q, s.n, z), wilson(a, s.passed.Size, z), wilson(b, s.failed.Size, z)
	moved(rate(iq.Low, a, b), rate(iq.High, a, b))
	moved(rate(q, ia.Low, b), rate(q, ia.High, b))
	moved(rate(q, a, ib.Low), rate(q, a, ib.High))
	i := Interval{Low: value - math.Sqrt(down), High: value + math.Sqrt(up)}.clamp(low, 1, value)
	return &Estimate{Value: value, Interval: i}
}
