package sqlite_test

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/store/sqlite"
)

func openBench(b *testing.B) *sqlite.DB {
	b.Helper()
	d, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "proviso.db"), sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { d.Close() })
	return d
}

// BenchmarkAddEvaluation stores evaluations of 2 KB from several concurrent clients.
func BenchmarkAddEvaluation(b *testing.B) {
	for _, clients := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			d := openBench(b)
			key, _, err := d.CreateKey(b.Context(), store.NewKey{Name: "bench", Scopes: []store.Scope{store.Evaluate}})
			if err != nil {
				b.Fatal(err)
			}
			text := bytes.Repeat([]byte("x"), 1000)
			b.SetParallelism(clients)
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					_, err := d.In(store.DefaultProject).AddEvaluation(context.Background(), store.NewEvaluation{CreatedBy: key.ID, Agent: "agent", Judge: "judge",
						Status: proviso.Pass, Passed: 4, Cost: 0.001, Request: text, Response: text})
					if err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}

// BenchmarkAuthenticate finds the key of a secret.
func BenchmarkAuthenticate(b *testing.B) {
	d := openBench(b)
	_, secret, err := d.CreateKey(b.Context(), store.NewKey{Name: "bench", Scopes: []store.Scope{store.Evaluate}})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := d.Authenticate(context.Background(), secret); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAddResults stores rows of 2 KB with five assertions each.
func BenchmarkAddResults(b *testing.B) {
	for _, batch := range []int{1, 100} {
		b.Run(fmt.Sprintf("batch=%d", batch), func(b *testing.B) {
			d := openBench(b)
			run, err := d.In(store.DefaultProject).CreateRun(b.Context(), store.NewRun{Suite: "bench"})
			if err != nil {
				b.Fatal(err)
			}
			var next atomic.Int64
			text := bytes.Repeat([]byte("x"), 2000)
			var verdicts []store.AssertionStatus
			for i := range 5 {
				verdicts = append(verdicts, store.AssertionStatus{ID: fmt.Sprintf("assertion-%d", i), Status: proviso.Pass})
			}
			for b.Loop() {
				rows := make([]store.Result, batch)
				for i := range rows {
					rows[i] = store.Result{Index: int(next.Add(1)), Status: proviso.Pass, Assertions: verdicts, JSON: text}
				}
				if _, err := d.In(store.DefaultProject).AddResults(context.Background(), run.ID, rows); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*batch), "µs/row")
		})
	}
}
