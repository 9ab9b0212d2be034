package server_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/blobs"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/store/sqlite"
)

// sure is a judge model that returns every verdict at once.
type sure struct{}

func (sure) ID() string { return "sure" }

func (sure) Answer(context.Context, proviso.Ask) (proviso.Output, error) {
	return proviso.Output{Value: `{"results":[{"id":"greets","criteria":[{"n":1,"reasoning":"It says hello.","evidence":["Hello"],"met":true}]}]}`}, nil
}

// BenchmarkEvaluate measures the server's work for an evaluation: key, request, judge without a
// model, SQLite and response.
func BenchmarkEvaluate(b *testing.B) {
	for _, kept := range []bool{false, true} {
		b.Run(fmt.Sprintf("verdicts=%v", kept), func(b *testing.B) {
			db, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "proviso.db"), sqlite.Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer db.Close()
			_, secret, err := db.CreateKey(b.Context(), store.NewKey{Name: "bench", Scopes: []store.Scope{store.Evaluate}})
			if err != nil {
				b.Fatal(err)
			}
			o := judge.Options{Judges: []judge.Seat{{Provider: server.Metered(sure{}), Identity: "sure"}}}
			if kept {
				o.Store = blobs.Open(b.TempDir())
			}
			j, err := judge.New(o)
			if err != nil {
				b.Fatal(err)
			}
			s, err := server.New(server.Options{Store: db, Jobs: db, Judge: j})
			if err != nil {
				b.Fatal(err)
			}
			var n atomic.Int64
			b.ReportAllocs()
			b.SetParallelism(8)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					body := strings.Replace(evaluation, "Hi", fmt.Sprint("Hi ", n.Add(1)), 1)
					req := httptest.NewRequest(http.MethodPost, "/v1/evaluate", strings.NewReader(body))
					req.Header.Set("Content-Type", "application/json")
					req.Header.Set("Authorization", "Bearer "+secret)
					w := httptest.NewRecorder()
					s.ServeHTTP(w, req)
					if w.Code != http.StatusOK || !strings.HasPrefix(w.Body.String(), `{"score":1,`) {
						b.Fatalf("%d %s", w.Code, w.Body)
					}
				}
			})
		})
	}
}

// BenchmarkAnonymous measures a request without a key to a server without keys, including the
// check for the first key.
func BenchmarkAnonymous(b *testing.B) {
	db, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "proviso.db"), sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	s, err := server.New(server.Options{Store: db, Jobs: db, Judge: evaluator(passing), Open: true})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/openapi.json", nil))
		if w.Code != http.StatusOK {
			b.Fatalf("%d %s", w.Code, w.Body)
		}
	}
}
