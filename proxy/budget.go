package proxy

import "sync/atomic"

// budget is a number of bytes that everything that is recorded shares: what is being
// copied of requests and replies, and events that wait to be sent.
type budget struct {
	limit int64
	used  atomic.Int64
}

// take reserves n bytes, if there are so many.
func (b *budget) take(n int64) bool {
	for {
		used := b.used.Load()
		if used+n > b.limit {
			return false
		}
		if b.used.CompareAndSwap(used, used+n) {
			return true
		}
	}
}

// give returns n bytes.
func (b *budget) give(n int64) { b.used.Add(-n) }

// allowance is the part of the budget that one exchange has reserved. It is not safe for
// concurrent use.
type allowance struct {
	from   *budget
	bytes  int64 // reserved
	used   int64
	denied bool // there was no room; what the exchange holds is incomplete
}

// step is by how much an allowance grows at least, so that streams touch the counter
// that all share only now and then.
const step = 4 << 10

// use reports whether n more bytes may be held. Once it was denied, it stays so.
func (a *allowance) use(n int) bool {
	if a.denied {
		return false
	}
	if more := a.used + int64(n) - a.bytes; more > 0 {
		if more = max(more, step); !a.from.take(more) {
			a.denied = true
			return false
		}
		a.bytes += more
	}
	a.used += int64(n)
	return true
}

// end returns everything.
func (a *allowance) end() {
	a.from.give(a.bytes)
	a.bytes, a.used, a.denied = 0, 0, true
}
