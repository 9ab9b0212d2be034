package server

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/ingest"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/recent"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/monitor"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/value"
)

// watches are the compiled watches of all projects. They are reread after a change, and at
// least every keepWatches.
type watches struct {
	m *monitoring

	reading sync.Mutex
	lists   map[store.Project]*watchList
	sets    *recent.Cache[string, *watchedSet] // by hash
}

// watchList is a snapshot of a project's watches.
type watchList struct {
	list []*liveWatch
	read time.Time
}

// keepWatches is how long compiled watches are cached.
const keepWatches = time.Minute

// liveWatch is a compiled watch.
type liveWatch struct {
	store.Watch
	key     watchKey
	conf    monitor.Watch
	matcher *monitor.Matcher
	sampler *monitor.Sampler
	anchors []anchor
	shown   *value.Object // as it was sent, without the items of the anchors
}

// changed invalidates the watches of a project.
func (w *watches) changed(p store.Project) {
	w.reading.Lock()
	if l := w.lists[p]; l != nil {
		l.read = time.Time{} // the list stays, because its samplers have plans
	}
	w.reading.Unlock()
	signal(w.m.wake)
}

// of returns the watches of a project, by name.
func (w *watches) of(ctx context.Context, p store.Project) ([]*liveWatch, error) {
	w.reading.Lock()
	defer w.reading.Unlock()
	if l := w.lists[p]; l != nil && time.Since(l.read) < keepWatches {
		return l.list, nil
	}
	in := w.m.s.o.Store.In(p)
	l := &watchList{read: time.Now()}
	for stored, err := range store.All(ctx, in.ListWatches) {
		if err != nil {
			return nil, err
		}
		live, err := openWatch(ctx, p, *stored)
		if err != nil { // stored by an earlier version of proviso
			w.m.failed(ctx, "read the watch "+stored.Name, p, err)
			continue
		}
		l.list = append(l.list, live)
	}
	w.keepSamplers(p, l)
	w.lists[p] = l
	return l.list, nil
}

// keepSamplers reuses the samplers, which have plans, of unchanged watches.
func (w *watches) keepSamplers(p store.Project, l *watchList) {
	before := w.lists[p]
	if before == nil {
		return
	}
	for _, live := range l.list {
		for _, old := range before.list {
			if old.Name == live.Name && old.Hash == live.Hash && old.Salt == live.Salt {
				live.sampler = old.sampler
			}
		}
	}
}

// openWatch compiles a stored watch.
func openWatch(ctx context.Context, p store.Project, stored store.Watch) (*liveWatch, error) {
	sent, err := readWatch(ctx, stored.Name, stored.Content)
	if err != nil {
		return nil, err
	}
	live := &liveWatch{Watch: stored, key: watchKey{p, stored.Name}, conf: sent.conf, anchors: sent.anchors, shown: sent.shown}
	live.matcher, err = live.conf.Compile()
	live.sampler = monitor.NewSampler(&live.conf, stored.Salt)
	return live, err
}

// named returns one watch.
func (w *watches) named(ctx context.Context, p store.Project, name string) (*liveWatch, error) {
	stored, err := w.m.s.o.Store.In(p).Watch(ctx, name)
	if err != nil {
		return nil, err
	}
	list, err := w.of(ctx, p)
	for _, live := range list {
		if live.Name == name && live.Hash == stored.Hash {
			return live, nil
		}
	}
	if err != nil {
		return nil, err
	}
	return openWatch(ctx, p, stored)
}

// sampled returns the jobs of the watches that sample an event, and whether any watch is about
// the event's agent.
func (w *watches) sampled(ctx context.Context, p store.Project, e *ingest.Event) (jobs []store.EventJob, watched bool, err error) {
	list, err := w.of(ctx, p)
	if err != nil {
		return nil, false, err
	}
	for _, live := range list {
		watched = watched || live.conf.Match.Agent == e.Agent
		if !e.Answered() {
			continue // there is no complete answer to evaluate
		}
		if match, err := live.matcher.Match(e); err != nil || !match {
			continue // an event on which the condition fails does not match
		}
		probability, taken := live.sampler.Take(e)
		w.m.workOf(live.key).saw(w.m.now(), taken)
		if taken {
			jobs = append(jobs, store.EventJob{Watch: live.Name, Probability: probability})
		}
	}
	return jobs, watched, nil
}

