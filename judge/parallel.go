package judge

import (
	"context"
	"sync"
)

// limit bounds how many functions run at once.
type limit chan struct{}

func newLimit(n int) limit { return make(limit, n) }

// do calls f as soon as the limit allows.
func (l limit) do(f func()) {
	l <- struct{}{}
	defer func() { <-l }()
	f()
}

// together runs all tasks concurrently and waits for them.
func together(tasks []func()) {
	if len(tasks) == 1 {
		tasks[0]()
		return
	}
	var all sync.WaitGroup
	for _, task := range tasks {
		all.Go(task)
	}
	all.Wait()
}

// parallelCalls is the number of calls of one grading that run concurrently.
const parallelCalls = 4

// inParallel calls do for the numbers from 0 to n-1, parallelCalls at a time. It returns
// the results in order, or the first error.
func inParallel[T any](ctx context.Context, n int, do func(ctx context.Context, i int) (T, error)) ([]T, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	out := make([]T, n)
	var once sync.Once
	var first error
	aFew(n, func(i int) {
		err := ctx.Err()
		if err == nil {
			out[i], err = do(ctx, i)
		}
		if err != nil {
			once.Do(func() { first = err })
			stop()
		}
	})
	return out, first
}

// aFew calls do for the numbers from 0 to n-1, parallelCalls at a time.
func aFew(n int, do func(i int)) {
	calls := newLimit(parallelCalls)
	tasks := make([]func(), n)
	for i := range tasks {
		tasks[i] = func() { calls.do(func() { do(i) }) }
	}
	together(tasks)
}
