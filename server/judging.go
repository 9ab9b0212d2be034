package server

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/internal/secrets"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/suite"
	"github.com/proviso-eval/proviso/value"
)

// Judging opens judges for trials of an assertion under the policy for suites of clients: they run no code, read no
// file, and ask no address that a client names.
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

// open compiles an assertion, in the form of a suite, for the judge with an id, or for the one
// that the server uses if it is "". The judge is [Metered].
func (j *Judging) open(ctx context.Context, assertion *value.Object, judge string) (*deciding, error) {
	o := j.Engine
	o.Policy.Trusted = false
	o.Engines.Wrap, o.Engines.Secrets, o.Engines.Files = Metered, &secrets.Set{}, noFiles{}
	s := &proviso.Suite{}
	if judge != "" && judge != o.Judge.Name { // the operator chose that one, and it may be of any kind
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

// pointerOfAssertion is the list that the assertion of a trial is in.
const pointerOfAssertion = "/assertion"

// askable refuses providers that the server does not ask for clients.
func askable(id string) error {
	facts, _ := provider.Facts().Of(id)
	if facts != nil && (facts.Code || facts.File || facts.URL || facts.OpenEnded) {
		return proviso.Errorf(proviso.Refused, "%s runs code, reads files or names an address, which the server does not do for clients", shortened(id))
	}
	return nil
}

// changed is the first mistake of an assertion, with its place in the change, and without
// secrets.
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

// deciding is an assertion with the engine that it needs. It is safe for concurrent use.
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
