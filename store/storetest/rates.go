package storetest

import (
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
)

var rateTests = []test{
	{name: "rates", run: func(b *bench) {
		rates, is := b.Backend.(store.Rates)
		if !is {
			b.Skip("this store shares no rates")
		}
		take := func(sent int, perMinute float64) store.Permits {
			b.Helper()
			return must(rates.TakePermits(b.Context(), store.PermitRequest{Endpoint: "e", Sent: sent, PerMinute: perMinute}))(b)
		}
		refuse := func(ago, wait time.Duration) {
			b.Helper()
			b.ok(rates.LowerRate(b.Context(), store.RateRefusal{Endpoint: "e", Ago: ago, Wait: wait}))
		}
		b.equal("it begins slowly", take(0, 0), store.Permits{Limited: true, N: 6, Every: time.Second / 64, For: 100*time.Millisecond + 6*(time.Second/64)})
		b.clock.add(2 * time.Second)
		b.equal("no limit yet", take(80, 0).Limited, false)
		b.clock.add(time.Second)
		refuse(0, 0) // 80 were sent in a second: 56 are allowed
		first, second := take(0, 0), take(0, 0)
		b.equal("block", first, store.Permits{Limited: true, N: 5, Every: time.Second / 56, For: 100*time.Millisecond + 5*(time.Second/56)})
		b.equal("the next block begins where the first ends", second.Wait.Round(time.Millisecond), 89*time.Millisecond)
		refuse(0, 0) // permits of before may still be used
		b.equal("not lowered again", take(0, 0).Every, time.Second/56)
		b.clock.add(time.Second)
		refuse(time.Second, 0) // it was sent before the rate was lowered
		if p := take(0, 0); p.Every >= time.Second/56 {
			b.Errorf("a rate that grows: %+v", p)
		}
		refuse(0, 0)
		if p := take(0, 0); p.Every < time.Second/56 {
			b.Errorf("lowered again: %+v", p)
		}
		refuse(0, time.Minute)
		b.equal("as the endpoint asked", take(0, 0).Wait, time.Minute)
		b.clock.add(2 * time.Minute)
		b.equal("forgotten", take(0, 0).Every, time.Second/64)
		b.clock.add(2 * time.Second)
		b.equal("what is configured", take(0, 600), store.Permits{Limited: true, N: 1, Every: 100 * time.Millisecond, For: 200 * time.Millisecond})
		b.equal("another endpoint", must(rates.TakePermits(b.Context(), store.PermitRequest{Endpoint: "other"}))(b).Wait, time.Duration(0))
		_, err := rates.TakePermits(b.Context(), store.PermitRequest{Endpoint: strings.Repeat("x", store.MaxName+1)})
		b.wants(proviso.Limit, err)
		b.wants(proviso.Invalid, rates.LowerRate(b.Context(), store.RateRefusal{}))
	}},
}
