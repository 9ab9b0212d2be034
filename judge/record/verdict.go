package record

import (
	"cmp"
	"math"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// Verdict is the verdict on one assertion in a finished run.
type Verdict struct {
	Name      string // assertion name: id, otherwise metric, otherwise type
	Judge     string // identity, "" if no model was called
	Status    proviso.Status
	Assertion *value.Object

	component *value.Object
}

// Criterion is the verdict on one criterion.
type Criterion struct {
	Text       string // text with the values for this output
	Skipped    bool
	CannotTell bool // the judge answered that it cannot tell
	Status     proviso.Status
	Votes      proviso.Votes // zero if there was only one vote
}

// Verdicts returns the verdicts of a row. It includes the members of assertion sets,
// but not the parts of a single assertion.
func (r Row) Verdicts() []Verdict {
	list, _ := r.o.Object("gradingResult").At("componentResults").([]any)
	var all []Verdict
	for i := 0; i < len(list); i++ {
		c, _ := list[i].(*value.Object)
		a := c.Object("assertion")
		kind := a.Text("type")
		if strings.TrimPrefix(kind, "not-") == proviso.TypeSet {
			continue // the set's members follow
		}
		if parts, ok := c.At("members").(float64); ok && parts > 0 && parts < math.MaxInt32 {
			i += int(parts)
		}
		if a == nil {
			continue
		}
		all = append(all, Verdict{Name: cmp.Or(a.Text("id"), a.Text("metric"), kind, proviso.TypeJudge),
			Judge: c.Text("judge"), Status: proviso.StatusNamed(c.Text("status")), Assertion: a, component: c})
	}
	return all
}

// Reason returns the reason of a verdict.
func (v Verdict) Reason() string { return v.component.Text("reason") }

// Quotes returns the evidence of a verdict.
func (v Verdict) Quotes() []string {
	list, _ := v.component.At("evidence").([]any)
	var quotes []string
	for _, e := range list {
		if o, ok := e.(*value.Object); ok {
			quotes = append(quotes, o.Text("quote"))
		}
	}
	return quotes
}

// Criteria returns the verdicts on the criteria, in order.
func (v Verdict) Criteria() []Criterion {
	list, _ := v.component.At("criteria").([]any)
	out := make([]Criterion, len(list))
	for i, e := range list {
		c, _ := e.(*value.Object)
		out[i] = Criterion{Text: c.Text("criterion"), Skipped: c == nil || c.Text("status") == proviso.Skip.String(), CannotTell: c.At("cannot_tell") == true,
			Status: proviso.StatusNamed(c.Text("status")), Votes: votesOf(c.Object("votes"))}
	}
	return out
}

func votesOf(o *value.Object) proviso.Votes {
	n := func(key string) int {
		f, _ := o.At(key).(float64)
		return int(min(max(f, 0), math.MaxInt32))
	}
	return proviso.Votes{Met: n("met"), Unmet: n("unmet"), CannotTell: n("cannot_tell"), Failed: n("failed")}
}

// Score returns a verdict's score and the threshold that it was compared with; ok is
// false without a score or a threshold.
func (v Verdict) Score() (score, threshold float64, ok bool) {
	score, scored := v.component.At("score").(float64)
	threshold, ok = v.component.At("threshold").(float64)
	return score, threshold, scored && ok
}

// Judged returns the assertion's instruction and criteria as written.
func (v Verdict) Judged() *proviso.Assertion {
	a := &proviso.Assertion{Instruction: v.Assertion.Text("instruction")}
	written := v.Assertion.At("criteria")
	if _, one := written.(string); one {
		written = []any{written}
	}
	list, _ := written.([]any)
	for _, e := range list {
		switch e := e.(type) {
		case string:
			a.Criteria = append(a.Criteria, proviso.Criterion{Text: e})
		case *value.Object:
			a.Criteria = append(a.Criteria, proviso.Criterion{Text: e.Text("text"), Template: e.Text("template")})
		}
	}
	return a
}

// Question returns what a person has to decide: instruction and criteria, or the value of
// the assertion.
func (v Verdict) Question() string {
	var lines []string
	if text := v.Assertion.Text("instruction"); text != "" {
		lines = append(lines, text)
	}
	switch criteria := v.Assertion.At("criteria").(type) {
	case string:
		lines = append(lines, "• "+criteria)
	case []any:
		for _, c := range criteria {
			text := value.ToString(c)
			if o, ok := c.(*value.Object); ok {
				if text = o.Text("text"); text == "" {
					text = value.Stringify(o)
				}
			}
			lines = append(lines, "• "+text)
		}
	}
	if check := v.Assertion.Object("check"); check != nil {
		lines = append(lines, "• counted: "+value.Stringify(check))
	}
	if len(lines) == 0 {
		val := v.Assertion.At("value")
		if rendered, ok := v.component.Object("metadata").At("renderedAssertionValue").(string); ok {
			val = rendered
		}
		if val != nil {
			lines = append(lines, value.Text(val))
		}
	}
	return strings.Join(lines, "\n")
}
