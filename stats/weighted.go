package stats

import "math"

// minEffective is the effective size from which the interval of a weighted share comes from
// its standard error. Below it, [WilsonEffective] is used.
const minEffective = 30

// Weighted adds up yes-or-no items that were sampled with unequal probabilities, each with
// the inverse of its probability as its weight.
type Weighted struct {
	N                     int
	Weight, Yes           float64 // sums of the weights of all items and of the yes items
	Squares, SquaresOfYes float64 // sums of their squared weights
}

// leastProbability bounds the weight of one item.
const leastProbability = 1e-9

// Add records an item that was sampled with a probability. A probability outside 0 to 1
// counts as 1, and one below 1e-9 as 1e-9.
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

// Effective returns Kish's effective size: (Σw)² / Σw².
func (w Weighted) Effective() float64 {
	if w.Squares <= 0 {
		return 0
	}
	return w.Weight * w.Weight / w.Squares
}

// Hajek estimates the share of yes in the population: the sum of the weights of yes items
// divided by the sum of all weights. Its interval comes from the linearised standard error,
// or is Wilson's if the effective size is under 30.
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
	if half == 0 { // all items are equal
		return Estimate{share, wilson(share, w.Effective(), z)}, nil
	}
	return Estimate{share, Interval{share - half, share + half}.clamp(0, 1, share)}, nil
}
