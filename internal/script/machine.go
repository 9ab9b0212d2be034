package script

import (
	"context"
	_ "embed" // for the scripts that every VM starts with
	"errors"
	"runtime"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"modernc.org/quickjs"
)

var (
	//go:embed bridge.js
	bridgeSource string
	//go:embed harden.js
	hardenSource string
)

// grace is how long a call may exceed its time limit before it is abandoned. QuickJS
// checks for interrupts in its interpreter and its regular expressions, but not in some
// loops of its built-ins, such as indexOf of an array-like object of length 2^53.
const grace = time.Second

// limits bound one VM and one call in it.
type limits struct {
	name    string // name of the library or the code, for messages
	timeout time.Duration
	memory  int64
	result  int // bytes of a result; 0 for libraries, which are trusted
}

// machine is one QuickJS VM with its limits and the goroutine that runs it. If a
// call cannot be interrupted, the machine is abandoned to that goroutine, which
// frees the VM if the call ever ends. The VM's memory is outside Go's heap. One
// caller uses a machine at a time.
type machine struct {
	limits limits
	jobs   chan func()
	done   chan struct{} // a job is done
	timer  *time.Timer

	// The fields below belong to the goroutine; callers touch them between jobs.
	vm       *quickjs.VM
	bridge   quickjs.Value   // result of bridge.js
	harden   quickjs.Value   // result of harden.js
	call     quickjs.Value   // the bridge's function call, in a Library
	realm    *realm          // only in an Engine
	owned    []quickjs.Value // freed with the VM
	deadline time.Time

	used  bool // a call was made, so the VM may hold leftovers in memory
	spent bool // it hit a limit or is not clean; it must not be used again
	lost  bool // its goroutine did not return from a job
}

// newMachine creates a VM in which bridge.js and then setup have run.
func newMachine(l limits, setup func(*machine) error) (*machine, error) {
	m := &machine{limits: l, jobs: make(chan func()), done: make(chan struct{}, 1), timer: time.NewTimer(time.Hour)}
	go m.work()
	var err error
	if runErr := m.run(context.Background(), loadTimeout, func() { err = m.start(setup) }); runErr != nil {
		err = runErr
	}
	if err != nil {
		m.close()
		return nil, proviso.Errorf(proviso.Internal, "loading %s: %w", l.name, err)
	}
	m.used = false
	return m, nil
}

// work runs jobs until the machine is closed.
func (m *machine) work() {
	for job := range m.jobs {
		job()
		m.done <- struct{}{}
	}
	if m.vm == nil {
		return
	}
	if m.realm != nil {
		m.realm.compiled.Clear()
	}
	for i := range m.owned {
		m.owned[i].Free()
	}
	_ = m.vm.Close() // no error to report: Close frees memory
}

func (m *machine) start(setup func(*machine) error) error {
	code, err := loadBase()
	if err != nil {
		return err
	}
	if m.vm, err = quickjs.NewVM(); err != nil {
		return err
	}
	m.vm.SetWTF8(true)
	m.vm.SetMemoryLimit(uintptr(m.limits.memory))
	m.arm()
	if m.bridge, err = m.own(m.vm.EvalBytecodeValue(code.bridge)); err != nil {
		return err
	}
	if m.harden, err = m.own(m.vm.EvalBytecodeValue(code.harden)); err != nil {
		return err
	}
	return setup(m)
}

// own keeps v alive until the VM is freed.
func (m *machine) own(v quickjs.Value, err error) (quickjs.Value, error) {
	if err == nil {
		m.owned = append(m.owned, v)
	}
	return v, err
}

// member returns a property of v; it is freed with the VM.
func (m *machine) member(v quickjs.Value, name string) (quickjs.Value, error) {
	atom, err := m.vm.NewAtom(name)
	if err != nil {
		return quickjs.Value{}, err
	}
	return m.own(v.GetPropertyValue(atom))
}

