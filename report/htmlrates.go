package report

import "fmt"

// pagePrompt is how many cells of a prompt are shown in the table of columns.
const pagePrompt = 120

// maxRates limits the table of assertions.
const maxRates = 200

// pageTotal is a number of rows with one result.
type pageTotal struct {
	badge
	N int
}

// Counts are those of all rows.
func (p *page) Counts() Counts { return p.sum.rows }

// Totals are the numbers of rows by result.
func (p *page) Totals() []pageTotal {
	c := p.sum.rows
	list := []pageTotal{
		{badge{"✕", "fail", "failed"}, c.Failed}, {badge{"!", "error", "errors"}, c.Errors},
		{badge{"✓", "pass", "passed"}, c.Passed}, {badge{"–", "skip", "skipped"}, c.Skipped},
	}
	for i := range list {
		if list[i].N == 0 {
			list[i].Class = "none"
		}
	}
	return list
}

// Rate is the pass rate with its interval, in two parts; nothing if there is none.
func (p *page) Rate() []string {
	first, rest := p.sum.rows.headline()
	if first == "" {
		return nil
	}
	return []string{first, rest}
}

// AllSkipped and Repeats are notes on the totals.

func (p *page) AllSkipped() string { return p.sum.allSkipped() }

func (p *page) Repeats() RepeatSummary { return p.sum.Repeats() }

// bar is what passed and what failed, with the errors between them, and the interval of the
// pass rate, in percent; the numbers are beside it.
type bar struct{ OK, Bad, Rest, Low, High string }

// barOf returns nil where nothing was decided.
func barOf(c Counts) *bar {
	if c.Decided() == 0 {
		return nil
	}
	percent := func(share float64) string { return fmt.Sprintf("%.1f", 100*share) }
	low, high := c.ends()
	i := c.interval()
	return &bar{percent(low), percent(high), fmt.Sprintf("%.1f", 100-100*high), percent(i.Low), percent(i.High)}
}

// someOf is a number that has a colour unless it is 0.
func someOf(n int, class string) pageTotal { return pageTotal{badge{Class: class}, n} }

// Assertions are the pass rates of the assertions, worst first, and MoreAssertions says how
// many are left out.
func (p *page) Assertions() []AssertionSummary {
	list := p.sum.Assertions()
	return list[:min(len(list), maxRates)]
}

// MoreAssertions is "" if there are no more.
func (p *page) MoreAssertions() string { return leftOut(p.sum.Assertions(), maxRates) }

// Trust is the trust in the judges of an assertion.
func (p *page) Trust(a AssertionSummary) string { return p.Meta.trustText(&a) }

// Judges are the judges that did most, and Doubts what is to be known of them.
func (p *page) Judges() []JudgeSummary {
	list := p.sum.Judges()
	return list[:min(len(list), judgesShown)]
}

// Doubts are the reasons not to rely on the judges.
func (p *page) Doubts() []doubt { return p.sum.doubts(p.Meta) }

// pageColumn is a prompt at a provider.
type pageColumn struct {
	Name string
	Counts
}

// Columns are the pass rates of each prompt and provider, if there are several.
func (p *page) Columns() (list []pageColumn) {
	if p.columns < 2 {
		return nil
	}
	sums, names := p.sum.Columns(), p.Meta.promptNames(pagePrompt)
	for i := range sums[:min(len(sums), p.columns)] {
		name := fmt.Sprintf("column %d", i+1)
		if i < len(names) {
			name = cut(p.Meta.Columns[i].provider(), pagePrompt) + " · " + names[i]
		}
		list = append(list, pageColumn{name, sums[i].Rows})
	}
	return list
}
