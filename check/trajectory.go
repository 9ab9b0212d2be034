package check

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/glob"
	"github.com/proviso-eval/proviso/value"
)

// stepsKey is the key of a row's steps.
type stepsKey struct{}

// decideSteps makes a check of the steps of an agent.
// decide also returns the steps that support the verdict. The steps of a row are read once.
func (c *Compiler) decideSteps(s *Spec, decide func(steps []Step) (Finding, []Step)) Check {
	return Func(func(ctx context.Context, sub *Subject) (Finding, error) {
		spans, err := c.spans(ctx, sub, s.Base)
		if err != nil {
			return Finding{}, err
		}
		f, about := decide(memo(sub, stepsKey{}, func() []Step { return Steps(spans, c.CommandTools) }))
		f.Always = true
		if f.Pass == s.Not {
			if len(about) > 0 {
				spans = spansOf(about)
			}
			f.Evidence = worst(spans)
		}
		return f, nil
	})
}

// toolSteps returns the steps that call a tool.
func toolSteps(steps []Step) []Step {
	return filterSteps(steps, func(s *Step) bool { return s.Type == StepTool })
}

func filterSteps(steps []Step, keep func(s *Step) bool) []Step {
	var list []Step
	for i := range steps {
		if keep(&steps[i]) {
			list = append(list, steps[i])
		}
	}
	return list
}

// spansOf returns the spans of steps.
func spansOf(steps []Step) []proviso.Span {
	list := make([]proviso.Span, len(steps))
	for i := range steps {
		list[i] = *steps[i].Span
	}
	return list
}

// shownSteps lists steps for a reason.
func shownSteps(steps []Step) string {
	if len(steps) == 0 {
		return "(none)"
	}
	names := make([]string, len(steps))
	for i := range steps {
		names[i] = steps[i].String()
	}
	return listed(names)
}

// stepPattern selects steps.
type stepPattern struct {
	types   []string // empty means any
	pattern string   // "" means any
}

// stepPatternOf reads a text, or an object with name or pattern, and type.
func stepPatternOf(s *Spec, v any, types ...string) (stepPattern, error) {
	p := stepPattern{types: types}
	if text, ok := v.(string); ok {
		p.pattern = text
		return p, nil
	}
	o, ok := v.(*value.Object)
	if !ok {
		return p, s.badValue("steps that are texts or objects with a name or a pattern")
	}
	for _, key := range [...]string{"pattern", "name"} {
		switch v := o.At(key).(type) {
		case nil, value.Undefined:
		case string:
			if p.pattern == "" {
				p.pattern = v
			}
		default:
			return p, proviso.Errorf(proviso.Invalid, "%s of %q must be a text, found %s", key, s.Type, value.Stringify(v))
		}
	}
	switch v := o.At("type").(type) {
	case string:
		if v != "" {
			p.types = []string{v}
		}
	case []any:
		p.types = asTexts(v)
	}
	return p, nil
}

// named returns p, or an error if it has neither a name nor a pattern.
func (p stepPattern) named(s *Spec, where string) (stepPattern, error) {
	if p.pattern == "" {
		return p, proviso.Errorf(proviso.Invalid, "%s of %q needs a name or a pattern", where, s.Type)
	}
	return p, nil
}

// matches reports whether the pattern selects a step: by its own name, that of its
// span, or an alias.
func (p stepPattern) matches(s *Step) bool {
	if p.types != nil && !slices.Contains(p.types, s.Type) {
		return false
	}
	pattern := lower(p.pattern)
	return p.pattern == "" || slices.ContainsFunc(s.aliases, func(name string) bool { return glob.Match(pattern, lower(name)) })
}

// newToolUsed is `trajectory:tool-used`: a text or list names tools that must all
// occur (negated: none); an object limits how often matching ones occur.
func newToolUsed(c *Compiler, s *Spec) (Check, error) {
	if o, ok := s.Value.(*value.Object); ok {
		return newToolCount(c, s, o)
	}
	list, ok := s.Value.([]any)
	if !ok {
		list = []any{s.Value}
	}
	var wanted []stepPattern
	for _, v := range list {
		text, ok := v.(string)
		if !ok {
			return nil, s.badValue("the name of a tool, a list of names, or an object")
		}
		wanted = append(wanted, stepPattern{[]string{StepTool}, text})
	}
	if len(wanted) == 0 {
		return nil, proviso.Errorf(proviso.Invalid, "%q needs at least one tool", s.Type)
	}
	return c.decideSteps(s, func(steps []Step) (Finding, []Step) {
		tools := toolSteps(steps)
		all := make([]string, len(wanted))
		var seen []string
		for i, p := range wanted {
			all[i] = p.label()
			if slices.ContainsFunc(tools, func(s Step) bool { return p.matches(&s) }) {
				seen = append(seen, all[i])
			}
		}
		return s.used("tool", all, seen, shownSteps(tools)), tools
	}), nil
}

// label returns the name of the selected steps in reasons.
func (p stepPattern) label() string {
	if p.pattern == "" {
		return "*"
	}
	return p.pattern
}

