// Package show renders a report of mutation testing: as text for a terminal, as Markdown
// and as one HTML page. Untrusted text is escaped for where it is shown. Start at [Text].
package show

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/mutate"
	"github.com/proviso-eval/proviso/mutate/score"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/value"
)

// maxNames is how many assertion names a line lists; it counts the rest.
const maxNames = 4

// Headline returns the mutation score in one line.
func Headline(r *score.Report) string {
	if r.Decided() == 0 {
		return "No mutation score: " + noScore(r)
	}
	i := r.Interval()
	text := fmt.Sprintf("Mutation score %s: %d of %s killed, %d survived", report.PercentRange(r.Share(), i.Low, i.High), r.Killed, plural.Of(r.Decided(), "mutant"), r.Survived)
	if r.Undecided > 0 {
		text += fmt.Sprintf(", and %d undecided", r.Undecided)
	}
	return text
}

// noScore explains why there is no score.
func noScore(r *score.Report) string {
	switch o := r.Outputs; {
	case o.Given == 0:
		return "there are no outputs"
	case o.Bad+o.Unfit == o.Given:
		return "no output can be used"
	case o.Usable == 0 && o.Failing > 0:
		return "every output fails an assertion before anything is broken"
	case o.Usable == 0:
		return "no assertion could be decided on any output"
	case r.Undecided > 0:
		return fmt.Sprintf("%s, all undecided", plural.Of(r.Undecided, "mutant"))
	}
	return "the rules break no instruction of the prompt"
}

// basisWords describe the mutants of each basis.
var basisWords = []struct {
	basis mutate.Basis
	words string
}{
	{mutate.Checked, "fail the check that rules make of their instruction"},
	{mutate.Assumed, "are assumed to break it"},
	{mutate.Claimed, "break it as claimed by the model"},
}

// about returns what the score is based on, one sentence each.
func about(r *score.Report) []string {
	o := r.Outputs
	line := fmt.Sprintf("%s, %d used", plural.Of(o.Given, "output"), o.Usable)
	for _, left := range []struct {
		n    int
		text string
	}{
		{o.Failing, "an assertion fails already"}, {o.Undecided, "no assertion could be decided"}, {o.Bad, "labelled bad"},
		{o.Unfit, "empty or too long"}, {o.Over(), "not needed (--outputs-max)"},
	} {
		if left.n > 0 {
			line += fmt.Sprintf("; %d left out: %s", left.n, left.text)
		}
	}
	list := []string{line + "."}
	var parts []string
	for _, b := range basisWords {
		if c := r.By[b.basis]; c.Made() > 0 {
			parts = append(parts, fmt.Sprintf("%d %s (%s killed)", c.Made(), b.words, report.Percent(c.Share())))
		}
	}
	if len(parts) > 0 {
		list = append(list, fmt.Sprintf("%s: %s.", plural.Of(r.Made(), "mutant"), strings.Join(parts, ", ")))
	}
	if broken := brokenInstructions(r); broken > 0 && broken < len(r.Instructions) {
		list = append(list, fmt.Sprintf("The score is about %d of %s. Of the others nothing is known.", broken, plural.Of(len(r.Instructions), "instruction")))
	}
	if r.NotRun > 0 {
		list = append(list, fmt.Sprintf("%s that asks a model was not run; --judge ID runs it.", plural.Of(r.NotRun, "assertion")))
		if r.NotRun > 1 {
			list[len(list)-1] = fmt.Sprintf("%s that ask a model were not run; --judge ID runs them.", plural.Of(r.NotRun, "assertion"))
		}
	}
	if r.Refuted > 0 {
		list = append(list, fmt.Sprintf("The model claimed %s that a check by rules refutes; left out.", plural.Of(r.Refuted, "mutant")))
	}
	if len(r.ModelErrs) > 0 {
		what := "The only question"
		if r.Questions > 1 {
			what = fmt.Sprintf("%d of %d questions", r.Unanswered, r.Questions)
		}
		list = append(list, what+" to the model failed: "+strings.Join(r.ModelErrs, "; "))
	}
	return list
}

