package show

import (
	"fmt"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/gate"
	"github.com/proviso-eval/proviso/gate/runs"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/internal/plural"
)

// detail holds the texts of one case, and the differences.
type detail struct {
	pair     *gate.CasePair
	Sign     string // the group's sign
	Column   string // "" if there is only one
	base     *runs.Row
	head     *runs.Row // base and head are nil for a side without texts
	Verdicts []verdict // verdicts on the assertions that changed, or failed on both sides
	Diff     []part    // diff of the outputs; nil if they are equal or a side is missing
	Prompt   []part    // diff of the prompts as sent; nil unless they differ although their templates do not
}

// verdict is the verdict on an assertion on both sides; a side may be nil.
type verdict struct {
	Assertion  string
	base, head *runs.VerdictText
}

// maxRepeats bounds the number of a case's repeats that are read to find one that shows
// the change.
const maxRepeats = 5

// shower reads the texts to show.
type shower struct {
	c     *gate.Comparison
	texts Texts
}

// cases shows the cases by groups, the worst first. begin gets the title of a group. one
// gets each case, until it returns false or most cases are shown in total. more gets the
// group's remaining cases.
func (s *shower) cases(most int, begin func(title string), one func(d *detail) bool, more func(others []gate.CasePair)) error {
	for _, k := range kinds(s.c) {
		if len(k.pairs) == 0 {
			continue
		}
		begin(plural.Of(len(k.pairs), "case") + " " + k.title)
		entries := 0
		for ; entries < len(k.pairs) && most > 0; entries, most = entries+1, most-1 {
			d, err := s.detail(&k.pairs[entries], k.sign)
			if err != nil {
				return err
			}
			if !one(&d) {
				break
			}
		}
		more(k.pairs[entries:])
	}
	return nil
}

// detail reads the texts of a case.
func (s *shower) detail(p *gate.CasePair, sign string) (detail, error) {
	d := detail{pair: p, Sign: sign, Column: columnName(s.c, p.Column)}
	var err error
	// Choose repeats in which the assertions that broke passed before and fail now, and
	// the other way round for the assertions that were fixed.
	if d.base, err = pick(s.texts.Base, p.Base, p, proviso.Pass); err != nil {
		return d, err
	}
	if d.head, err = pick(s.texts.Head, p.Head, p, proviso.Fail); err != nil {
		return d, err
	}
	d.Verdicts = verdictsOf(d.base, d.head, p)
	if d.base != nil && d.head != nil && d.base.Prompt != "" && d.head.Prompt != "" && d.base.Prompt != d.head.Prompt && !s.templateChanged(p.Column) {
		d.Prompt = folded(wordDiff(d.base.Prompt, d.head.Prompt))
	}
	if d.base != nil && d.head != nil && d.base.Answered && d.head.Answered {
		if parts := wordDiff(d.base.Output, d.head.Output); changed(parts) {
			d.Diff = parts
		}
	}
	return d, nil
}

// pick returns the texts of the first row in which the assertions that broke have the
// given status, and those that were fixed the opposite one; otherwise those of the first
// row.
func pick(source Source, rows []int, p *gate.CasePair, broke proviso.Status) (*runs.Row, error) {
	if source == nil || len(rows) == 0 {
		return nil, nil
	}
	fixed := proviso.Pass
	if broke == proviso.Pass {
		fixed = proviso.Fail
	}
	var first *runs.Row
	for _, index := range rows[:min(len(rows), maxRepeats)] {
		row, err := source.Row(index)
		if err != nil {
			return nil, err
		}
		if first == nil {
			first = row
		}
		if shows(row, p.Broke, broke) && shows(row, p.Fixed, fixed) {
			return row, nil
		}
	}
	return first, nil
}

// shows reports whether one of the assertions has the status in a row; without assertions
// every row does.
func shows(row *runs.Row, assertions []string, status proviso.Status) bool {
	return len(assertions) == 0 || slices.ContainsFunc(row.Verdicts, func(v runs.VerdictText) bool {
		return v.Status == status && slices.Contains(assertions, v.Assertion)
	})
}

// maxVerdicts bounds the number of assertions shown per case.
const maxVerdicts = 10

// verdictsOf returns the assertions that changed sides, then those that fail now, then
// those with an error.
func verdictsOf(base, head *runs.Row, p *gate.CasePair) []verdict {
	var list []verdict
	add := func(assertion string) {
		if !slices.ContainsFunc(list, func(v verdict) bool { return v.Assertion == assertion }) {
			list = append(list, verdict{assertion, find(base, assertion), find(head, assertion)})
		}
	}
	for _, assertion := range slices.Concat(p.Broke, p.Fixed) {
		add(assertion)
	}
	for _, status := range [...]proviso.Status{proviso.Fail, proviso.Errored} {
		if head == nil {
			break
		}
		for i := range head.Verdicts {
			if head.Verdicts[i].Status == status {
				add(head.Verdicts[i].Assertion)
			}
		}
	}
	return list[:min(len(list), maxVerdicts)]
}

