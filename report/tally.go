package report

import (
	"math"
	"slices"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// facts are a row's data for a summary.
type facts struct {
	index, column  int
	status         proviso.Status
	score          float64
	share          float64 // score of the assertion set if there is one, else of the row
	unscored       bool
	latencyMS      float64
	cost, incurred float64
	gradingCost    float64
	usage, grading proviso.Usage
	spent, asked   proviso.Usage // incurred parts of usage and grading
	cached         bool
	named          []proviso.NamedScore
	caseID         string
	error          string // why the row is undecided
	repeats, pass  int
}

// Add counts a finished row. Each row must be added only once.
func (s *Summary) Add(index int, r *proviso.Result) {
	f := facts{index: index, column: r.PromptIdx, status: r.Aggregate.Status,
		score: scoreOf(r.Aggregate.Status, r.Aggregate.Score), named: r.Aggregate.Named}
	b := billOf(&r.Output)
	f.cost, f.incurred, f.usage, f.spent, f.cached = b.cost, b.incurred, b.usage, b.spent(), b.cached
	f.share, f.unscored = f.score, r.Aggregate.Unscored
	if e := r.Aggregate.Evaluation; e != nil && e.Score != nil {
		f.share = *e.Score
	}
	if f.status == proviso.Errored {
		f.error = errorText(r)
	}
	f.grading, f.asked, f.gradingCost = gradingCost(r)
	if r.Output.Latency != nil {
		f.latencyMS = float64(r.Output.Latency.Microseconds()) / 1000
	}
	if c := r.Case; c != nil {
		f.caseID, f.repeats, f.pass = c.ID, c.Repeats, c.RepeatPass
	}
	s.row(&f)
	s.verdicts(f.column, r.Verdicts)
	s.verdicts(f.column, r.SetVerdict)
}

func (s *Summary) verdicts(column int, list []proviso.Verdict) {
	for i := range list {
		v := &list[i]
		s.component(column, &part{status: v.Status, usage: v.Usage, cost: v.Cost, judge: v.Judge, cached: v.Cached,
			unsure: cannotTell(v.Criteria), assertion: v.Assertion, compared: v.Threshold != nil, waived: v.Waived})
		s.verdicts(column, v.Components)
	}
}

// maxColumns limits the allocation for a damaged run file.
const maxColumns = 1 << 16

func (s *Summary) column(i int) *ColumnSummary {
	if i < 0 || i >= maxColumns {
		i = 0
	}
	for len(s.columns) <= i {
		s.columns = append(s.columns, ColumnSummary{})
	}
	return &s.columns[i]
}

// plausible returns a row's number of dollars or milliseconds. A number that is not valid,
// or so large that sums over rows would overflow, counts as 0.
func plausible(f float64) float64 {
	if math.Abs(f) <= 1<<53 {
		return f
	}
	return 0
}

func (s *Summary) row(f *facts) {
	f.cost, f.incurred, f.gradingCost, f.latencyMS = plausible(f.cost), plausible(f.incurred), plausible(f.gradingCost), plausible(f.latencyMS)
	c := s.column(f.column)
	c.Rows.add(f.status)
	s.rows.add(f.status)
	c.score.add(f.score)
	c.LatencyMS += f.latencyMS
	c.Cost += f.cost
	c.Incurred += f.incurred
	c.Usage.Add(f.usage)
	c.Grading.Add(f.grading)
	c.spent.Add(f.spent)
	c.asked.Add(f.asked)
	c.kept = c.kept || f.cached
	for _, n := range f.named {
		c.metric(n)
	}
	if (f.status == proviso.Pass || f.status == proviso.Fail) && !f.unscored {
		s.decided.add(f.share)
		s.scored++
	}
	switch f.status {
	case proviso.Fail:
		if f.repeats <= 1 {
			s.failed.add(f.index)
		}
	case proviso.Errored:
		s.undecided(f.index, f.error)
	}
	s.usage.Add(f.usage)
	s.usage.Add(f.grading)
	s.cost += f.cost + f.gradingCost
	s.spent += f.incurred + f.gradingCost
	s.repetition(f)
}

func (c *ColumnSummary) metric(n proviso.NamedScore) {
	m := c.named[n.Name]
	if m == nil {
		if len(c.named) >= maxLabels {
			return
		}
		if c.named == nil {
			c.named = map[string]*Metric{}
		}
		m = &Metric{Name: n.Name}
		c.named[n.Name] = m
	}
	m.sum.add(n.Value * weightOf(n))
	m.Weight += weightOf(n)
	m.Count++
}

// part is the data of one assertion's verdict for a summary.
type part struct {
	status proviso.Status
	about  about // identity, from raw
	usage  proviso.Usage
	cost   float64
	judge  string
	cached bool
	waived bool // it failed but passes because its weight is 0
	unsure bool // the judge cannot tell about a criterion

	compared  bool               // the assertion's score is compared with a threshold
	assertion *proviso.Assertion // one of these two is set
	raw       *value.Object
}

// text returns the assertion as written in rows.
func (p *part) text() string {
	switch {
	case p.raw != nil:
		return value.Stringify(p.raw)
	case p.assertion != nil:
		e := encoder{}
		e.assertion(p.assertion)
		return string(e.b)
	}
	return ""
}

// component counts one assertion. Components reported by a script have no type and count
// only in their column.
func (s *Summary) component(column int, p *part) {
	p.cost = plausible(p.cost)
	s.column(column).Assertions.add(p.status)
	if p.judge != "" {
		s.judged(p)
	}
	found := p.status
	if p.waived {
		found = proviso.Fail
	}
	s.asserted.sorted.Store(nil)
	var a *AssertionSummary
	switch {
	case p.assertion != nil:
		a = s.asserted.addOf(p.assertion, p.compared, found, p.judge != "" || p.cost > 0 || p.unsure)
	case p.about.kind != "":
		a = s.asserted.add(&p.about, found, p.judge != "" || p.cost > 0 || p.unsure)
	}
	if a == nil {
		return
	}
	a.Usage.Add(p.usage)
	a.Cost += p.cost
	if p.unsure {
		a.CannotTell++
	}
	if p.judge != "" {
		a.judgedBy(p.judge, p.text())
	}
}

// lowest keeps the smallest indices, in ascending order.
type lowest struct {
	list []int
}

func (l *lowest) add(index int) {
	if len(l.list) == shownRows && index >= l.list[shownRows-1] {
		return
	}
	at, _ := slices.BinarySearch(l.list, index)
	l.list = slices.Insert(l.list, at, index)
	l.list = l.list[:min(len(l.list), shownRows)]
}

// sum adds numbers so that the result does not depend on the order of rows, which differs
// between runs when rows finish at the same time. Source: A. Neumaier,
// "Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen", ZAMM 54 (1974)
// 39-51.
type sum struct {
	total, lost float64
}

func (s *sum) add(f float64) {
	t := s.total + f
	if math.Abs(s.total) >= math.Abs(f) {
		s.lost += (s.total - t) + f
	} else {
		s.lost += (f - t) + s.total
	}
	s.total = t
}

func (s *sum) value() float64 {
	if math.IsInf(s.total, 0) || math.IsNaN(s.total) {
		return s.total // the correction is not a number then
	}
	return s.total + s.lost
}
