package main

import (
	"context"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

// smallHeap is the size, in bytes, that the heap may always have. A run allocates much
// and keeps little of it, so that most of its memory is what waits for a collection.
const smallHeap = 16 << 20

// mostGrowth lets a heap that was never collected grow to [smallHeap], in percent: the
// runtime begins with 4 MiB for 100.
const mostGrowth = 400

// usualSpare is how much may wait for a collection in a large heap, in percent of what is
// alive.
const usualSpare = 100

// boundHeap lets the heap grow to [smallHeap], or by spare percent of what is alive if
// that is more, until ctx ends. A command may change spare. The runtime by itself
// collects from 4 MiB on, which takes a sixth of the time of a small run; a fixed
// percentage that avoids it lets a large run take five times what is alive.
func boundHeap(ctx context.Context, spare *atomic.Uint64) {
	debug.SetGCPercent(mostGrowth)
	growth, live := mostGrowth, []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	var collected func(struct{})
	collected = func(struct{}) {
		if ctx.Err() != nil {
			return
		}
		metrics.Read(live)
		alive := max(1, live[0].Value.Uint64())
		small := max(100, smallHeap*100/alive) - 100 // percent, up to smallHeap
		percent := int(min(mostGrowth, max(small, spare.Load())))
		if percent != growth { // a change stops the world
			growth = percent
			debug.SetGCPercent(growth)
		}
		runtime.AddCleanup(new([64]byte), collected, struct{}{}) // runs after the next collection
	}
	collected(struct{}{})
}
