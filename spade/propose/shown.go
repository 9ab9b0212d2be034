package propose

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/spade/ask"
	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/spade/candidate/python"
	"github.com/proviso-eval/proviso/spade/internal/format"
	"github.com/proviso-eval/proviso/spade/trial"
	"github.com/proviso-eval/proviso/value"
)

// The labels of trials.
const (
	labelGood = "1"
	labelBad  = "0"
)

// Limits of what a model sees besides the prompt.
const (
	shownEach     = 2       // good outputs, and bad ones
	maxMoreShown  = 6       // outputs in feedback
	maxShownText  = 6 << 10 // bytes per output
	maxShownValue = 1 << 10 // bytes per variable value
	maxShownVars  = 3 << 10 // bytes of all values of an output
	maxShownPaths = 30      // lines about one variable
	maxShownKnown = 60      // existing assertions
	maxShownCheck = 200     // bytes per existing assertion
	maxShownAsked = 400     // bytes of a criterion's sentence; the model also sees the prompt
)

// material returns the material of the second question.
func (j *job) material(r *proposing, list []DeltaCriterion, shown []*trial.Trial) []ask.Piece {
	criteria := make([]*value.Object, len(list))
	for i, c := range list {
		criteria[i] = value.ObjectOf("n", float64(i+1), "criterion", c.Text, "category", c.Category, "sentence", around(c.Delta.Text, c.Quote), "vague", c.Vague)
	}
	all := slices.Clone(r.known)
	for i := range j.candidates {
		all = append(all, known{Candidate: &j.candidates[i]})
	}
	return []ask.Piece{
		{Name: "prompt", Text: format.MiddleOut(r.prompt(), ask.MaxPromptShown)}, {Name: "variables", Text: ask.JSONLines(r.variables())},
		{Name: "outputs", Text: ask.JSONLines(r.outputs(shown))}, {Name: "known", Text: ask.JSONLines(shownChecks(all))}, {Name: "criteria", Text: ask.JSONLines(criteria)},
	}
}

// around shortens a long sentence to the text around a quote, because an example of many lines
// may have several criteria.
func around(text, quote string) string {
	if len(text) <= maxShownAsked {
		return text
	}
	from := max(0, strings.Index(text, quote)-maxShownAsked/4)
	from = excerpt.Start(text, from)
	short := excerpt.Bytes(text[from:], maxShownAsked)
	if from > 0 {
		short = "… " + short
	}
	return short
}

// shown returns the outputs that the model sees with a question: two good and two bad ones,
// first those with a note, and of different cases if possible. Without labels it is the first
// output. For a question about uncaught outputs, the bad ones are these.
func (r *proposing) shown(j *job) []*trial.Trial {
	var list []*trial.Trial
	add := func(label string) {
		var first *trial.Trial
		for range shownEach {
			var best *trial.Trial
			for i := range r.Trials {
				t := &r.Trials[i]
				if t.Label == label && t != first && (best == nil || worth(first, t) > worth(first, best)) {
					best = t
				}
			}
			if best == nil {
				return
			}
			list, first = append(list, best), best
		}
	}
	add(labelGood)
	if j.bad != nil {
		return append(list, j.bad...)
	}
	add(labelBad)
	if len(list) == 0 && len(r.Trials) > 0 {
		list = append(list, &r.Trials[0])
	}
	return list
}

// worth rates how informative an output is: a note explains its label, and a case other than
// the first output's shows more.
func worth(first, t *trial.Trial) int {
	n := 0
	if t.Note != "" {
		n += 2
	}
	if first != nil && value.Stringify(first.Vars) != value.Stringify(t.Vars) {
		n++
	}
	return n
}

// outputs returns trials as the model sees them.
func (r *proposing) outputs(list []*trial.Trial) []*value.Object {
	objects := make([]*value.Object, len(list))
	for i, t := range list {
		o := value.ObjectOf("id", t.ID)
		switch t.Label {
		case labelGood:
			o.Set("label", "good")
		case labelBad:
			o.Set("label", "bad")
		}
		if t.Note != "" {
			o.Set("note", excerpt.Head(t.Note, maxCriterion))
		}
		if t.Vars.Len() > 0 {
			o.Set("variables", shownValues(t.Vars))
		}
		o.Set("output", format.MiddleOut(t.Text(), maxShownText))
		objects[i] = o
	}
	return objects
}

