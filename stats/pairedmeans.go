package stats

import "math"

// PairedMeans are the results of the same cases in two runs. A result is between 0 and 1:
// a verdict, or a mean over repeats or assertions.
type PairedMeans struct {
	First, Second []float64
	// Cluster numbers the cluster of each case from 0. Cases of one cluster are not
	// independent. nil means that each case is a cluster of its own.
	Cluster []int
	// The trials are the numbers of verdicts behind all results of each run. They bound the
	// effective size from above; a value below the number of cases counts as that number.
	FirstTrials, SecondTrials int
}

// PairedSummary has what an interval for the difference of two paired means needs.
type PairedSummary struct {
	First, Second         float64 // means over cases
	FirstSize, SecondSize float64 // number of independent verdicts that would be as precise
	Correlation           float64 // of the results of a case, or of a cluster
	Correction            float64 // reduction of a positive correlation

	// Scores means that some result is neither 0 nor 1. The interval then uses the mean
	// gains and losses of the cases from second to first.
	Scores             bool
	Gain, Loss         float64
	GainSize, LossSize float64
	ChangeCorrelation  float64 // between gain and loss of a case, or of a cluster
}

// Summary returns the means with their effective sizes. The effective size of a mean p is
// p(1−p) / Var(p), with the variance between clusters. It is at least the number of
// clusters (Kish's effective number if their sizes differ) and at most the number of
// verdicts.
//
// Sources: C. Franco, R. J. A. Little, T. A. Louis and E. V. Slud, "Comparative Study of
// Confidence Intervals for Proportions in Complex Sample Surveys", Journal of Survey
// Statistics and Methodology 7 (2019) 334-364; L. Kish, "Survey Sampling" (1965).
func (p PairedMeans) Summary() (PairedSummary, error) {
	n := len(p.First)
	switch {
	case n == 0:
		return PairedSummary{}, inputError("no pairs")
	case len(p.Second) != n || p.Cluster != nil && len(p.Cluster) != n:
		return PairedSummary{}, inputError("%d results, %d results and %d clusters of the same cases", n, len(p.Second), len(p.Cluster))
	}
	first, err := newClusteredMean(p.First, p.Cluster)
	if err != nil {
		return PairedSummary{}, err
	}
	second, err := newClusteredMean(p.Second, p.Cluster)
	if err != nil {
		return PairedSummary{}, err
	}
	s := PairedSummary{
		First: first.mean, FirstSize: effectiveSize(p.FirstTrials, first),
		Second: second.mean, SecondSize: effectiveSize(p.SecondTrials, second),
	}
	product := 0.0
	for i, d := range first.deviations {
		product += d * second.deviations[i]
	}
	if first.squares > 0 && second.squares > 0 {
		s.Correlation = min(1, max(-1, product/math.Sqrt(first.squares*second.squares)))
		s.Correction = 1 / (2 * first.units * math.Sqrt(first.variance*second.variance))
	}
	return s, p.changes(&s)
}

// changes sets the gains and losses of the cases.
func (p PairedMeans) changes(s *PairedSummary) error {
	gains, losses := make([]float64, len(p.First)), make([]float64, len(p.First))
	for i, first := range p.First {
		second := p.Second[i]
		s.Scores = s.Scores || first > 0 && first < 1 || second > 0 && second < 1
		if d := first - second; math.Abs(d) > 1e-9 { // means of equal verdicts may differ by rounding
			gains[i], losses[i] = max(0, d), max(0, -d)
		}
	}
	gain, err := newClusteredMean(gains, p.Cluster)
	if err != nil {
		return err
	}
	loss, err := newClusteredMean(losses, p.Cluster)
	if err != nil {
		return err
	}
	s.Gain, s.Loss = gain.mean, loss.mean
	trials := min(p.FirstTrials, p.SecondTrials)
	both := effectiveSize(trials, gain, loss)
	s.GainSize, s.LossSize = both, both
	if s.Gain > 0 {
		s.GainSize = min(both, effectiveSize(trials, gain))
	}
	if s.Loss > 0 {
		s.LossSize = min(both, effectiveSize(trials, loss))
	}
	product := 0.0
	for i, d := range gain.deviations {
		product += d * loss.deviations[i]
	}
	if gain.squares > 0 && loss.squares > 0 {
		s.ChangeCorrelation = min(1, max(-1, product/math.Sqrt(gain.squares*loss.squares)))
	}
	return nil
}

