package sqlite_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/store/storetest"
)

// fillHours adds the rollups of 30 days, 20 assertions and 2 versions to the watch w, as
// many verdicts as there may be.
func fillHours(b *testing.B, path string, now time.Time) {
	b.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`WITH RECURSIVE h (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM h WHERE n < 719), a (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM a WHERE n < 19)
		INSERT INTO watch_term (text) SELECT 'assertion ' || n FROM a UNION ALL SELECT 'v1' UNION ALL SELECT 'v2' UNION ALL SELECT 'judge'`); err != nil {
		b.Fatal(err)
	}
	if _, err := db.Exec(`WITH RECURSIVE h (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM h WHERE n < 719)
		INSERT INTO watch_hour (watch, assertion, hour, version, judge, pass, fail, errors, skipped, sw, swf, sww, cost)
		SELECT 1, a.id, ? - h.n, v.id, j.id, 3300, 150, 10, 12, 34000, 1500, 340000, 0.5 FROM h, watch_term a, watch_term v, watch_term j
		WHERE a.text LIKE 'assertion %' AND v.text IN ('v1', 'v2') AND j.text = 'judge'`, now.Unix()/3600); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkSeries reads what a dashboard shows of 30 days, 20 assertions and 2 versions:
// 28,800 rows of the rollup of 100 million verdicts.
func BenchmarkSeries(b *testing.B) {
	path := filepath.Join(b.TempDir(), "proviso.db")
	d := open(b, path, storetest.Options{})
	defer d.Close()
	in := d.In(store.DefaultProject)
	if _, _, err := in.PutWatch(b.Context(), store.NewWatch{Name: "w", Content: []byte("{}")}); err != nil {
		b.Fatal(err)
	}
	now := time.Now()
	fillHours(b, path, now)
	for _, c := range []struct {
		name string
		f    store.SeriesFilter
		want int
	}{
		{"20 assertions, days", store.SeriesFilter{Step: 24 * time.Hour}, 20 * 30},
		{"20 assertions, 6 hours, by version", store.SeriesFilter{Step: 6 * time.Hour, By: store.ByVersion}, 20 * 120 * 2},
		{"20 assertions, hours, by version", store.SeriesFilter{Step: time.Hour, By: store.ByVersion}, 28_800},
		{"1 assertion, hours, by version", store.SeriesFilter{Assertion: "assertion 7", Step: time.Hour, By: store.ByVersion}, 1440},
	} {
		c.f.Watch, c.f.From, c.f.To = "w", now.Add(-30*24*time.Hour), now.Add(time.Hour)
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				list, err := in.Series(b.Context(), c.f)
				if err != nil || len(list) < c.want-100 {
					b.Fatalf("%d buckets, %v", len(list), err)
				}
			}
		})
	}
}

// BenchmarkEventJobs takes events through the queue: enqueue, lease 50, settle with two
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
