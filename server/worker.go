package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/store"
)

// work executes or continues a run. It stores each row as soon as the row is finished, so that
// the end of the process loses only rows in flight.
func (s *Server) work(ctx context.Context, job store.Job) error {
	of := string(job.Run.Project)
	running := s.metrics.running.WithLabelValues(of)
	running.Inc()
	defer running.Dec()
	defer s.hub.changed(job.Run.ID)
	started := time.Now()
	var kept keptRows
	err := s.execute(ctx, job, &kept)
	end := "done"
	unable := store.UnableTo(err) != nil || store.UnfitFor(err) != ""
	switch {
	case store.UnfitFor(err) != "":
		if end = "unfit"; errors.Is(err, errNoRoomHere) {
			s.fitness.fill()
		}
	case unable:
		end = "unable"
	case ctx.Err() != nil || errors.Is(err, store.ErrDrained):
		end = "stopped"
	case errors.Is(err, store.ErrNoRoom):
		end = "waits"
	case err != nil:
		end = "failed"
	}
	s.metrics.runs.WithLabelValues(of, end).Inc()
	attrs := []any{"run", job.Run.ID, "attempt", job.Attempt, "end", end, "ms", milliseconds(time.Since(started)), "rows", kept.all.Load(), "errors", kept.errors.Load()}
	if unable {
		s.o.Log.Warn("run", append(attrs, "why", err.Error())...)
		return err
	}
	if err != nil && end == "failed" {
		s.o.Log.Error("run", append(attrs, "error", err)...)
		return publicError(err)
	}
	s.o.Log.Info("run", attrs...)
	return err
}

// keptRows counts the rows that this process has finished in an attempt at a run. It is safe
// for concurrent use.
type keptRows struct{ all, errors atomic.Int64 }

func (k *keptRows) add(status proviso.Status) {
	k.all.Add(1)
	if status == proviso.Errored {
		k.errors.Add(1)
	}
}

// publicError returns an error without the parts that are only for the log.
func publicError(err error) error {
	if errors.Is(err, store.ErrNoRoom) {
		return err // not stored: the run is retried
	}
	if cause := store.Outage(err); cause != nil {
		return proviso.Because(err, proviso.Unavailable, "%v", cause)
	}
	var mistakes proviso.Mistakes
	var e *proviso.Error
	if errors.As(err, &mistakes) || errors.As(err, &e) && e.Code != proviso.Internal {
		return err
	}
	return proviso.Errorf(proviso.Internal, "a defect, or a failure of the system: see the log of the server")
}

// execute runs a run's suite, or the parts of it that this process takes, on the account of its
// key.
func (s *Server) execute(ctx context.Context, job store.Job, counted *keptRows) error {
	r := job.Run
	if s.o.Runner == nil {
		return store.Permanent(proviso.Errorf(proviso.Unsupported, "this server runs no suites"))
	}
	key, err := s.keyOf(ctx, r)
	if err != nil {
		return err
	}
	kept := s.o.Store.In(r.Project)
	doc, err := kept.Document(ctx, store.SuiteKind, r.Suite, r.Version)
	if err != nil {
		return err
	}
	e, err := storedExecution(ctx, kept, r, doc.Content)
	if err != nil {
		return err
	}
	account := s.budgets.open(key)
	spans, done := s.spans.use(key)
	defer done()
	e.Spans = spans
	ctx, leaving := s.withLeaving(ctx, job)
	defer leaving.cancel()
	e.Planned = func(p *Plan) error {
		now, err := kept.PlanRun(ctx, r.ID, store.RunPlan{Rows: p.Rows, Hash: p.Hash, Judges: p.Judges, Fix: judgeFixed(p.Needs)})
		s.hub.changed(r.ID)
		if err != nil {
			return err
		}
		return leaving.planned(now.Needs, p.Needs)
	}
	e.Earlier = func(take func(int, []byte) error) error { return eachRow(ctx, kept, r.ID, take) }
	e.Take, e.Drain = job.Take, job.Drain
	e.Finished = func(p store.Part, take func(int, []byte) error) error {
		return eachRow(ctx, kept, r.ID, take, p.RowRange)
	}
	e.Keep = func(ctx context.Context, row store.Result) error {
		if why := leaving.why(); why != nil && row.Status == proviso.Errored {
			return why
		}
		counted.add(row.Status)
		return s.keepRow(ctx, r, account, row)
	}
	ctx, task := s.withTurns(ctx, key.ID)
	defer task.End()
	err = s.o.Runner.Run(withAccount(ctx, account), e)
	if why := leaving.why(); why != nil {
		err = why
	}
	return errors.Join(err, s.settle(ctx, account))
}

