package sandbox

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/textlist"
	"github.com/proviso-eval/proviso/value"
)

// hostSlot holds the host of one profile. A dead host is replaced when it is next needed.
type hostSlot struct {
	mu     sync.Mutex
	host   *host
	closed bool
}

func (slot *hostSlot) close() {
	slot.mu.Lock()
	defer slot.mu.Unlock()
	slot.closed = true
	if slot.host != nil {
		slot.host.close()
	}
}

// host returns the running host of a profile.
func (s *Sandbox) host(ctx context.Context, p profile) (*host, error) {
	s.mu.Lock()
	slot := s.hosts[p]
	if s.closed {
		s.mu.Unlock()
		return nil, errClosed
	}
	if slot == nil {
		slot = new(hostSlot)
		s.hosts[p] = slot
	}
	s.mu.Unlock()
	slot.mu.Lock()
	defer slot.mu.Unlock()
	if slot.closed {
		return nil, errClosed
	}
	if slot.host != nil && slot.host.alive() {
		return slot.host, nil
	}
	h, err := s.newHost(ctx, p)
	if err != nil {
		return nil, err
	}
	slot.host = h
	return h, nil
}

// host is the source of a profile's workers: an interpreter that forks them or, where that is
// not possible, the description of how to start each.
type host struct {
	sandbox     *Sandbox
	profile     profile
	language    *language
	interpreter *interpreter
	namespaces  bool                   // the host has its own namespaces
	plain       bool                   // workers are started without namespaces
	spare       atomic.Pointer[worker] // a worker that has passed the self-test

	cmd     *exec.Cmd
	control io.ReadWriteCloser // nil if the host is only a description
	errs    *os.File
	done    chan struct{} // closed when the process has ended

	mu      sync.Mutex
	workers map[uint64]*worker
	next    uint64

	checkMu sync.Mutex
	checker *worker
}

