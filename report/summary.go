package report

import (
	"cmp"
	"math"
	"slices"

	"github.com/proviso-eval/proviso"
)

const (
	// shownRows is how many failing rows, and how many undecided ones, a
	// terminal report shows in detail.
	shownRows = 20
	// maxLabels bounds the tables that are keyed by what a suite writes, since a
	// metric's name may be made of a case's variables.
	maxLabels = 10000
)

// Summary is what a report says of a run as a whole. Rows are added as they
// finish, in any order; it keeps counts, not rows. It is not safe for concurrent
// use.
type Summary struct {
	totals  proviso.Totals
	columns []ColumnSummary
	labels  map[label]*AssertionSummary
	groups  map[group]repeats // of repetitions that are not all in yet
	repeats RepeatSummary
	failed  lowest
	errors  lowest
}

// NewSummary returns an empty summary of a run with the given number of columns.
func NewSummary(columns int) *Summary {
	return &Summary{
		columns: make([]ColumnSummary, columns),
		labels:  map[label]*AssertionSummary{},
		groups:  map[group]repeats{},
	}
}

// Counts are numbers of rows or assertions by what became of them.
type Counts struct {
	Passed, Failed, Errors, Skipped int
}

func (c *Counts) add(s proviso.Status) {
	switch s {
	case proviso.Pass:
		c.Passed++
	case proviso.Fail:
		c.Failed++
	case proviso.Skip:
		c.Skipped++
	default:
		c.Errors++
	}
}

// Decided returns how many passed or failed.
func (c Counts) Decided() int { return c.Passed + c.Failed }

// ColumnSummary is the part of a summary that is about one prompt at one
// provider.
type ColumnSummary struct {
	Rows       Counts
	Assertions Counts // every component of every row, those of sets included
	Score      float64
	LatencyMS  float64        // of all rows together
	Cost       float64        // US dollars, of the answers alone
	Usage      proviso.Usage  // of the answers
	Grading    proviso.Usage  // of deciding
	Derived    []DerivedValue // as the caller set them

	named map[string]*Metric
	score sum
}

