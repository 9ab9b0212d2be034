package run

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/suite"
	"github.com/proviso-eval/proviso/value"
)

// checkCases reads every case once. It compiles all assertions, so that every
// mistake is found, and counts the rows.
func (p *Plan) checkCases(ctx context.Context) {
	var bare unchecked
	words := wording{p: p, seen: map[*proviso.Assertion]bool{}}
	source := p.Suite.CaseSource
	if checker, ok := source.(proviso.CaseChecker); ok {
		source = checker.WithBroken() // they may contain further mistakes
	}
	p.kept = kept{off: p.o.Dry}
	for c, err := range source.Cases() {
		if ctx.Err() != nil {
			p.mistake(ctx.Err())
			return
		}
		if err != nil {
			if e := (*proviso.Error)(nil); errors.As(err, &e) && p.full(e.Warning) {
				p.dropped++
			} else {
				p.note(suite.CaseMistake(p.Suite.Places, err), pointerOf(err))
			}
			p.kept.drop()
			continue
		}
		p.Cases++
		_, _ = io.WriteString(p.content, c.ID+"\n") // writing to a hash never fails
		_, _ = io.WriteString(p.cases, c.ID+"\n")
		p.inOrder = p.inOrder || c.Options.StoreOutputAs != ""
		p.serial = p.serial || c.Options.RunSerially
		prepared := p.prepare(ctx, c)
		for _, m := range prepared.mistakes {
			p.mistake(fromCode(c, m))
		}
		p.foresee(prepared)
		bare.add(prepared)
		p.noteTraces(prepared)
		p.waits = p.waits || p.traced || waits(prepared)
		p.kept.add(prepared)
		if p.o.Warn {
			words.warn(c.Assert)
			words.warn(c.Set)
		}
		for i := range p.columns {
			if p.selects(c, &p.columns[i]) {
				p.Rows++
				p.expect(prepared, &p.columns[i])
				p.warnUndefined(c, &p.columns[i])
			}
		}
	}
	bare.warn(p)
}

// fromCode returns a mistake in a generated case, which has no position in a file.
func fromCode(c *proviso.Case, m *proviso.Error) *proviso.Error {
	if c.Origin == "" {
		return m
	}
	made := *proviso.Because(m, m.Code, "%s: %v", c.Origin, m)
	made.Pointer, made.Valid, made.Warning = m.Pointer, m.Valid, m.Warning
	return &made
}

// foresee reports assertions of a case that cannot be decided. It takes into account that
// scripts and earlier rows may add variables.
func (p *Plan) foresee(pc *prepared) {
	open := pc.varScript != nil || p.inOrder || pc.unsupported != nil || len(pc.computed) > 0 || len(p.hooks) > 0
	sets := []*check.Set{pc.set, pc.criteria}
	for i := range p.Suite.Prompts {
		sets = append(sets, pc.byPrompt[&p.Suite.Prompts[i]])
	}
	for _, set := range sets {
		if set == nil {
			continue
		}
		for _, m := range set.Prepare(pc.Case, open) {
			p.mistake(fromCode(pc.Case, m))
		}
	}
}

// selects reports whether the case runs in a column.
func (p *Plan) selects(c *proviso.Case, col *column) bool {
	if len(c.Prompts) > 0 && !matches(c.Prompts, col.prompt.Label, col.prompt.ID) {
		return false
	}
	return len(c.Providers) == 0 || matches(c.Providers, col.spec.Label, col.spec.ID)
}

// warnUndefined warns of variables that the prompt uses but the case does not define.
func (p *Plan) warnUndefined(c *proviso.Case, col *column) {
	if p.o.PlainPrompts || col.prompt.Script != nil || c.Generator != nil || p.full(true) {
		return
	}
	for _, name := range col.uses {
		if c.Vars.Has(name) || name == "env" || strings.HasPrefix(name, "_") {
			continue
		}
		why, near := "which this case does not set", document.Nearest(name, c.Vars.Keys())
		if name == assertionsName {
			if instructed(c, col) {
				continue
			}
			why, near = "and no assertion of this case has an instruction", ""
		}
		m := proviso.Mistake{Warning: true, Nearest: near, Code: proviso.Invalid,
			Message: "the prompt " + quote(short(col.prompt.Label)) + " uses {{ " + name + " }}, " + why + ": it renders as nothing"}
		if p.Suite.Places != nil {
			m.Place = p.Suite.Place(c.Pointer)
		}
		p.noteAs(col.prompt.Raw+"\x00"+name, m, c.Pointer)
	}
}

func quote(s string) string { return "\"" + s + "\"" }

