package script

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/turns"
	"modernc.org/quickjs"
)

// loadTimeout bounds the evaluation of a library's own source. The source is
// trusted; the bound only keeps a bug in it from hanging.
const loadTimeout = 30 * time.Second

// LibraryOptions describe a [Library].
type LibraryOptions struct {
	Name    string        // for messages, such as "nunjucks"
	Program *Program      // JavaScript that defines global functions; nil is none
	Source  func() string // additional source, run after Program; called once; nil is none
	Timeout time.Duration // time limit of one call; 0 means one second
	Memory  int64         // bytes per VM; 0 means 64 MiB
	MaxVMs  int           // VMs that may exist at once; 0 means GOMAXPROCS
}

// Library is JavaScript that ships with proviso and gets hostile input: the code is
// trusted, its arguments are not. It is safe for concurrent use. It does nothing
// until the first call, then keeps up to MaxVMs VMs in which the source was
// evaluated. State that the source keeps in a VM persists between calls. The
// built-in objects are frozen, in case input reaches the language itself, as a
// template can.
type Library struct {
	limits limits
	pool   *pool
}

// NewLibrary returns a library. It does no work.
func NewLibrary(o LibraryOptions) *Library {
	l := &Library{limits: limits{
		name:    cmp.Or(o.Name, "library"),
		timeout: cmp.Or(o.Timeout, time.Second),
		memory:  cmp.Or(o.Memory, 64<<20),
	}}
	var parts []*Program
	if o.Program != nil {
		parts = append(parts, o.Program)
	}
	if o.Source != nil {
		parts = append(parts, NewProgram(o.Source))
	}
	l.pool = newPool(cmp.Or(o.MaxVMs, defaultMachines()), l.limits, func() (*machine, error) {
		codes := make([][]byte, len(parts))
		for i, p := range parts {
			var err error
			if codes[i], err = p.compiled(); err != nil {
				return nil, proviso.Errorf(proviso.Internal, "loading %s: %w", l.limits.name, err)
			}
		}
		return l.open(codes)
	})
	return l
}

// Call calls a global function of the source with values of the root package (also
// int and []string) and returns its result as such a value; a result that is not
// data, such as a function, is a *[value.Opaque]. An exception is a
// *[proviso.ScriptError]; a call that takes too long is a *[proviso.Error] with the
// code Timeout, one that needs too much memory or stack has the code Limit. ctx
// interrupts the call, and the wait for a free VM.
func (l *Library) Call(ctx context.Context, function string, args ...any) (any, error) {
	v, reused, err := l.try(ctx, false, function, args)
	if reused && proviso.CodeOf(err) == proviso.Limit {
		// Earlier calls may have left little memory: caches of the source grow.
		v, _, err = l.try(ctx, true, function, args)
	}
	return v, err
}

// Close frees the VMs. Calls that are still running end normally; later calls open
// VMs of their own.
func (l *Library) Close() error {
	l.pool.close()
	return nil
}

func (l *Library) try(ctx context.Context, fresh bool, function string, args []any) (v any, reused bool, err error) {
	ctx, done, err := turns.Enter(ctx)
	if err != nil {
		return nil, false, err
	}
	defer done()
	m, err := l.pool.get(ctx, fresh)
	if err != nil {
		return nil, false, err
	}
	defer l.pool.put(m)
	reused = m.used
	var out any
	var callErr error
	if err := m.run(ctx, l.limits.timeout, func() { out, callErr = m.callGlobal(function, args) }); err != nil {
		return nil, reused, err
	}
	if callErr != nil {
		return nil, reused, l.fail(ctx, m, callErr)
	}
	v, err = decode(out)
	return v, reused, err
}

// callGlobal calls a global function through the bridge.
func (m *machine) callGlobal(function string, args []any) (any, error) {
	in := make([]any, len(args)+1)
	in[0] = function
	for i, arg := range args {
		v, err := m.encode(arg)
		if err != nil {
			return nil, err
		}
		in[i+1] = v
	}
	m.arm()
	return m.call.Call(quickjs.UndefinedValue, in...)
}

// fail is [machine.fail], except that a stack overflow is a limit here: its cause
// is nested input, not endless recursion of the code.
func (l *Library) fail(ctx context.Context, m *machine, err error) error {
	err = m.fail(ctx, err)
	var thrown *proviso.ScriptError
	if m.spent && errors.As(err, &thrown) {
		return proviso.Errorf(proviso.Limit, "%s: the input nests too deeply: %w", l.limits.name, err)
	}
	return err
}

// open creates a VM and evaluates the sources in it.
func (l *Library) open(codes [][]byte) (*machine, error) {
	return newMachine(l.limits, func(m *machine) (err error) {
		if m.call, err = m.member(m.bridge, "call"); err != nil {
			return err
		}
		m.arm()
		if _, err = m.own(m.harden.CallValue(quickjs.UndefinedValue)); err != nil {
			return err
		}
		for _, code := range codes {
			v, err := m.vm.EvalBytecodeValue(code)
			if err != nil {
				return err
			}
			v.Free()
		}
		return nil
	})
}
