package watch

import (
	"context"
	"time"

	"github.com/fsnotify/fsnotify"
)

// pollEvery is the polling interval where the system does not report changes, such as on
// network drives, or has reached its limit of watches.
const pollEvery = time.Second

// wake sends a value when something in the folders may have changed, until ctx ends. One
// value covers everything since the last receive.
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
					_ = w.Close() // the watcher is no longer needed
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