func find(row *runs.Row, assertion string) *runs.VerdictText {
	if row == nil {
		return nil
	}
	for i := range row.Verdicts {
		if row.Verdicts[i].Assertion == assertion {
			return &row.Verdicts[i]
		}
	}
	return nil
}

// Statuses formats the statuses on both sides, such as "pass → fail".
func (v *verdict) Statuses() string { return statusText(v.base) + " → " + statusText(v.head) }

func statusText(v *runs.VerdictText) string {
	if v == nil {
		return "–"
	}
	return v.Status.String()
}

// Sides returns the explanations of a verdict: the reason of a side that did not pass,
// and the evidence of both.
func (v *verdict) Sides() []sideText {
	var list []sideText
	for _, s := range [...]struct {
		name string
		text *runs.VerdictText
	}{{"base", v.base}, {"head", v.head}} {
		if s.text == nil {
			continue
		}
		out := sideText{Name: s.name, Evidence: s.text.Evidence[:min(len(s.text.Evidence), maxEvidence)]}
		if s.text.Status != proviso.Pass {
			out.Reason = s.text.Reason
		}
		if out.Reason != "" || len(out.Evidence) > 0 {
			list = append(list, out)
		}
	}
	return list
}

// maxEvidence bounds the number of quotes shown per verdict.
const maxEvidence = 3

// sideText explains one side's verdict.
type sideText struct {
	Name, Reason string
	Evidence     []string
}

// templateChanged reports whether the columns of a pair have different templates. Their
// difference is shown once for all cases.
func (s *shower) templateChanged(column int) bool {
	if column < 0 || column >= len(s.c.Columns) {
		return false
	}
	p := s.c.Columns[column]
	return s.texts.Base.Prompt(p.Base) != s.texts.Head.Prompt(p.Head)
}

// promptChange is the change in a prompt.
type promptChange struct {
	Name string // "" if there is only one prompt
	Diff []part
}

// promptChanges compares the templates of the paired columns. Equal changes are listed
// once.
func (s *shower) promptChanges() []promptChange {
	if s.texts.Base == nil || s.texts.Head == nil {
		return nil
	}
	var list []promptChange
	seen := map[[2]string]bool{}
	for _, p := range s.c.Columns {
		pair := [2]string{s.texts.Base.Prompt(p.Base), s.texts.Head.Prompt(p.Head)}
		if pair[0] == pair[1] || pair[0] == "" || pair[1] == "" || seen[pair] {
			continue
		}
		seen[pair] = true
		name := ""
		if len(s.c.Columns) > 1 {
			name = both(p.Base.Prompt, p.Head.Prompt)
		}
		list = append(list, promptChange{name, folded(wordDiff(pair[0], pair[1]))})
	}
	return list[:min(len(list), maxPrompts)]
}

// maxPrompts bounds the number of changed prompts shown.
const maxPrompts = 10

// Input returns the variables of the case on one line; "" if there are none.
func (d *detail) Input() string {
	row := d.head
	if row == nil {
		row = d.base
	}
	if row == nil || row.Input == row.Prompt {
		return ""
	}
	return strings.ReplaceAll(excerpt.Bytes(strings.TrimSpace(row.Input), maxInput), "\n", ", ")
}

const maxInput = 4 << 10 // bytes

// Title returns the display name of the case, with the number of repeats if there are
// several.
func (d *detail) Title() string {
	if n := len(d.pair.Head); n > 1 {
		return fmt.Sprintf("%s (%s)", d.pair.Label(), plural.Of(n, "repeat"))
	}
	return d.pair.Label()
}

// Output returns the head's output, nil if there is none.
func (d *detail) Output() *string {
	if d.head == nil || !d.head.Answered {
		return nil
	}
	return &d.head.Output
}

// Same completes the title of the output with the side that it comes from.
func (d *detail) Same() string {
	if d.base != nil && d.base.Answered {
		return ", the same in both runs"
	}
	return " of the head"
}

// Missing explains why a side has no output.
func (d *detail) Missing() []sideText {
	var list []sideText
	if d.base != nil && !d.base.Answered && d.base.Error != "" {
		list = append(list, sideText{Name: "base", Reason: d.base.Error})
	}
	if d.head != nil && !d.head.Answered && d.head.Error != "" {
		list = append(list, sideText{Name: "head", Reason: d.head.Error})
	}
	return list
}
