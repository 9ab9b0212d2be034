package sandbox

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/value"
)

// function is compiled code. It holds no worker between calls.
type function struct {
	source *source
	closed atomic.Bool
}

// Close implements [proviso.Function]. It ends the idle workers of the source if no other
// function uses it.
func (f *function) Close() error {
	if f.closed.CompareAndSwap(false, true) {
		f.source.sandbox.release(f.source)
	}
	return nil
}

// Call implements [proviso.Function]. An exception of the code is a
// *proviso.ScriptError. Every other error is a *proviso.Error without a result:
// Timeout; Limit for memory, the size of the result and the number of
// questions; Refused for operations that the sandbox blocks; Unavailable for a
// missing module; NotFound for a missing function; Undecided for a worker that
// crashed or broke the protocol and for a question that the judge did not
// answer.
func (f *function) Call(ctx context.Context, args ...any) (any, error) {
	o := f.source
	if f.closed.Load() {
		return nil, &proviso.Error{Code: proviso.Internal, Message: o.name + ": the function is closed"}
	}
	if ctx.Err() != nil { // otherwise select might miss an idle worker
		return nil, ctx.Err()
	}
	kind, payload, err := encodeArgs(args, o.language.undefined)
	if err != nil {
		return nil, o.named(err)
	}
	c := o.newCall(o.soft)
	if o.profile.acting {
		c.maxReply = maxFrame
	}
	if err := c.enter(ctx); err != nil {
		return nil, err
	}
	defer c.leave()
	reply, err := o.do(ctx, c, kind, payload)
	if err != nil {
		return nil, o.named(err)
	}
	v, err := o.outcome(reply, c)
	var e *proviso.Error
	if errors.As(err, &e) && e.Code != proviso.Refused && e.Code != proviso.Unavailable {
		o.pool.discard(c.worker) // late, out of memory, or no longer trusted
	} else {
		c.worker.exhausted = c.worker.exhausted || reply.worn()
		o.pool.put(c.worker)
	}
	return v, o.named(err)
}

// do sends a call to a worker and returns the reply. If a worker sends anything else first,
// code of an earlier call is still running in it. That is not the fault of this call, which
// gets another worker, unless it may already have had side effects.
func (o *source) do(ctx context.Context, c *call, kind byte, payload []byte) (frame, error) {
	for {
		w, err := o.pool.get(ctx, o, c)
		if err != nil {
			return frame{}, err
		}
		reused := w.calls > 0
		reply, err := w.exchange(ctx, c, kind, payload)
		if err == nil {
			return reply, nil
		}
		o.pool.discard(w)
		if err != errViolation || !reused || o.profile.acting || c.asked > 0 {
			return frame{}, err
		}
	}
}

// named adds the name of the source to an error of this package.
func (o *source) named(err error) error {
	e, ok := err.(*proviso.Error)
	if !ok || strings.HasPrefix(e.Message, o.name+": ") {
		return err
	}
	named := proviso.Because(e.Err, e.Code, "%s: %s", o.name, e.Message)
	named.Valid = e.Valid
	return named
}

// newID returns the id of a call, which cannot be guessed.
func newID() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return binary.BigEndian.Uint64(b[:])
}

// call is the state of one exchange with a worker: its clock, and the questions that the code
// asks.
type call struct {
	source   *source
	soft     time.Duration // time limit of the code
	hard     time.Duration // time until it is killed
	maxReply int
	running  bool // it holds a slot of the pool

	mu      sync.Mutex
	ctx     context.Context
	cancel  context.CancelFunc
	worker  *worker
	id      uint64
	ticking bool      // the clock runs
	since   time.Time // when the clock was started
	left    time.Duration
	asked   int
	open    int   // unanswered questions
	over    bool  // nothing more may be sent
	failed  error // the first question that could not be answered

	resuming sync.Mutex
}

