package propose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/spade/ask"
	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/spade/delta"
	"github.com/proviso-eval/proviso/spade/internal/format"
	"github.com/proviso-eval/proviso/spade/trial"
	"github.com/proviso-eval/proviso/value"
)

// The labels of trials.
const (
	labelGood = "1"
	labelBad  = "0"
)

// Limits of what a model is shown beside the prompt.
const (
	shownEach     = 2       // good outputs, and bad ones
	maxMoreShown  = 6       // outputs in the feedback
	maxShownText  = 6 << 10 // bytes of an output
	maxShownValue = 1 << 10 // bytes of the value of a variable
	maxShownVars  = 3 << 10 // bytes of the values of an output
	maxShownPaths = 30      // lines about one variable
	maxShownKnown = 60      // assertions that there are already
	maxShownCheck = 200     // bytes of one of them
)

// material returns the material of the second question.
func (j *job) material(r *proposing, list []DeltaCriterion, shown []*trial.Trial) []ask.Piece {
	criteria := make([]*value.Object, len(list))
	for i, c := range list {
		criteria[i] = value.ObjectOf("n", float64(i+1), "criterion", c.Text, "category", c.Category, "sentence", excerpt.Head(c.Delta.Text, delta.MaxSentence), "vague", c.Vague)
	}
	known := shownChecks(slices.Concat(r.known, j.candidates))
	return []ask.Piece{
		{Name: "prompt", Text: format.MiddleOut(r.prompt(), ask.MaxPromptShown)}, {Name: "variables", Text: ask.JSONLines(r.variables())},
		{Name: "outputs", Text: ask.JSONLines(r.outputs(shown))}, {Name: "known", Text: ask.JSONLines(known)}, {Name: "criteria", Text: ask.JSONLines(criteria)},
	}
}

// shown returns the outputs that the model sees with a question: two good and two bad
// ones, those with a note first, of different cases if there are some. Without labels
// that is the first output. For outputs that nothing catches, the bad ones are these.
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

// worth is how much an output shows: a note says why its label is what it is, and another
// case than that of the first output shows more.
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

// outputs are trials as the model sees them.
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

// shownValues are the values of variables, shortened.
func shownValues(vars *value.Object) *value.Object {
	o, size := value.NewObject(vars.Len()), 0
	for name, v := range vars.All() {
		text, isText := v.(string)
		if !isText {
			text = value.Stringify(v)
		}
		short := format.MiddleOut(text, min(maxShownValue, max(maxShownVars-size, 64)))
		if size += len(short); short == text && !isText {
			o.Set(name, v)
		} else {
			o.Set(name, short)
		}
	}
	return o
}

// variables describes the variables of the prompt and of the outputs: their types, and
// what is in objects and lists.
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

// kindsOf returns the types of the values of a variable, and of what is in them by its
// path, such as items[].price.
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

// shownChecks are candidates as the model sees those that there are already.
func shownChecks(all []proviso.Candidate) []*value.Object {
	var list []*value.Object
	for i := range all[:min(len(all), maxShownKnown)] {
		c := &all[i]
		o := value.ObjectOf("name", c.Name)
		if base := strings.TrimPrefix(c.Assertion.Type, "not-"); base == candidate.JudgeType || base == candidate.PythonType {
			o.Set("says", excerpt.Head(c.Description, maxShownCheck))
		} else {
			o.Set("check", excerpt.Head(fmt.Sprintf("%s %s", c.Assertion.Type, value.Stringify(c.Assertion.Value)), maxShownCheck))
		}
		list = append(list, o)
	}
	return list
}
