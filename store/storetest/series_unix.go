//go:build unix

package storetest

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/store"
)

// BenchmarkSeries reads the data of a dashboard with 30 days, 20 assertions and 2 versions:
// 28,800 rollup rows of 100 million verdicts. fill executes SQL in the store's empty database;
// computed returns the processor time of its server, if it has one. The benchmark reports the
// processor time of both, which depends little on other load.
func BenchmarkSeries(b *testing.B, in store.ProjectStore, fill func(sql string) error, computed func() time.Duration) {
	if _, _, err := in.PutWatch(b.Context(), store.NewWatch{Name: "w", Content: []byte("{}")}); err != nil {
		b.Fatal(err)
	}
	now := time.Now()
	for _, sql := range []string{
		`WITH RECURSIVE a (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM a WHERE n < 19)
			INSERT INTO watch_term (text) SELECT 'assertion ' || n FROM a UNION ALL SELECT 'v1' UNION ALL SELECT 'v2' UNION ALL SELECT 'judge'`,
		fmt.Sprintf(`WITH RECURSIVE h (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM h WHERE n < 719)
			INSERT INTO watch_hour (watch, assertion, hour, version, judge, pass, fail, errors, skipped, sw, swf, sww, cost)
			SELECT 1, a.id, %d - h.n, v.id, j.id, 3300, 150, 10, 12, 34000, 1500, 340000, 0.5 FROM h, watch_term a, watch_term v, watch_term j
			WHERE a.text LIKE 'assertion %%' AND v.text IN ('v1', 'v2') AND j.text = 'judge'`, now.Unix()/3600),
	} {
		if err := fill(sql); err != nil {
			b.Fatal(err)
		}
	}
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
			before, beforeServer := processorTime(), computed()
			for b.Loop() {
				list, err := in.Series(b.Context(), c.f)
				if err != nil || len(list) < c.want-100 {
					b.Fatalf("%d buckets, %v", len(list), err)
				}
			}
			per := func(d time.Duration) float64 { return d.Seconds() * 1000 / float64(max(1, b.N)) }
			b.ReportMetric(per(processorTime()-before), "own-ms/op")
			b.ReportMetric(per(computed()-beforeServer), "server-ms/op")
		})
	}
}

// processorTime returns the processor time that this process has used.
func processorTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
