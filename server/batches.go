package server

import (
	"sync"

	"github.com/proviso-eval/proviso/report"
)

// batches caches the latest batch results, which do not change once a run has
// ended. It is safe for concurrent use.
type batches struct {
	mu   sync.Mutex
	of   map[string]*report.Batch
	runs []string // oldest first
}

// maxBatches bounds the size of the cache.
const maxBatches = 64

func (b *batches) get(run string) *report.Batch {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.of[run]
}

func (b *batches) put(run string, batch *report.Batch) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.of == nil {
		b.of = map[string]*report.Batch{}
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
