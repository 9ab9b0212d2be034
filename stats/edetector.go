package stats

import "math"

// detectorOdds are the odds ratios that an [EDetector] bets on: the odds of a failure after
// the change, divided by those in control.
var detectorOdds = [...]float64{1.3, 1.7, 2.2, 3, 5, 9}

// detectorLimit bounds each sum of an [EDetector], so that the mean stays finite.
const detectorLimit = 1e300

// EDetector watches a sequence of passes and failures for a rise of the failure rate. It is
// the mean of Shiryaev-Roberts sums M ← (M + weight)·f, one for each of six odds ratios k,
// where f is (k if it failed, else 1) / (1 − p + k·p), and p the in-control probability of
// that item. The zero value is ready to use.
//
// Value − Σ weight is a martingale as long as the items fail with at most their in-control
// probabilities given the past. An alarm at Value ≥ A is therefore false, on average, only
// after items with a total weight of at least A. Items need not be identically distributed
// or independent. A weight may depend on anything known before its item.
//
// Source: J. Shin, A. Ramdas and A. Rinaldo, "E-detectors: a nonparametric framework
// for sequential change detection", New England Journal of Statistics in Data Science 2
// (2024) 229-260.
type EDetector struct {
	Sums [len(detectorOdds)]float64
}

// Add records the next item. It clamps p to 0 to 1, and a negative weight to 0.
func (d *EDetector) Add(failed bool, p, weight float64) {
	p, weight = min(1, max(0, p)), max(0, weight)
	for i, k := range detectorOdds {
		f := 1 / (1 - p + k*p)
		if failed {
			f *= k
		}
		d.Sums[i] = min(detectorLimit, (d.Sums[i]+weight)*f)
	}
}

// Value is the evidence for a rise, in units of the weights.
func (d *EDetector) Value() float64 {
	sum := 0.0
	for _, m := range d.Sums {
		sum += m / float64(len(d.Sums))
	}
	return sum
}

// divergence is the Kullback-Leibler divergence: the mean log likelihood ratio of an item,
// in nats, if the true share is p and the assumed share is q.
func divergence(p, q float64) float64 {
	part := func(a, b float64) float64 {
		switch {
		case a <= 0:
			return 0
		case b <= 0:
			return math.Inf(1)
		}
		return a * math.Log(a/b)
	}
	return max(0, part(p, q)+part(1-p, 1-q))
}

// DetectionDelay approximates the mean number of items from a change until an [EDetector]
// with unit weights reaches a threshold. After the change items fail with probability
// changed, before it with at most inControl. It is within 25 % of simulations
// (TestDetectionDelay) for rates of 0.01 to 0.2, increases by a factor of 1.5 to 5 and
// thresholds of 3,000 to 300,000. A change too small to stand out takes as long as a false
// alarm.
func DetectionDelay(inControl, changed, threshold float64) float64 {
	gain := divergence(changed, inControl)
	if changed <= inControl || gain == 0 {
		return threshold
	}
	top := detectorOdds[len(detectorOdds)-1]
	fastest := math.Log(threshold*float64(len(detectorOdds))) / math.Log(top/(1-inControl+top*inControl))
	return min(threshold, max(math.Log(1+0.45*threshold*gain)/gain, fastest, 1))
}

// SmallestChange returns the smallest failure rate that an [EDetector] with unit weights
// detects within a number of items, on average. ok is false if it would not detect even a
// failure rate of 1 in time.
func SmallestChange(inControl, threshold, items float64) (changed float64, ok bool) {
	if !(items >= DetectionDelay(inControl, 1, threshold)) || inControl >= 1 {
		return 0, false
	}
	low, high := inControl, 1.0
	for range 60 {
		if middle := (low + high) / 2; DetectionDelay(inControl, middle, threshold) <= items {
			high = middle
		} else {
			low = middle
		}
	}
	return high, true
}
