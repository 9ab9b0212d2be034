package permit_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/permit"
)

const ms = time.Millisecond

// bench is an endpoint with a clock.
type bench struct {
	testing.TB
	e   permit.Endpoint
	now time.Time
}

func newBench(t testing.TB) *bench {
	return &bench{TB: t, now: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)}
}

func (b *bench) take(after time.Duration, a permit.Ask) permit.Grant {
	b.now = b.now.Add(after)
	if a.Process == "" {
		a.Process = "one"
	}
	return b.e.Take(b.now, a)
}

// unlimited asks until no limit is left, of which so many requests a second are sent.
func (b *bench) unlimited(perSecond int) (g permit.Grant) {
	for range 40 {
		g = b.take(100*ms, permit.Ask{Sent: perSecond / 10, Want: 1, Unused: g.N})
	}
	if g.Limited {
		b.Fatalf("still limited: %+v", g)
	}
	return g
}

// learn refuses one of that many requests a second.
func (b *bench) learn(perSecond int) permit.Grant {
	g := b.unlimited(perSecond)
	return b.take(0, permit.Ask{Epoch: g.Epoch, Settled: 1000, Refused: 1})
}

// rate is the rate after some time; only one process asks.
func (b *bench) rate(after time.Duration) float64 { return b.take(after, permit.Ask{}).Share }

func (b *bench) about(what string, got, want float64) {
	b.Helper()
	if math.Abs(got-want) > 0.07*want {
		b.Errorf("%s: %.2f, want about %.2f", what, got, want)
	}
}

// TestRate: the rate falls below the estimate, returns to it, stays near it and then rises.
func TestRate(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.learn(100)
	b.about("at first", b.rate(0), 85)
	b.about("soon", b.rate(3*time.Second), 99)
	b.about("near the estimate", b.rate(2*time.Second), 100)
	b.about("still near it", b.rate(2*time.Second), 101)
	b.about("later", b.rate(5*time.Second), 140)
	b.take(0, permit.Ask{Want: 1000}) // what accrued before
	n := 0
	for range 10 {
		n += b.take(100*ms, permit.Ask{Want: 100}).N
	}
	b.about("what is granted", float64(n), b.rate(0))
	for range 40 {
		b.take(time.Second, permit.Ask{})
	}
	if g := b.take(time.Second, permit.Ask{}); g.Limited {
		t.Errorf("after a minute without a refusal: %+v", g)
	}
}

// TestOnly: where no other process asks, the first requests are not limited, and after a refusal
// a process may ask again as soon as the next permit accrues.
func TestOnly(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	if g := b.take(0, permit.Ask{Only: true, Want: 100}); g.Limited {
		t.Fatalf("the first grant is limited: %+v", g)
	}
	var g permit.Grant
	for range 20 {
		g = b.take(100*ms, permit.Ask{Only: true, Sent: 10, Want: 100})
	}
	g = b.take(0, permit.Ask{Only: true, Epoch: g.Epoch, Settled: 1000, Refused: 1, Want: 100})
	if !g.Limited || g.N > 1 {
		t.Fatalf("after a refusal of 100 a second: %+v", g)
	}
	n := 0
	for range 100 {
		if g = b.take(10*ms, permit.Ask{Only: true, Want: 100}); g.Again > 15*ms || g.Every != 0 {
			t.Fatalf("it has to wait: %+v", g)
		}
		n += g.N
	}
	b.about("of a second", float64(n), 93)
}

// TestEstimate: a rate that is far too high falls at once by what was refused.
func TestEstimate(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	g := b.learn(100)
	b.take(500*ms, permit.Ask{Epoch: g.Epoch, Settled: 30, Refused: 15})
	b.about("half was refused", b.rate(0), 0.85*0.5*90)
}

// TestEpochs: requests of an earlier epoch that are refused say nothing new.
func TestEpochs(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	g := b.learn(100)
	if g.Settles <= 0 || g.Settles > time.Second {
		t.Errorf("it settles after %v", g.Settles)
	}
	if again := b.take(ms, permit.Ask{Epoch: g.Epoch - 1, Settled: 9, Refused: 9}); again.Epoch != g.Epoch {
		t.Error("a refusal of the earlier epoch begins another one")
	}
	if again := b.take(ms, permit.Ask{Epoch: g.Epoch, Settled: 9, Refused: 1}); again.Epoch == g.Epoch {
		t.Error("a refusal of this epoch begins none")
	}
}

