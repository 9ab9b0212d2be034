package stats

import "math"

// minEffective is the effective size from which a weighted share has an interval from its
// standard error, and not that of [WilsonEffective].
const minEffective = 30

// Weighted adds up yes-or-no items that were sampled with unequal probabilities, each with
// the inverse of its probability as its weight.
type Weighted struct {
	N                     int
	Weight, Yes           float64 // sums of weights, of all and of yes
	Squares, SquaresOfYes float64 // sums of squared weights
}

// leastProbability bounds the weight of one item.
const leastProbability = 1e-9

// Add takes an item that was sampled with a probability. One outside of 0 to 1 counts as
// 1, and one under 1e-9 as that.
func (w *Weighted) Add(yes bool, probability float64) {
	weight := 1.0
	if probability > 0 && probability < 1 {
		weight = 1 / max(leastProbability, probability)
	}
	w.N++
	w.Weight += weight
	w.Squares += weight * weight
	if yes {
		w.Yes += weight
		w.SquaresOfYes += weight * weight
	}
}

// Effective is Kish's effective size: (Σw)² / Σw².
func (w Weighted) Effective() float64 {
	if w.Squares <= 0 {
		return 0
	}
	return w.Weight * w.Weight / w.Squares
}

// Hajek estimates the share of yes in the population: Σ of the weights of yes / Σ of
// weights, with the linearised standard error, or with Wilson's interval where the
// effective size is under 30.
//
// Sources: J. Hájek, comment in "Foundations of Statistical Inference" (1971) 236; C.-E.
// Särndal, B. Swensson and J. Wretman, "Model Assisted Survey Sampling" (1992) section 5.7.
func (w Weighted) Hajek(confidence float64) (Estimate, error) {
	z, err := quantile(confidence)
	switch {
	case err != nil:
		return Estimate{}, err
	case w.N < 1 || !(w.Weight > 0) || math.IsInf(w.Squares, 1) || w.Yes < 0 || w.Yes > w.Weight*(1+1e-9):
		return Estimate{}, inputError("%+v", w)
	}
	share := min(1, w.Yes/w.Weight)
	if n := w.Effective(); n < minEffective {
		return Estimate{share, wilson(share, n, z)}, nil
	}
	no := max(0, w.Squares-w.SquaresOfYes)
	half := z * math.Sqrt(w.SquaresOfYes*square(1-share)+no*square(share)) / w.Weight
	if half == 0 { // all the same
		return Estimate{share, wilson(share, w.Effective(), z)}, nil
	}
	return Estimate{share, Interval{share - half, share + half}.clamp(0, 1, share)}, nil
}
