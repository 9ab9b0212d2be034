package script

import (
	"context"
	"errors"
	"unique"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/turns"
	"modernc.org/quickjs"
)

// function is compiled code. It is not tied to a VM: every VM compiles it when it
// first runs it.
type function struct {
	engine  *Engine
	program unique.Handle[program]
	limits  limits
}

// purpose is the reason for running a program.
type purpose bool

const (
	calling  purpose = false
	checking purpose = true // to check its syntax, and the exports of a module
)

// Values that realm.js returns instead of a result.
const (
	waiting = "\x01w" // the result is a promise
	stuck   = "\x01n" // nothing can settle the promise anymore
	dirty   = "\x01d" // the VM is not clean; nothing was run
)

// Call implements [proviso.Function].
func (f *function) Call(ctx context.Context, args ...any) (any, error) {
	return f.do(ctx, calling, args)
}

// Close implements [proviso.Function]. It does nothing: the VMs evict functions by
// themselves.
func (f *function) Close() error { return nil }

// do runs the program in a VM. It runs the program once more in a new VM if the
// first one could not be cleaned, or ran out of memory because of leftovers from
// earlier calls.
func (f *function) do(ctx context.Context, why purpose, args []any) (any, error) {
	v, reused, err := f.try(ctx, why, false, args)
	if err == errDirty || (reused && proviso.CodeOf(err) == proviso.Limit) {
		v, _, err = f.try(ctx, why, true, args)
	}
	if err == errLarge {
		err = proviso.Errorf(proviso.Limit, "%s: the result is larger than %d MB", f.limits.name, f.limits.result>>20)
	}
	return v, err
}

var (
	errDirty = errors.New("the VM is not clean")
	errLarge = errors.New("the result is too large")
)

func (f *function) try(ctx context.Context, why purpose, fresh bool, args []any) (v any, reused bool, err error) {
	ctx, done, err := turns.Enter(ctx)
	if err != nil {
		return nil, false, err
	}
	defer done()
	m, err := f.engine.pool.get(ctx, fresh)
	if err != nil {
		return nil, false, err
	}
	defer f.engine.pool.put(m)
	reused = m.used
	m.limits = f.limits
	var out any
	var runErr error
	if err := m.run(ctx, f.limits.timeout, func() { out, runErr = m.execute(f.program, why, args) }); err != nil {
		return nil, reused, err
	}
	switch {
	case runErr == nil && out == dirty:
		m.spent = true
		return nil, reused, errDirty
	case runErr == nil && out == stuck:
		return nil, reused, proviso.Errorf(proviso.Timeout, "%s: waits for a promise that nothing will settle", f.limits.name)
	case runErr != nil:
		return nil, reused, f.fail(ctx, m, runErr)
	}
	if text, ok := out.(string); ok && len(text) > f.limits.result {
		return nil, reused, errLarge
	}
	v, err = decode(out)
	return v, reused, err
}

// fail is [machine.fail] for user code: syntax errors are already known, and
// exceptions get their position in the user's text.
func (f *function) fail(ctx context.Context, m *machine, err error) error {
	var syntax *proviso.ScriptError
	if errors.As(err, &syntax) && ctx.Err() == nil && !m.expired() {
		return syntax
	}
	err = m.fail(ctx, err)
	var thrown *proviso.ScriptError
	if errors.As(err, &thrown) {
		locate(thrown, f.program.Value(), f.limits.name)
	}
	return err
}

// execute runs a program to its end and returns the result encoded by bridge.js.
func (m *machine) execute(h unique.Handle[program], why purpose, args []any) (any, error) {
	m.arm()
	run, in, err := m.prepare(h, why)
	if err != nil || run.VM() == nil {
		return quickjs.Undefined{}, err
	}
	for _, arg := range args {
		v, err := m.encode(arg)
		if err != nil {
			return nil, err
		}
		in = append(in, v)
	}
	m.arm()
	out, err := run.Call(quickjs.UndefinedValue, in...)
	drainErr := m.drain()
	for err == nil && drainErr == nil && out == waiting {
		m.arm()
		out, err = m.realm.poll.Call(quickjs.UndefinedValue)
		drainErr = m.drain()
	}
	if err == nil && out == waiting {
		err = drainErr
	}
	return out, err
}

// prepare returns the function of realm.js that runs a program, and its first
// arguments. Both are zero if there is nothing to run.
func (m *machine) prepare(h unique.Handle[program], why purpose) (run quickjs.Value, in []any, err error) {
	p, r := h.Value(), m.realm
	if p.form == moduleForm {
		if why == checking {
			if err := m.checkModule(p); err != nil {
				return run, nil, err
			}
		}
		run = r.callModule
		if why == checking {
			run = r.loadModule
		}
		return run, []any{m.announce(p), p.entry}, nil
	}
	f, err := m.lookup(h)
	if err != nil {
		return run, nil, err
	}
	switch {
	case p.form == commonForm && why == checking:
		return r.loadCommon, []any{f, p.entry}, nil
	case p.form == commonForm:
		return r.callCommon, []any{f, p.entry}, nil
	case why == checking:
		return run, nil, nil
	}
	return r.call, []any{f}, nil
}

// drain runs the promise jobs. Jobs that never end make the VM unfit for the
// next call; they are an error only for a call that waits for one of them.
func (m *machine) drain() error {
	m.arm()
	_, err := m.vm.ExecutePendingJobs()
	if err == nil {
		return nil
	}
	var thrown *quickjs.Error
	if m.expired() || !errors.As(err, &thrown) || isOutOfMemory(thrown) {
		m.spent = true
		return err
	}
	return nil // a job threw, and nothing caught it
}
