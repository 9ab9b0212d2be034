package sandbox

import (
	"container/list"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/proviso-eval/proviso"
)

// worker is a process that serves the calls of one source.
type worker struct {
	host       *host
	source     *source // nil for a worker that only checks syntax
	id         uint64  // key in host.workers
	channel    io.ReadWriteCloser
	reader     frameReader
	errs       *os.File
	cmd        *exec.Cmd // nil if it was forked
	namespaces bool      // it was started in new namespaces
	timer      *time.Timer
	buf        []byte

	calls     int
	born      time.Time
	exhausted bool          // it asked to be replaced
	limit     time.Duration // time limit of the running code

	busy  bool          // it is counted in source.busy; guarded by pool.mu, or owned by its call
	place *list.Element // position in pool.idle; nil during a call; guarded by pool.mu
	seen  idleUse       // guarded by pool.mu

	cause    atomic.Pointer[proviso.Error] // why it was killed
	killOnce sync.Once
	endOnce  sync.Once
	gone     chan struct{} // closed when the process has ended
	status   int           // wait status, set before gone is closed
}

// fork returns a new worker that has not read a source yet. imports names modules that the host
// imports first.
func (h *host) fork(imports string) (*worker, error) {
	w := &worker{host: h, born: time.Now(), gone: make(chan struct{})}
	w.timer = time.AfterFunc(time.Hour, w.late)
	w.timer.Stop()
	if h.cmd == nil {
		if spare := h.spare.Swap(nil); spare != nil && !spare.dead() {
			return spare, nil
		}
		return w, w.startDirect()
	}
	ours, theirs, err := channel()
	if err != nil {
		return nil, err
	}
	errs, theirErrs, err := errorPipe()
	if err != nil {
		_ = ours.Close()
		_ = theirs[0].Close()
		return nil, err
	}
	w.channel, w.errs, w.reader.src = ours, errs, ours
	h.mu.Lock()
	h.next++
	w.id = h.next
	h.workers[w.id] = w
	err = sendFiles(h.control, appendFrame(nil, frame{kind: kindFork, id: w.id, payload: []byte(imports)}), theirs[0], theirErrs)
	h.mu.Unlock()
	_ = theirs[0].Close()
	_ = theirErrs.Close()
	if err != nil {
		h.mu.Lock()
		delete(h.workers, w.id)
		h.mu.Unlock()
		w.ended(endedWithHost)
		w.close()
		return nil, fmt.Errorf("%w: %w", errNoHost, err)
	}
	return w, nil
}

// errNoHost is the error of a host that no longer accepts requests.
var errNoHost = errors.New("its host has ended")

// startDirect starts an interpreter for this worker alone.
func (w *worker) startDirect() error {
	cmd, ours, errs, own, err := w.host.process(!w.host.plain)
	if err != nil {
		return unstarted(w.host.language.program, err)
	}
	w.namespaces = own
	w.cmd, w.channel, w.errs, w.reader.src = cmd, ours, errs, ours
	w.host.mu.Lock()
	w.host.next++
	w.id = w.host.next
	w.host.workers[w.id] = w
	w.host.mu.Unlock()
	go func() {
		_ = cmd.Wait()
		w.host.mu.Lock()
		delete(w.host.workers, w.id)
		w.host.mu.Unlock()
		w.ended(waitStatus(cmd))
	}()
	w.timer.Reset(startTimeout)
	defer w.timer.Stop()
	f, err := w.reader.next(64)
	if err == nil && (f.kind != kindHello || string(f.payload) != protocol) {
		err = errViolation
	}
	if err != nil {
		output := string(waiting(w.errs, 2<<10))
		w.kill()
		return proviso.Errorf(proviso.Unavailable, "the worker of %s does not start: %s", w.host.interpreter.path, lastLine(output))
	}
	return nil
}

// Substitutes for the wait status of workers without one.
const (
	notForked     = -1
	endedWithHost = -2
)

// ended records that the process has ended.
func (w *worker) ended(status int) {
	w.endOnce.Do(func() {
		w.status = status
		close(w.gone)
	})
}

// dead reports whether the process has ended, or is about to.
func (w *worker) dead() bool {
	select {
	case <-w.gone:
		return true
	default:
		return w.cause.Load() != nil
	}
}

