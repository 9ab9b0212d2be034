package report

import "fmt"

// pagePrompt is the maximum number of cells of a prompt in the table of columns.
const pagePrompt = 120

// maxRates limits the table of assertions.
const maxRates = 200

// pageTotal is the number of rows with one result.
type pageTotal struct {
	badge
	N int
}

// Counts returns the counts of all rows.
func (p *page) Counts() Counts { return p.sum.rows }

// Totals returns the number of rows for each result.
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

// Rate returns the pass rate and its interval as two texts; none if there is no rate.
func (p *page) Rate() []string {
	first, rest := p.sum.rows.headline()
	if first == "" {
		return nil
	}
	return []string{first, rest}
}

// AllSkipped and Repeats return notes on the totals.

func (p *page) AllSkipped() string { return p.sum.allSkipped() }

func (p *page) Repeats() RepeatSummary { return p.sum.Repeats() }

// bar shows the shares that passed and failed, with the errors between them, and the
// interval of the pass rate, in percent. The numbers are beside it.
type bar struct{ OK, Bad, Rest, Low, High string }

// barOf returns nil if nothing was decided.
func barOf(c Counts) *bar {
	if c.Decided() == 0 {
		return nil
	}
	percent := func(share float64) string { return fmt.Sprintf("%.1f", 100*share) }
	low, high := c.ends()
	i := c.interval()
	return &bar{percent(low), percent(high), fmt.Sprintf("%.1f", 100-100*high), percent(i.Low), percent(i.High)}
}

// someOf is a number with a colour class, which a 0 does not get.
func someOf(n int, class string) pageTotal { return pageTotal{badge{Class: class}, n} }

// Assertions returns the pass rates of the assertions, the worst first, up to a limit.
func (p *page) Assertions() []AssertionSummary {
	list := p.sum.Assertions()
	return list[:min(len(list), maxRates)]
}

// MoreAssertions returns a note about the assertions that are left out; "" if there are
// none.
func (p *page) MoreAssertions() string { return leftOut(p.sum.Assertions(), maxRates) }

// Trust returns the trust in an assertion's judges.
func (p *page) Trust(a AssertionSummary) string { return p.Meta.trustText(&a) }

// Judges returns the judges with the most verdicts.
func (p *page) Judges() []JudgeSummary {
	list := p.sum.Judges()
	return list[:min(len(list), judgesShown)]
}

// Doubts returns the reasons not to rely on the judges.
func (p *page) Doubts() []doubt { return p.sum.doubts(p.Meta) }

// pageColumn is a prompt at a provider.
type pageColumn struct {
	Name string
	Counts
}

// Columns returns the pass rates of each prompt and provider, if there are several.
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
