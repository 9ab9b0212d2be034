package check

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/glob"
	"github.com/proviso-eval/proviso/value"
)

// newSkillUsed is `skill-used`: the metadata of the output reports calls of skills. A
// text or list names skills that must all occur (negated: none); an object limits how
// often matching ones occur.
func newSkillUsed(_ *Compiler, s *Spec) (Check, error) {
	if o, ok := s.Value.(*value.Object); ok {
		return newSkillCount(s, o)
	}
	names, err := skillNames(s)
	if err != nil {
		return nil, err
	}
	return Func(func(_ context.Context, sub *Subject) (Finding, error) {
		calls := skillCalls(sub.Row.Output)
		var seen []string
		for _, name := range names {
			if slices.ContainsFunc(calls, func(c skillCall) bool { return c.name == name }) {
				seen = append(seen, name)
			}
		}
		return s.used("skill", names, seen, showCalls(calls)), nil
	}), nil
}

func skillNames(s *Spec) ([]string, error) {
	list, ok := s.Value.([]any)
	if !ok {
		list = []any{s.Value}
	}
	names := make([]string, 0, len(list))
	for _, e := range list {
		text, _ := e.(string)
		if text = value.TrimSpace(text); text == "" {
			return nil, s.badValue("the name of a skill, a list of names, or an object")
		}
		names = append(names, text)
	}
	if len(names) == 0 {
		return nil, s.badValue("the name of a skill, a list of names, or an object")
	}
	return names, nil
}

// skillCall is one call of a skill that did not fail.
type skillCall struct{ name, shown string }

func skillCalls(out *proviso.Output) []skillCall {
	list, _ := out.Metadata.At("skillCalls").([]any)
	var calls []skillCall
	for _, e := range list {
		o, _ := e.(*value.Object)
		name, ok := o.At("name").(string)
		if !ok || o.At("is_error") == true {
			continue
		}
		var from []string
		for _, key := range []string{"source", "path"} {
			if text, ok := o.At(key).(string); ok && text != "" {
				from = append(from, text)
			}
		}
		shown := name
		if from != nil {
			shown += " (" + strings.Join(from, ", ") + ")"
		}
		calls = append(calls, skillCall{name, shown})
	}
	return calls
}

func showCalls(calls []skillCall) string {
	shown := make([]string, len(calls))
	for i, c := range calls {
		shown[i] = c.shown
	}
	return orNone(shown)
}

// used is the finding on names of tools or skills, all of which must be used. Negated, none
// may be: the finding, which not- inverts, then passes if any was.
func (s *Spec) used(what string, all, seen []string, actual string) Finding {
	missing := slices.DeleteFunc(slices.Clone(all), func(name string) bool { return slices.Contains(seen, name) })
	f := found(len(missing) == 0)
	if s.Not {
		f = found(seen != nil)
	}
	f.Always = true
	actual = ". Actual " + what + "s: " + actual
	switch {
	case s.Not && f.Pass:
		f.Reason = "Forbidden " + what + "(s) were used: " + listed(seen) + actual
	case s.Not:
		f.Reason = "Forbidden " + what + "(s) were not used: " + listed(all)
	case f.Pass:
		f.Reason = "Observed required " + what + "(s): " + listed(all) + actual
	default:
		f.Reason = "Missing required " + what + "(s): " + listed(missing) + actual
	}
	return f
}

// skillCount is the object form: minimum and maximum calls of matching skills.
type skillCount struct {
	name, pattern string
	min, max      int // max is -1 if there is no limit
	bounded       bool
}

func newSkillCount(s *Spec, o *value.Object) (Check, error) {
	k, err := readSkillCount(s, o)
	if err != nil {
		return nil, err
	}
	if s.Not && k.bounded && (k.max != 0 || o.Has("min")) {
		return nil, proviso.Errorf(proviso.Invalid, "%q takes a name or pattern without min and max, or with max: 0", s.Type)
	}
	return Func(func(_ context.Context, sub *Subject) (Finding, error) {
		calls := skillCalls(sub.Row.Output)
		var matches []skillCall
		for _, c := range calls {
			if k.matches(c.name) {
				matches = append(matches, c)
			}
		}
		if s.Not {
			return k.forbids(matches, calls), nil
		}
		return k.counts(matches), nil
	}), nil
}

func readSkillCount(s *Spec, o *value.Object) (*skillCount, error) {
	k := &skillCount{min: 1, max: -1, bounded: o.Has("min") || o.Has("max")}
	for key, to := range map[string]*string{"name": &k.name, "pattern": &k.pattern} {
		text, _ := o.At(key).(string)
		*to = value.TrimSpace(text)
	}
	if k.name == "" && k.pattern == "" {
		return nil, proviso.Errorf(proviso.Invalid, "the value of %q needs a name or a pattern", s.Type)
	}
	if o.Has("max") {
		k.min = 0
	}
	for _, b := range []struct {
		key string
		to  *int
	}{{"min", &k.min}, {"max", &k.max}} {
		v, ok := o.Get(b.key)
		if !ok {
			continue
		}
		n, ok := v.(float64)
		if !ok || n < 0 || n != math.Trunc(n) || n > math.MaxInt32 {
			return nil, proviso.Errorf(proviso.Invalid, "%s of %q must be a whole number from 0 on, found %s", b.key, s.Type, value.Stringify(v))
		}
		*b.to = int(n)
	}
	if k.max >= 0 && k.max < k.min {
		return nil, proviso.Errorf(proviso.Invalid, "max of %q is less than its min", s.Type)
	}
	return k, nil
}

func (k *skillCount) matches(name string) bool {
	return (k.name == "" || name == k.name) && (k.pattern == "" || glob.Match(lower(k.pattern), lower(name)))
}

// label returns the name of the expected skills in reasons.
func (k *skillCount) label() string {
	if k.pattern != "" {
		return k.pattern
	}
	return k.name
}

func (k *skillCount) counts(matches []skillCall) Finding {
	n := len(matches)
	f := found(n >= k.min && (k.max < 0 || n <= k.max))
	want := fmt.Sprintf("at least %d", k.min)
	if k.max >= 0 {
		want = fmt.Sprintf("%d-%d", k.min, k.max)
	}
	f.Always, f.Reason = true, fmt.Sprintf("Matched skill \"%s\" %d time(s) (expected %s)", k.label(), n, want)
	if n > 0 {
		f.Reason += ". Matches: " + showCalls(matches)
	}
	return f
}

func (k *skillCount) forbids(matches, calls []skillCall) Finding {
	f := found(len(matches) > 0)
	f.Always = true
	if f.Pass {
		f.Reason = fmt.Sprintf("Forbidden skill \"%s\" was used %d time(s). Matches: %s", k.label(), len(matches), showCalls(matches))
	} else {
		f.Reason = fmt.Sprintf("Forbidden skill \"%s\" was not used. Actual skills: %s", k.label(), showCalls(calls))
	}
	return f
}