// storedExecution reads the suite and the options of a run.
func storedExecution(ctx context.Context, kept store.ProjectStore, r store.Run, suite []byte) (Execution, error) {
	e := Execution{Bundle: new(Bundle), RunID: r.ID}
	switch err := decode(ctx, suite, e.Bundle); {
	case err != nil && ctx.Err() != nil:
		return e, err // the run is started again
	case err != nil:
		return e, store.Permanent(err)
	}
	var noted execution
	if err := json.Unmarshal(r.Options, &noted); err != nil {
		return e, store.Permanent(fmt.Errorf("read the options of the run: %w", err))
	}
	e.Options, e.Version = noted.RunOptions, noted.Version
	e.Bundle.Datasets = storedDatasets{kept, noted.Datasets}
	return e, nil
}

// keyOf returns the key that a run is executed for. A revoked key pays for nothing more.
func (s *Server) keyOf(ctx context.Context, r store.Run) (store.Key, error) {
	if r.CreatedBy == anonymous {
		return anonymousKey(), nil
	}
	key, err := s.o.Store.Key(ctx, r.CreatedBy)
	if err != nil {
		return key, err
	}
	if !key.Revoked.IsZero() {
		return key, store.Permanent(proviso.Errorf(proviso.Refused, "the key %s was revoked", key.ID))
	}
	return key, nil
}

// keepRow stores a finished row, even if the run is being stopped, because the row is paid for.
// The store charges the key for it.
func (s *Server) keepRow(ctx context.Context, r store.Run, a *account, row store.Result) error {
	done := a.budget.charging(row.Cost)
	added, err := s.o.Store.In(r.Project).AddResults(context.WithoutCancel(ctx), r.ID, []store.Result{row})
	done(added > 0)
	if err != nil {
		return err
	}
	if added > 0 {
		a.charged(row.Cost)
		s.metrics.rows.WithLabelValues(string(r.Project), row.Status.String()).Inc()
		s.metrics.spent(r.Project, row.Cost, row.Usage)
	}
	s.hub.changed(r.ID)
	return nil
}

// paid adds the cost of an account's calls to the project's metrics, and charges what is not
// charged yet. attrs are logged if charging fails.
func (s *Server) paid(ctx context.Context, p store.Project, a *account, attrs ...any) (cost float64) {
	cost, usage := a.total()
	s.metrics.spent(p, cost, usage)
	if err := s.settle(ctx, a); err != nil {
		s.o.Log.Error("charge a key", append(attrs, "error", err)...)
	}
	return cost
}

// settle charges the amount that belongs to no row, such as for interrupted rows.
func (s *Server) settle(ctx context.Context, a *account) error {
	due := a.due()
	if due <= 0 || a.key.ID == anonymous {
		return nil
	}
	done := a.budget.charging(due)
	_, err := s.o.Store.Charge(context.WithoutCancel(ctx), a.key.ID, due)
	done(err == nil)
	return err
}

// leaving lets errors during a run decide that this process leaves the run to others. Rows in
// progress are executed there; finished rows are kept. It is safe for concurrent use. A nil
// *leaving never leaves a run.
type leaving struct {
	s      *Server
	job    store.Job
	cancel context.CancelFunc // cancels the run

	mu       sync.Mutex
	because  error
	accepted map[string]bool // providers whose key has worked, or that no other process can call
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

// leave stops working on the run because of a [store.Unable] or [store.Unfit] error, and
// returns false if the run cannot be left.
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

// planned records the current needs of the run. It returns an error if the run's verdicts come
// from another judge than the judge in own, which are this process's needs for the run.
func (l *leaving) planned(needs, own []string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.job.Run.Needs = needs
	if other := judgeIn(needs); other != "" && judgeIn(own) != "" && !slices.Contains(own, other) {
		return store.Unable(other)
	}
	return nil
}

// why returns the error because of which the run is left; nil if it is not.
func (l *leaving) why() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.because
}

// answered records the result of a call to a provider, and returns its error for the run.
//
// If a key of this process is refused (401, 403) before any call to that provider succeeded in
// this run, the run is left to another process that offers the same key. Without such a
// process, the rows are errors.
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

// blamed returns the need of the run that an error shows this process cannot meet, or "".
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

// elsewhere reports whether another process can meet the needs of the run.
func (l *leaving) elsewhere(ctx context.Context) bool {
	living, err := l.s.o.Store.Processes(ctx)
	return err == nil && slices.ContainsFunc(living, func(p store.Process) bool {
		return p.ID != l.job.Process && p.Able(l.job.Run.Needs)
	})
}