// shownValues returns the shortened values of variables.
func shownValues(vars *value.Object) *value.Object {
	o, size := value.NewObject(vars.Len()), 0
	for name, v := range vars.All() {
		_, isText := v.(string)
		text := value.Text(v)
		short := format.MiddleOut(text, min(maxShownValue, max(maxShownVars-size, 64)))
		if size += len(short); short == text && !isText {
			o.Set(name, v)
		} else {
			o.Set(name, short)
		}
	}
	return o
}

// variables describes the variables of the prompt and of the outputs: their types, and the
// contents of objects and lists.
func (r *proposing) variables() []*value.Object {
	names := shownVars(r.prompt())
	for i := range r.Trials {
		for name := range r.Trials[i].Vars.All() {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	list := make([]*value.Object, len(names))
	for i, name := range names {
		list[i] = value.ObjectOf("name", name)
		kinds, inside := r.kindsOf(name)
		if len(kinds) > 0 {
			list[i].Set("type", strings.Join(kinds, " or "))
		}
		if inside.Len() > 0 {
			list[i].Set("inside", inside)
		}
	}
	return list
}

// kindsOf returns the types of a variable's values, and of nested values by path, such as
// items[].price.
func (r *proposing) kindsOf(name string) (kinds []string, inside *value.Object) {
	inside = value.NewObject(4)
	missing := false
	for i := range r.Trials {
		v, ok := r.Trials[i].Vars.Get(name)
		if !ok {
			missing = true
			continue
		}
		if kind := kindOf(v); !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
		addPaths(inside, "", v)
	}
	if missing && len(kinds) > 0 {
		kinds = append(kinds, "missing")
	}
	return kinds, inside
}

func addPaths(inside *value.Object, path string, v any) {
	add := func(path string, v any) {
		if inside.Len() < maxShownPaths && !inside.Has(path) {
			inside.Set(path, kindOf(v))
		}
		addPaths(inside, path, v)
	}
	switch v := v.(type) {
	case *value.Object:
		for key, e := range v.All() {
			add(strings.TrimPrefix(path+"."+key, "."), e)
		}
	case []any:
		for _, e := range v[:min(len(v), 3)] {
			add(path+"[]", e)
		}
	}
}

// kindOf names the type of a value.
func kindOf(v any) string {
	switch v.(type) {
	case nil, value.Undefined:
		return "null"
	case string:
		return "text"
	case float64:
		return "number"
	case bool:
		return "true or false"
	case []any:
		return "list"
	}
	return "object"
}

// known is an existing candidate.
type known struct {
	*proviso.Candidate
	wrong string // the good outputs that it fails, if they are too many
}

// knownBefore returns the candidates that exist before a model is asked. It tries those that
// need no model and no code, so that the model learns which decide wrongly.
func (r *proposing) knownBefore(ctx context.Context) []known {
	var list []known
	same := map[string]bool{}
	add := func(all []proviso.Candidate) {
		for i := range all {
			c := &all[i]
			key := candidate.Check(c)
			if same[key] || len(list) == maxShownKnown {
				continue
			}
			same[key] = true
			k := known{Candidate: c}
			if _, isCode := python.Of(c.Assertion); !isCode {
				if t, problem, _ := tryCandidate(ctx, c, r.Compiler, nil, r.Trials); problem == "" && t.strict(r.Tau) {
					k.wrong = fmt.Sprintf("it fails %d of %d good outputs", len(t.wrong), t.good)
				}
			}
			list = append(list, k)
		}
	}
	if r.rules != nil {
		add(r.rules.Candidates)
	}
	add(r.Earlier.Candidates)
	return list
}

// shownChecks returns existing candidates as the model sees them.
func shownChecks(all []known) []*value.Object {
	var list []*value.Object
	for _, k := range all[:min(len(all), maxShownKnown)] {
		o := value.ObjectOf("name", k.Name)
		if base := strings.TrimPrefix(k.Assertion.Type, "not-"); base == candidate.JudgeType || base == python.Type {
			o.Set("says", excerpt.Head(k.Description, maxShownCheck))
		} else {
			o.Set("check", excerpt.Head(fmt.Sprintf("%s %s", k.Assertion.Type, value.Stringify(k.Assertion.Value)), maxShownCheck))
		}
		if scope := k.Assertion.Raw.At("scope"); len(value.Stringify(scope)) > maxShownCheck {
			o.Set("scope", excerpt.Head(value.Stringify(scope), maxShownCheck))
		} else if scope != nil && k.Assertion.Raw.Has("scope") {
			o.Set("scope", scope)
		}
		if k.Assertion.When != "" {
			o.Set("when", excerpt.Head(k.Assertion.When, maxShownCheck))
		}
		o.SetText("wrong", k.wrong)
		list = append(list, o)
	}
	return list
}
