package server

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/secrets"
	"github.com/proviso-eval/proviso/internal/turns"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/suite"
	"github.com/proviso-eval/proviso/value"
)

// Asking asks model providers for clients, under the policy for client suites: it runs no code,
// reads no files, and calls no address that a client names.
type Asking struct {
	// Engine configures the engine for each request, like that of [Suites].
	Engine engine.Options
}

// Ask renders a prompt, which is text or a chat in JSON, and sends it to a [Metered] provider.
func (a *Asking) Ask(ctx context.Context, id string, prompt any, vars *value.Object) (proviso.Output, error) {
	o := a.Engine
	o.Policy.Trusted = false
	o.Engines.Wrap, o.Engines.Secrets = Metered, &secrets.Set{}
	e, err := engine.Open(ctx, nil, o)
	if err != nil {
		return proviso.Output{}, err
	}
	defer e.Close()
	p, err := e.Provider(proviso.ProviderSpec{ID: id})
	if errors.Is(err, provider.ErrNoKey) && proviso.CodeOf(err) != proviso.Refused { // the refusal names an address
		return proviso.Output{}, proviso.Errorf(proviso.Unavailable, "the server has no key for %s", id)
	}
	if err != nil {
		return proviso.Output{}, redacted(o.Engines.Secrets, err)
	}
	text, err := rendered(ctx, e, prompt, vars)
	if err != nil {
		return proviso.Output{}, err
	}
	out, err := p.Answer(ctx, proviso.Ask{Prompt: text, Vars: vars})
	if err == nil && out.Error != "" {
		err = proviso.Errorf(proviso.Unavailable, "%s", out.Error)
	}
	out.Value = o.Engines.Secrets.RedactValue(out.Value)
	return out, redacted(o.Engines.Secrets, err)
}

// redacted returns err with the secrets removed from its text.
func redacted(known *secrets.Set, err error) error {
	var e *proviso.Error
	if !errors.As(err, &e) {
		return err
	}
	shown := *e
	shown.Message = known.RedactText(e.Error())
	return &shown
}

// rendered renders the templates in a prompt. It returns a chat as JSON text.
func rendered(ctx context.Context, e *engine.Engine, prompt any, vars *value.Object) (string, error) {
	_, done, err := turns.Enter(ctx)
	if err != nil {
		return "", err
	}
	defer done()
	v, err := renderedTexts(ctx, e, "/prompt", prompt, vars)
	if err != nil {
		return "", err
	}
	if text, ok := v.(string); ok {
		return text, nil
	}
	return value.Stringify(v), nil
}

// renderedTexts renders every text in v.
func renderedTexts(ctx context.Context, e *engine.Engine, at string, v any, vars *value.Object) (any, error) {
	switch v := v.(type) {
	case string:
		text, err := e.Templates().Render(ctx, v, vars)
		if err != nil {
			return nil, invalid([]Mistake{{Pointer: at, Code: proviso.Invalid, Message: err.Error()}})
		}
		return text, nil
	case []any:
		out := make([]any, len(v))
		for i, inner := range v {
			var err error
			if out[i], err = renderedTexts(ctx, e, document.Join(at, i), inner, vars); err != nil {
				return nil, err
			}
		}
		return out, nil
	case *value.Object:
		out := value.NewObject(v.Len())
		for key, inner := range v.All() {
			text, err := renderedTexts(ctx, e, document.Join(at, key), inner, vars)
			if err != nil {
				return nil, err
			}
			out.Set(key, text)
		}
		return out, nil
	}
	return v, nil
}

// Judging opens judges for trials of an assertion, under the policy for client suites: they run
// no code, read no files, and call no address that a client names.
type Judging struct {
	// Engine configures the engine of each trial, like that of [Suites].
	Engine engine.Options
}

// noFiles has no files.
type noFiles struct{}

// ReadFile implements [proviso.Files].
func (noFiles) ReadFile(name string) ([]byte, error) {
	return nil, &fs.PathError{Op: "read", Path: name, Err: fs.ErrNotExist}
}

// open compiles an assertion, in the form of a suite, for the judge with the given id, or for
// the server's own judge if the id is "". The judge is [Metered].
func (j *Judging) open(ctx context.Context, assertion *value.Object, judge string) (*deciding, error) {
	o := j.Engine
	o.Policy.Trusted = false
	o.Engines.Wrap, o.Engines.Secrets, o.Engines.Files = Metered, &secrets.Set{}, noFiles{}
	s := &proviso.Suite{}
	if judge != "" && judge != o.Judge.Name { // the operator chose the server's own judge, of any kind
		if err := askable(judge); err != nil {
			return nil, err
		}
		o.Judge.Name, o.Judge.Grader = "", nil
		s.Judge.Panel = []proviso.ProviderSpec{{ID: judge}}
	}
	list, mistakes := suite.DecodeSet(check.Facts(), []any{assertion}, pointerOfAssertion)
	for _, m := range mistakes {
		if !m.Warning {
			return nil, changed(o.Engines.Secrets, m)
		}
	}
	e, err := engine.Open(ctx, s, o)
	if err != nil {
		return nil, err
	}
	compiled, err := e.Compile(ctx, list...)
	if err != nil {
		return nil, errors.Join(changed(o.Engines.Secrets, err), e.Close())
	}
	return &deciding{engine: e, assertions: compiled, secrets: o.Engines.Secrets}, nil
}

// pointerOfAssertion is the pointer of the list that contains a trial's assertion.
const pointerOfAssertion = "/assertion"

// askable refuses providers that the server does not ask for clients.
func askable(id string) error {
	facts, _ := provider.Facts().Of(id)
	if facts != nil && (facts.Code || facts.File || facts.URL || facts.OpenEnded) {
		return proviso.Errorf(proviso.Refused, "%s runs code, reads files or names an address, which the server does not do for clients", shortened(id))
	}
	return nil
}

// changed converts the first mistake of an assertion: the pointer becomes one into the change,
// and secrets are removed.
func changed(known *secrets.Set, err error) error {
	var e *proviso.Error
	if !errors.As(err, &e) {
		return err
	}
	shown := *e
	shown.Message = known.RedactText(e.Message)
	if rest, ok := strings.CutPrefix(e.Pointer, pointerOfAssertion+"/0"); ok {
		shown.Pointer = "/change" + rest
	}
	return &shown
}

// deciding is an assertion with its engine. It is safe for concurrent use.
type deciding struct {
	engine     *engine.Engine
	assertions *engine.Assertions
	secrets    *secrets.Set
}

func (d *deciding) decide(ctx context.Context, a engine.Answer) proviso.Verdict {
	v := d.assertions.Decide(ctx, a).Verdicts[0]
	v.Reason = d.secrets.RedactText(v.Reason)
	return v
}

func (d *deciding) close() error { return errors.Join(d.assertions.Close(), d.engine.Close()) }