// Difference returns first − second with the hybrid score interval. For verdicts of
// independent cases it equals [NewcombePaired]. For verdicts in clusters the limits of each
// mean are Wilson's with its effective size, and the correlation is that of the means.
//
// For scores, the difference is the mean gain minus the mean loss, and the interval
// combines Wilson's limits of these two. The interval cannot use the means themselves: a
// part of the score that is the same in all cases, such as an assertion that always fails,
// has no variance and so no correlation. It would widen the interval although it cancels in
// each difference. The effective size of gain and loss is that of both together, or its own
// if that is smaller, because a side without changes alone has no information about its
// effective size.
//
// Sources: R. G. Newcombe, "Improved confidence intervals for the difference between
// binomial proportions based on paired data", Statistics in Medicine 17 (1998)
// 2635-2650, method 10; G. Y. Zou and A. Donner, "Construction of confidence limits about
// effect measures", Statistics in Medicine 27 (2008) 1693-1702.
func (s PairedSummary) Difference(confidence float64) (Estimate, error) {
	z, err := quantile(confidence)
	if err != nil {
		return Estimate{}, err
	}
	if s.Scores {
		e := squareAndAdd(s.Gain, s.Loss, wilson(s.Gain, s.GainSize, z), wilson(s.Loss, s.LossSize, z), s.ChangeCorrelation)
		e.Value = s.First - s.Second
		return e, nil
	}
	correlation := s.Correlation
	if correlation > 0 {
		correlation = max(0, correlation-s.Correction)
	}
	return squareAndAdd(s.First, s.Second, wilson(s.First, s.FirstSize, z), wilson(s.Second, s.SecondSize, z), correlation), nil
}

// Means returns both means with Wilson's intervals for their effective sizes.
func (s PairedSummary) Means(confidence float64) (first, second Estimate, err error) {
	z, err := quantile(confidence)
	if err != nil {
		return Estimate{}, Estimate{}, err
	}
	return Estimate{s.First, wilson(s.First, s.FirstSize, z)}, Estimate{s.Second, wilson(s.Second, s.SecondSize, z)}, nil
}

// Times returns the expected summary for factor times as many cases that are like the
// existing ones.
func (s PairedSummary) Times(factor float64) PairedSummary {
	s.FirstSize *= factor
	s.SecondSize *= factor
	s.Correction /= factor
	s.GainSize *= factor
	s.LossSize *= factor
	return s
}

// clusteredMean is a mean with the deviations of its clusters.
type clusteredMean struct {
	n, mean    float64
	units      float64   // effective number of clusters
	variance   float64   // between cases
	deviations []float64 // sums over clusters of result − mean
	squares    float64   // sum of squared deviations
}

func newClusteredMean(values []float64, cluster []int) (clusteredMean, error) {
	m := clusteredMean{n: float64(len(values))}
	clusters := len(values)
	if cluster != nil {
		clusters = 0
		for _, c := range cluster {
			if c < 0 || c >= len(values) {
				return m, inputError("cluster %d of %d cases", c, len(values))
			}
			clusters = max(clusters, c+1)
		}
	}
	for _, v := range values {
		if !(v >= 0 && v <= 1) {
			return m, inputError("result %v is not between 0 and 1", v)
		}
		m.mean += v
	}
	m.mean = min(1, m.mean/m.n)
	m.deviations = make([]float64, clusters)
	sizes := make([]float64, clusters)
	for i, v := range values {
		c := i
		if cluster != nil {
			c = cluster[i]
		}
		m.deviations[c] += v - m.mean
		m.variance += square(v-m.mean) / m.n
		sizes[c]++
	}
	squares := 0.0
	for c, d := range m.deviations {
		m.squares += d * d
		squares += sizes[c] * sizes[c]
	}
	m.units = m.n * m.n / squares
	return m, nil
}

// effectiveSize returns the pooled effective size of means of the same cases.
func effectiveSize(trials int, means ...clusteredMean) float64 {
	first := means[0]
	most := max(first.n, float64(trials))
	bernoulli, squares := 0.0, 0.0
	for _, m := range means {
		bernoulli += m.mean * (1 - m.mean)
		squares += m.squares
	}
	if bernoulli <= 0 || first.units <= 1 {
		return first.units
	}
	variance := squares / (first.n * first.n) * first.units / (first.units - 1)
	return max(first.units, min(most, bernoulli/variance))
}
