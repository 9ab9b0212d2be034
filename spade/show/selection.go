package show

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/spade/internal/format"
	"github.com/proviso-eval/proviso/spade/selection"
	"github.com/proviso-eval/proviso/spade/solve"
	"github.com/proviso-eval/proviso/stats"
)

// Confidence is the confidence of the intervals of spade commands.
const Confidence = 0.95

// MaxNames is how many names or ids a line lists before it counts the rest.
const MaxNames = 8

// Verdict explains a selection in plain sentences.
func Verdict(s Selection) []string {
	a := s.Answer
	switch {
	case a.Status == solve.Infeasible:
		return infeasible(s)
	case a.Status == solve.Unknown:
		return []string{"The work ran out before any selection was found; whether there is one is not known. Raise --work."}
	case s.Open():
		return append(unproven(s), broken(s)...)
	case a.Status == solve.Feasible:
		return []string{fmt.Sprintf("Not proven to be the best: its objective is %d, and the best one could be as low as %d (gap %s). A larger --work may settle this.",
			a.Objective, s.Doubt.LowerBound, report.Percent(s.Gap()))}
	}
	var list []string
	switch s.Options.Method {
	case "all":
		list = append(list, "Every candidate.")
	case "base":
		list = append(list, "Every candidate whose own false failures are within tau.")
	case "none":
		list = append(list, "Labels were not used to select: one candidate of each group that no other implies.")
	case "cov":
		list = append(list, "Proven: nothing cheaper is within both thresholds.")
	default:
		list = append(list, "Proven: within both thresholds, no selection has a smaller objective.")
	}
	if d := s.Doubt; d.Cells > 0 && s.Options.Method != "none" {
		list = append(list, fmt.Sprintf("This holds if %s of the selected candidates %s.", plural.Of(d.Cells, "undecided cell"), counting(s.Options.Undecided)))
	} else if d.LowerBound < a.Objective {
		list = append(list, fmt.Sprintf("In the other candidates, %s undecided. Deciding them could lower the objective to %d.", plural.Of(d.Elsewhere, "cell")+" "+are(d.Elsewhere), d.LowerBound))
	}
	list = append(list, Unbound(s)...)
	if !a.Tied {
		list = append(list, "Of equally good selections it may not be the first in order.")
	}
	return append(list, broken(s)...)
}

// Unbound names the thresholds that do not affect the selection.
func Unbound(s Selection) []string {
	b := s.Binding
	if b == nil {
		return nil
	}
	var list []string
	if selected := len(s.Answer.Selected); !b.Alpha && b.Cov > 0 && b.Cov < selected {
		list = append(list, fmt.Sprintf("alpha makes no difference here: sub also selects assertions that catch nothing new. --method cov would keep %d of %d.", b.Cov, selected))
	}
	return list
}

// infeasible explains why no selection is within the thresholds.
func infeasible(s Selection) []string {
	a, o := s.Answer, s.Options
	if o.Method == "base" {
		return append(broken(s), "Each candidate is within tau on its own, but not all of them together. Raise tau, leave some out with --ban, or label bad outputs, too: then sub selects among them.")
	}
	proven := ""
	if !a.BestProven {
		proven = " (more may be possible: that was not proven)"
	}
	no := "No selection is"
	if s.Open() {
		no = fmt.Sprintf("Not known, since %s undecided: no selection is certain to be", plural.Of(s.Doubt.Elsewhere, "cell")+" "+are(s.Doubt.Elsewhere))
	}
	also, within, together := "", "tau", "by few enough false failures together"
	if o.Budget != nil {
		also, within = fmt.Sprintf(" and %s per output", format.Dollars(*o.Budget)), "tau and the budget"
		together = "within tau and the budget together"
	}
	list := []string{
		fmt.Sprintf("%s within both thresholds%s: alpha %v requires %d of %s, tau %v allows %d of %s.",
			no, also, o.Alpha, s.Instance.Need, plural.Of(s.Bad, "bad output"), o.Tau, s.Instance.Allow, plural.Of(s.Good, "good output")),
		fmt.Sprintf("The best within %s catches %d%s.", within, a.Best, proven),
	}
	if pinned, within, err := solve.Check(s.Instance, solve.Coverage, s.Instance.Keep); err == nil && !within && pinned.False > s.Instance.Allow {
		list = append(list, fmt.Sprintf("What is pinned fails %s alone.", plural.Of(pinned.False, "good output")))
	}
	switch {
	case len(s.Uncaught) > 0:
		list = append(list, fmt.Sprintf("No candidate that is within tau on its own catches %s: %s.", plural.Of(len(s.Uncaught), "bad output"), Names(s.Uncaught, MaxNames)))
	default:
		list = append(list, "Every bad output is caught by some candidate, but not "+together+".")
	}
	if s.Open() {
		return append(list, "Decide more cells with spade matrix, or set how undecided cells count with --undecided.")
	}
	if o.Budget != nil {
		return append(list, "Raise the budget, lower alpha, raise tau, or propose candidates for what is not caught.")
	}
	return append(list, "Lower alpha, raise tau, or propose candidates for what is not caught.")
}

