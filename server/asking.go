package server

import (
	"context"
	"errors"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/secrets"
	"github.com/proviso-eval/proviso/internal/turns"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/value"
)

// Asking asks providers of models under the policy for suites of clients: it runs no code, reads no file, and
// asks no address that a client names.
type Asking struct {
	// Engine configures the engine of each question, like that of [Suites].
	Engine engine.Options
}

// Ask renders a prompt, as a text or a chat in JSON, and asks a provider, which is [Metered].
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
	if errors.Is(err, provider.ErrNoKey) && proviso.CodeOf(err) != proviso.Refused { // which names an address
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

// redacted is an error without the secrets in its text.
func redacted(known *secrets.Set, err error) error {
	var e *proviso.Error
	if !errors.As(err, &e) {
		return err
	}
	shown := *e
	shown.Message = known.RedactText(e.Error())
	return &shown
}

// rendered returns a prompt with its templates rendered; a chat is JSON text.
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
