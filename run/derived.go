package run

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/report"
)

// metrics computes the derived metrics of each column from the sums of its named
// scores and __count, the rows so far.
//
// promptfoo evaluates every expression after every row, so that an expression
// that reads itself, or one that stands below it, sees the row before. Only then
// are the rows gone over one by one, in index order; otherwise once, at the end,
// gives the same.
type metrics struct {
	p       *Plan
	derived []proviso.DerivedMetric
	replay  bool
	columns []columnMetrics
}

type columnMetrics struct {
	sums *proviso.Object
	rows int
	log  []rowScores // only for a replay
}

type rowScores struct {
	index int
	named []proviso.NamedScore
}

func newMetrics(p *Plan) *metrics {
	m := &metrics{p: p, columns: make([]columnMetrics, len(p.columns))}
	for _, d := range p.Suite.Derived {
		if !isFunction(d) { // with --skip-unsupported it has no value
			m.derived = append(m.derived, d)
		}
	}
	for i := range m.columns {
		m.columns[i].sums = proviso.NewObject(0)
	}
	m.replay = readsBack(m.derived)
	return m
}

var symbol = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[\pL_$][\pL\pN_$]*`) })

// readsBack reports whether an expression uses its own name or a later one's.
func readsBack(derived []proviso.DerivedMetric) bool {
	for i, d := range derived {
		used := symbol().FindAllString(d.Value, -1)
		for _, later := range derived[i:] {
			if slices.Contains(used, later.Name) {
				return true
			}
		}
	}
	return false
}

// add takes the named scores of a finished row.
func (m *metrics) add(index int, res *proviso.Result) {
	if len(m.derived) == 0 {
		return
	}
	c := &m.columns[res.PromptIdx]
	c.rows++
	if res.Aggregate.Status == proviso.Errored {
		res = &proviso.Result{} // its scores do not count, the row does
	}
	if m.replay {
		c.log = append(c.log, rowScores{index, res.Aggregate.Named})
		return
	}
	sum(c.sums, res.Aggregate.Named)
}

// addRow takes the named scores of a row that an earlier run kept.
func (m *metrics) addRow(index int, row *proviso.Object) {
	column, _ := row.At("promptIdx").(float64)
	if len(m.derived) == 0 || int(column) >= len(m.columns) {
		return
	}
	res := &proviso.Result{PromptIdx: int(column)}
	res.Aggregate.Status = proviso.Pass
	if row.At("verdict") == "error" {
		res.Aggregate.Status = proviso.Errored
	}
	scores, _ := row.At("namedScores").(*proviso.Object)
	weights, _ := row.At("namedScoreWeights").(*proviso.Object)
	for name, v := range scores.All() {
		n := proviso.NamedScore{Name: name, Value: proviso.ToNumber(v), Weight: 1}
		if w, ok := weights.At(name).(float64); ok {
			n.Weight = w
		}
		res.Aggregate.Named = append(res.Aggregate.Named, n)
	}
	m.add(index, res)
}

func sum(sums *proviso.Object, named []proviso.NamedScore) {
	for _, n := range named {
		before, _ := sums.At(n.Name).(float64)
		sums.Set(n.Name, before+n.Value*n.Weight)
	}
}

// finish evaluates the expressions and hands their values to the summary.
func (m *metrics) finish(ctx context.Context, s *report.Summary) {
	if len(m.derived) == 0 {
		return
	}
	for i := range m.columns {
		c := &m.columns[i]
		if m.replay {
			slices.SortFunc(c.log, func(a, b rowScores) int { return cmp.Compare(a.index, b.index) })
			for n, row := range c.log {
				sum(c.sums, row.named)
				m.evaluate(ctx, c.sums, n+1)
			}
		} else if c.rows > 0 {
			m.evaluate(ctx, c.sums, c.rows)
		}
		for _, d := range m.derived {
			if v, ok := c.sums.Get(d.Name); ok {
				s.SetDerived(i, d.Name, v)
			}
		}
	}
}

// evaluate sets every derived metric in scope. An expression that fails, such as
// on a metric that no row had, leaves the value it had, 0 at first.
func (m *metrics) evaluate(ctx context.Context, scope *proviso.Object, rows int) {
	for _, d := range m.derived {
		if !scope.Has(d.Name) {
			scope.Set(d.Name, 0.0)
		}
		in := scope.Clone()
		in.Set("__count", float64(rows))
		if v, err := m.p.o.Metrics.Eval(ctx, d.Value, in); err == nil {
			scope.Set(d.Name, v)
		}
	}
}

// isFunction reports whether a derived metric is written as code.
func isFunction(d proviso.DerivedMetric) bool { return strings.HasPrefix(d.Value, "file://") }

// checkDerived finds mistakes in the expressions.
func (p *Plan) checkDerived() {
	for _, d := range p.Suite.Derived {
		if isFunction(d) {
			p.mistake(&proviso.Error{Code: proviso.Unsupported, Pointer: d.Pointer, Message: "derived metrics written as functions are not supported in this version"})
			continue
		}
		if err := p.o.Metrics.Check(d.Value); err != nil {
			p.mistake(&proviso.Error{Code: proviso.Invalid, Pointer: d.Pointer + "/value", Message: fmt.Sprintf("derived metric %q", d.Name), Err: err})
		}
	}
}
