package sqlite_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/store/storetest"
)

// BenchmarkEventJobs passes events through the queue: enqueue, lease 50, settle with two
// verdicts each.
func BenchmarkEventJobs(b *testing.B) {
	d := open(b, filepath.Join(b.TempDir(), "proviso.db"), storetest.Options{})
	defer d.Close()
	in := d.In(store.DefaultProject)
	if _, _, err := in.PutWatch(b.Context(), store.NewWatch{Name: "w", Content: []byte("{}")}); err != nil {
		b.Fatal(err)
	}
	n := 0
	for b.Loop() {
		var jobs []store.Backfill
		for range 50 {
			n++
			jobs = append(jobs, store.Backfill{Event: fmt.Sprintf("event-%026d", n), Probability: 0.1})
		}
		if _, err := in.EnqueueEvents(b.Context(), "w", jobs); err != nil {
			b.Fatal(err)
		}
		leases, err := in.LeaseEvents(b.Context(), store.LeaseEvents{Watch: "w", Limit: 50, Lease: time.Minute, Reserve: 0.001, Budget: 1e9})
		if err != nil || len(leases) != 50 {
			b.Fatal(len(leases), err)
		}
		var done []store.EventResult
		for _, l := range leases {
			r := store.EventResult{EventLease: l, Cost: 0.001}
			for _, a := range []string{"a", "b"} {
				r.Verdicts = append(r.Verdicts, store.WatchVerdict{Event: l.Event, Conversation: "c", Assertion: a, Set: "s", Version: "v1", Judge: "j", Time: time.Now(), Probability: 0.1, Status: proviso.Pass})
			}
			done = append(done, r)
		}
		if added, err := in.SettleEvents(b.Context(), "w", done); err != nil || added != 100 {
			b.Fatal(added, err)
		}
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "jobs/s")
}
