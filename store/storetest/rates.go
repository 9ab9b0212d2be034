package storetest

import (
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/permit"
	"github.com/proviso-eval/proviso/store"
)

var rateTests = []test{
	{name: "rates", run: func(b *bench) {
		rates, is := b.Backend.(store.Rates)
		if !is {
			b.Skip("this store shares no rates")
		}
		share := func(endpoint string, a permit.Ask) permit.Grant {
			b.Helper()
			a.Process = "one"
			return must(rates.ShareRate(b.Context(), endpoint, a))(b)
		}
		first := share("e", permit.Ask{Want: 100})
		b.equal("a first request", first.N, 1)
		b.equal("no more have accrued", share("e", permit.Ask{Want: 100}).N, 0)
		b.equal("another endpoint", share("other", permit.Ask{Want: 100}).N, 1)
		b.clock.add(100 * time.Millisecond)
		second := share("e", permit.Ask{Want: 100, Epoch: first.Epoch})
		b.equal("what has accrued", second.N > 1 && second.Epoch == first.Epoch, true)
		lowered := share("e", permit.Ask{Epoch: first.Epoch, Settled: 10, Refused: 1, Wait: 10 * time.Second})
		b.equal("a later epoch", lowered.Epoch > first.Epoch, true)
		b.equal("as the endpoint asked", lowered.Pause, 10*time.Second)
		b.equal("the other endpoint did not", share("other", permit.Ask{}).Pause, time.Duration(0))
		b.clock.add(3 * time.Minute)
		b.equal("forgotten", share("e", permit.Ask{Want: 100}).Epoch > lowered.Epoch, true)
		b.wants(proviso.Limit, errorOf(rates.ShareRate(b.Context(), strings.Repeat("x", store.MaxName+1), permit.Ask{})))
		b.wants(proviso.Invalid, errorOf(rates.ShareRate(b.Context(), "", permit.Ask{})))
	}},
	{name: "rates of two processes", run: func(b *bench) {
		one, is := b.Backend.(store.Rates)
		if !is || !b.target.Shared {
			b.Skip("one process has this store")
		}
		other := b.beside(0).(store.Rates)
		both := func(a permit.Ask) (n int) {
			for i, r := range [...]store.Rates{one, other} {
				a.Process = [...]string{"one", "other"}[i]
				n += must(r.ShareRate(b.Context(), "e", a))(b).N
			}
			return n
		}
		b.equal("a first request", both(permit.Ask{Want: 10, PerMinute: 60}), 1)
		for i := range 10 {
			b.clock.add(500 * time.Millisecond)
			b.equal("one each second", both(permit.Ask{Want: 10, PerMinute: 60}), i%2)
		}
	}},
	{name: "endpoints are stored as keyed hashes", run: func(b *bench) {
		rates, is := b.Backend.(store.Rates)
		shared, shares := b.Backend.(store.Shared)
		if !is || !shares {
			b.Skip("this store shares no rates")
		}
		const endpoint = "0123456789abcdef"
		must(rates.ShareRate(b.Context(), endpoint, permit.Ask{Process: "p"}))(b)
		list := must(shared.ListShared(b.Context(), "rate", "", "", 10))(b)
		b.equal("states", len(list), 1)
		for _, i := range list {
			if strings.Contains(i.Name+string(i.Content), endpoint) {
				b.Errorf("the name of the endpoint is stored: %s %s", i.Name, i.Content)
			}
		}
	}},
}
