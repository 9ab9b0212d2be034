package stats

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Bootstrap computes intervals for statistics of clustered cases, such as several questions
// on one document or several samples of one case. Outcomes in a cluster are not
// independent, so it resamples whole clusters.
type Bootstrap struct {
	Replicates int     // 2000 if 0; at most 1,000,000
	Confidence float64 // such as 0.95
	Seed       uint64  // equal seeds draw the same samples
}

// Limits of a bootstrap.
const (
	maxReplicates     = 1_000_000
	defaultReplicates = 2000
)

// Interval returns the statistic of all clusters with its BCa interval
// (bias-corrected and accelerated). statistic gets the indexes of the sampled clusters,
// possibly with repetitions, and must not keep the slice. If every sample has the same
// value, the bias is undefined and the interval is that single value. It is then too narrow
// for a share of 0 or 1; use [Wilson] there.
//
// Sources: B. Efron, "Better Bootstrap Confidence Intervals", JASA 82 (1987)
// 171-185; resampling of clusters: C. A. Field and A. H. Welsh, "Bootstrapping
// clustered data", JRSS B 69 (2007) 369-390.
func (b Bootstrap) Interval(clusters int, statistic func(sample []int) float64) (Estimate, error) {
	_, err := quantile(b.Confidence)
	replicates := b.Replicates
	if replicates == 0 {
		replicates = defaultReplicates
	}
	switch {
	case err != nil:
		return Estimate{}, err
	case clusters < 2:
		return Estimate{}, inputError("%d clusters; at least 2 are needed", clusters)
	case replicates < 2 || replicates > maxReplicates:
		return Estimate{}, inputError("%d replicates are not between 2 and %d", replicates, maxReplicates)
	}
	sample := make([]int, clusters)
	for i := range sample {
		sample[i] = i
	}
	value := statistic(sample)
	acceleration, ok := jackknife(sample, statistic)
	random := rand.New(rand.NewPCG(b.Seed, b.Seed^0x9e3779b97f4a7c15))
	drawn := make([]float64, replicates)
	for i := range drawn {
		for j := range sample {
			sample[j] = random.IntN(clusters)
		}
		drawn[i] = statistic(sample)
		ok = ok && isFinite(drawn[i])
	}
	if !ok || !isFinite(value) {
		return Estimate{}, inputError("the statistic of a sample is not a number")
	}
	slices.Sort(drawn)
	return Estimate{Value: value, Interval: bca(drawn, value, acceleration, b.Confidence)}, nil
}

// jackknife leaves out each cluster in turn and returns the acceleration.
func jackknife(all []int, statistic func([]int) float64) (acceleration float64, ok bool) {
	values, mean := make([]float64, len(all)), 0.0
	rest := make([]int, 0, len(all))
	for i := range all {
		rest = append(append(rest[:0], all[:i]...), all[i+1:]...)
		values[i] = statistic(rest)
		if !isFinite(values[i]) {
			return 0, false
		}
		mean += values[i] / float64(len(all))
	}
	squares, cubes := 0.0, 0.0
	for _, v := range values {
		d := mean - v
		squares += d * d
		cubes += d * d * d
	}
	if squares == 0 {
		return 0, true
	}
	return cubes / (6 * math.Pow(squares, 1.5)), true
}

// bca returns the interval from sorted replicates.
func bca(drawn []float64, value, acceleration, confidence float64) Interval {
	below, _ := slices.BinarySearch(drawn, value)
	equal := 0
	for _, v := range drawn[below:] {
		if v != value {
			break
		}
		equal++
	}
	bias := normalQuantile((float64(below) + float64(equal)/2) / float64(len(drawn)))
	at := func(p float64) float64 {
		z := normalQuantile(p)
		if math.IsInf(bias, 0) { // the value lies outside of all samples
			return quantileOf(drawn, p)
		}
		return quantileOf(drawn, normalCDF(bias+(bias+z)/(1-acceleration*(bias+z))))
	}
	tail := (1 - confidence) / 2
	low, high := at(tail), at(1-tail)
	return Interval{Low: min(low, high), High: max(low, high)}
}

// quantileOf interpolates between sorted values.
func quantileOf(sorted []float64, p float64) float64 {
	at := min(max(p, 0), 1) * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

func isFinite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }
