package engine

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/script"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/sandbox"
)

// codes runs the code of a suite. JavaScript that needs no access to the machine runs in this
// process, unless all code must be confined. Everything else runs in workers, which start on
// first use.
type codes struct {
	js       *script.Engine
	confined bool // JavaScript runs in workers, too
	box      func() proviso.Code

	mu     sync.Mutex
	opened io.Closer
}

var _ proviso.Code = (*codes)(nil)

// newCodes returns codes without starting a worker.
func newCodes(confined bool, open func() proviso.Code) *codes {
	c := &codes{js: script.New(script.Options{}), confined: confined}
	c.box = sync.OnceValue(func() proviso.Code {
		box := open()
		if closer, ok := box.(io.Closer); ok {
			c.mu.Lock()
			c.opened = closer
			c.mu.Unlock()
		}
		return box
	})
	return c
}

// Compile implements [proviso.Code].
func (c *codes) Compile(ctx context.Context, src proviso.Source) (proviso.Function, error) {
	if src.Language == "javascript" && !c.confined && src.Purpose != proviso.Synthesised && !sandbox.NeedsNode(src) {
		return c.js.Compile(ctx, src)
	}
	return c.box().Compile(ctx, src)
}

// Close stops the workers.
func (c *codes) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := c.js.Close()
	if c.opened != nil {
		err = errors.Join(err, c.opened.Close())
	}
	return err
}

// box returns the options for the workers.
func (e *Engine) box() sandbox.Options {
	p := &e.o.Policy
	o := sandbox.Options{
		Policy: p.Sandbox, Workers: e.o.Limits.Workers, Warn: e.o.Observers.Warn,
	}
	if !e.o.Judge.Off {
		o.Ask = func(ctx context.Context, prompt, response, question string) (bool, error) {
			return judge.AskLLM(ctx, e.Grader(), prompt, response, question)
		}
	}
	machine := e.o.Engines.Machine
	if machine == nil {
		machine = e.user
	}
	if p.Synthesised {
		o.Env, o.SynthesisedPackages = machine, p.Grants.Packages
		return o
	}
	if p.Sandbox != sandbox.Require {
		machine = e.env // as in promptfoo, a suite may select its interpreter
	}
	g := e.grants()
	o.Dir, o.Env, o.Machine = cmp.Or(e.dir, "."), e.env, machine
	o.Timeout = time.Duration(g.TimeoutMS) * time.Millisecond
	o.Grants = sandbox.Grants{Network: g.Network, Env: g.Env, Read: g.Read, Packages: g.Packages}
	return o
}

// grants returns the grants of the suite together with those of the user.
func (e *Engine) grants() proviso.Sandbox {
	user := e.o.Policy.Grants
	if e.suite == nil {
		return user
	}
	all := e.suite.Sandbox
	all.TimeoutMS = cmp.Or(user.TimeoutMS, all.TimeoutMS)
	all.Network, all.Packages = all.Network || user.Network, all.Packages || user.Packages
	all.Env, all.Read = slices.Concat(all.Env, user.Env), slices.Concat(all.Read, user.Read)
	return all
}

// filters loads the scripts of the suite's template filters. They run in the template
// engine, without access to the host. An invalid filter is a mistake of the plan.
func (e *Engine) filters(ctx context.Context) map[string]string {
	filters := map[string]string{}
	for name, v := range e.suite.Filters.All() {
		text, err := e.filter(ctx, name, v)
		if err != nil {
			e.mistakes.add(proviso.Mistake{Place: proviso.Place{File: e.suite.File}, Code: proviso.Invalid, Message: err.Error()})
			return nil
		}
		filters[name] = text
	}
	return filters
}

// filter returns the text of one filter, after checking that it compiles.
func (e *Engine) filter(ctx context.Context, name string, v any) (string, error) {
	file, _ := v.(string)
	file, _, _ = strings.Cut(strings.TrimPrefix(file, "file://"), ":")
	data, err := e.files.ReadFile(file)
	if err != nil {
		return "", proviso.Errorf(proviso.NotFound, "nunjucksFilters %s: %w", name, err)
	}
	shown := file
	if s, ok := e.files.(interface{ Show(string) string }); ok {
		shown = s.Show(file)
	}
	if check.LanguageOf(file) != "javascript" || sandbox.NeedsNode(proviso.Source{Language: "javascript", File: file, Text: string(data), Form: proviso.Module}) {
		return "", proviso.Errorf(proviso.Unsupported, "nunjucksFilters %s: %s: a filter is JavaScript without imports and without globals of Node, such as process", name, shown)
	}
	text := script.CommonJS(string(data))
	fn, err := e.code.Compile(ctx, proviso.Source{Language: "javascript", Name: file + ".cjs", Text: text, Form: proviso.Module, Purpose: proviso.Deciding})
	if err != nil {
		return "", proviso.Errorf(proviso.Invalid, "nunjucksFilters %s: %w", name, check.FileMistake(shown, err))
	}
	_ = fn.Close() // only frees memory
	return text, nil
}