func (s *Sandbox) newHost(ctx context.Context, p profile) (*host, error) {
	l := s.row(p.language)
	in, err := s.interpreter(ctx, l, p.packages)
	if err != nil {
		return nil, err
	}
	if p.sandbox && in.missing != "" {
		return nil, refused(l.program, in.path+" lacks "+in.missing)
	}
	h := &host{sandbox: s, profile: p, language: l, interpreter: in, workers: map[uint64]*worker{}, done: make(chan struct{})}
	if h.forks() {
		if err := h.start(ctx, true); err != nil {
			if h.namespaces { // namespaces may be what does not work here
				h.done = make(chan struct{})
				err = h.start(ctx, false)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	if p.sandbox {
		if err := h.selfTest(ctx); err != nil {
			h.close()
			return nil, err
		}
	}
	return h, nil
}

// forks reports whether a host process forks the workers.
func (h *host) forks() bool { return h.language.forks && forks && !h.sandbox.options.direct }

// launch returns the parameters for starting the interpreter.
func (h *host) launch(namespaces bool) launch {
	s, p, in := h.sandbox, h.profile, h.interpreter
	l := launch{
		exe: s.exe(), path: in.path, sandbox: p.sandbox, network: p.network, dir: s.dir,
		namespaces: namespaces && !s.options.noNamespaces, leaky: s.options.leaky,
		memory: h.language.memory, data: h.language.data, single: !h.language.forks, files: 256, syscalls: h.language.syscalls, dies: !h.forks(),
		env: []string{"PATH=/nonexistent", "LANG=C.UTF-8"},
	}
	if p.packages {
		l.memory = h.language.memoryPackages
	}
	if !p.sandbox && p.env == envAll && s.options.Env != nil {
		l.env = nil
		for _, name := range s.options.Env.Names() {
			if v, ok := s.options.Env.Lookup(name); ok {
				l.env = append(l.env, name+"="+v)
			}
		}
	}
	l.read = slices.Concat(systemFiles(p.network), h.language.extra, in.read, h.granted())
	l.exec = in.exec
	config := value.ObjectOf("path", textlist.Values(slices.Concat(in.importPath, h.searched())))
	if !h.forks() {
		config.Set("in", float64(directIn))
		config.Set("out", float64(directOut))
	}
	if p.sandbox && !l.single {
		_, filter := filters(l)
		config.Set("filter", hexOf(filter))
	}
	l.argv = h.language.argv(in, p, h.language.worker, value.Stringify(config))
	return l
}

// granted returns the granted files, each by both names if links lead to it.
func (h *host) granted() []string {
	var files []string
	for _, path := range h.sandbox.granted(h.profile) {
		files = append(files, path)
		if real := resolved(path); real != path {
			files = append(files, real)
		}
	}
	return files
}

// searched returns the granted folders if the language searches them for modules. Otherwise
// code that imports from elsewhere in its project would have to extend its search path in
// addition to the grant.
func (h *host) searched() []string {
	if !h.language.searches || !h.profile.files {
		return nil
	}
	var folders []string
	for _, path := range h.sandbox.readGrants() {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			folders = append(folders, path)
		}
	}
	return folders
}

// systemFiles returns files that programs read: libraries, time zones and, with a network,
// those for name resolution and TLS.
func systemFiles(network bool) []string {
	files := []string{
		"/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache", "/etc/localtime", "/usr/share/zoneinfo",
		"/dev/urandom", "/dev/random", "/dev/zero",
	}
	if network {
		files = append(files, "/etc/resolv.conf", "/etc/hosts", "/etc/host.conf", "/etc/nsswitch.conf", "/etc/gai.conf", "/etc/services",
			"/etc/protocols", "/etc/ssl", "/etc/pki", "/etc/ca-certificates", "/usr/share/ca-certificates", "/run/systemd/resolve")
	}
	return files
}

// start starts the interpreter and waits for its first frame.
func (h *host) start(ctx context.Context, namespaces bool) error {
	control, err := h.run(namespaces)
	if err != nil {
		return unstarted(h.language.program, err)
	}
	hello := make(chan error, 1)
	reader := &frameReader{src: control}
	go func() {
		f, err := reader.next(64)
		if err == nil && (f.kind != kindHello || string(f.payload) != protocol) {
			err = errViolation
		}
		hello <- err
		if err == nil {
			h.listen(reader)
		}
	}()
	timer := time.NewTimer(startTimeout)
	defer timer.Stop()
	select {
	case err = <-hello:
	case <-ctx.Done():
		err = ctx.Err()
	case <-timer.C:
		err = proviso.Errorf(proviso.Unavailable, "%s did not start within %s", h.interpreter.path, startTimeout)
	}
	if err == nil {
		return nil
	}
	output := strings.TrimSpace(string(waiting(h.errs, 2<<10)))
	h.close()
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	why := "the worker of " + h.interpreter.path + " does not start"
	if output != "" {
		why += ": " + lastLine(output)
	}
	if !h.profile.sandbox {
		return proviso.Errorf(proviso.Unavailable, "%s", why)
	}
	return refused(h.language.program, why)
}

// unstarted returns the error for an interpreter whose process cannot be started. A temporary
// shortage of resources is no reason to run without a sandbox.
func unstarted(program string, err error) *proviso.Error {
	if isShortage(err) {
		return proviso.Errorf(proviso.Unavailable, "%s cannot be started: %w", program, err)
	}
	return refused(program, err.Error())
}

// isShortage reports whether the machine lacks resources for another process.
func isShortage(err error) bool {
	for _, short := range []error{syscall.EMFILE, syscall.ENFILE, syscall.EAGAIN, syscall.ENOMEM} {
		if errors.Is(err, short) {
			return true
		}
	}
	return false
}

// run starts the process of a host and returns its control channel.
func (h *host) run(namespaces bool) (io.ReadWriteCloser, error) {
	cmd, ours, errs, own, err := h.process(namespaces)
	if err != nil {
		return nil, err
	}
	h.cmd, h.control, h.errs, h.namespaces = cmd, ours, errs, own
	go func(done chan struct{}) {
		_ = cmd.Wait()
		close(done)
	}(h.done)
	return ours, nil
}

// process starts an interpreter with a channel and a pipe for its errors.
func (h *host) process(namespaces bool) (cmd *exec.Cmd, ours io.ReadWriteCloser, errs *os.File, own bool, err error) {
	ours, theirs, err := channel()
	if err != nil {
		return nil, nil, nil, false, err
	}
	errs, theirErrs, err := errorPipe()
	if err == nil {
		l := h.launch(namespaces)
		l.parentEnd, l.childEnds, l.stderr = ours, theirs, theirErrs
		cmd, own, err = l.start()
		neverBlock(theirErrs) // starting the process made it blocking
		_ = theirErrs.Close()
	}
	for _, f := range theirs {
		_ = f.Close()
	}
	if err != nil {
		_ = ours.Close()
		if errs != nil {
			_ = errs.Close()
		}
		if cmd != nil && cmd.Process != nil { // it was started, but did not receive its confinement
			killGroup(cmd.Process)
			_ = cmd.Wait()
		}
		return nil, nil, nil, own, err
	}
	return cmd, ours, errs, own, nil
}

// listen handles the messages of the host about its workers until it ends.
func (h *host) listen(r *frameReader) {
	for {
		f, err := r.next(64)
		if err != nil || f.kind != kindExit {
			break
		}
		status, err := strconv.Atoi(string(f.payload))
		if err != nil {
			break
		}
		h.mu.Lock()
		w := h.workers[f.id]
		delete(h.workers, f.id)
		h.mu.Unlock()
		if w != nil {
			w.ended(status)
		}
	}
	h.close()
}

// alive reports whether h can start workers.
func (h *host) alive() bool {
	if h.cmd == nil {
		return true
	}
	select {
	case <-h.done:
		return false
	default:
		return true
	}
}

// close kills the host and its workers, and waits until the process has ended. Processes that
// workers without a sandbox have started are in their own groups, which only the host knows. It
// kills them when its channel ends.
func (h *host) close() {
	if h.cmd != nil {
		if !h.profile.sandbox {
			_ = h.control.Close()
			select {
			case <-h.done:
			case <-time.After(2 * time.Second):
			}
		}
		killGroup(h.cmd.Process)
		<-h.done
		_ = h.control.Close()
		_ = h.errs.Close()
	}
	h.mu.Lock()
	workers := h.workers
	h.workers = map[uint64]*worker{}
	h.mu.Unlock()
	for _, w := range workers {
		w.ended(endedWithHost)
		w.close()
	}
}

// lastLine returns the last line of a text, which is the error message of a traceback.
func lastLine(text string) string {
	return text[strings.LastIndexByte(text, '\n')+1:]
}
