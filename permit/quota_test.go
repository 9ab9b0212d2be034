package permit_test

import (
	"math"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/permit"
)

// TestQuotas: what exceeds the reserve may be sent at once, the reserve is spread until the
// reset, and then all is there again.
func TestQuotas(t *testing.T) {
	t.Parallel()
	var q permit.Quotas
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	report := func(left float64, reset time.Duration, mark float64) {
		q.Note(now, permit.Report{Requests: permit.Remaining{Limit: 100, Left: left, Reset: reset}, Mark: mark, Accepted: true}, 0)
	}
	room := func(what string, least, most float64) {
		t.Helper()
		if n, wait := q.Room(now, 0); n < least || n > most || n < 1 && wait <= 0 || n >= 1 && wait > 0 {
			t.Errorf("%s: %v after %v, want %v to %v", what, n, wait, least, most)
		}
	}
	room("nothing is known", math.Inf(1), math.Inf(1))
	report(65, 30*time.Second, q.Taken)
	room("above the reserve", 55, 55)
	q.Take(55, 0)
	room("the reserve", 0, 0.9)
	sent := 0
	for range 29 * 10 {
		now = now.Add(100 * time.Millisecond)
		if n, _ := q.Room(now, 0); n >= 1 {
			q.Take(1, 0)
			sent++
		}
	}
	if sent < 8 || sent > 10 {
		t.Errorf("%d of the reserve of 10 are sent until the reset", sent)
	}
	now = now.Add(time.Second)
	room("the next window is tried", 0, 2)
	report(99, time.Minute, q.Taken)
	room("it has begun", 89, 89)
	mark := q.Taken
	q.Take(50, 0)
	report(98, time.Minute, mark)
	room("50 were sent after the request that was answered", 38, 38)
	report(0, time.Minute, q.Taken)
	room("used up by others", 0, 0)
	now = now.Add(20 * time.Second)
	report(50, 30*time.Second, q.Taken)
	room("there again continuously", 40, 40)
	q.Note(now, permit.Report{Requests: permit.Remaining{Limit: 100, Left: 90, Reset: time.Second}, Age: 5 * time.Second}, 0)
	room("an older answer comes late", 40, 40)
	now = now.Add(10 * time.Minute)
	room("forgotten", math.Inf(1), math.Inf(1))
}

// TestQuotasOfTokens: requests that have more tokens than the limit do not wait for ever.
func TestQuotasOfTokens(t *testing.T) {
	t.Parallel()
	var q permit.Quotas
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	q.Note(now, permit.Report{Tokens: permit.Remaining{Limit: 1000, Left: 1000, Reset: time.Second}}, 100)
	if n, _ := q.Room(now, 100); n != 9 {
		t.Errorf("room for %v requests of 100 tokens, want 9", n)
	}
	for range 3 {
		if n, _ := q.Room(now, 5000); n < 1 {
			t.Errorf("at %v: no room for a request of 5000 tokens", now)
		}
		q.Take(1, 5000)
		if n, wait := q.Room(now, 5000); n >= 1 || wait <= 0 {
			t.Errorf("room for %v more", n)
		}
		now = now.Add(time.Minute)
	}
}
