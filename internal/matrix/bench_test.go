package matrix_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/proviso-eval/proviso/internal/matrix"
	"github.com/proviso-eval/proviso/internal/runfile"
)

// largeRow is a row of a run of 4 columns with 5 assertions, about 1,100 bytes.
func largeRow(dst []byte, i int) []byte {
	test, column := i/4, i%4
	verdict := func(n int) string {
		if (i*2654435761>>7+n*40503)%11 == 0 {
			return "fail"
		}
		return "pass"
	}
	dst = fmt.Appendf(dst, `{"index":%d,"id":"r/%d","caseId":"c%012x","testIdx":%d,"promptIdx":%d,"promptId":"p","provider":{"id":"openai:gpt","label":""},"prompt":{"raw":"Answer the question about item-%05d.","label":"first"},`+
		`"vars":{"question":"Where is my refund?"},"testCase":{"vars":{"question":"Where is my refund?"}},"response":{"output":"Your refund for item-%05d was sent 3 days ago. It takes up to 5 days."},"success":true,"verdict":%q,"score":1,"gradingResult":{"pass":true,"score":1,"componentResults":[`,
		i, i, test*7919, test, column, test, test, verdict(0))
	for n, a := range [...]string{`{"type":"contains","value":"refund"}`, `{"type":"not-contains","value":"as an AI"}`, `{"type":"regex","value":"\\b[0-9]+\\b","metric":"number"}`, `{"type":"javascript","id":"short"}`, `{"type":"llm-rubric","id":"tone"}`} {
		if n > 0 {
			dst = append(dst, ',')
		}
		dst = fmt.Appendf(dst, `{"pass":true,"score":1,"reason":"Assertion passed","status":%q,"assertion":%s}`, verdict(n), a)
	}
	return append(dst, `]},"latencyMs":812.5,"cost":0.0003,"metadata":{}}`...)
}

// BenchmarkMatrix reads a run file of 100,000 cases with 4 columns and 5 assertions, makes
// the matrix, and writes it with gzip.
func BenchmarkMatrix(b *testing.B) {
	const rows = 400_000
	w, err := runfile.Create(b.TempDir(), runfile.Header{})
	if err != nil {
		b.Fatal(err)
	}
	var row []byte
	size := 0
	for i := range rows {
		row = largeRow(row[:0], i)
		size += len(row)
		if err := w.Append(i, row); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close([]byte(`{}`)); err != nil {
		b.Fatal(err)
	}
	path := filepath.Dir(w.Path())
	read := func(b *testing.B) *matrix.Builder {
		r, err := runfile.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		defer r.Close()
		m := matrix.NewBuilder(nil)
		if err := m.AddAll(r.Rows()); err != nil || r.Err() != nil || m.Len() != rows {
			b.Fatal(err, m.Len())
		}
		return m
	}
	b.Run("read", func(b *testing.B) {
		b.SetBytes(int64(size))
		b.ReportAllocs()
		for b.Loop() {
			read(b)
		}
	})
	builder := read(b)
	b.Run("assemble", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := builder.Matrix(); err != nil {
				b.Fatal(err)
			}
		}
	})
	m, err := builder.Matrix()
	if err != nil {
		b.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for _, level := range []int{gzip.NoCompression, gzip.BestSpeed, gzip.DefaultCompression} {
		b.Run(fmt.Sprint("encode/gzip=", level), func(b *testing.B) {
			var out bytes.Buffer
			for b.Loop() {
				out.Reset()
				z, err := gzip.NewWriterLevel(&out, level)
				if err != nil {
					b.Fatal(err)
				}
				if err := m.WriteJSON(z); err != nil {
					b.Fatal(err)
				}
				if err := z.Close(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(out.Len()), "bytes")
		})
	}
	b.Run("encode/plain", func(b *testing.B) {
		for b.Loop() {
			if err := m.WriteJSON(io.Discard); err != nil {
				b.Fatal(err)
			}
		}
	})
	builder, m = nil, nil
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(before.HeapAlloc-after.HeapAlloc)/1e6, "MB-kept")
}