// TestPause: nothing is granted in a pause, and nothing accrues or rises.
func TestPause(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.learn(100)
	g := b.take(0, permit.Ask{Wait: 5 * time.Minute})
	if g.Pause != 5*time.Minute || !g.Limited || g.N != 0 {
		t.Errorf("granted %+v", g)
	}
	if g = b.take(time.Minute, permit.Ask{Process: "other", Want: 5, Wait: time.Second}); g.Pause != 4*time.Minute || g.N != 0 {
		t.Errorf("another process: %+v", g)
	}
	if g = b.take(4*time.Minute, permit.Ask{Want: 100}); g.N != 0 {
		t.Errorf("at its end: %+v", g)
	}
	b.about("then", b.rate(0), 85)
}

// TestSettings: of the limits of several processes, the lowest holds, until nobody has it.
func TestSettings(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.unlimited(0)
	b.take(0, permit.Ask{PerMinute: 600})
	if g := b.take(100*ms, permit.Ask{Process: "other", Want: 50}); g.N != 10 || g.Share != 5 {
		t.Errorf("without a limit of its own: %+v", g)
	}
	for range 70 {
		b.take(time.Second, permit.Ask{Process: "other", Want: 1})
	}
	if g := b.take(100*ms, permit.Ask{Process: "other", Want: 50}); g.Limited {
		t.Errorf("later: %+v", g)
	}
}

// TestTokens: a request may have more tokens than accrued, which the next ones wait for.
func TestTokens(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ask := permit.Ask{TokensPerMinute: 600, Want: 3, Tokens: 90, First: 30} // 10 a second
	if g := b.take(0, ask); g.N != 1 || g.Tokens != 30 {
		t.Errorf("at first: %+v", g)
	}
	if g := b.take(1900*ms, ask); g.N != 0 {
		t.Errorf("in debt: %+v", g)
	}
	if g := b.take(200*ms, permit.Ask{TokensPerMinute: 600, Spent: 100, Want: 1, Tokens: 5, First: 5}); g.N != 0 {
		t.Errorf("the answer had more: %+v", g)
	}
	if g := b.take(10*time.Second, ask); g.N != 1 {
		t.Errorf("paid: %+v", g)
	}
}

// FuzzTake: whatever processes tell, the state stays finite and survives JSON, and all together
// get no more than what is configured.
func FuzzTake(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 0))
		b := newBench(t)
		const perSecond = 20
		held := map[string]int{}
		total, begun := 0, b.now
		var epoch int64
		for range 300 {
			name := string(rune('a' + r.IntN(5)))
			unused := 0
			if n := held[name]; n > 0 {
				unused = r.IntN(n + 1)
			}
			a := permit.Ask{Process: name, PerMinute: perSecond * 60, Want: r.IntN(50), Unused: unused, Sent: r.IntN(1000),
				Epoch: epoch, Settled: r.IntN(30), Refused: max(0, r.IntN(30)-25), Tokens: float64(r.IntN(1000)), Spent: float64(r.IntN(1000) - 500)}
			if r.IntN(50) == 0 {
				a.Wait = time.Duration(r.IntN(3000)) * ms
			}
			if r.IntN(3) == 0 {
				a.TokensPerMinute = 1e5
			}
			remaining := func() permit.Remaining {
				odd := [...]float64{0, 1, -1, 20, 1000, 1e12, 1e300, math.Inf(1), math.NaN()}
				return permit.Remaining{Limit: odd[r.IntN(len(odd))], Left: odd[r.IntN(len(odd))], Reset: time.Duration(r.IntN(200)-10) * time.Second}
			}
			a.Report = permit.Report{Requests: remaining(), Tokens: remaining(), Mark: float64(r.IntN(2000) - 100), Age: time.Duration(r.IntN(5000)-1000) * ms, Accepted: r.IntN(3) > 0}
			a.Accepted, a.Refusals = max(0, r.IntN(40)-20), max(0, r.IntN(40)-20)
			a.AcceptedAge, a.RefusedAge = time.Duration(r.IntN(5000)-1000)*ms, time.Duration(r.IntN(5000)-1000)*ms
			a.Each = [...]float64{0, 1, 1e9, 1e300, math.Inf(1)}[r.IntN(5)]
			g := b.take(time.Duration(r.IntN(200))*ms, a)
			total += g.N - unused
			held[name], epoch = g.N, g.Epoch
			if most := perSecond*b.now.Sub(begun).Seconds() + perSecond + 1; float64(total) > most {
				t.Fatalf("%d granted after %v", total, b.now.Sub(begun))
			}
			if g.N < 0 || g.N > a.Want || !g.Limited || g.Again <= 0 || g.For <= 0 || g.Every < 0 || g.Settles < 0 || g.Share <= 0 || g.Share > perSecond {
				t.Fatalf("%+v for %+v", g, a)
			}
			text, err := json.Marshal(&b.e)
			if err != nil {
				t.Fatal(err)
			}
			b.e = permit.Endpoint{}
			if err := json.Unmarshal(text, &b.e); err != nil {
				t.Fatal(err)
			}
		}
	})
}