// abort kills the worker during a call, with a cause.
func (w *worker) abort(cause *proviso.Error) {
	w.cause.CompareAndSwap(nil, cause)
	w.kill()
}

// late is called when a call exceeds its hard limit.
func (w *worker) late() {
	if !w.host.language.interrupts && w.limit > 0 {
		w.abort(proviso.Errorf(proviso.Timeout, "ran longer than %s", w.limit))
		return
	}
	w.abort(&proviso.Error{Code: proviso.Timeout, Message: "did not stop when it was late, and was killed"})
}

// kill ends the process. It may be called more than once.
func (w *worker) kill() {
	w.killOnce.Do(func() {
		w.timer.Stop()
		if w.channel != nil {
			_ = w.channel.Close()
		}
		if w.cmd != nil {
			killGroup(w.cmd.Process)
			return
		}
		w.host.stop(w)
	})
}

// stop asks the host to kill a worker. If the host does not confirm that within seconds, stop
// kills the host with everything that it forked.
func (h *host) stop(w *worker) {
	select {
	case <-w.gone:
		return
	default:
	}
	h.mu.Lock()
	_, err := h.control.Write(appendFrame(nil, frame{kind: kindExit, id: w.id}))
	h.mu.Unlock()
	if err != nil {
		return // the host is gone
	}
	time.AfterFunc(5*time.Second, func() {
		select {
		case <-w.gone:
		default:
			killGroup(h.cmd.Process)
		}
	})
}

// crashed explains why a worker's channel ended, after waiting for its process to end.
func (w *worker) crashed() *proviso.Error {
	if cause := w.cause.Load(); cause != nil {
		return cause
	}
	w.kill()
	select {
	case <-w.gone:
	case <-time.After(2 * time.Second):
	}
	how := "the worker " + describe(w.status)
	switch w.status {
	case notForked:
		return &proviso.Error{Code: proviso.Unavailable, Message: "a worker cannot be started: there are too many processes, or too little memory", Err: syscall.EAGAIN}
	case endedWithHost:
		how = "the worker was killed with its host"
	}
	printed := w.printed()
	if last := w.host.language.exhausted; last != "" && strings.Contains(printed, last) {
		return &proviso.Error{Code: proviso.Limit, Message: "ran out of memory"}
	}
	return &proviso.Error{Code: proviso.Undecided, Message: how + printed}
}

// printed returns what the code printed before the worker died, for a message.
func (w *worker) printed() string {
	out := waiting(w.errs, 8<<10)
	if len(out) == 0 {
		return ""
	}
	return "; it printed: " + strings.ToValidUTF8(string(out), "\ufffd")
}

// close releases the resources of a dead worker in this process.
func (w *worker) close() {
	w.kill()
	_ = w.errs.Close()
}

// exchange sends one request and returns its reply, or an error. The worker is
// killed if there is no reply.
func (w *worker) exchange(ctx context.Context, c *call, kind byte, payload []byte) (frame, error) {
	id := newID()
	if ctx.Done() != nil {
		stop := context.AfterFunc(ctx, func() { w.abort(canceled) })
		defer stop()
	}
	c.begin(ctx, w, id)
	defer c.end()
	w.buf = appendFrame(w.buf[:0], frame{kind, id, payload})
	_, err := w.channel.Write(w.buf)
	if cap(w.buf) > bufferKept {
		w.buf = nil
	}
	for err == nil {
		var f frame
		if f, err = w.reader.next(c.maxReply); err != nil {
			break
		}
		switch {
		case f.id != id:
			err = errViolation
		case f.kind == kindQuestion:
			err = c.question(f.payload)
		case !w.reader.idle():
			err = errViolation
		default:
			return f, nil
		}
	}
	if ctx.Err() != nil {
		w.abort(canceled)
		return frame{}, ctx.Err()
	}
	if e, ok := err.(*proviso.Error); ok {
		w.abort(e)
		return frame{}, e
	}
	return frame{}, w.crashed()
}

// canceled is the cause for workers whose caller gave up.
var canceled = &proviso.Error{Code: proviso.Undecided, Message: "the call was canceled"}

func hexOf(b []byte) string { return hex.EncodeToString(b) }
