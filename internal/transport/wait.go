package transport

import (
	"context"
	"time"
)

// Wait waits for d, as between two attempts, or until ctx ends; then it returns its error.
func Wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
