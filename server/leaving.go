package server

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/store"
)

// leaving lets what happens in a run decide that this process leaves the run to others. Rows
// in progress are executed there; finished ones are kept. It is safe for concurrent use. A nil
// leaving is none: nothing is left.
type leaving struct {
	s      *Server
	job    store.Job
	cancel context.CancelFunc // of the run

	mu       sync.Mutex
	because  error
	accepted map[string]bool // providers whose key is not to blame, or that nobody else can ask
}

type leavingKey struct{}

// withLeaving returns a context for a run that this process may leave. The caller cancels it.
func (s *Server) withLeaving(ctx context.Context, job store.Job) (context.Context, *leaving) {
	ctx, cancel := context.WithCancel(ctx)
	l := &leaving{s: s, job: job, cancel: cancel, accepted: map[string]bool{}}
	return context.WithValue(ctx, leavingKey{}, l), l
}

func leavingOf(ctx context.Context) *leaving {
	l, _ := ctx.Value(leavingKey{}).(*leaving)
	return l
}

// leave ends the work on the run because of an error of [store.Unable] or [store.Unfit]; false
// if it cannot be left.
func (l *leaving) leave(because error) bool {
	if l == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.because == nil {
		l.because = because
		l.cancel()
	}
	return true
}

// planned notes what the run needs now, and returns an error if its verdicts are those of
// another judge than this process would ask, which own names among other needs.
func (l *leaving) planned(needs, own []string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.job.Run.Needs = needs
	if other := judgeIn(needs); other != "" && judgeIn(own) != "" && !slices.Contains(own, other) {
		return store.Unable(other)
	}
	return nil
}

// why is the error because of which the run is left; nil if it is not.
func (l *leaving) why() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.because
}

// answered takes in how a call to a provider ended, and returns its error for the run.
//
// If all calls to a provider were refused in this run because of a key of this process (401,
// 403), the run is left to another process that offers the same key. Where there is none, the
// rows are errors.
func (l *leaving) answered(ctx context.Context, id string, err error) error {
	if l == nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.because != nil && err != nil {
		return context.Canceled
	}
	need := l.blamed(err)
	switch {
	case err != nil && need == "" || l.accepted[id]:
		return err
	case need == "":
		l.accepted[id] = true
		return nil
	case l.elsewhere(ctx):
		l.because = store.Refused(need)
		l.s.o.Log.Warn("a key is refused; the run is left to another worker", "run", l.job.Run.ID, "worker", l.job.Process, "provider", id, "key", need)
		l.cancel()
		return context.Canceled
	}
	l.accepted[id] = true
	l.s.o.Log.Error("a key is refused, and no other worker can execute the run: its rows are errors", "run", l.job.Run.ID, "worker", l.job.Process, "provider", id, "key", need)
	return err
}

// blamed returns what of the run's needs an error shows to be wrong here; "" if it does not.
func (l *leaving) blamed(err error) string {
	need := provider.RefusedKey(err)
	switch {
	case need == "":
		return ""
	case slices.Contains(l.job.Run.Needs, need):
		return need
	case slices.Contains(l.job.Run.Needs, engine.NeedsJudge):
		return engine.NeedsJudge
	}
	if by := judgeIn(l.job.Run.Needs); !strings.HasPrefix(by, engine.JudgeOfSuite) {
		return by
	}
	return ""
}

// elsewhere reports whether another process can do what the run needs.
func (l *leaving) elsewhere(ctx context.Context) bool {
	living, err := l.s.o.Store.Processes(ctx)
	return err == nil && slices.ContainsFunc(living, func(p store.Process) bool {
		return p.ID != l.job.Process && p.Able(l.job.Run.Needs)
	})
}
