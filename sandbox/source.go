package sandbox

import (
	"cmp"
	"container/list"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/internal/textlist"
	"github.com/proviso-eval/proviso/value"
)

// sourceKey identifies equal sources.
type sourceKey struct {
	profile profile
	frame   string // the payload of its load frame
	timeout time.Duration
}

// source is a piece of code in a profile. Equal sources share one source with its workers.
type source struct {
	sandbox  *Sandbox
	pool     *pool
	profile  profile
	language *language
	key      sourceKey
	name     string
	file     string // path of its file, "" if it is inline
	imports  string // modules that the host imports first
	lack     lack
	soft     time.Duration
	load     time.Duration

	weight int // memory weight of a worker

	refs int // functions that use it; guarded by pool.mu
	busy int // workers that serve a call or are being started; guarded by pool.mu
	// waiting counts the calls that wait for a busy worker, including some that may have given
	// up; each token in freed wakes one. waiting is guarded by pool.mu.
	waiting int
	freed   chan struct{}
	idle    []*list.Element // its workers in pool.idle, oldest first; guarded by pool.mu
}

// newSource returns the source and counts one more user; release counts one less.
func (s *Sandbox) newSource(ctx context.Context, l *language, p profile, src proviso.Source) (*source, error) {
	in, err := s.interpreter(ctx, l, p.packages)
	if err != nil {
		return nil, err
	}
	o := &source{sandbox: s, profile: p, language: l, pool: s.deciding, name: cmp.Or(src.Name, l.name), file: src.File, freed: make(chan struct{}, maxAlive), weight: l.weight}
	if p.acting {
		o.pool = s.acting
	}
	if l.forks && (p.packages || p.acting || !forks || s.options.direct) {
		o.weight *= heavier
	}
	o.lack = s.lackOf(p, src.Text)
	if o.lack.says != "" {
		name := o.name
		if src.File == "" {
			name = "the code " + strconv.Quote(excerpt.Line(strings.TrimPrefix(src.Text, "return "), 60))
		}
		s.warn(name + " " + o.lack.says)
	}
	o.soft = cmp.Or(max(src.Timeout, 0), max(s.options.Timeout, 0), softTimeout)
	o.load = o.soft
	if p.packages || p.acting {
		o.load = max(o.soft, loadTimeout)
	}
	if l.imports != nil {
		o.imports = l.imports(src, p)
	}
	if l.refuse != nil {
		if err := l.refuse(in, src); err != nil {
			return nil, o.named(err)
		}
	}
	before := 0
	if l.inline != nil {
		src, before = l.inline(src)
	}
	o.key = sourceKey{p, s.loadFrame(o, l, in, src, before), o.soft}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errClosed
	}
	if same := s.sources[o.key]; same != nil {
		o = same
	}
	s.sources[o.key] = o
	o.pool.hold(o)
	return o, nil
}

// release counts one user less.
func (s *Sandbox) release(o *source) {
	s.mu.Lock()
	unused, last := o.pool.drop(o)
	if unused && s.sources[o.key] == o {
		delete(s.sources, o.key)
	}
	s.mu.Unlock()
	for _, w := range last {
		o.pool.discard(w)
	}
}

