package main

import (
	"context"
	"time"

	"github.com/fsnotify/fsnotify"
)

// pollEvery is how often files are looked at where the system does not tell of
// changes, such as on network drives, or where it has no room for more watches.
const pollEvery = time.Second

// wake sends whenever something in the folders may have changed, until ctx ends.
// One value stands for all that happened since it was taken.
func wake(ctx context.Context, folders []string) <-chan struct{} {
	woken := make(chan struct{}, 1)
	events := make(chan fsnotify.Event)
	var failures chan error
	w, err := fsnotify.NewWatcher()
	poll := err != nil
	if err == nil {
		events, failures = w.Events, w.Errors
		for _, dir := range folders {
			poll = w.Add(dir) != nil || poll
		}
	}
	go func() {
		var tick <-chan time.Time
		if poll {
			t := time.NewTicker(pollEvery)
			defer t.Stop()
			tick = t.C
		}
		for {
			select {
			case <-ctx.Done():
				if w != nil {
					_ = w.Close() // nothing more is wanted of it
				}
				return
			case <-events:
			case <-failures: // events were lost, so anything may have changed
			case <-tick:
			}
			select {
			case woken <- struct{}{}:
			default:
			}
		}
	}()
	return woken
}