// newCall returns a call of code with a time limit. A worker that interrupts
// its code itself gets extra time to do so.
func (o *source) newCall(soft time.Duration) *call {
	c := &call{source: o, soft: soft, hard: soft, maxReply: maxReply}
	if o.language.interrupts {
		c.hard += o.sandbox.grace
	}
	return c
}

// begin starts the clock.
func (c *call) begin(ctx context.Context, w *worker, id uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ctx, c.worker, c.id, c.left, c.since, c.ticking, c.over = ctx, w, id, c.hard, time.Now(), true, false
	w.limit = c.soft
	w.timer.Reset(c.hard)
}

// end stops the clock and cancels open questions.
func (c *call) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over, c.ticking = true, false
	c.worker.timer.Stop()
	if c.cancel != nil {
		c.cancel()
	}
}

// enter waits for a slot of the pool.
func (c *call) enter(ctx context.Context) error {
	if err := c.source.pool.enter(ctx); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running = true
	return nil
}

// leave releases the slot of the pool.
func (c *call) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running {
		c.running = false
		c.source.pool.leave()
	}
}

// question passes a question of the code to the judge. Meanwhile the clock is stopped and the
// slot is free for other calls. If a question cannot be asked, the call is an error, even if
// the code catches the exception: without the answer there is no verdict.
func (c *call) question(payload []byte) error {
	v, err := value.ParseJSON(string(payload))
	o, _ := v.(*value.Object)
	args := texts(o, "args")
	n, ok := o.At("n").(float64)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked++
	if err != nil || !ok || len(args) != 3 || int(n) != c.asked {
		return errViolation
	}
	switch {
	case c.source.sandbox.options.Ask == nil:
		return &proviso.Error{Code: proviso.Unavailable, Message: "it calls ask_llm, and there is no judge"}
	case c.asked > maxAsks:
		return proviso.Errorf(proviso.Limit, "it calls ask_llm more than %d times", maxAsks)
	case len(args[2]) > maxQuestion:
		return proviso.Errorf(proviso.Limit, "a question to ask_llm is larger than %d KB", maxQuestion>>10)
	}
	if c.cancel == nil {
		c.ctx, c.cancel = context.WithCancel(c.ctx)
	}
	c.open++
	if c.ticking {
		c.ticking = false
		c.worker.timer.Stop()
		c.left -= time.Since(c.since)
	}
	if c.running {
		c.running = false
		c.source.pool.leave()
	}
	go c.ask(c.ctx, c.asked, args)
	return nil
}

// ask asks the judge, and sends the answer if the call still waits for it.
func (c *call) ask(ctx context.Context, n int, args []string) {
	asking, cancel := context.WithTimeout(ctx, askTimeout)
	yes, err := c.source.sandbox.options.Ask(asking, args[0], args[1], args[2])
	if err != nil && asking.Err() != nil && ctx.Err() == nil {
		err = proviso.Errorf(proviso.Timeout, "ask_llm was not answered within %s", askTimeout)
	}
	cancel()
	if !c.resume(ctx) {
		return
	}
	defer c.mu.Unlock()
	answer := value.ObjectOf("n", float64(n), "value", yes)
	if err != nil {
		if c.failed == nil {
			c.failed = err
		}
		answer = value.ObjectOf("n", float64(n), "error", "the judge could not be asked")
	}
	_, _ = c.worker.channel.Write(appendFrame(nil, frame{kindAnswer, c.id, value.AppendJSON(nil, answer)}))
}

