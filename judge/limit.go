package judge

import "sync"

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