// close makes the goroutine free the VM, now or when its last job ends.
func (m *machine) close() {
	m.timer.Stop()
	close(m.jobs)
}

// run executes job on the machine's goroutine and waits for it. It interrupts the
// VM when ctx is done. An error means that job did not return in time; nothing that
// job writes may be read then.
func (m *machine) run(ctx context.Context, timeout time.Duration, job func()) error {
	m.used = true
	m.deadline = time.Now().Add(timeout)
	m.timer.Reset(timeout + grace)
	m.jobs <- job
	select {
	case <-m.done:
		return nil
	case <-ctx.Done():
		return m.interrupt(ctx)
	case <-m.timer.C:
		return m.lose(m.timedOut())
	}
}

// interrupt stops the running job. It interrupts repeatedly, because the VM drops
// an interrupt that arrives between two steps of the job.
func (m *machine) interrupt(ctx context.Context) error {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for give := time.Now().Add(grace); time.Now().Before(give); {
		m.vm.Interrupt()
		select {
		case <-m.done:
			return nil
		case <-tick.C:
		}
	}
	return m.lose(m.limits.cancelled(ctx))
}

func (m *machine) lose(err error) error {
	m.spent, m.lost = true, true
	return err
}

// arm limits the next step in the VM to the call's remaining time.
func (m *machine) arm() {
	_ = m.vm.SetEvalTimeout(max(time.Until(m.deadline), time.Microsecond)) // it has no error to report
}

// expired reports whether the call's time limit is reached.
func (m *machine) expired() bool { return !time.Now().Before(m.deadline) }

// fail translates an error of the VM. If a limit was hit, it marks the machine as
// spent, because the machine's state is then unknown.
func (m *machine) fail(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		m.spent = true
		return m.limits.cancelled(ctx)
	}
	if m.expired() {
		m.spent = true
		return m.timedOut()
	}
	var thrown *quickjs.Error
	if !errors.As(err, &thrown) {
		m.spent = true
		var known *proviso.Error
		if errors.As(err, &known) {
			return err
		}
		return proviso.Errorf(proviso.Internal, "%s: %w", m.limits.name, err)
	}
	switch {
	case isOutOfMemory(thrown):
		m.spent = true
		return proviso.Errorf(proviso.Limit, "%s: more than %d MiB of memory", m.limits.name, m.limits.memory>>20)
	case isStackOverflow(thrown):
		m.spent = true
	}
	return scriptError(thrown)
}

func (m *machine) timedOut() error {
	return proviso.Errorf(proviso.Timeout, "%s: no result within %s", m.limits.name, m.limits.timeout)
}

// cancelled returns the error for a context that ended a call, or the wait for a VM. A
// cause with a code, such as a budget, is included.
func (l limits) cancelled(ctx context.Context) error {
	cause := context.Cause(ctx)
	var known *proviso.Error
	if errors.As(cause, &known) {
		return known
	}
	code := proviso.Undecided
	if errors.Is(cause, context.DeadlineExceeded) {
		code = proviso.Timeout
	}
	return proviso.Errorf(code, "%s: %w", l.name, cause)
}

func isOutOfMemory(e *quickjs.Error) bool {
	return e.Name == "InternalError" && e.Message == "out of memory"
}

func isStackOverflow(e *quickjs.Error) bool {
	return (e.Name == "InternalError" || e.Name == "SyntaxError") && e.Message == "stack overflow"
}

func scriptError(e *quickjs.Error) *proviso.ScriptError {
	s := &proviso.ScriptError{Name: excerpt.Bytes(e.Name, maxName), Message: excerpt.Bytes(e.Message, maxMessage), Stack: excerpt.Bytes(e.Stack, maxStack)}
	if e.Name == "" && e.Message == "" {
		s.Message = excerpt.Bytes(e.Error(), maxMessage) // the thrown value is not an Error
	}
	return s
}

// defaultMachines is the default number of VMs that may exist at once.
func defaultMachines() int { return runtime.GOMAXPROCS(0) }
