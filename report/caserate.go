package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/stats"
)

// caseCounts are the counts of rows for a rate of cases. Undecided rows are included:
// without them, certain failures would count while their undecided siblings would
// not.
type caseCounts struct {
	least, most int // minimum and maximum number of rows that pass
	of          int // rows that passed, failed or are undecided
}

func casesOf(c Counts) caseCounts {
	return caseCounts{least: c.Passed + c.WillPass, most: c.Passed + c.Errors + c.MayPass, of: c.Passed + c.Failed + c.Errors}
}

// countsOf returns the counts of all rows of a run.
func countsOf(t proviso.Totals) Counts {
	return Counts{Passed: t.Passed, Failed: t.Failed, Errors: t.Errors, Skipped: t.Skipped, MayPass: t.MayPass, WillPass: t.WillPass}
}

// unchecked returns how many rows neither passed nor failed because no assertion
// applied; "" if there are none. With one column and no repeats, a row is a case.
func (s *Summary) unchecked() string {
	n := s.totals.Skipped
	if n == 0 {
		return ""
	}
	noun := "row"
	if len(s.columns) <= 1 && s.Repeats().Groups == 0 {
		noun = "case"
	}
	return Plural(n, noun) + ": nothing was checked, every assertion was skipped"
}

// open reports whether the rate is a range.
func (c caseCounts) open() bool { return c.least != c.most }

// ends returns the rate if all undecided rows failed, and if all of them passed.
func (c caseCounts) ends() (low, high float64) {
	if c.of == 0 {
		return 0, 0
	}
	return float64(c.least) / float64(c.of), float64(c.most) / float64(c.of)
}

// interval returns the confidence interval of the pass rate for every result of the
// undecided rows.
func (c caseCounts) interval() Interval {
	return Interval{Low: stats.Wilson(c.least, c.of, confidence).Low, High: stats.Wilson(c.most, c.of, confidence).High}
}

// percent formats the rate for people, with space before the percent sign. A rate
// below 100 % is never rounded up to 100 %.
func (c caseCounts) percent(space string) string {
	low, high := c.ends()
	from, to := fmt.Sprintf("%.0f", 100*low), fmt.Sprintf("%.0f", 100*high)
	if c.least < c.of && from == "100" {
		from = ">99"
	}
	if c.most < c.of && to == "100" {
		to = ">99"
	}
	switch {
	case c.of == 0:
		return "–"
	case c.open() && from != to:
		return from + "–" + to + space + "%"
	case from == ">99":
		return ">" + space + "99" + space + "%"
	}
	return from + space + "%"
}

// counts returns "3 of 4", or "2–3 of 4".
func (c caseCounts) counts() string { return fmt.Sprintf("%s of %d", c.passed(), c.of) }

// passed returns how many rows pass; "2–3" if that depends on undecided ones.
func (c caseCounts) passed() string {
	if c.open() {
		return fmt.Sprintf("%d–%d", c.least, c.most)
	}
	return strconv.Itoa(c.least)
}

func (c caseCounts) intervalText() string {
	if c.of == 0 {
		return "–"
	}
	i := c.interval()
	return fmt.Sprintf("%.0f–%.0f %%", 100*i.Low, 100*i.High)
}

// rateColumns returns rates and counts of the columns of a run, one below the other.
func rateColumns(list []ColumnSummary) []string {
	rate, passed := len("100%"), 0
	for i := range list {
		c := casesOf(list[i].Rows)
		rate, passed = max(rate, cellsOf(c.percent(""))), max(passed, cellsOf(c.passed()))
	}
	lines := make([]string, len(list))
	for i := range list {
		c := casesOf(list[i].Rows)
		lines[i] = ahead(c.percent(""), rate) + "  " + ahead(c.passed(), max(6, passed)) + fmt.Sprintf(" of %-6d", c.of)
	}
	return lines
}

// ahead pads a clean text with blanks on the left.
func ahead(s string, cells int) string { return strings.Repeat(" ", max(0, cells-cellsOf(s))) + s }