// newToolCount is the object form: minimum and maximum calls of matching tools.
func newToolCount(c *Compiler, s *Spec, o *value.Object) (Check, error) {
	p, err := stepPatternOf(s, o, StepTool)
	if err == nil {
		p, err = p.named(s, "the value")
	}
	if err != nil {
		return nil, err
	}
	least, most := numberBound(o, "min"), numberBound(o, "max")
	if !least.set {
		least = bound{true, 1, "1"}
	}
	return c.decideSteps(s, func(steps []Step) (Finding, []Step) {
		tools := toolSteps(steps)
		matching := filterSteps(tools, p.matches)
		f := found(inBounds(len(matching), least, most))
		switch {
		case s.Not && f.Pass:
			f.Reason = fmt.Sprintf("Tool \"%s\" matched %d time(s), which violates the inverse assertion", p.label(), len(matching))
		case s.Not:
			f.Reason = fmt.Sprintf("Tool \"%s\" did not satisfy the forbidden match condition", p.label())
		default:
			f.Reason = fmt.Sprintf("Matched tool \"%s\" %d time(s)%s", p.label(), len(matching), within(least, most))
			if len(matching) > 0 {
				f.Reason += ". Matches: " + shownSteps(matching)
			}
		}
		return f, orAll(matching, tools)
	}), nil
}

// numberBound returns a bound that has an effect only if it is a number.
func numberBound(o *value.Object, key string) bound {
	if _, ok := o.At(key).(float64); !ok {
		return bound{}
	}
	return boundOf(o, key)
}

func inBounds(n int, least, most bound) bool {
	return (!least.set || float64(n) >= least.value) && (!most.set || float64(n) <= most.value)
}

// newToolSequence is `trajectory:tool-sequence`: tools in an order, possibly with
// others between them, or exactly these.
func newToolSequence(c *Compiler, s *Spec) (Check, error) {
	var list []any
	exact := false
	switch v := s.Value.(type) {
	case []any:
		list = v
	case *value.Object:
		exact = v.At("mode") == "exact"
		list, _ = v.At("steps").([]any)
	default:
		return nil, s.badValue("a list, or an object with steps,")
	}
	if len(list) == 0 {
		return nil, proviso.Errorf(proviso.Invalid, "%q needs at least one step", s.Type)
	}
	wanted := make([]stepPattern, len(list))
	for i, v := range list {
		p, err := stepPatternOf(s, v, StepTool)
		if err == nil {
			p, err = p.named(s, fmt.Sprintf("step %d", i+1))
		}
		if err != nil {
			return nil, err
		}
		wanted[i] = p
	}
	return c.decideSteps(s, func(steps []Step) (Finding, []Step) {
		tools := toolSteps(steps)
		f := stepsInOrder(wanted, tools)
		if exact {
			f = inExactOrder(wanted, tools)
		}
		switch {
		case s.Not && f.Pass:
			f.Reason = "Forbidden tool sequence was observed. Actual tools: " + shownSteps(tools)
		case s.Not:
			f.Reason = "Forbidden tool sequence was not observed"
		}
		return f, tools
	}), nil
}

// stepsInOrder searches for the wanted steps one after the other.
func stepsInOrder(wanted []stepPattern, tools []Step) Finding {
	var matched []Step
	for i := range tools {
		if len(matched) < len(wanted) && wanted[len(matched)].matches(&tools[i]) {
			matched = append(matched, tools[i])
		}
	}
	f := found(len(matched) == len(wanted))
	if f.Pass {
		f.Reason = "Observed tool sequence in order: " + shownSteps(matched)
	} else {
		f.Reason = fmt.Sprintf("Expected tool \"%s\" was not observed in order", wanted[len(matched)].label())
	}
	f.Reason += ". Actual tools: " + shownSteps(tools)
	return f
}

func inExactOrder(wanted []stepPattern, tools []Step) Finding {
	same := len(wanted) == len(tools)
	labels := make([]string, len(wanted))
	for i, p := range wanted {
		labels[i] = p.label()
		same = same && p.matches(&tools[i])
	}
	f := found(same)
	f.Reason = "Expected exact tool sequence of " + listed(labels) + ", but actual tools were " + shownSteps(tools)
	if f.Pass {
		f.Reason = "Observed exact tool sequence: " + shownSteps(tools)
	}
	return f
}

// newStepCount is `trajectory:step-count`: the number of steps of a type, of those
// that match a pattern, or of all.
func newStepCount(c *Compiler, s *Spec) (Check, error) {
	o, ok := s.Value.(*value.Object)
	if !ok {
		return nil, s.badValue("an object")
	}
	p, err := stepPatternOf(s, o)
	if err != nil {
		return nil, err
	}
	least, most := numberBound(o, "min"), numberBound(o, "max")
	if !least.set && !most.set {
		return nil, proviso.Errorf(proviso.Invalid, "%q needs min or max, a number", s.Type)
	}
	about := ""
	var filters []string
	if p.types != nil {
		filters = append(filters, "type="+strings.Join(p.types, "|"))
	}
	if p.pattern != "" {
		filters = append(filters, "pattern="+p.pattern)
	}
	if filters != nil {
		about = " for " + strings.Join(filters, ", ")
	}
	return c.decideSteps(s, func(steps []Step) (Finding, []Step) {
		matching := filterSteps(steps, p.matches)
		f := found(inBounds(len(matching), least, most))
		switch {
		case s.Not && f.Pass:
			f.Reason = "Trajectory step count satisfied the forbidden range"
		case s.Not:
			f.Reason = "Trajectory step count did not satisfy the forbidden range"
		default:
			f.Reason = fmt.Sprintf("Matched %d trajectory step(s)%s%s", len(matching), about, within(least, most))
			if len(matching) > 0 {
				f.Reason += ". Matches: " + shownSteps(matching)
			}
		}
		return f, orAll(matching, steps)
	}), nil
}
