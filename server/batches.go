package server

import (
	"sync"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/store"
)

// batches caches the latest batch results, which do not change once a run has
// ended. It is safe for concurrent use.
type batches struct {
	alone // by run

	mu   sync.Mutex
	of   map[batchKey]*report.Batch
	runs []batchKey // oldest first
}

// batchKey is a run as it ended. The file of a kept run may be replaced by another one.
type batchKey struct {
	run    string
	ended  int64
	totals proviso.Totals
}

func batchOf(r *store.Run) batchKey { return batchKey{r.ID, r.Ended.UnixNano(), r.Totals} }

// maxBatches bounds the size of the cache.
const maxBatches = 64

func (b *batches) get(run batchKey) *report.Batch {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.of[run]
}

func (b *batches) put(run batchKey, batch *report.Batch) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.of == nil {
		b.of = map[batchKey]*report.Batch{}
	}
	if b.of[run] == nil {
		b.runs = append(b.runs, run)
	}
	b.of[run] = batch
	if len(b.runs) > maxBatches {
		delete(b.of, b.runs[0])
		b.runs = b.runs[1:]
	}
}
