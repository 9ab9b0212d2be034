package report_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/proviso-eval/proviso/internal/runfile"
	"github.com/proviso-eval/proviso/report"
)

// BenchmarkRun measures the cost per row of storing and reporting a run: encoding,
// appending, counting and the JSON report.
func BenchmarkRun(b *testing.B) {
	r, m, dir := det5(b, 7), meta(), b.TempDir()
	w, err := runfile.Create(dir, m.Header())
	if err != nil {
		b.Fatal(err)
	}
	sum := report.NewSummary(1)
	var buf []byte
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		buf = report.AppendRow(buf[:0], i, r, m)
		sum.Add(i, r)
		if err := w.Append(i, buf); err != nil {
			b.Fatal(err)
		}
		i++
	}
	b.SetBytes(int64(len(buf)))
	if err := w.Close(report.Trailer(m, sum)); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkWriteJSON(b *testing.B) {
	const n = 20000
	r, m, dir := det5(b, 7), meta(), b.TempDir()
	w, err := runfile.Create(dir, m.Header())
	if err != nil {
		b.Fatal(err)
	}
	sum := report.NewSummary(1)
	for i := range n {
		// Rows finish out of order, as they do when several run at once.
		if err := w.Append(i^3, report.AppendRow(nil, i^3, r, m)); err != nil {
			b.Fatal(err)
		}
	}
	rows, err := w.Reader()
	if err != nil {
		b.Fatal(err)
	}
	defer rows.Close()
	defer w.Close(nil)
	name := filepath.Join(dir, "out.json")
	f, err := report.ForFile(name)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := report.Write(context.Background(), name, f, m, sum, rows); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/n, "µs/row")
}
