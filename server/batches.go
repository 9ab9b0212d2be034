package server

import (
	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/recent"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/store"
)

// batches keeps the latest batch results, which do not change once a run has ended. It is
// safe for concurrent use.
type batches struct {
	alone // by run
	kept  *recent.Cache[batchKey, *report.Batch]
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