// brokenInstructions returns the number of instructions with mutants.
func brokenInstructions(r *score.Report) int {
	n := 0
	for i := range r.Instructions {
		if r.Instructions[i].Made() > 0 {
			n++
		}
	}
	return n
}

// result describes which mutants of an instruction survive.
func result(in *score.Instruction) string {
	var text string
	switch {
	case in.Made() == 0 && in.Broken > 0:
		return fmt.Sprintf("not broken: in %s it is broken already", plural.Of(in.Broken, "output"))
	case in.Made() == 0:
		return "not broken: proviso cannot break this without a model; try --model ID"
	case in.Survived == 0 && in.Killed > 0:
		text = fmt.Sprintf("killed: %d of %s, by %s", in.Killed, plural.Of(in.Decided(), "mutant"), names(in.Killers))
	case in.Survived == 0:
		text = fmt.Sprintf("undecided: %s", plural.Of(in.Undecided, "mutant"))
	default:
		text = fmt.Sprintf("survives: %d of %s", in.Survived, plural.Of(in.Decided(), "mutant"))
		if in.Killed > 0 {
			text += "; killed by " + names(in.Killers)
		} else {
			text += "; no assertion kills them"
		}
	}
	if in.Undecided > 0 && in.Decided() > 0 {
		text += fmt.Sprintf("; %d undecided", in.Undecided)
	}
	if in.Also > 0 && in.Line > 0 {
		text += fmt.Sprintf("; %d break other instructions too", in.Also)
	}
	if in.Broken > 0 {
		text += fmt.Sprintf("; in %s it is broken already", plural.Of(in.Broken, "output"))
	}
	return text
}

// next proposes what to do about an instruction; "" if there is nothing to do.
func next(r *score.Report, in *score.Instruction) string {
	switch {
	case in.Survived == 0 || in.Line == 0:
		return ""
	case in.Judged > 0:
		return fmt.Sprintf("%s of it asks a model: pass --judge ID", plural.Of(in.Judged, "assertion"))
	case in.Add != nil && in.Killed == 0:
		return "add " + shown(in.Add)
	case in.Add != nil:
		return "look at the mutants that survive: an assertion checks less than this one: " + shown(in.Add)
	case r.NotRun > 0:
		return "perhaps an assertion that was not run kills them: pass --judge ID"
	case in.Killed == 0:
		return "no rule makes a check of it: proviso spade propose --model ID, or a judged assertion"
	}
	return "look at the mutants that survive, and make an assertion stricter"
}

// shown is a check in the form of a suite.
func shown(c *proviso.Candidate) string {
	o := candidate.Object(c, false)
	o.Delete("description")
	return value.Stringify(o)
}

// names lists names, and counts the rest.
func names(list []string) string {
	var parts []string
	for i, name := range list {
		if i == maxNames && len(list) > maxNames+1 {
			parts = append(parts, fmt.Sprintf("%d more", len(list)-maxNames))
			break
		}
		parts = append(parts, report.Line(name, 60))
	}
	return strings.Join(parts, ", ")
}

// terminal writes a report for a person.
type terminal struct {
	bytes.Buffer
	r *score.Report
	o report.TerminalOptions
}

func (t *terminal) line(format string, args ...any) { fmt.Fprintf(t, format+"\n", args...) }

// Text renders a report for a person: instructions with survivors first, then the others,
// then the assertions.
func Text(r *score.Report, o report.TerminalOptions) []byte {
	t := &terminal{r: r, o: o}
	t.o.Width = max(t.o.Width, 60)
	t.line("%s", t.o.Paint(report.Bold, Headline(r)))
	for _, sentence := range about(r) {
		t.line("  %s", report.Line(sentence, 400))
	}
	for _, part := range parts(r) {
		if len(part.List) > 0 {
			t.line("\n%s", t.o.Paint(report.Bold, part.Title))
		}
		for _, in := range part.List {
			t.instruction(in, part.sign, part.color)
		}
	}
	t.assertions(r)
	return t.Bytes()
}

// part is a group of instructions with the same kind of result.
type part struct {
	Title, sign, color string
	List               []*score.Instruction
}

// Class is the part's class in a page.
func (p part) Class() string { return map[string]string{"✗": "fail", "✓": "pass"}[p.sign] }

