package report

import (
	"cmp"
	"slices"

	"github.com/proviso-eval/proviso"
)

const (
	// shownRows is how many failing rows, and how many undecided ones, a terminal
	// report shows in detail.
	shownRows = 20
	// maxLabels limits the tables whose keys come from the suite: a metric's name may
	// contain the variables of a case.
	maxLabels = 10000
)

// Summary is the data about the whole run for reports. Rows are added as they finish, in
// any order. It keeps counts, not rows. It is not safe for concurrent use.
type Summary struct {
	rows    Counts
	usage   proviso.Usage // usage for answers and deciding, as in the costs below
	cost    float64       // US dollars
	spent   float64       // US dollars that this run spent
	columns []ColumnSummary
	judges  map[string]*JudgeSummary
	decided sum               // sum of the scores of decided rows, for the batch result
	scored  int               // number of these rows
	groups  map[group]repeats // groups whose repeats are not complete yet
	repeats RepeatSummary
	failed  lowest
	errors  map[string]*sameError // by error text

	asserted *assertions
}

// NewSummary returns an empty summary of a run with the given number of columns.
func NewSummary(columns int) *Summary {
	return &Summary{
		columns: make([]ColumnSummary, columns),
		judges:  map[string]*JudgeSummary{},
		groups:  map[group]repeats{},
		errors:  map[string]*sameError{},

		asserted: newAssertions(),
	}
}

// Counts are numbers of rows or assertions by status.
type Counts struct {
	Passed, Failed, Errors, Skipped int

	// For repeats: MayPass is a subset of Failed and WillPass a subset of Errors; see
	// [proviso.Totals].
	MayPass, WillPass int
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

// ColumnSummary is the part of a summary for one prompt at one provider.
type ColumnSummary struct {
	Rows       Counts
	Assertions Counts // every component of every row, including those of sets
	Score      float64
	LatencyMS  float64        // sum of all rows
	Cost       float64        // US dollars for the answers alone, including those from a cache
	Incurred   float64        // US dollars that this run spent on the answers
	Usage      proviso.Usage  // usage for the answers
	Grading    proviso.Usage  // usage for deciding
	Derived    []DerivedValue // set by the caller

	named map[string]*Metric
	score sum

	spent, asked proviso.Usage // incurred parts of Usage and Grading
	kept         bool          // an answer came from a cache
}

// Metrics returns the named scores, sorted by name.
func (c *ColumnSummary) Metrics() []Metric {
	list := make([]Metric, 0, len(c.named))
	for _, m := range c.named {
		m.Sum = m.sum.value()
		list = append(list, *m)
	}
	slices.SortFunc(list, func(a, b Metric) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// Metric is the sum of one named score over the rows that have it, each multiplied by the
// weight of its assertions.
type Metric struct {
	Name  string
	Sum   float64
	Count int // number of rows

	// Weight is the total weight of the assertions: Sum / Weight is the mean.
	Weight float64

	sum sum
}

// DerivedValue is the value of a derived metric, as a script returned it.
type DerivedValue struct {
	Name  string
	Value any
}

// RepeatSummary describes how consistent the repeats of cases are.
type RepeatSummary struct {
	Groups   int // cases in a column with at least two decided repeats
	Flaky    int // groups that both passed and failed
	Met      int // groups with as many passes as the suite requires
	Forgiven int // failed rows of these groups
}

// Totals returns the counts of all rows. A failed row counts as passed if enough repeats of
// its case passed. The cost includes the cost of deciding.
func (s *Summary) Totals() proviso.Totals {
	c := s.rows
	return proviso.Totals{Passed: c.Passed, Failed: c.Failed, Errors: c.Errors, Skipped: c.Skipped, MayPass: c.MayPass, WillPass: c.WillPass,
		Usage: s.usage, Cost: s.cost, Incurred: s.spent}
}

// failures returns the failed rows to show, in index order.
func (s *Summary) failures() []int {
	all := lowest{list: slices.Clone(s.failed.list)}
	for _, g := range s.groups { // incomplete groups are not forgiven
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

// Repeats returns how consistent repeats are, over complete and incomplete groups.
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
