package run

import (
	"context"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/value"
)

// The events that call hooks.
const (
	beforeAll  = "beforeAll"
	beforeEach = "beforeEach"
	afterEach  = "afterEach"
	afterAll   = "afterAll"
)

// hook is a function of the suite that is called around the run and its rows.
type hook struct {
	*function
	only string // event that it is named after; "" means all events
}

// openHooks compiles the hooks. Hooks that cannot run are left out if the suite may run without
// them.
func (p *Plan) openHooks() {
	for _, g := range p.Suite.Extensions {
		h := &hook{}
		switch g.Entry {
		case beforeAll, beforeEach, afterEach, afterAll:
			h.only = g.Entry
		}
		var err error
		if h.function, err = p.function(g, p.hookEntry(g)); err != nil {
			p.mistake(proviso.WithPointer(g.Pointer, err))
			continue
		}
		p.hooks = append(p.hooks, h)
		p.waits = true
	}
}

// hookEntry is the default function of a Python or Ruby file.
func (p *Plan) hookEntry(g *proviso.Generator) string {
	if p.o.Files != nil && check.LanguageOf(g.File) != "javascript" && g.Entry == "" {
		if data, err := p.o.Files.ReadFile(g.File); err == nil && strings.Contains(string(data), "def get_transform") {
			return "get_transform"
		}
	}
	return "extension_hook"
}

// call calls the hook if it handles the event. A hook that is named after an
// event gets the context first, any other hook gets the event first. The result
// is nil if the hook returns nothing.
func (h *hook) call(ctx context.Context, moment string, context *value.Object) (*value.Object, error) {
	args := []any{moment, context}
	switch h.only {
	case "":
	case moment:
		args = []any{context, value.ObjectOf("hookName", moment)}
	default:
		return nil, nil
	}
	v, err := h.function.call(ctx, args...)
	if err != nil {
		return nil, proviso.Errorf(proviso.Undecided, "the hook %s: %w", moment, err)
	}
	if !value.Truthy(v) {
		return nil, nil
	}
	o, ok := v.(*value.Object)
	if !ok {
		return nil, proviso.Errorf(proviso.Undecided, "the hook %s: %s must return the context or nothing, found %s", moment, h.name(), found(v))
	}
	return o, nil
}

// beforeAll calls the hooks with the suite, and rebuilds the plan if they change it. A hook
// that fails keeps the suite from running.
func (p *Plan) beforeAll(ctx context.Context) {
	given := p.suiteObject()
	now := given
	var last *hook
	for _, h := range p.hooks {
		out, err := h.call(ctx, beforeAll, value.ObjectOf("suite", now))
		if err != nil {
			p.mistake(proviso.WithPointer(h.Pointer, err))
			break
		}
		if changed, ok := out.At("suite").(*value.Object); ok {
			now, last = changed, h
		}
	}
	if last != nil && p.mistakes.Err() == nil && p.replaceSuite(given, now, last) {
		p.columns, p.Cases, p.Rows, p.demands, p.metricCode = nil, 0, 0, nil, nil
		p.waits, p.inOrder, p.serial = true, false, false
		p.openColumns()
		p.checkDerived()
		p.checkCases(ctx)
	}
	if p.mistakes.Err() != nil { // otherwise nothing would undo what the hooks started
		for _, problem := range p.afterAll(context.WithoutCancel(ctx), given) {
			p.note(proviso.Mistake{Warning: true, Code: proviso.Undecided, Message: problem}, "")
		}
	}
}

// suiteObject returns the suite as hooks see it. Each case includes the defaults.
func (p *Plan) suiteObject() *value.Object {
	s := p.Suite
	prompts := make([]any, len(s.Prompts))
	for i := range s.Prompts {
		prompts[i] = promptObject(&s.Prompts[i])
	}
	providers := make([]any, len(s.Providers))
	for i := range s.Providers {
		o := providerOf(&s.Providers[i])
		if config := s.Providers[i].Config; config != nil {
			o.Set("config", proviso.Redacted(config))
		}
		providers[i] = o
	}
	tests := []any{}
	for c, err := range s.Cases() {
		if err == nil && c.Repeat == 0 {
			tests = append(tests, testObject(c))
		}
	}
	derived := make([]any, len(s.Derived))
	for i, d := range s.Derived {
		derived[i] = value.ObjectOf("name", d.Name, "value", d.Value)
	}
	return value.ObjectOf("description", p.Name(), "prompts", prompts, "providers", providers, "tests", tests,
		"scenarios", []any{}, "defaultTest", value.NewObject(0), "derivedMetrics", derived, "tags", s.Tags.OrEmpty())
}

func promptObject(prompt *proviso.Prompt) *value.Object {
	o := value.ObjectOf("raw", prompt.Raw, "label", prompt.Label)
	if prompt.ID != "" {
		o.Set("id", prompt.ID)
	}
	if prompt.Config != nil {
		o.Set("config", prompt.Config)
	}
	return o
}

// testObject returns a case as hooks see it.
func testObject(c *proviso.Case) *value.Object {
	if c.Raw.Has("vars") {
		return c.Raw
	}
	o := c.Raw.Clone()
	o.Set("vars", value.NewObject(0))
	return o
}

