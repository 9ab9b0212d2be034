package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/stats"
)

// Asked returns how many verdicts were due: passes, fails and errors. It is the denominator
// of a pass rate. An error is not a fail, but without the errors one pass and one error
// would be shown as 100 %.
func (c Counts) Asked() int { return c.Passed + c.Failed + c.Errors }

// allSkipped returns a note about the rows that were skipped because no assertion applied;
// "" if there are none. With one column and no repeats, a row is a case.
func (s *Summary) allSkipped() string {
	n := s.rows.Skipped
	if n == 0 {
		return ""
	}
	noun := "row"
	if len(s.columns) <= 1 && s.Repeats().Groups == 0 {
		noun = "case"
	}
	return plural.Of(n, noun) + " skipped: no assertion applied"
}

// ends returns the pass rates if all errors were failures, and if all errors were passes.
func (c Counts) ends() (low, high float64) {
	n := float64(c.Asked())
	if n == 0 {
		return 0, 0
	}
	return float64(c.Passed+c.WillPass) / n, float64(c.Passed+c.Errors+c.MayPass) / n
}

// interval returns the confidence interval of the pass rate. It covers every result that
// the errors could have had.
func (c Counts) interval() Interval {
	n := c.Asked()
	return Interval{Low: stats.Wilson(c.Passed+c.WillPass, n, confidence).Low, High: stats.Wilson(c.Passed+c.Errors+c.MayPass, n, confidence).High}
}

// percent formats the pass rate for people, with space before the percent sign; "–" if
// nothing was decided. It never rounds a rate below 100 % up to 100 %, nor a rate above 0 %
// down to 0 %.
func (c Counts) percent(space string) string {
	if c.Decided() == 0 {
		return "–"
	}
	return strings.ReplaceAll(Percent(float64(c.Passed)/float64(c.Asked())), " ", space)
}

// passedOf returns the counts behind a rate: "3 of 4 passed, 1 error".
func (c Counts) passedOf() string {
	return fmt.Sprintf("%d of %d passed%s", c.Passed, c.Asked(), c.others())
}

// others formats the errors and the skips, for the end of a line: ", 2 errors, 1 skipped".
func (c Counts) others() string {
	text := ""
	if c.Errors > 0 {
		text += ", " + plural.Of(c.Errors, "error")
	}
	if c.Skipped > 0 {
		text += fmt.Sprintf(", %d skipped", c.Skipped)
	}
	return text
}

// intervalText formats the interval for people; "–" if nothing was decided.
func (c Counts) intervalText() string {
	if c.Decided() == 0 {
		return "–"
	}
	i := c.interval()
	return fmt.Sprintf("%.0f–%.0f %%", 100*i.Low, 100*i.High)
}

// headline returns the pass rate of a run with its interval. If nothing was decided, it
// returns the number of errors; "" if there are none.
func (c Counts) headline() (first, rest string) {
	switch {
	case c.Decided() > 0:
		return c.percent(" "), fmt.Sprintf("pass rate, 95 %% interval %s, n = %d", c.intervalText(), c.Asked())
	case c.Errors > 0:
		return plural.Of(c.Errors, "error"), fmt.Sprintf("of %s, so there is no pass rate", plural.Of(c.Asked(), "result"))
	}
	return "", ""
}

// figures returns the rate and the counts in fixed-width columns.
func (c Counts) figures() string {
	return ahead(c.percent(""), len("100%")) + "  " + ahead(strconv.Itoa(c.Passed), 6) + fmt.Sprintf(" of %-6d", c.Asked())
}

// ahead pads a clean text with blanks on the left.
func ahead(s string, cells int) string { return strings.Repeat(" ", max(0, cells-cellsOf(s))) + s }