// NoneWithin is the subject of a sentence that there are no candidates within tau.
func NoneWithin(s Selection) string {
	switch {
	case s.Options.FFRConfidence != 0:
		return fmt.Sprintf("no candidate that fails at most %d of %s (%s)", s.Instance.Allow, plural.Of(s.Good, "good output"), tauText(s.Options))
	case s.Options.Tau == 0:
		return "no candidate that passes every good output (tau 0)"
	}
	return fmt.Sprintf("no candidate that fails at most %s of the good outputs (tau)", report.Percent(s.Options.Tau))
}

// Names lists up to most names, and counts the rest.
func Names(names []string, most int) string {
	var parts []string
	for i, name := range names {
		if i == most && len(names) > most+1 {
			parts = append(parts, fmt.Sprintf("… and %d more", len(names)-most))
			break
		}
		parts = append(parts, report.Line(name, 60))
	}
	return strings.Join(parts, ", ")
}

// wilsonText formats a share with its interval.
func wilsonText(k, n int) string {
	if n == 0 {
		return "–"
	}
	i := stats.Wilson(k, n, Confidence)
	return report.PercentRange(float64(k)/float64(n), i.Low, i.High)
}

// number is a named measure of a selection.
type number struct{ name, text string }

// measures returns the measures of a selection.
func measures(s Selection) []number {
	a, o := s.Answer, s.Options
	var list []number
	coverage := "not known, since no output is labelled bad"
	if s.Bad > 0 {
		coverage = fmt.Sprintf("%s of %s caught, %s; at least %d required (alpha %v)", caughtText(s), plural.Of(s.Bad, "bad output"), rangedShare(a.Covered, s.Doubt.Bad, s.Bad), s.Instance.Need, o.Alpha)
	}
	ffr := "not known, since no output is labelled good"
	if s.Good > 0 {
		ffr = fmt.Sprintf("%s of %s failed, %s; at most %d allowed (%s)", failedText(s), plural.Of(s.Good, "good output"), rangedShare(a.False-s.Doubt.Good, s.Doubt.Good, s.Good), s.Instance.Allow, tauText(o))
	}
	if s.Good+s.Bad > 0 {
		list = append(list, number{"coverage", coverage}, number{"FFR", ffr})
	}
	if w, ok := s.Wider(Confidence); ok {
		list = append(list, number{"", fmt.Sprintf("on all %s, %d of them without a label: %s, if the labels are random samples of what passes and of what fails",
			plural.Of(w.Outputs, "output"), w.Unlabeled, report.PercentRange(w.FFR.Value, w.FFR.Low, w.FFR.High))})
	}
	if s.Doubt.Cells > 0 && o.Method != "none" {
		list = append(list, number{"undecided", undecidedText(s)})
	}
	if o.Budget != nil {
		list = append(list, number{"cost", fmt.Sprintf("%s per output; at most %s allowed (budget)", format.Dollars(s.Spends()), format.Dollars(*o.Budget))})
	}
	objective := fmt.Sprintf("%d: %d selected", a.Objective, len(a.Selected))
	if len(o.Cost) > 0 {
		objective = fmt.Sprintf("%d: the cost of %d selected", a.Objective, len(a.Selected))
	}
	if o.Method == "sub" {
		objective += fmt.Sprintf(" and %d neither selected nor implied", len(a.LeftOver))
	}
	list = append(list, number{"objective", objective})
	if n := len(s.Dropped); n > 0 {
		list = append(list, number{"dropped", plural.Of(n, "implication") + " that an example contradicts"})
	}
	return list
}

