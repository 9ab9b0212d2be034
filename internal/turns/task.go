package turns

import (
	"context"
	"sync"
	"time"
)

// Task measures the computing time of one request: the time during which it has
// turns. That is processor time unless another program uses up the machine. It is
// safe for concurrent use.
type Task struct {
	scheduler *Scheduler
	key       string
	budget    time.Duration // 0 means unlimited
	over      error         // error for work beyond the budget
	cancel    context.CancelCauseFunc

	mu    sync.Mutex
	open  int // number of turns held
	since time.Time
	used  time.Duration
	timer *time.Timer // nil without a budget
	spent bool
}

type taskKey struct{}

type heldKey struct{}

// Begin returns a context whose computing counts for a key, and its task, which the
// caller must end. Beyond the budget the context is cancelled with over as its
// cause; a budget of 0 is unlimited.
func (s *Scheduler) Begin(ctx context.Context, key string, budget time.Duration, over error) (context.Context, *Task) {
	ctx, cancel := context.WithCancelCause(ctx)
	t := &Task{scheduler: s, key: key, budget: budget, over: over, cancel: cancel}
	if budget > 0 {
		t.timer = time.AfterFunc(time.Hour, t.check)
		t.timer.Stop()
	}
	return context.WithValue(ctx, taskKey{}, t), t
}

// End frees the resources of the task. Work that still runs is cancelled.
func (t *Task) End() {
	if t.timer != nil {
		t.timer.Stop()
	}
	t.cancel(context.Canceled)
}

// Err returns why the budget ended the task, or nil.
func (t *Task) Err() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.spent {
		return t.over
	}
	return nil
}

// Used returns the computing time so far.
func (t *Task) Used() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.total()
}

// total returns the computing time so far; t.mu is held.
func (t *Task) total() time.Duration {
	if t.open > 0 {
		return t.used + time.Since(t.since)
	}
	return t.used
}

// check ends the task if its budget is exhausted.
func (t *Task) check() {
	t.mu.Lock()
	left := t.budget - t.total()
	switch {
	case left <= 0:
		t.spent = true
	case t.open > 0:
		t.timer.Reset(left)
	}
	spent := t.spent
	t.mu.Unlock()
	if spent {
		t.cancel(t.over)
	}
}

// begun starts the clock at the first turn.
func (t *Task) begun() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open++; t.open > 1 {
		return
	}
	t.since = time.Now()
	if t.timer != nil {
		t.timer.Reset(max(0, t.budget-t.used))
	}
}

// ended stops the clock at the end of the last turn.
func (t *Task) ended() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open--; t.open > 0 {
		return
	}
	t.used += time.Since(t.since)
	if t.timer != nil {
		t.timer.Stop()
		if t.used >= t.budget && !t.spent {
			t.spent = true
			t.cancel(t.over)
		}
	}
}

// Enter waits for a turn to compute. The caller must call done before it waits for
// anything else. A caller that already has a turn in this context needs no other
// one. The error is why the task, or the context, ended. A context without a task
// gets no turn and needs none.
func Enter(ctx context.Context) (turn context.Context, done func(), err error) {
	t, _ := ctx.Value(taskKey{}).(*Task)
	if t == nil {
		return ctx, func() {}, nil
	}
	if ctx.Value(heldKey{}) != nil {
		if ctx.Err() != nil {
			return ctx, func() {}, context.Cause(ctx)
		}
		return ctx, func() {}, nil
	}
	k, c, err := t.scheduler.take(ctx, t.key)
	if err != nil {
		return ctx, func() {}, err
	}
	t.begun()
	var once sync.Once
	return context.WithValue(ctx, heldKey{}, true), func() {
		once.Do(func() {
			t.ended()
			t.scheduler.give(k, c)
		})
	}, nil
}
