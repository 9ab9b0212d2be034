package postgres

import (
	"testing"
	"time"

	"github.com/proviso-eval/proviso/store/postgres/postgrestest"
)

// TestClock: two machines whose clocks are two minutes apart agree on the time of leases.
func TestClock(t *testing.T) {
	t.Parallel()
	url := postgrestest.Database(t)
	var now [2]time.Time
	for i, apart := range []time.Duration{-time.Minute, time.Minute} {
		e := &engine{stop: make(chan struct{}), clock: func() time.Time { return time.Now().Add(apart) }}
		if err := e.connect(t.Context(), url, Options{Connections: 2}); err != nil {
			t.Fatal(err)
		}
		if err := e.keepTime(t.Context()); err != nil {
			t.Fatal(err)
		}
		now[i] = e.now()
		if err := e.Disconnect(); err != nil {
			t.Fatal(err)
		}
	}
	if apart := now[1].Sub(now[0]); apart < 0 || apart > 10*time.Second {
		t.Errorf("their times are %v apart", apart)
	}
}
