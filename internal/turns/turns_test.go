package turns_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/proviso-eval/proviso/internal/turns"
)

var errOver = errors.New("the budget is spent")

// work takes turns of a key, each for the given time, until the context ends. The
// clock is that of [synctest], so a busy machine has no effect.
func work(ctx context.Context, s *turns.Scheduler, key string, each time.Duration, took *atomic.Int64) {
	ctx, task := s.Begin(ctx, key, 0, nil)
	defer task.End()
	for {
		_, done, err := turns.Enter(ctx)
		if err != nil {
			return
		}
		time.Sleep(each)
		done()
		took.Add(int64(each))
	}
}

// TestLightKeyDoesNotWait: forty workers of one key hold their turns for a long
// time; another key, which computes little, gets its turns at once.
func TestLightKeyDoesNotWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := turns.New(2)
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		var took atomic.Int64
		for range 40 {
			all.Go(func() { work(ctx, s, "heavy", 300*time.Millisecond, &took) })
		}
		time.Sleep(700 * time.Millisecond)
		mine, task := s.Begin(ctx, "light", 0, nil)
		defer task.End()
		for range 20 {
			started := time.Now()
			_, done, err := turns.Enter(mine)
			if err != nil {
				t.Fatal(err)
			}
			if waited := time.Since(started); waited > 0 {
				t.Errorf("waited %v for a turn", waited)
			}
			time.Sleep(time.Millisecond)
			done()
		}
		cancel()
		all.Wait()
		if took.Load() == 0 {
			t.Error("the other key did not get on")
		}
	})
}

// TestEqualKeysShare: busy keys get equal shares, however many workers each has.
func TestEqualKeysShare(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := turns.New(2)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var all sync.WaitGroup
		var many, few atomic.Int64
		for range 30 {
			all.Go(func() { work(ctx, s, "many", 10*time.Millisecond, &many) })
		}
		for range 3 {
			all.Go(func() { work(ctx, s, "few", 10*time.Millisecond, &few) })
		}
		all.Wait()
		if m, f := many.Load(), few.Load(); m > f*11/10 || f > m*11/10 {
			t.Errorf("30 workers of one key had %v, 3 of another %v", time.Duration(m), time.Duration(f))
		}
	})
}

// TestBudget: a task ends at its budget, with its reason, and waiting is not counted.
func TestBudget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := turns.New(1)
		ctx, task := s.Begin(t.Context(), "key", 50*time.Millisecond, errOver)
		defer task.End()
		time.Sleep(80 * time.Millisecond) // without a turn
		inside, done, err := turns.Enter(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if _, again, err := turns.Enter(inside); err != nil {
			t.Errorf("a second turn inside of the first: %v", err)
		} else {
			again()
		}
		<-inside.Done()
		if !errors.Is(context.Cause(inside), errOver) || !errors.Is(task.Err(), errOver) || task.Used() != 50*time.Millisecond {
			t.Errorf("ended with %v, %v after %v", context.Cause(inside), task.Err(), task.Used())
		}
		done()
		if _, _, err := turns.Enter(ctx); !errors.Is(err, errOver) {
			t.Errorf("a turn beyond the budget: %v", err)
		}
		other, next := s.Begin(t.Context(), "key", time.Second, errOver)
		defer next.End()
		if _, done, err := turns.Enter(other); err != nil {
			t.Errorf("the turn was not given back: %v", err)
		} else {
			done()
		}
	})
}

// TestWaiterLeaves: a waiter that gives up keeps no turn.
func TestWaiterLeaves(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := turns.New(1)
		ctx, task := s.Begin(t.Context(), "key", 0, nil)
		defer task.End()
		_, done, err := turns.Enter(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for range 100 {
			short, cancel := context.WithTimeout(ctx, 100*time.Microsecond)
			if _, _, err := turns.Enter(short); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("a second turn: %v", err)
			}
			cancel()
		}
		done()
		if _, done, err := turns.Enter(ctx); err != nil {
			t.Error(err)
		} else {
			done()
		}
	})
}

// TestWithoutTask: a context without a task is not limited.
func TestWithoutTask(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, done, err := turns.Enter(ctx); err != nil {
		t.Error(err)
	} else {
		done()
	}
}

func BenchmarkEnter(b *testing.B) {
	s := turns.New(2)
	ctx, task := s.Begin(b.Context(), "key", time.Hour, errOver)
	defer task.End()
	b.ReportAllocs()
	for b.Loop() {
		_, done, err := turns.Enter(ctx)
		if err != nil {
			b.Fatal(err)
		}
		done()
	}
}
