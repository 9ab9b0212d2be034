package run

import (
	"context"
	"sync"

	"github.com/proviso-eval/proviso"
)

// generatorEntry is the default name of the function that generates cases.
const generatorEntry = "generate_tests"

// casesAdapter is JavaScript that wraps an export in a function: the export is a list of cases
// or a function that returns one.
const casesAdapter = `(exported) => {
	const found = exported !== null && exported !== undefined && exported.default !== undefined ? exported.default : exported;
	if (typeof found === 'function') return found;
	if (!Array.isArray(found)) throw new TypeError('the module exports neither a function nor a list of cases as its default');
	return () => found;
}`

// expandCases makes the suite's case source run generators, each once, when the cases are first
// read.
func (p *Plan) expandCases(ctx context.Context) {
	source, ok := p.Suite.CaseSource.(proviso.CaseExpander)
	if !ok || p.o.Dry {
		return
	}
	g := &generators{ctx: ctx, p: p, made: map[*proviso.Generator]generated{}}
	own := *p.Suite
	own.CaseSource = source.WithExpander(g.expand)
	p.Suite = &own
}

// generators runs each generator once per run, so that all passes over the cases see the same
// cases.
type generators struct {
	ctx context.Context // context of New, in which generators run
	p   *Plan

	mu   sync.Mutex
	made map[*proviso.Generator]generated
}

type generated struct {
	list any
	err  error
}

// expand returns the cases of a generator.
func (g *generators) expand(from *proviso.Generator) (any, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if known, ok := g.made[from]; ok {
		return known.list, known.err
	}
	list, err := g.p.generate(g.ctx, from)
	g.made[from] = generated{list, err}
	return list, err
}

// generate calls a generator with its config.
func (p *Plan) generate(ctx context.Context, g *proviso.Generator) (any, error) {
	fn, err := p.code(ctx, g, generatorEntry, casesAdapter)
	if err != nil {
		return nil, err
	}
	defer fn.Close()
	var args []any
	if g.Config != nil {
		args = append(args, g.Config)
	}
	v, err := fn.Call(ctx, args...)
	if err != nil {
		return nil, p.threw(g, generatorEntry, err)
	}
	list, ok := v.([]any)
	switch {
	case !ok:
		return nil, proviso.Errorf(proviso.Invalid, "%s must return a list of cases, found %s", called(g, generatorEntry), found(v))
	case len(list) == 0:
		return nil, proviso.Errorf(proviso.Invalid, "%s returned no cases", called(g, generatorEntry))
	}
	return list, nil
}

// dry prepares the placeholder case of a generator whose code is only compiled, not run.
func (p *Plan) dry(pc *prepared, g *proviso.Generator) {
	p.Generators++
	pc.unsupported = proviso.Errorf(proviso.Undecided, "the cases that %s yields are known when it runs", called(g, generatorEntry))
	fn, err := p.code(context.Background(), g, generatorEntry, casesAdapter)
	if err != nil {
		pc.cannot(err, g.Pointer)
		return
	}
	_ = fn.Close() // only frees memory
}
