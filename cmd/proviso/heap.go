package main

import (
	"context"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

// smallHeap is the size, in bytes, that the heap may always have. A run allocates much and keeps
// little, so most of its memory is garbage that waits for a collection.
const smallHeap = 16 << 20

// mostGrowth lets a heap that was never collected grow to [smallHeap], in percent: with 100, the
// runtime starts at 4 MiB.
const mostGrowth = 400

// usualSpare is how much garbage a large heap may hold, in percent of its live data.
const usualSpare = 100

// boundHeap lets the heap grow to [smallHeap], or by spare percent of its live data if that is
// more, until ctx ends. A command may change spare. By default, the runtime collects from 4 MiB on,
// which takes a sixth of the time of a small run. A fixed percentage that avoids this would let a
// large run use five times its live data.
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
		if percent != growth { // changing the percentage stops the world
			growth = percent
			debug.SetGCPercent(growth)
		}
		runtime.AddCleanup(new([64]byte), collected, struct{}{}) // runs after the next collection
	}
	collected(struct{}{})
}