// watchedSet is a version of an assertion set, ready to evaluate events.
type watchedSet struct {
	hash    string
	request judge.Request // without input and output
	ids     []string
	judged  []string // ids of assertions that call a model
	broken  []unevaluated
}

// unevaluated is an assertion that this server cannot evaluate, such as one with code. The
// other assertions of its set are evaluated without it.
type unevaluated struct{ id, why string }

// setOf returns the assertion set of a watch: its current version, or the version that the
// watch names.
func (w *watches) setOf(ctx context.Context, live *liveWatch) (*watchedSet, error) {
	in := w.m.s.o.Store.In(live.key.project)
	name, err := setNamed(live.conf.Assertions)
	if err != nil {
		return nil, err
	}
	doc, err := documentNamed(ctx, in, store.AssertionSetKind, name)
	if err != nil {
		return nil, err
	}
	return w.openedSet(ctx, doc)
}

// openedSet compiles a version of an assertion set, and caches it.
func (w *watches) openedSet(ctx context.Context, doc store.Document) (*watchedSet, error) {
	if set, ok := w.sets.Get(doc.Hash); ok {
		return set, nil
	}
	read, err := readSet(ctx, doc.Content)
	if err != nil {
		return nil, err
	}
	set, err := openSet(ctx, read)
	if err != nil {
		return nil, err
	}
	set.hash = doc.Hash
	if err := w.m.s.checkSet(ctx, set); err != nil {
		return nil, err
	}
	w.sets.Add(doc.Hash, set)
	return set, nil
}

// openSet compiles a set for events.
func openSet(ctx context.Context, read *assertionSet) (*watchedSet, error) {
	req, err := judge.ReadRequestWith(ctx, read.request(), read.library)
	if err != nil {
		return nil, err
	}
	set := &watchedSet{request: *req}
	set.request.Context, set.request.Threshold = read.context, read.threshold
	for _, a := range req.Assertions {
		set.ids = append(set.ids, a.ID)
		if len(a.Criteria) > 0 || a.Check == nil {
			set.judged = append(set.judged, a.ID)
		}
	}
	return set, nil
}

// checkSet finds the assertions of a set that this server cannot evaluate, and removes them
// from its request.
func (s *Server) checkSet(ctx context.Context, set *watchedSet) error {
	checker, ok := s.o.Judge.(interface {
		Check(ctx context.Context, r *judge.Request) error
	})
	if !ok || len(set.request.Assertions) == 0 {
		return nil
	}
	err := checker.Check(ctx, &set.request)
	var wrong judge.Mistakes
	if !errors.As(err, &wrong) {
		return err
	}
	why := map[int]string{}
	for _, e := range wrong {
		parts := document.Split(e.Pointer)
		if len(parts) < 2 || parts[0] != "assertions" {
			continue
		}
		if i, err := strconv.Atoi(parts[1]); err == nil && why[i] == "" {
			why[i] = firstLine(e.Message)
		}
	}
	var rest []judge.Assertion
	for i, a := range set.request.Assertions {
		if why[i] == "" || slices.Contains(set.judged, a.ID) { // a judge may become available
			rest = append(rest, a)
			continue
		}
		set.broken = append(set.broken, unevaluated{a.ID, why[i]})
	}
	set.request.Assertions = rest
	return nil
}

// setNamed parses the assertions member of a watch: set:NAME or set:NAME@VERSION.
func setNamed(text string) (name string, err error) {
	rest, ok := strings.CutPrefix(text, "set:")
	if !ok {
		return "", proviso.Errorf(proviso.Invalid, "assertions are set:NAME on a server, not %q; `proviso monitor apply` sends a file that is named as file://", shortened(text))
	}
	name, _, _ = strings.Cut(rest, "@")
	return rest, checkName(name)
}
