package gate

import (
	"math"
	"slices"

	"github.com/proviso-eval/proviso/stats"
)

// spent adds the cost, tokens and latency of a pair, if the value of every row is known.
func (w *work) spent(p pairRows, cluster int) {
	add := func(to *series, of func(*Row) float64) {
		base, head := meanOf(p.base.rows, of), meanOf(p.head.rows, of)
		if math.IsNaN(base) || math.IsNaN(head) || math.IsInf(base, 0) || math.IsInf(head, 0) {
			return
		}
		to.add(base, head, cluster, len(p.base.rows), len(p.head.rows))
	}
	add(&w.cost, func(r *Row) float64 { return r.Cost })
	add(&w.tokens, func(r *Row) float64 { return float64(r.Tokens) })
	add(&w.latency, func(r *Row) float64 { return r.LatencyMS })
}

func meanOf(rows []*Row, of func(*Row) float64) float64 {
	sum := 0.0
	for _, r := range rows {
		sum += of(r)
	}
	return sum / float64(len(rows))
}

// spending compares the medians. A figure that is 0 in every row of a side counts as
// unknown.
func (c *Comparison) spending(w *work) error {
	c.cost, c.latency = w.cost, w.latency
	for _, x := range []struct {
		to   **Effect
		from *series
	}{{&c.Cost, &w.cost}, {&c.Tokens, &w.tokens}, {&c.Latency, &w.latency}} {
		zero := func(v float64) bool { return v == 0 }
		if all(x.from.base, zero) || all(x.from.head, zero) {
			continue
		}
		e, err := x.from.medians(confidence)
		if err != nil {
			return err
		}
		*x.to = &e
	}
	return nil
}

func all(list []float64, is func(float64) bool) bool {
	return !slices.ContainsFunc(list, func(v float64) bool { return !is(v) })
}

// medians compares the medians, head minus base.
func (s *series) medians(confidence float64) (Effect, error) {
	n := len(s.base)
	e := Effect{Pairs: n, Units: s.units()}
	head, base, difference, err := stats.PairedMedians(s.head, s.base, float64(n)/e.Units, confidence)
	if err != nil {
		return e, err
	}
	e.Base, e.Head, e.Difference = Figure{base, n}, Figure{head, n}, difference
	return e, nil
}