func tauText(o selection.Options) string {
	if o.FFRConfidence != 0 {
		return fmt.Sprintf("tau %v for the %s upper bound", o.Tau, report.Percent(o.FFRConfidence))
	}
	return fmt.Sprintf("tau %v", o.Tau)
}

// headline says how many candidates were selected.
func headline(s Selection) string {
	if !s.Found() {
		return "Selected nothing of " + plural.Of(len(s.Matrix.Names), "candidate")
	}
	return fmt.Sprintf("Selected %d of %s", len(s.Answer.Selected), plural.Of(len(s.Matrix.Names), "candidate"))
}

// without describes the effect of dropping a selected candidate.
func without(s Selection, a *selection.Account) string {
	var parts []string
	if slices.Contains(s.Options.Keep, a.Name) {
		parts = append(parts, "pinned")
	}
	if n := len(a.Alone); n > 0 {
		text := fmt.Sprintf("%d fewer caught", n)
		if left := s.Answer.Covered - n; left < s.Instance.Need {
			text += fmt.Sprintf(": %d, below alpha", left)
		}
		parts = append(parts, text)
	}
	if n := len(a.LeftOver); n > 0 {
		parts = append(parts, fmt.Sprintf("no longer implied: %s", Names(a.LeftOver, 3)))
	}
	if a.OnlyFalse > 0 {
		parts = append(parts, plural.Of(a.OnlyFalse, "false failure")+" fewer")
	}
	if a.Unknown > 0 {
		parts = append(parts, plural.Of(a.Unknown, "cell")+" undecided")
	}
	if len(a.Alone)+len(a.LeftOver)+a.OnlyFalse == 0 && !slices.Contains(s.Options.Keep, a.Name) {
		parts = append([]string{"nothing is lost on these examples"}, parts...)
	}
	return strings.Join(parts, "; ")
}

// fates are the reasons for leaving a candidate out, in the order of the report.
var fates = []struct {
	fate  selection.Fate
	title string
}{
	{selection.Implied, "Implied by what is selected"},
	{selection.Spare, "Not needed: could be added within tau"},
	{selection.Crowded, "Would break tau together with what is selected"},
	{selection.Dear, "Would break the budget together with what is selected"},
	{selection.Unfair, "Own false failures are above tau"},
}

// whyOut explains why a candidate is not selected.
func whyOut(s Selection, a *selection.Account) string {
	text := fmt.Sprintf("catches %d, fails %s of %d good", a.Covered, falseText(a), s.Good)
	if a.Unknown > 0 {
		text += fmt.Sprintf(", undecided on %d", a.Unknown)
	}
	if s.Good+s.Bad == 0 {
		text = ""
	}
	switch a.Fate {
	case selection.Implied:
		return strings.TrimPrefix(text+"; by "+Names(a.By, 3), "; ")
	case selection.Spare:
		if a.Together > s.Answer.False {
			text += fmt.Sprintf("; together %d", a.Together)
		}
	case selection.Dear:
		text += fmt.Sprintf("; %s per output, together %s", format.Dollars(s.Options.Price[a.Name]), format.Dollars(s.Spends()+s.Options.Price[a.Name]))
	case selection.Crowded:
		text += fmt.Sprintf("; together %d, %d allowed", a.Together, s.Instance.Allow)
	}
	if a.Fate == selection.Unfair && len(a.By) > 0 {
		text += "; implied by " + Names(a.By, 3)
	}
	return text
}

