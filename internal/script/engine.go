package script

import (
	"cmp"
	"context"
	_ "embed" // for the scripts that every VM of an Engine starts with
	"strings"
	"time"
	"unique"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/jstoken"
	"modernc.org/quickjs"
)

var (
	//go:embed host.js
	hostSource string
	//go:embed url.js
	urlSource string
	//go:embed realm.js
	realmSource string
)

// The maximum size of a call's result, in bytes, both in process and in a worker.
const (
	MaxResult       = 1 << 20  // of code that decides
	MaxActingResult = 16 << 20 // of code that acts, such as a provider
)

// The maximum size of a stored exception, in bytes.
const (
	maxName    = 200
	maxMessage = 4 << 10
	maxStack   = 16 << 10
)

// Options are the limits of an [Engine].
type Options struct {
	Timeout time.Duration // time limit of one call, unless its source sets one; 0 means two seconds
	Memory  int64         // bytes per VM; 0 means 128 MiB
	MaxVMs  int           // VMs that may exist at once; 0 means GOMAXPROCS
}

// Engine runs JavaScript of suites. It implements [proviso.Code] for the language
// "javascript": ECMAScript 2023 with console (discarded), URL, URLSearchParams,
// TextEncoder, TextDecoder, Buffer, atob, btoa, structuredClone, timers in virtual
// time and queueMicrotask; there is no process, require, fetch, crypto or Intl. It
// opens up to MaxVMs VMs as needed; realm.js documents how calls in one VM are
// isolated from each other.
type Engine struct {
	limits limits
	pool   *pool
}

var _ proviso.Code = (*Engine)(nil)

// New returns an engine. It does no work.
func New(o Options) *Engine {
	e := &Engine{limits: limits{
		name:    "javascript",
		timeout: cmp.Or(o.Timeout, 2*time.Second),
		memory:  cmp.Or(o.Memory, 128<<20),
	}}
	e.pool = newPool(cmp.Or(o.MaxVMs, defaultMachines()), e.limits, func() (*machine, error) { return newMachine(e.limits, openRealm) })
	return e
}

// Close frees the VMs. Calls that are still running end normally.
func (e *Engine) Close() error {
	e.pool.close()
	return nil
}

// program is the source of a function. Equal programs are compiled once in each VM.
type program struct {
	form   form
	params string // separated by commas
	text   string
	entry  string
}

// form is a [proviso.Form] that distinguishes the two kinds of module.
type form uint8

const (
	expressionForm form = iota
	bodyForm
	commonForm
	moduleForm
)

// Compile implements [proviso.Code]. It also evaluates a module once, so that it
// reports here if the module throws or lacks the function.
func (e *Engine) Compile(ctx context.Context, src proviso.Source) (proviso.Function, error) {
	if src.Language != "javascript" {
		return nil, &proviso.Error{Code: proviso.Unavailable, Pointer: src.Pointer, Message: src.Language + " cannot be run in process"}
	}
	p := program{text: src.Text, params: strings.Join(src.Params, ","), entry: src.Entry}
	switch src.Form {
	case proviso.Expression:
		p.form = expressionForm
	case proviso.Body:
		p.form = bodyForm
	case proviso.Module:
		p.form, p.params = commonForm, "module,exports,require"
		if strings.HasSuffix(src.Name, ".mjs") {
			p.form = moduleForm
		}
	}
	f, err := e.compile(ctx, src, p)
	if p.form == commonForm && !strings.HasSuffix(src.Name, ".cjs") && isSyntax(err) {
		// A .js file is either kind. Which of the two errors helps its author depends on
		// the intended kind.
		p.form = moduleForm
		g, moduleErr := e.compile(ctx, src, p)
		if moduleErr == nil || !isSyntax(moduleErr) || jstoken.IsModule(src.Text) {
			return g, moduleErr
		}
	}
	return f, err
}

func (e *Engine) compile(ctx context.Context, src proviso.Source, p program) (proviso.Function, error) {
	f := &function{engine: e, program: unique.Make(p), limits: e.limits}
	f.limits.name = cmp.Or(src.Name, e.limits.name)
	f.limits.timeout = cmp.Or(src.Timeout, e.limits.timeout)
	f.limits.result = MaxResult
	if src.Purpose == proviso.Acting {
		f.limits.result = MaxActingResult
	}
	if _, err := f.do(ctx, checking, nil); err != nil {
		return nil, err
	}
	return f, nil
}

// openRealm prepares a VM for code of suites.
func openRealm(m *machine) error {
	code, err := loadPrelude()
	if err != nil {
		return err
	}
	m.arm()
	host, err := m.own(m.vm.EvalBytecodeValue(code.host))
	if err != nil {
		return err
	}
	url, err := m.own(m.vm.EvalBytecodeValue(code.url))
	if err != nil {
		return err
	}
	if _, err = m.own(url.CallValue(quickjs.UndefinedValue, host)); err != nil {
		return err
	}
	scheduler, err := m.member(host, "scheduler")
	if err != nil {
		return err
	}
	hidden, err := m.member(host, "hidden")
	if err != nil {
		return err
	}
	if _, err = m.own(m.harden.CallValue(quickjs.UndefinedValue, hidden)); err != nil {
		return err
	}
	realm, err := m.own(m.vm.EvalBytecodeValue(code.realm))
	if err != nil {
		return err
	}
	api, err := m.own(realm.CallValue(quickjs.UndefinedValue, m.bridge, scheduler))
	if err != nil {
		return err
	}
	return m.newRealm(api)
}
