package gate

import (
	"math"

	"github.com/proviso-eval/proviso/stats"
)

// confidence is the confidence level of every interval in a [Comparison].
const confidence = 0.95

// series are the paired results of one assertion, or of the suite.
type series struct {
	base, head             []float64 // mean of each case, from 0 to 1
	cluster                []int     // cluster of each case, numbered over the comparison
	baseTrials, headTrials int       // number of verdicts behind the means
}

func (s *series) add(base, head float64, cluster, baseTrials, headTrials int) {
	s.base = append(s.base, base)
	s.head = append(s.head, head)
	s.cluster = append(s.cluster, cluster)
	s.baseTrials += baseTrials
	s.headTrials += headTrials
}

// clusters renumbers the clusters that occur, from 0. It returns nil if every cluster has
// one case. A suite may have one assertion for each of thousands of cases, so the work
// must depend on the cases of the series, not on those of the comparison.
func (s *series) clusters() []int {
	ascending := true
	for i := 1; i < len(s.cluster) && ascending; i++ {
		ascending = s.cluster[i] > s.cluster[i-1]
	}
	if ascending { // clusters of one case are numbered in order of occurrence
		return nil
	}
	number := map[int]int{}
	list := make([]int, len(s.cluster))
	for i, c := range s.cluster {
		n, ok := number[c]
		if !ok {
			n = len(number)
			number[c] = n
		}
		list[i] = n
	}
	if len(number) == len(list) {
		return nil
	}
	return list
}

// worse returns base − head for each independent unit, summed over its cases. Equal
// rounding of the means on both sides cancels.
func (s *series) worse() []float64 {
	clusters := s.clusters()
	list := make([]float64, len(s.base))
	units := 0
	for i := range s.base {
		c := i
		if clusters != nil {
			c = clusters[i]
		}
		list[c] += s.base[i] - s.head[i]
		units = max(units, c+1)
	}
	list = list[:units]
	for i, d := range list {
		if math.Abs(d) < 1e-9 {
			list[i] = 0
		}
	}
	return list
}

// summary returns the summary of head and base, in this order, so that its difference is
// head minus base.
func (s *series) summary() (stats.PairedSummary, error) {
	return stats.PairedMeans{
		First: s.head, Second: s.base, Cluster: s.clusters(),
		FirstTrials: s.headTrials, SecondTrials: s.baseTrials,
	}.Summary()
}

// units returns the effective number of clusters.
func (s *series) units() float64 {
	clusters := s.clusters()
	if clusters == nil {
		return float64(len(s.base))
	}
	sizes, squares := map[int]float64{}, 0.0
	for _, c := range clusters {
		sizes[c]++
	}
	for _, n := range sizes {
		squares += n * n
	}
	n := float64(len(s.base))
	return n * n / squares
}

// effect returns the rates and their difference at 95 %. Without pairs the values are NaN
// and the intervals cover all possible values.
func (s *series) effect() (Effect, error) {
	e := Effect{Pairs: len(s.base), Units: s.units()}
	if e.Pairs == 0 {
		e = Effect{Base: noFigure(), Head: noFigure()}
		e.Difference = stats.Estimate{Value: math.NaN(), Interval: stats.Interval{Low: -1, High: 1}}
		return e, nil
	}
	summary, err := s.summary()
	if err != nil {
		return e, err
	}
	head, base, err := summary.Means(confidence)
	if err != nil {
		return e, err
	}
	e.Head, e.Base = Figure{head, e.Pairs}, Figure{base, e.Pairs}
	e.Difference, err = summary.Difference(confidence)
	return e, err
}

func noFigure() Figure {
	return Figure{Estimate: stats.Estimate{Value: math.NaN(), Interval: stats.Interval{Low: 0, High: 1}}}
}

// changed reports whether a share of passing repeats fell or rose by more than half: with
// one repeat, whether the verdict flipped.
func changed(base, head float64) (broke, fixed bool) {
	return head-base < -0.5, head-base > 0.5
}