// loadFrame is the payload of the frame that gives a worker its source. Its
// members are
//
//	name, text, form, params, entry, path   the source; path is "" if it is inline
//	before                                  characters of the first line that are not the user's
//	timeout, load                           seconds for a call, and for running a module once
//	reply, rss                              bytes of a result, and of memory after which the worker is replaced
//	keep                                    a module is run once and not again for each call
//	loop                                    coroutines need an event loop
//	packages                                whether what is installed may be imported
//	network, roots                          what the sandbox lets through, to explain what it refuses
//	cwd, path_first, env                    the world that the code sees
func (s *Sandbox) loadFrame(o *source, l *language, in *interpreter, src proviso.Source, before int) string {
	p := o.profile
	reply := maxReply
	if p.acting {
		reply = maxFrame
	}
	f := value.ObjectOf(
		"name", o.name, "text", src.Text, "form", [...]string{"expression", "body", "module"}[min(src.Form, proviso.Module)],
		"params", textlist.Values(src.Params), "entry", src.Entry, "path", src.File, "before", float64(before),
		"timeout", o.soft.Seconds(), "load", o.load.Seconds(), "reply", float64(reply), "rss", float64(maxResident),
		"keep", p.acting, "loop", l.loop != nil && l.loop(src, p), "packages", p.packages, "network", p.network || !p.sandbox, "env", s.environment(p),
	)
	granted := s.granted(p)
	if p.sandbox {
		roots := slices.Concat(systemFiles(p.network), in.read, granted)
		for _, path := range granted {
			roots = append(roots, resolved(path))
		}
		f.Set("roots", textlist.Values(roots))
	}
	if s.dir != "" && (!p.sandbox || len(granted) > 0 && granted[0] == s.dir) {
		f.Set("cwd", s.dir)
	}
	if src.File != "" && p.files {
		f.Set("path_first", textlist.Values([]string{filepath.Dir(src.File)}))
	}
	return value.Stringify(f)
}

// open returns a new worker that has read the source.
func (o *source) open(ctx context.Context) (*worker, error) {
	w, err := o.fork(ctx)
	if err != nil {
		return nil, err
	}
	w.source = o
	c := o.newCall(o.load)
	f, err := w.exchange(ctx, c, kindLoad, []byte(o.key.frame))
	if err == nil {
		_, err = o.outcome(f, c)
	}
	if err != nil {
		w.close()
		return nil, o.named(err)
	}
	return w, nil
}

// fork gets a worker from the host, or from a new host if the old one has just died.
func (o *source) fork(ctx context.Context) (*worker, error) {
	for attempt := 0; ; attempt++ {
		h, err := o.sandbox.host(ctx, o.profile)
		if err != nil {
			return nil, err
		}
		w, err := h.fork(o.imports)
		if err == nil {
			return w, nil
		}
		if attempt > 0 || !errors.Is(err, errNoHost) { // such as too many open files, which is not the host's fault
			return nil, proviso.Errorf(proviso.Unavailable, "a worker cannot be started: %w", err)
		}
		h.close()
	}
}

// check checks the syntax with a worker that runs no code. If a source is checked by loading
// it, the same worker will serve its first call.
func (o *source) check(ctx context.Context) error {
	if o.language.loads {
		return o.checkByLoading(ctx)
	}
	h, err := o.sandbox.host(ctx, o.profile)
	if err != nil {
		return err
	}
	h.checkMu.Lock()
	defer h.checkMu.Unlock()
	w := h.checker
	if w == nil || w.dead() || w.calls >= o.language.calls {
		if w != nil {
			w.close()
		}
		if w, err = o.fork(ctx); err != nil {
			return err
		}
		h.checker = w
	}
	w.calls++
	c := o.newCall(o.load)
	f, err := w.exchange(ctx, c, kindCheck, []byte(o.key.frame))
	if err == nil {
		_, err = o.outcome(f, c)
	}
	return o.named(err)
}

// checkByLoading opens a worker for the source and keeps it for the first call.
func (o *source) checkByLoading(ctx context.Context) error {
	c := o.newCall(o.load)
	if err := c.enter(ctx); err != nil {
		return err
	}
	defer c.leave()
	w, err := o.pool.get(ctx, o, c)
	if err != nil {
		return o.named(err)
	}
	o.pool.put(w)
	return nil
}

// newestIdle returns the most recently used worker; pool.mu must be held.
func (o *source) newestIdle() *list.Element {
	if len(o.idle) == 0 {
		return nil
	}
	return o.idle[len(o.idle)-1]
}

// notIdle removes an idle worker from the list; pool.mu must be held.
func (o *source) notIdle(e *list.Element) {
	for i := range o.idle {
		if o.idle[i] == e {
			o.idle = append(o.idle[:i], o.idle[i+1:]...)
			return
		}
	}
}