// replaceSuite applies the changes of hooks; false if there are none, or if
// they are invalid.
func (p *Plan) replaceSuite(given, now *value.Object, h *hook) bool {
	differs := func(key string) bool {
		return now.Has(key) && value.Stringify(now.At(key)) != value.Stringify(given.At(key))
	}
	own := *p.Suite
	wrong := func(format string, args ...any) bool {
		err := proviso.Errorf(proviso.Invalid, "%s: "+format, append([]any{h.name()}, args...)...)
		p.mistake(proviso.WithPointer(h.Pointer, err))
		return false
	}
	if list, _ := now.At("scenarios").([]any); len(list) > 0 {
		return wrong("a hook returns cases as tests, not as scenarios")
	}
	if differs("prompts") {
		list, ok := now.At("prompts").([]any)
		if !ok || len(list) == 0 {
			return wrong("prompts must be a list that is not empty, found %s", found(now.At("prompts")))
		}
		if own.Prompts, ok = p.promptsOf(list, h); !ok {
			return wrong("a prompt is a text or {raw, label}")
		}
	}
	if differs("derivedMetrics") {
		var ok bool
		if own.Derived, ok = derivedOf(now.At("derivedMetrics"), h); !ok {
			return wrong("derivedMetrics must be a list of {name, value}")
		}
	}
	defaults, _ := now.At("defaultTest").(*value.Object)
	if differs("tests") || defaults.Len() > 0 {
		list, ok := now.At("tests").([]any)
		source, can := p.Suite.CaseSource.(proviso.CaseRewriter)
		if !ok || !can {
			return wrong("tests must be a list of cases, found %s", found(now.At("tests")))
		}
		own.CaseSource = source.Rewritten(list, defaults, h.Pointer, h.name())
	}
	changed := differs("prompts") || differs("derivedMetrics") || own.CaseSource != p.Suite.CaseSource
	p.Suite = &own
	return changed
}

// promptsOf reads the prompts that a hook returned. An unchanged prompt is the suite's own,
// with its code and its assertions.
func (p *Plan) promptsOf(list []any, h *hook) ([]proviso.Prompt, bool) {
	prompts := make([]proviso.Prompt, len(list))
	for i, v := range list {
		prompt := proviso.Prompt{Pointer: h.Pointer}
		switch v := v.(type) {
		case string:
			prompt.Raw = v
		case *value.Object:
			prompt.Raw, _ = v.At("raw").(string)
			prompt.Label, _ = v.At("label").(string)
			prompt.ID, _ = v.At("id").(string)
			prompt.Config, _ = v.At("config").(*value.Object)
			for k := range p.Suite.Prompts {
				if before := &p.Suite.Prompts[k]; before.Raw == prompt.Raw && before.Label == prompt.Label {
					prompt.Script, prompt.Assert, prompt.Pointer = before.Script, before.Assert, before.Pointer
				}
			}
		}
		if prompt.Raw == "" {
			return nil, false
		}
		if prompt.Label == "" {
			prompt.Label = prompt.Raw
		}
		prompts[i] = prompt
	}
	return prompts, true
}

func derivedOf(v any, h *hook) ([]proviso.DerivedMetric, bool) {
	list, ok := v.([]any)
	derived := make([]proviso.DerivedMetric, len(list))
	for i, e := range list {
		o, _ := e.(*value.Object)
		name, named := o.At("name").(string)
		ok = ok && named && name != "" && o.At("value") != nil
		derived[i] = proviso.DerivedMetric{Name: name, Value: value.ToString(o.At("value")), Pointer: h.Pointer}
	}
	return derived, ok
}

// afterAll calls the hooks with the results of the finished run, and returns their errors.
// Verdicts no longer change.
func (p *Plan) afterAll(ctx context.Context, suite *value.Object, members ...any) []string {
	var problems []string
	for _, h := range p.hooks {
		context := value.ObjectOf(append([]any{"suite", suite}, members...)...)
		if _, err := h.call(ctx, afterAll, context); err != nil {
			problems = append(problems, err.Error())
		}
	}
	return problems
}

// end calls the hooks after a run.
func (e *execution) end(ctx context.Context, out *Outcome) []string {
	problems := e.metrics.problems
	if len(e.p.hooks) == 0 {
		return problems
	}
	results := []any{}
	if out.Rows != nil {
		for _, data := range out.Rows.Rows() {
			if row, err := value.ParseJSON(string(data)); err == nil {
				results = append(results, row)
			}
		}
		if err := out.Rows.Err(); err != nil {
			problems = append(problems, err.Error())
		}
	}
	return append(problems, e.p.afterAll(ctx, e.p.suiteObject(), "results", results, "prompts", e.promptObjects(), "evalId", e.meta.RunID, "config", e.p.Suite.Config.OrEmpty())...)
}

// promptObjects returns the columns of the run with their results.
func (e *execution) promptObjects() []any {
	columns := e.summary.Columns()
	list := make([]any, len(e.p.columns))
	for i := range list {
		col := &e.p.columns[i]
		o := promptObject(col.prompt)
		o.Set("provider", col.spec.Name())
		if i < len(columns) {
			c := &columns[i]
			o.Set("metrics", value.ObjectOf("testPassCount", float64(c.Rows.Passed), "testFailCount", float64(c.Rows.Failed), "testErrorCount", float64(c.Rows.Errors)))
		}
		list[i] = o
	}
	return list
}
