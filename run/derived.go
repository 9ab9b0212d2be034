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
	"github.com/proviso-eval/proviso/internal/jstoken"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/value"
)

// metrics computes the derived metrics of each column from the sums of its
// named scores and __count, the number of rows so far.
//
// promptfoo evaluates every expression after every row. So an expression that reads itself or a
// later one sees that value after the previous row. Only for such expressions are the rows
// evaluated one by one, in index order. For all others, one evaluation at the end gives the
// same result.
type metrics struct {
	p       *Plan
	derived []proviso.DerivedMetric
	replay  bool
	columns []columnMetrics

	problems []string // errors of functions
}

type columnMetrics struct {
	sums *value.Object
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
		if !isFunction(d) || p.metricCode[d.Name] != nil { // with --skip-unsupported a function may have no value
			m.derived = append(m.derived, d)
		}
	}
	for i := range m.columns {
		m.columns[i].sums = value.NewObject(0)
	}
	m.replay = readsBack(m.derived)
	return m
}

var symbol = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[\pL_$][\pL\pN_$]*`) })

// readsBack reports whether an expression uses its own name or a later one's.
// Functions see the sums at the end.
func readsBack(derived []proviso.DerivedMetric) bool {
	for i, d := range derived {
		if isFunction(d) {
			continue
		}
		used := symbol().FindAllString(d.Value, -1)
		for _, later := range derived[i:] {
			if slices.Contains(used, later.Name) {
				return true
			}
		}
	}
	return false
}

// add adds the named scores of a finished row.
func (m *metrics) add(index int, res *proviso.Result) {
	if len(m.derived) == 0 {
		return
	}
	c := &m.columns[res.PromptIdx]
	c.rows++
	if !scored(res) {
		res = &proviso.Result{} // the row counts, but its scores do not
	}
	if m.replay {
		c.log = append(c.log, rowScores{index, res.Aggregate.Named})
		return
	}
	sum(c.sums, res.Aggregate.Named)
}

// addRow adds the named scores of a row from an earlier run.
func (m *metrics) addRow(index int, row *value.Object) {
	column, _ := row.At("promptIdx").(float64)
	if len(m.derived) == 0 || int(column) >= len(m.columns) {
		return
	}
	res := &proviso.Result{PromptIdx: int(column)}
	res.Aggregate.Status = proviso.Pass
	if row.At("verdict") == "error" || report.Unscored(row) {
		res.Aggregate.Status = proviso.Errored
	}
	scores, _ := row.At("namedScores").(*value.Object)
	weights, _ := row.At("namedScoreWeights").(*value.Object)
	for name, v := range scores.All() {
		n := proviso.NamedScore{Name: name, Value: value.ToNumber(v), Weight: 1}
		if w, ok := weights.At(name).(float64); ok {
			n.Weight = w
		}
		res.Aggregate.Named = append(res.Aggregate.Named, n)
	}
	m.add(index, res)
}

func sum(sums *value.Object, named []proviso.NamedScore) {
	for _, n := range named {
		before, _ := sums.At(n.Name).(float64)
		sums.Set(n.Name, before+n.Value*n.Weight)
	}
}

// finish evaluates the expressions and stores their values in the summary.
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
				m.evaluate(ctx, i, n+1, n+1 == len(c.log))
			}
		} else if c.rows > 0 {
			m.evaluate(ctx, i, c.rows, true)
		}
		for _, d := range m.derived {
			if v, ok := c.sums.Get(d.Name); ok {
				s.SetDerived(i, d.Name, v)
			}
		}
	}
}

// evaluate sets every derived metric of a column. An expression that fails, for
// example because it uses a metric that no row had, keeps its previous value, 0
// at first. Functions are called only at the end.
func (m *metrics) evaluate(ctx context.Context, column, rows int, end bool) {
	scope := m.columns[column].sums
	for _, d := range m.derived {
		if !scope.Has(d.Name) {
			scope.Set(d.Name, 0.0)
		}
		in := scope.Clone()
		in.Set("__count", float64(rows))
		v, err := any(nil), error(nil)
		switch {
		case !isFunction(d):
			v, err = m.p.o.Metrics.Eval(ctx, d.Value, in)
		case end:
			v, err = m.call(ctx, d, column, in)
		default:
			continue
		}
		if err == nil {
			scope.Set(d.Name, v)
		}
	}
}

// call calls the function of a metric with the sums and their context.
func (m *metrics) call(ctx context.Context, d proviso.DerivedMetric, column int, scores *value.Object) (any, error) {
	col := &m.p.columns[column]
	about := value.ObjectOf("prompt", value.ObjectOf("raw", col.prompt.Raw, "label", col.prompt.Label), "provider", providerOf(col.spec))
	v, err := m.p.metricCode[d.Name].Call(ctx, scores, about)
	if err == nil && !isScore(v) {
		err = proviso.Errorf(proviso.Undecided, "%s must return a number, found %s", short(d.Value), found(v))
	}
	if err != nil {
		problem := fmt.Sprintf("derived metric %q: %v", d.Name, err)
		if !slices.Contains(m.problems, problem) {
			m.problems = append(m.problems, problem)
		}
	}
	return v, err
}

// isScore reports whether a value is a valid metric.
func isScore(v any) bool {
	switch v.(type) {
	case float64, bool, string:
		return true
	}
	return false
}

// isFunction reports whether a derived metric is a function.
func isFunction(d proviso.DerivedMetric) bool {
	return strings.HasPrefix(d.Value, "file://") || jstoken.IsFunction(d.Value)
}

// checkDerived finds mistakes in the expressions.
func (p *Plan) checkDerived() {
	for _, d := range p.Suite.Derived {
		if isFunction(d) {
			p.openMetric(d)
			continue
		}
		if err := p.o.Metrics.Check(d.Value); err != nil {
			e := &proviso.Error{Code: proviso.Invalid, Pointer: d.Pointer + "/value", Message: fmt.Sprintf("derived metric %q", d.Name), Err: err}
			e.Warning = p.Suite.Lenient // its value stays 0
			p.mistake(e)
		}
	}
}

// openMetric compiles a metric that is a function.
func (p *Plan) openMetric(d proviso.DerivedMetric) {
	fn, err := p.compiler.Metric(d.Value)
	if err != nil {
		e := proviso.WithPointer("", err)
		mistake := proviso.Because(err, e.Code, "derived metric %q: %v", d.Name, err)
		mistake.Pointer, mistake.Valid = d.Pointer+"/value", e.Valid
		p.mistake(mistake)
		return
	}
	if p.metricCode == nil {
		p.metricCode = map[string]proviso.Function{}
	}
	p.metricCode[d.Name] = fn
}
