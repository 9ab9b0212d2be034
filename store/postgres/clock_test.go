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

// TestClockAfterAStop: a process that was suspended while it read the database clock is not
// ahead of it.
func TestClockAfterAStop(t *testing.T) {
	t.Parallel()
	first := true
	e := &engine{stop: make(chan struct{}), clock: func() time.Time {
		now := time.Now()
		if first {
			now, first = now.Add(-12*time.Second), false
		}
		return now
	}}
	if err := e.connect(t.Context(), postgrestest.Database(t), Options{Connections: 2}); err != nil {
		t.Fatal(err)
	}
	if err := e.measureTime(t.Context(), timeSlow); err != nil {
		t.Fatal(err)
	}
	if ahead := time.Until(e.now()); ahead.Abs() > 3*time.Second {
		t.Errorf("it is ahead by %v", ahead)
	}
	if err := e.Disconnect(); err != nil {
		t.Fatal(err)
	}
}
