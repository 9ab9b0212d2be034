package stats

import "math"

// Tuned is an estimate with the weight of the predictions in it.
type Tuned struct {
	Estimate
	Tuning float64 // from 0, predictions are of no use, to 1
}

// PredictionPowered estimates the mean of human values from a few outputs with both a
// human value and a prediction, such as a judge's score, and many outputs with a
// prediction only. The labelled outputs must be a random sample of the same population.
// The weight of the predictions minimizes the variance, so the interval is never much
// wider than with the labels alone, even if the predictions are poor. The interval uses a
// normal approximation, so it needs a few dozen labels; for pass and fail see
// [PostStratified].
//
// Sources: A. N. Angelopoulos, S. Bates, C. Fannjiang, M. I. Jordan and T. Zrnic,
// "Prediction-Powered Inference", Science 382 (2023) 669-674; A. N.
// Angelopoulos, J. C. Duchi and T. Zrnic, "PPI++: Efficient Prediction-Powered
// Inference", arXiv 2311.01453, section 6.
func PredictionPowered(human, predicted, unlabelled []float64, confidence float64) (Tuned, error) {
	z, err := quantile(confidence)
	switch {
	case err != nil:
		return Tuned{}, err
	case len(human) != len(predicted):
		return Tuned{}, inputError("%d labels for %d predictions", len(human), len(predicted))
	case len(human) < 2 || len(unlabelled) < 2:
		return Tuned{}, inputError("%d labelled and %d unlabelled outputs; at least 2 of each are needed", len(human), len(unlabelled))
	}
	for _, list := range [][]float64{human, predicted, unlabelled} {
		for _, v := range list {
			if !isFinite(v) {
				return Tuned{}, inputError("a value is %v", v)
			}
		}
	}
	n, all := float64(len(human)), float64(len(unlabelled))
	meanHuman, meanPredicted, meanUnlabelled := mean(human), mean(predicted), mean(unlabelled)
	covariance, tuning := 0.0, 0.0
	for i := range human {
		covariance += (human[i] - meanHuman) * (predicted[i] - meanPredicted) / n
	}
	pooled := (n*meanPredicted + all*meanUnlabelled) / (n + all)
	spread := (sumOfSquares(predicted, pooled, 1) + sumOfSquares(unlabelled, pooled, 1)) / (n + all)
	if spread > 0 {
		tuning = min(1, max(0, covariance/((1+n/all)*spread)))
	}
	residual := make([]float64, len(human))
	for i := range human {
		residual[i] = human[i] - tuning*predicted[i]
	}
	value := tuning*meanUnlabelled + mean(residual)
	variance := sumOfSquares(residual, mean(residual), 1)/(n*n) + sumOfSquares(unlabelled, meanUnlabelled, tuning)/(all*all)
	half := z * math.Sqrt(variance)
	if !isFinite(value) || !isFinite(half) {
		return Tuned{}, inputError("the values are too large")
	}
	return Tuned{Estimate{value, Interval{value - half, value + half}}, tuning}, nil
}

func mean(list []float64) float64 {
	sum := 0.0
	for _, v := range list {
		sum += v / float64(len(list))
	}
	return sum
}

// sumOfSquares sums the squared distances from a middle, each times a factor.
func sumOfSquares(list []float64, middle, factor float64) float64 {
	sum := 0.0
	for _, v := range list {
		sum += square(factor * (v - middle))
	}
	return sum
}
