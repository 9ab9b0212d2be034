package report_test

import (
	"bufio"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/runfile"
	"github.com/proviso-eval/proviso/report"
)

// BenchmarkFormats writes every format of a run of 100,000 rows, one in ten of which
// fails. peak-MiB is the peak memory of the process.
func BenchmarkFormats(b *testing.B) {
	const n = 100_000
	dir := b.TempDir()
	m, sum, rows := longRun(b, dir, n)
	for _, f := range report.Formats() {
		b.Run(f.Name, func(b *testing.B) {
			resetPeak()
			for b.Loop() {
				if err := report.Write(context.Background(), filepath.Join(dir, "out"), f, m, sum, rows); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/n, "µs/row")
			b.ReportMetric(peak(), "peak-MiB")
			if info, err := os.Stat(filepath.Join(dir, "out")); err == nil {
				b.ReportMetric(float64(info.Size())/(1<<20), "file-MiB")
			}
		})
	}
}

// longRun stores a run of n rows like those of the other benchmarks.
func longRun(b *testing.B, dir string, n int) (*report.Meta, *report.Summary, *runfile.Reader) {
	m, sum := meta(), report.NewSummary(1)
	w, err := runfile.Create(dir, m.Header())
	if err != nil {
		b.Fatal(err)
	}
	var buf []byte
	for i := range n {
		r := det5(b, i)
		if i%10 == 9 {
			r.Verdicts[4].Status, r.Verdicts[4].Reason = proviso.Fail, "Levenshtein distance 7 is greater than threshold 5"
			r.Aggregate = proviso.Aggregate{Status: proviso.Fail, Score: 0.8, Reason: r.Verdicts[4].Reason}
		}
		sum.Add(i, r)
		buf = report.AppendRow(buf[:0], i, r, m)
		if err := w.Append(i, buf); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(report.Trailer(m, sum)); err != nil {
		b.Fatal(err)
	}
	rows, err := runfile.Open(w.Path())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { rows.Close() })
	return m, sum, rows
}

// resetPeak resets the peak memory of the process on Linux.
func resetPeak() {
	runtime.GC()
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
	time.Sleep(10 * time.Millisecond)
}

// peak returns the peak memory of the process in MiB; 0 if the system does not report
// it.
func peak() float64 {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		return 0
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if kb, ok := strings.CutPrefix(s.Text(), "VmHWM:"); ok {
			n, _ := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(kb), " kB"), 64)
			return n / 1024
		}
	}
	return 0
}
