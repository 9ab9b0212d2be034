package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/internal/glob"
	"github.com/proviso-eval/proviso/value"
)

// toolArgs is the value of `trajectory:tool-args-match`: a call of a tool with
// these arguments.
type toolArgs struct {
	tool     stepPattern
	want     any
	exact    bool
	defaults *value.Object // arguments that count as absent if they have these values
	ignore   []string      // names of arguments that are ignored, or patterns of them
}

// newToolArgsMatch is `trajectory:tool-args-match`.
func newToolArgsMatch(c *Compiler, s *Spec) (Check, error) {
	o, ok := s.Value.(*value.Object)
	if !ok {
		return nil, s.badValue("an object with name and args")
	}
	a, err := readToolArgs(s, o)
	if err != nil {
		return nil, err
	}
	return c.decideSteps(s, func(steps []Step) (Finding, []Step) {
		tools := toolSteps(steps)
		calls := filterSteps(tools, a.tool.matches)
		with := filterSteps(calls, func(s *Step) bool { return s.HasArgs })
		i := slices.IndexFunc(with, func(s Step) bool { return a.accepts(s.Args) })
		f := found(i >= 0)
		switch {
		case f.Pass && s.Not:
			f.Reason = fmt.Sprintf("Forbidden argument match for tool \"%s\" was observed on %s. Args: %s", a.tool.label(), &with[i], shownArgs(with[i].Args))
		case f.Pass:
			f.Reason = fmt.Sprintf("Tool \"%s\" matched expected arguments (%s) on %s. Args: %s%s", a.tool.label(), a.mode(), &with[i], shownArgs(with[i].Args), a.left(with[i].Args))
		case s.Not:
			f.Reason = a.absent(calls, with)
		default:
			f.Reason = a.missed(tools, calls, with)
		}
		return f, orAll(calls, tools)
	}), nil
}

func readToolArgs(s *Spec, o *value.Object) (*toolArgs, error) {
	p, err := stepPatternOf(s, o, StepTool)
	if err == nil {
		p, err = p.named(s, "the value")
	}
	if err != nil {
		return nil, err
	}
	a := &toolArgs{tool: p}
	var ok bool
	if a.want, ok = o.Get("args"); !ok {
		a.want, ok = o.Get("arguments")
	}
	if !ok {
		return nil, proviso.Errorf(proviso.Invalid, "the value of %q needs args", s.Type)
	}
	switch mode, has := o.Get("mode"); {
	case !has, mode == "partial":
	case mode == "exact":
		a.exact = true
	default:
		return nil, proviso.Errorf(proviso.Invalid, "mode of %q must be \"partial\" or \"exact\", found %s", s.Type, value.Stringify(mode))
	}
	if v, has := o.Get("defaults"); has {
		if a.defaults, ok = v.(*value.Object); !ok {
			return nil, proviso.Errorf(proviso.Invalid, "defaults of %q must be an object of arguments and their values, found %s", s.Type, kindOf(v))
		}
	}
	a.ignore, err = ignoredArgs(s, o)
	return a, err
}

func ignoredArgs(s *Spec, o *value.Object) ([]string, error) {
	v, has := o.Get("ignore")
	if !has {
		return nil, nil
	}
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	names := make([]string, len(list))
	for i, e := range list {
		if names[i], ok = e.(string); !ok || value.TrimSpace(names[i]) == "" {
			return nil, proviso.Errorf(proviso.Invalid, "ignore of %q must be the name of an argument, or a list of names", s.Type)
		}
	}
	return names, nil
}

// accepts reports whether a call has the arguments. Ignored arguments count on
// neither side; defaults are dropped only from the call.
func (a *toolArgs) accepts(args any) bool {
	got, _ := a.withoutIgnored(args)
	got, _ = a.withoutDefaults(got)
	want, _ := a.withoutIgnored(a.want)
	if a.exact {
		return deepEqual(got, want)
	}
	return holds(got, want)
}

// holds reports whether got contains want: objects have at least the same members,
// lists the same number of elements.
func holds(got, want any) bool {
	switch want := want.(type) {
	case []any:
		list, ok := got.([]any)
		if !ok || len(list) != len(want) {
			return false
		}
		for i := range want {
			if !holds(list[i], want[i]) {
				return false
			}
		}
		return true
	case *value.Object:
		o, ok := got.(*value.Object)
		if !ok {
			return false
		}
		for key, w := range want.All() {
			g, ok := o.Get(key)
			if !ok || !holds(g, w) {
				return false
			}
		}
		return true
	}
	return deepEqual(got, want)
}

// without returns the arguments except those for which drop is true, and their names.
func without(args any, drop func(key string, v any) bool) (rest any, dropped []string) {
	o, ok := args.(*value.Object)
	if !ok {
		return args, nil
	}
	kept := value.NewObject(o.Len())
	for key, v := range o.All() {
		if drop(key, v) {
			dropped = append(dropped, key)
		} else {
			kept.Set(key, v)
		}
	}
	return kept, dropped
}

func (a *toolArgs) withoutIgnored(args any) (any, []string) {
	return without(args, func(key string, _ any) bool {
		return slices.ContainsFunc(a.ignore, func(name string) bool {
			return name == key || strings.ContainsAny(name, "*?") && glob.Match(lower(name), lower(key))
		})
	})
}

func (a *toolArgs) withoutDefaults(args any) (any, []string) {
	return without(args, func(key string, v any) bool {
		def, ok := a.defaults.Get(key)
		return ok && deepEqual(v, def)
	})
}

func (a *toolArgs) mode() string {
	if a.exact {
		return "exact"
	}
	return "partial"
}

// left describes the arguments of a call that were ignored.
func (a *toolArgs) left(args any) string {
	rest, ignored := a.withoutIgnored(args)
	_, defaults := a.withoutDefaults(rest)
	text := ""
	if ignored != nil {
		text += ". Ignored argument(s): " + listed(ignored)
	}
	if defaults != nil {
		text += ". Ignored default argument(s): " + listed(defaults)
	}
	return text
}

// absent is the reason when no call had the forbidden arguments.
func (a *toolArgs) absent(calls, with []Step) string {
	text := fmt.Sprintf("Forbidden argument match for tool \"%s\" was not observed", a.tool.label())
	if len(calls) == 0 {
		return text + " because no tool call matched it"
	}
	return text + ". Observed args: " + observedArgs(with)
}

// missed is the reason when no call had the arguments.
func (a *toolArgs) missed(tools, calls, with []Step) string {
	switch {
	case len(calls) == 0:
		return fmt.Sprintf("No tool call matched \"%s\". Actual tools: %s", a.tool.label(), shownSteps(tools))
	case len(with) == 0:
		return fmt.Sprintf("Tool \"%s\" was observed but no arguments were captured. Actual tools: %s", a.tool.label(), shownSteps(tools))
	}
	return fmt.Sprintf("No call to tool \"%s\" matched expected arguments (%s): %s. Observed args: %s", a.tool.label(), a.mode(), shownArgs(a.want), observedArgs(with))
}

func observedArgs(with []Step) string {
	if len(with) == 0 {
		return "(none)"
	}
	list := make([]string, len(with))
	for i := range with {
		list[i] = shownArgs(with[i].Args)
	}
	return listed(list)
}

// shownArgs shortens arguments for a reason.
func shownArgs(args any) string { return excerpt.Runes(value.Stringify(args), 500) }
