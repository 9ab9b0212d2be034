package stats_test

import (
	"math"

	"github.com/proviso-eval/proviso/stats"
)

// predictionPowered estimates the mean of human values from a few outputs with both a human
// value and a prediction, and many with only a prediction. [stats.PostStratified] must
// agree with it. It also returns the weight of the predictions.
//
// Source: A. N. Angelopoulos, J. C. Duchi and T. Zrnic, "PPI++: Efficient
// Prediction-Powered Inference", arXiv 2311.01453, section 6.
func predictionPowered(human, predicted, unlabelled []float64) (e stats.Estimate, tuning float64) {
	n, all := float64(len(human)), float64(len(unlabelled))
	meanHuman, meanPredicted, meanUnlabelled := mean(human), mean(predicted), mean(unlabelled)
	covariance := 0.0
	for i := range human {
		covariance += (human[i] - meanHuman) * (predicted[i] - meanPredicted) / n
	}
	pooled := (n*meanPredicted + all*meanUnlabelled) / (n + all)
	if spread := (sumOfSquares(predicted, pooled) + sumOfSquares(unlabelled, pooled)) / (n + all); spread > 0 {
		tuning = min(1, max(0, covariance/((1+n/all)*spread)))
	}
	residual := make([]float64, len(human))
	for i := range human {
		residual[i] = human[i] - tuning*predicted[i]
	}
	e.Value = tuning*meanUnlabelled + mean(residual)
	variance := sumOfSquares(residual, mean(residual))/(n*n) + tuning*tuning*sumOfSquares(unlabelled, meanUnlabelled)/(all*all)
	half := 1.959963984540054 * math.Sqrt(variance) // of 95 %
	e.Interval = stats.Interval{Low: e.Value - half, High: e.Value + half}
	return e, tuning
}

func mean(list []float64) float64 {
	sum := 0.0
	for _, v := range list {
		sum += v / float64(len(list))
	}
	return sum
}

func sumOfSquares(list []float64, middle float64) float64 {
	sum := 0.0
	for _, v := range list {
		sum += (v - middle) * (v - middle)
	}
	return sum
}