// Indices of the groups in [parts].
const (
	surviving = iota
	killed
	unknown
	uncounted
)

// parts groups the instructions of a report.
func parts(r *score.Report) []part {
	out := []part{
		{"Mutants survive", "✗", "31", nil}, {"All mutants are killed", "✓", "32", nil}, {"Not known", "?", "33", nil}, {"What every prompt asks, not counted in the score", "·", "2", nil},
	}
	for i := range r.Instructions {
		in := &r.Instructions[i]
		at := unknown
		switch {
		case in.Survived > 0:
			at = surviving
		case in.Killed > 0:
			at = killed
		}
		out[at].List = append(out[at].List, in)
	}
	if r.AnyAnswer.Made() > 0 {
		out[uncounted].List = append(out[uncounted].List, &r.AnyAnswer)
	}
	return out
}

func (t *terminal) instruction(in *score.Instruction, sign, color string) {
	where := ""
	if in.Line > 0 {
		where = fmt.Sprintf("%4d  ", in.Line)
	}
	t.line(" %s %s%s", t.o.Paint(color, sign), where, report.Line(in.Text, t.o.Width-10))
	const indent = "         "
	t.line("%s%s", indent, result(in))
	for _, e := range in.Survivors {
		t.line("%s%s", indent, t.o.Paint(report.Dim, report.Line(fmt.Sprintf("%s, %s, in %s:", e.Operator, e.Basis, e.Output), 100)))
		t.line("%s  %s", indent, t.change(e.Change))
	}
	if todo := next(t.r, in); todo != "" {
		t.line("%s→ %s", indent, report.Line(todo, 400))
	}
}

// change shows a change as a small diff: [-removed-]{+added+}.
func (t *terminal) change(c score.Change) string {
	var b strings.Builder
	b.WriteString(report.Line(c.Before, 60))
	if c.Before != "" {
		b.WriteByte(' ')
	}
	if c.Removed != "" {
		b.WriteString(t.o.Paint(report.Red, "[-"+report.Line(c.Removed, 140)+"-]"))
	}
	if c.Added != "" {
		b.WriteString(t.o.Paint(report.Green, "{+"+report.Line(c.Added, 140)+"+}"))
	}
	if c.After != "" {
		b.WriteString(" " + report.Line(c.After, 60))
	}
	return b.String()
}

// note returns a remark about an assertion.
func note(a *score.Assertion) string {
	var parts []string
	switch {
	case a.NotRun != "":
		parts = append(parts, "not run: "+a.NotRun)
	case a.Failing > 0:
		parts = append(parts, fmt.Sprintf("fails %s as it is", plural.Of(a.Failing, "output")))
	}
	switch {
	case a.NotRun != "" || a.Killed > 0:
	case a.Made() == 0 && a.Why != "":
		return strings.Join(append(parts, "undecided on every output: "+a.Why), "; ")
	case a.Made() == 0:
		parts = append(parts, "not tried: none of its outputs was mutated")
	default:
		parts = append(parts, "kills nothing")
	}
	if a.Why != "" && a.NotRun == "" {
		parts = append(parts, "undecided: "+a.Why)
	}
	return strings.Join(parts, "; ")
}

func (t *terminal) assertions(r *score.Report) {
	if len(r.Assertions) == 0 {
		return
	}
	width := 9
	for i := range r.Assertions {
		width = max(width, len([]rune(report.Line(r.Assertions[i].Name, 44))))
	}
	t.line("\n%s", t.o.Paint(report.Bold, fmt.Sprintf("%-*s  kills  passes  undecided", width, "Assertion")))
	for i := range r.Assertions {
		a := &r.Assertions[i]
		text := fmt.Sprintf("%-*s  %5d  %6d  %9d", width, report.Line(a.Name, 44), a.Killed, a.Survived, a.Counts.Undecided)
		if n := note(a); n != "" {
			text += "  " + report.Line(n, 100)
		}
		t.line("%s", text)
	}
	if r.Decided() > 0 {
		t.line("\nThe range is a 95 %% interval (Wilson), which takes the mutants as independent.")
	}
}