// SelectionText shows a selection to a person.
func SelectionText(s Selection, o report.TerminalOptions) []byte {
	t := newPage(o, 60)
	t.line("%s  %s", t.o.Paint(report.Bold, headline(s)), t.o.Paint(report.Dim, "method "+s.Options.Method))
	for _, sentence := range Verdict(s) {
		t.line("  %s", sentence)
	}
	if s.Found() {
		t.line("")
		for _, m := range measures(s) {
			t.line("  %-10s %s", m.name, m.text)
		}
		t.accounts(s, s.Accounts())
	}
	t.intervals()
	return t.Bytes()
}

func (t *page) accounts(s Selection, list []selection.Account) {
	name := 8
	for i := range list {
		name = max(name, min(cellsIn(list[i].Name), 60))
	}
	if len(s.Answer.Selected) > 0 {
		t.part("%s %7s %6s %6s  %s", pad("Selected", name), "catches", "alone", "false", "without it")
		for i := range list {
			if a := &list[i]; a.Fate == selection.Selected {
				t.line("  %s %7d %6d %6s  %s", t.o.Paint(report.Green, pad(a.Name, name)), a.Covered, len(a.Alone), falseText(a), without(s, a))
			}
		}
	}
	for _, f := range fates {
		var some []*selection.Account
		for i := range list {
			if list[i].Fate == f.fate {
				some = append(some, &list[i])
			}
		}
		if len(some) == 0 {
			continue
		}
		t.part("%s (%d)", f.title, len(some))
		for _, a := range some {
			t.line("  %s  %s", t.o.Paint(report.Dim, pad(a.Name, name)), whyOut(s, a))
		}
	}
	if n := len(s.Banned); n > 0 {
		t.line("\n  %s  %s", t.o.Paint(report.Bold, fmt.Sprintf("Banned (%d)", n)), Names(s.Banned, 50))
	}
}

// SelectionLine summarises a selection in a line.
func SelectionLine(s Selection) string {
	of := plural.Of(len(s.Matrix.Names), "candidate")
	switch {
	case !s.Found() && s.Open():
		return fmt.Sprintf("nothing of %s, method %s: undecided cells leave open whether a selection is within the thresholds", of, s.Options.Method)
	case s.Answer.Status == solve.Infeasible && s.Options.Method == "base":
		return fmt.Sprintf("nothing of %s, method base: together they fail %s of %d good ones, %d %s allowed", of, failedText(s), s.Good, s.Instance.Allow, are(s.Instance.Allow))
	case s.Answer.Status == solve.Infeasible:
		return fmt.Sprintf("nothing of %s, method %s: no selection is within the thresholds", of, s.Options.Method)
	case s.Answer.Status == solve.Unknown:
		return fmt.Sprintf("nothing of %s, method %s: the search reached its limit", of, s.Options.Method)
	}
	text := fmt.Sprintf("%d of %s, method %s", len(s.Answer.Selected), of, s.Options.Method)
	switch {
	case s.Good > 0 && s.Bad == 0:
		return text + fmt.Sprintf(": %s of %d good ones failed; no output is labelled bad", failedText(s), s.Good)
	case s.Bad == 0 || s.Good == 0:
		return text
	}
	switch {
	case s.Open():
		text += fmt.Sprintf(", not proven (%s)", plural.Of(s.Doubt.Cells, "undecided cell"))
	case !s.Proven():
		text += ", not proven to be the best"
	case s.Options.Method == "cov" || s.Options.Method == "sub":
		text += ", proven"
	}
	return text + fmt.Sprintf(": %s of %s caught, %s of %d good ones failed", caughtText(s), plural.Of(s.Bad, "bad output"), failedText(s), s.Good)
}

// Selection is the data for the reports of spade select.
type Selection struct {
	*selection.Selection
	Implications []candidate.Implication
	Took         time.Duration
}

// JSON returns the selection as JSON.
func (s Selection) JSON() ([]byte, error) {
	data, err := s.Selection.JSON(s.Took)
	return append(data, '\n'), err
}