// resume counts an answered question. After the last one the code continues, for which resume
// waits for a slot of the pool. It returns with mu locked, or false if the call has ended. Only
// one goroutine at a time waits for the slot: a second one would wait for the slot that the
// first one holds.
func (c *call) resume(ctx context.Context) bool {
	c.resuming.Lock()
	defer c.resuming.Unlock()
	c.mu.Lock()
	c.open--
	if wait := c.open == 0 && !c.running && !c.over; wait {
		c.mu.Unlock()
		err := c.source.pool.enter(ctx)
		c.mu.Lock()
		switch {
		case err != nil:
		case c.over || c.open > 0: // it has ended, or asked another question
			c.source.pool.leave()
		default:
			c.running = true
		}
	}
	if c.over {
		c.mu.Unlock()
		return false
	}
	if c.open == 0 && !c.ticking {
		c.ticking, c.since = true, time.Now()
		c.worker.timer.Reset(max(c.left, time.Millisecond))
	}
	return true
}

// outcome turns a reply into a result or an error.
func (o *source) outcome(f frame, c *call) (any, error) {
	c.mu.Lock()
	failed := c.failed
	c.mu.Unlock()
	if failed != nil {
		return nil, proviso.Because(failed, proviso.Undecided, "ask_llm: %v", failed)
	}
	switch kind := f.kind &^ wornBit; kind {
	case kindResult, kindSpecial, kindOpaque:
		return decodeResult(kind, f.payload)
	case kindError:
		return nil, o.explain(f.payload, c)
	}
	return nil, errViolation
}

// explain turns an error frame into an error. Its members are
//
//	kind                                timeout, stuck, memory, large, ask, syntax, missing, import, denied or exception
//	name, message, stack, line, column  the exception
//	names                               missing: the functions that there are
//	module                              import: the module that is not there
//	refused                             denied: what the sandbox did not let through
func (o *source) explain(payload []byte, c *call) error {
	v, err := value.ParseJSON(string(payload))
	e, ok := v.(*value.Object)
	if err != nil || !ok {
		return errViolation
	}
	thrown := &proviso.ScriptError{
		Name: excerpt.Bytes(e.Text("name"), 200), Message: excerpt.Bytes(e.Text("message"), 4<<10), Stack: excerpt.Bytes(e.Text("stack"), 16<<10),
		Line: integer(e, "line"), Column: integer(e, "column"),
	}
	where := ""
	if thrown.Line > 0 {
		where = fmt.Sprintf("line %d: ", thrown.Line)
	}
	switch e.Text("kind") {
	case "timeout":
		return proviso.Errorf(proviso.Timeout, "ran longer than %s", c.soft)
	case "stuck":
		return &proviso.Error{Code: proviso.Timeout, Message: "waits for a promise that nothing will settle"}
	case "memory":
		return &proviso.Error{Code: proviso.Limit, Message: "ran out of memory", Err: thrown}
	case "large":
		return proviso.Errorf(proviso.Limit, "the result is larger than %d MB", c.maxReply>>20)
	case "ask":
		return proviso.Because(thrown, proviso.Undecided, "ask_llm: %s", thrown.Message)
	case "syntax":
		thrown.Syntax = true
		return thrown
	case "missing":
		return &proviso.Error{Code: proviso.NotFound, Message: thrown.Message, Valid: texts(e, "names")}
	case "import":
		return proviso.Because(thrown, proviso.Unavailable, "%s%s%s", where, thrown.Message, o.importHint(e.Text("module")))
	case "denied":
		refused := excerpt.Bytes(e.Text("refused"), 4<<10)
		return proviso.Because(thrown, proviso.Refused, "%sblocked by the sandbox: %s%s", where, refused, o.deniedHint(refused, thrown.Stack))
	case "exception":
		if err := o.cutOff(thrown, where); err != nil {
			return err
		}
		switch hint := " (the code " + o.lack.says + ")"; {
		case o.lack.causes(thrown):
			return proviso.Because(thrown, proviso.Refused, "%s%s%s", where, thrown, hint)
		case o.lack.mayExplain(thrown.Message):
			thrown.Message += hint
		}
		return thrown
	}
	return errViolation
}

// integer returns a member that is a small number, or 0.
func integer(o *value.Object, key string) int {
	f, _ := o.At(key).(float64)
	if f < 0 || f > 1<<31 {
		return 0
	}
	return int(f)
}