// Metrics returns the named scores in the order of their names.
func (c *ColumnSummary) Metrics() []Metric {
	list := make([]Metric, 0, len(c.named))
	for _, m := range c.named {
		m.Sum = m.sum.value()
		list = append(list, *m)
	}
	slices.SortFunc(list, func(a, b Metric) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// Metric is the sum of one named score over the rows that have it, each times the
// weight of the assertions behind it.
type Metric struct {
	Name  string
	Sum   float64
	Count int // rows

	// Weight is that of all assertions behind it: Sum / Weight is the mean.
	Weight float64

	sum sum
}

// DerivedValue is the value of a derived metric: a value as scripts give them.
type DerivedValue struct {
	Name  string
	Value any
}

// AssertionSummary counts the assertions of one type and label.
type AssertionSummary struct {
	Type  string
	Label string // metric, or id; "" if the suite gives neither
	Counts
}

type label struct{ kind, name string }

// RepeatSummary says how far repetitions of a case agree.
type RepeatSummary struct {
	Groups   int // cases at a column with at least two decided repetitions
	Flaky    int // of them, those that both passed and failed
	Met      int // groups in which as many passed as the suite asks for
	Forgiven int // failed rows of groups that met it
}

// Totals returns the counts of all rows. A failed row of a case that passed as
// many of its repeats as it has to counts as passed. The cost includes what
// deciding cost.
func (s *Summary) Totals() proviso.Totals { return s.totals }

// failures returns the failed rows to show, the first by index.
func (s *Summary) failures() []int {
	all := lowest{list: slices.Clone(s.failed.list)}
	for _, g := range s.groups { // cut short, so that nothing forgives them
		for _, index := range g.failing {
			all.add(index)
		}
	}
	return all.list
}

// Columns returns the columns by [proviso.Result.PromptIdx].
func (s *Summary) Columns() []ColumnSummary {
	for i := range s.columns {
		s.columns[i].Score = s.columns[i].score.value()
	}
	return s.columns
}

// Assertions returns the counts per type and label, those that pass least first.
func (s *Summary) Assertions() []AssertionSummary {
	list := make([]AssertionSummary, 0, len(s.labels))
	for _, a := range s.labels {
		list = append(list, *a)
	}
	slices.SortFunc(list, func(a, b AssertionSummary) int {
		return cmp.Or(cmp.Compare(a.rate(), b.rate()), cmp.Compare(a.Type, b.Type), cmp.Compare(a.Label, b.Label))
	})
	return list
}

// rate returns the pass rate; what was never decided comes after everything.
func (a *AssertionSummary) rate() float64 {
	if a.Decided() == 0 {
		return math.Inf(1)
	}
	return float64(a.Passed) / float64(a.Decided())
}

// Repeats returns how far repetitions agree, over the groups that are complete
// so far and those that were cut short.
func (s *Summary) Repeats() RepeatSummary {
	total := s.repeats
	for _, g := range s.groups {
		total.add(g)
	}
	return total
}

// SetDerived sets the value of a derived metric of a column.
func (s *Summary) SetDerived(column int, name string, value any) {
	if column < 0 || column >= len(s.columns) {
		return
	}
	c := &s.columns[column]
	for i := range c.Derived {
		if c.Derived[i].Name == name {
			c.Derived[i].Value = value
			return
		}
	}
	c.Derived = append(c.Derived, DerivedValue{name, value})
}

// facts are what a summary takes from a row.
type facts struct {
	index, column  int
	status         proviso.Status
	score          float64
	latencyMS      float64
	cost           float64
	gradingCost    float64
	usage, grading proviso.Usage
	named          []proviso.NamedScore
	caseID         string
	repeats, pass  int
}

// Add counts a finished row. A row is added once.
func (s *Summary) Add(index int, r *proviso.Result) {
	f := facts{index: index, column: r.PromptIdx, status: r.Aggregate.Status,
		score: scoreOf(r.Aggregate.Status, r.Aggregate.Score), usage: r.Output.Usage, named: r.Aggregate.Named}
	f.grading, f.gradingCost = gradingCost(r)
	if r.Output.Latency != nil {
		f.latencyMS = float64(r.Output.Latency.Microseconds()) / 1000
	}
	if r.Output.Cost != nil {
		f.cost = *r.Output.Cost
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
		kind, name := "", ""
		if a := v.Assertion; a != nil {
			kind, name = a.Type, cmp.Or(a.Metric, a.ID)
		}
		s.component(column, v.Status, kind, name)
		s.verdicts(column, v.Components)
	}
}

// maxColumns bounds what a damaged run file can make a summary allocate.
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

func (s *Summary) row(f *facts) {
	c := s.column(f.column)
	c.Rows.add(f.status)
	c.score.add(f.score)
	c.LatencyMS += f.latencyMS
	c.Cost += f.cost
	c.Usage.Add(f.usage)
	c.Grading.Add(f.grading)
	for _, n := range f.named {
		c.metric(n)
	}
	t := &s.totals
	switch f.status {
	case proviso.Pass:
		t.Passed++
	case proviso.Fail:
		t.Failed++
		if f.repeats <= 1 {
			s.failed.add(f.index)
		}
	case proviso.Skip:
		t.Skipped++
	default:
		t.Errors++
		s.errors.add(f.index)
	}
	t.Usage.Add(f.usage)
	t.Usage.Add(f.grading)
	t.Cost += f.cost + f.gradingCost
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

// component counts one assertion. Parts that a script reported have no type:
// they count in their column only.
func (s *Summary) component(column int, status proviso.Status, kind, name string) {
	s.column(column).Assertions.add(status)
	if kind == "" {
		return
	}
	a := s.labels[label{kind, name}]
	if a == nil {
		if len(s.labels) >= maxLabels {
			name = "(other labels)"
		}
		if a = s.labels[label{kind, name}]; a == nil {
			a = &AssertionSummary{Type: kind, Label: name}
			s.labels[label{kind, name}] = a
		}
	}
	a.Counts.add(status)
}

// group is a case at a column, whose repetitions belong together.
type group struct {
	caseID string
	column int
}

// repeats counts the repetitions of a group.
type repeats struct {
	seen, of, need int
	Counts
	failing []int // indices of failed rows
}

// met reports whether as many passed as the suite asks for.
func (g repeats) met() bool { return g.Decided() > 1 && g.Passed >= g.need }

func (s *Summary) repetition(f *facts) {
	if f.repeats <= 1 {
		return
	}
	key := group{f.caseID, f.column}
	g := s.groups[key]
	g.of, g.need = f.repeats, passesNeeded(f.repeats, f.pass)
	g.seen++
	g.Counts.add(f.status)
	if f.status == proviso.Fail && len(g.failing) < shownRows {
		g.failing = append(g.failing, f.index)
	}
	if g.seen < g.of {
		s.groups[key] = g
		return
	}
	delete(s.groups, key)
	s.repeats.add(g)
	s.settle(f.column, g)
}

// settle counts the failed rows of a group that passed often enough as passed.
func (s *Summary) settle(column int, g repeats) {
	if !g.met() {
		for _, index := range g.failing {
			s.failed.add(index)
		}
		return
	}
	rows := &s.column(column).Rows
	rows.Passed += g.Failed
	rows.Failed -= g.Failed
	s.totals.Passed += g.Failed
	s.totals.Failed -= g.Failed
}

func (r *RepeatSummary) add(g repeats) {
	if g.Decided() < 2 {
		return
	}
	r.Groups++
	if g.Passed > 0 && g.Failed > 0 {
		r.Flaky++
	}
	if g.met() {
		r.Met++
		r.Forgiven += g.Failed
	}
}

// lowest keeps the smallest indices that it is given, in order.
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

// sum adds numbers so that their order, which changes from run to run when rows
// finish at the same time, does not show in the result. Source: A. Neumaier,
// "Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen",
// ZAMM 54 (1974) 39-51.
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
		return s.total // what was lost is no number then
	}
	return s.total + s.lost
}
