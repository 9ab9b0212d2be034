package show

import (
	"fmt"

	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/spade/selection"
)

// are returns the verb for n of something.
func are(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// counting describes how the options treat undecided cells.
func counting(undecided string) string {
	if undecided == selection.Ignore {
		return "count as passes (--undecided ignore)"
	}
	return "count as fails (--undecided fail)"
}

// unproven describes the uncertainty from undecided cells of the selected candidates.
func unproven(s Selection) []string {
	d := s.Doubt
	text := fmt.Sprintf("Not proven: %s of the selected candidates %s undecided", plural.Of(d.Cells, "cell"), are(d.Cells))
	switch {
	case s.Options.Method != "cov" && s.Options.Method != "sub":
	case d.LowerBound < s.Answer.Objective:
		return []string{text + fmt.Sprintf(". The selection is within both thresholds in any case, but deciding these cells could lower the best objective to %d.", d.LowerBound)}
	default:
		return []string{text + ". The selection is within both thresholds in any case."}
	}
	return []string{text + "."}
}

// broken describes the thresholds that a selection violates.
func broken(s Selection) []string {
	var list []string
	for _, name := range s.Violates {
		switch {
		case s.Options.Method == "none":
		case name == "alpha":
			is := isOrMayBe(s.Answer.Covered+s.Doubt.Bad < s.Instance.Need)
			list = append(list, fmt.Sprintf("Alpha %s missed: %s of %s are caught, but %d %s required.", is, caughtText(s), plural.Of(s.Bad, "bad output"), s.Instance.Need, are(s.Instance.Need)))
		default:
			is := isOrMayBe(s.Answer.False-s.Doubt.Good > s.Instance.Allow)
			list = append(list, fmt.Sprintf("Tau %s broken: together they fail %s of %s, %d %s allowed.", is, failedText(s), plural.Of(s.Good, "good output"), s.Instance.Allow, are(s.Instance.Allow)))
		}
	}
	return list
}

// isOrMayBe words what is certain, or true only if undecided cells make it so.
func isOrMayBe(certain bool) string {
	if certain {
		return "is"
	}
	return "may be"
}

// caughtText formats the range of caught bad outputs, with and without undecided cells.
func caughtText(s Selection) string { return selection.Between(s.Answer.Covered, s.Doubt.Bad) }

// failedText formats the same range for failed good outputs.
func failedText(s Selection) string {
	return selection.Between(s.Answer.False-s.Doubt.Good, s.Doubt.Good)
}

// falseText formats how many good outputs a candidate fails.
func falseText(a *selection.Account) string { return selection.Between(a.False-a.Perhaps, a.Perhaps) }

// rangedShare formats a share with its interval, or the range that undecided cells allow.
func rangedShare(certain, perhaps, n int) string {
	if perhaps == 0 {
		return wilsonText(certain, n)
	}
	return fmt.Sprintf("%s to %s", report.Percent(float64(certain)/float64(n)), report.Percent(float64(certain+perhaps)/float64(n)))
}

// undecidedText names the selected candidates with undecided cells.
func undecidedText(s Selection) string {
	var names []string
	for _, a := range s.Accounts() {
		if a.Fate == selection.Selected && a.Unknown > 0 {
			names = append(names, fmt.Sprintf("%s (%d)", a.Name, a.Unknown))
		}
	}
	text := plural.Of(s.Doubt.Cells, "cell") + ": " + Names(names, MaxNames)
	if s.Options.Undecided == selection.CountFail || s.Options.Undecided == selection.Ignore {
		return text + "; they " + counting(s.Options.Undecided)
	}
	return text
}
