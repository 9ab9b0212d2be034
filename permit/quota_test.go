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

// TestReportedSometimes: what an endpoint reports, even late and with few of its answers, takes the
// place of what was found out about its windows, and answers without a report do not outdate it.
func TestReportedSometimes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	granted := 0
	take := func(after time.Duration, a permit.Ask) {
		a.Unused = granted
		a.Report.Mark = b.e.Quotas.Taken - float64(granted)
		granted = b.take(after, a).N
	}
	for range 3 { // windows of 20 requests
		take(0, permit.Ask{Accepted: 1})
		take(time.Second, permit.Ask{Accepted: 19})
		for range 58 {
			take(time.Second, permit.Ask{Refusals: 1})
		}
		b.now = b.now.Add(time.Second)
	}
	take(0, permit.Ask{Accepted: 1})
	room := func(what string, least, most float64) {
		t.Helper()
		if n, _ := b.e.Quotas.Room(b.now, 0); n+float64(granted) < least || n+float64(granted) > most {
			t.Errorf("%s: room for %v, want %v to %v", what, n+float64(granted), least, most)
		}
	}
	room("found out", 15, 20)
	report := func(left float64) permit.Report {
		return permit.Report{Requests: permit.Remaining{Limit: 1000, Left: left, Reset: 30 * time.Second}, Age: 2 * time.Second, Accepted: true}
	}
	take(time.Second, permit.Ask{Accepted: 10, Report: report(900)})
	room("reported", 750, 800)
	take(3*time.Second, permit.Ask{Accepted: 10})
	take(time.Second, permit.Ask{Accepted: 1, Report: report(500)})
	room("reported again", 350, 400)
	for range 56 {
		take(time.Second, permit.Ask{Refusals: 1, Report: report(800)})
	}
	take(time.Second, permit.Ask{Accepted: 20})
	room("a window begins", 650, 700)
}

// TestDoubts: a limit that delays requests and is not there again at its reset delays nothing after
// three times, until it is there again or the endpoint refuses a request for it.
func TestDoubts(t *testing.T) {
	t.Parallel()
	var q permit.Quotas
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	report := func(left float64, accepted bool) {
		q.Note(now, permit.Report{Requests: permit.Remaining{Limit: 1000, Left: left, Reset: time.Minute}, Mark: q.Taken, Accepted: accepted}, 0)
	}
	// slow is for how long the limit delays requests, up to an hour, when every answer reports as much.
	slow := func(left float64) (d time.Duration) {
		for ; d < time.Hour; d += time.Second {
			n, _ := q.Room(now, 0)
			if math.IsInf(n, 1) {
				break
			}
			if n >= 1 {
				q.Take(1, 0)
				report(left, true)
			}
			now = now.Add(time.Second)
		}
		return d
	}
	check := func(what string, d, least, most time.Duration) {
		t.Helper()
		if d < least || d > most || q.Doubted() != (d < time.Hour) {
			t.Errorf("%s: delayed for %v, want %v to %v; doubted %v", what, d, least, most, q.Doubted())
		}
	}
	report(25, true)
	check("25 of 1000", slow(25), 3*time.Minute, 6*time.Minute)
	for range 3 * 60 {
		now = now.Add(time.Second)
		q.Take(20, 0)
		report(25, true)
	}
	check("more is accepted than was left", slow(25), 0, 0)
	report(0, false)
	check("refused", slow(25), time.Minute, 2*time.Minute)
	for range 5 {
		report(0, false)
		slow(0)
	}
	report(0, false)
	check("refused often", slow(0), 0, 0)
	now = now.Add(time.Minute)
	report(999, true)
	if n, _ := q.Room(now, 0); n != 899 || q.Doubted() {
		t.Errorf("it is there again: room for %v; doubted %v", n, q.Doubted())
	}
	// Each second, so many are sent, and that many are left.
	for sent, left := range map[float64]float64{
		15: 50,  // a bucket that stays low, because of what is sent
		0:  500, // others use it, but there is enough
	} {
		q = permit.Quotas{}
		for range 10 * 60 {
			now = now.Add(time.Second)
			q.Room(now, 0)
			q.Take(sent, 0)
			report(left, true)
		}
		if q.Doubted() {
			t.Errorf("%v a second, %v left: doubted", sent, left)
		}
	}
}