// prepared is a case with its assertions compiled.
type prepared struct {
	*proviso.Case
	set       *check.Set // assertions of the case
	byPrompt  map[*proviso.Prompt]*check.Set
	criteria  *check.Set // assertion set of the suite
	transform *check.Transform
	varScript *check.Transform
	provider  proviso.Provider // replaces the column's provider
	comparing []*proviso.Assertion
	computed  []computed // variables that code computes for each row
	plain     bool       // the variables are unchanged from the suite
	// unsupported is why the case is not run. The mistake was reported where the case was read.
	unsupported error
	mistakes    []*proviso.Error
}

// prepare compiles the content of a case. A mistake in it leaves the case
// undecided.
func (p *Plan) prepare(ctx context.Context, c *proviso.Case) *prepared {
	pc := &prepared{Case: c}
	if vars := written(c); vars != nil {
		pc.plain = sameVars(vars, c.Vars)
	}
	if c.Unsupported != "" {
		pc.unsupported = proviso.Errorf(proviso.Unsupported, "%s", c.Unsupported)
	}
	if c.Generator != nil && pc.unsupported == nil {
		p.dry(pc, c.Generator)
	}
	p.prepareVars(pc)
	set, mistakes := p.compiler.CompileContext(ctx, c.Assert)
	pc.set, pc.mistakes = set, append(pc.mistakes, mistakes...)
	for _, a := range c.Assert {
		if kind, ok := check.Lookup(a.Type); ok && kind.Needs&check.NeedsGroup != 0 {
			pc.comparing = append(pc.comparing, a)
		}
	}
	p.prepareScripts(pc)
	p.preparePrompts(ctx, pc)
	if len(c.Set) > 0 {
		pc.criteria = p.prepareCriteria(ctx, pc)
	}
	if c.Provider != nil {
		pc.provider = p.override(pc)
	}
	return pc
}

func (pc *prepared) fail(err error, pointer string) {
	pc.mistakes = append(pc.mistakes, proviso.WithPointer(pointer, err))
}

// cannot records why a case has no verdict: without its script, the verdict
// would be about something else. The case is not sent to a provider either.
func (pc *prepared) cannot(err error, pointer string) {
	pc.fail(err, pointer)
	if pc.unsupported == nil {
		pc.unsupported = err
	}
}

// prepareScripts compiles the scripts in the options of a case.
func (p *Plan) prepareScripts(pc *prepared) {
	var err error
	if text := pc.Options.Transform; text != "" {
		if pc.transform, err = p.transform(text); err != nil {
			pc.cannot(err, pc.Pointer+"/options/transform")
		}
	}
	if text := pc.Options.TransformVars; text != "" {
		if pc.varScript, err = p.compiler.VarsTransform(text); err != nil {
			pc.cannot(err, pc.Pointer+"/options/transformVars")
		}
	}
	if pc.Scoring != "" {
		if err := p.compiler.UseScoring(pc.set, pc.Scoring); err != nil {
			pc.cannot(err, pc.Pointer+"/assertScoringFunction")
		}
	}
}

// preparePrompts compiles the assertions of prompts together with the case's
// own.
func (p *Plan) preparePrompts(ctx context.Context, pc *prepared) {
	for i := range p.Suite.Prompts {
		prompt := &p.Suite.Prompts[i]
		if len(prompt.Assert) == 0 {
			continue
		}
		set, mistakes := p.compiler.CompileContext(ctx, append(append([]*proviso.Assertion{}, pc.Assert...), prompt.Assert...))
		if pc.byPrompt == nil {
			pc.byPrompt = map[*proviso.Prompt]*check.Set{}
		}
		pc.byPrompt[prompt] = set
		pc.mistakes = append(pc.mistakes, mistakes...)
	}
}

// override opens the provider that a case names: a provider of the suite, by
// label or id, or one of its own.
func (p *Plan) override(pc *prepared) proviso.Provider {
	spec := proviso.ProviderSpec{Pointer: pc.Pointer + "/provider"}
	switch v := pc.Provider.(type) {
	case string:
		spec.ID = v
		for _, s := range p.Suite.Providers {
			if s.Label == v || s.ID == v {
				spec = s
				break
			}
		}
	case *value.Object:
		spec.ID, _ = v.At("id").(string)
		spec.Config, _ = v.At("config").(*value.Object)
	}
	got, err := p.open(spec)
	if err != nil {
		pc.fail(err, spec.Pointer)
	}
	return got
}

// nearest returns the valid name closest to the one that the message quotes.
func nearest(e *proviso.Error) string {
	if len(e.Valid) == 1 && errors.Is(e, fs.ErrNotExist) { // a file with a similar name
		return e.Valid[0]
	}
	parts := strings.Split(e.Message, "\"")
	if len(e.Valid) == 0 || len(parts) < 3 {
		return ""
	}
	return document.Nearest(parts[1], e.Valid)
}
