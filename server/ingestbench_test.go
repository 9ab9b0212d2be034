package server

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/ingest"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/store/postgres"
	"github.com/proviso-eval/proviso/store/postgres/postgrestest"
	"github.com/proviso-eval/proviso/store/sqldb"
	"github.com/proviso-eval/proviso/store/sqlite"
)

// neverAsked is a judge for a server without evaluations.
type neverAsked struct{}

func (neverAsked) Evaluate(context.Context, *judge.Request) (*judge.Response, error) {
	return nil, proviso.Errorf(proviso.Internal, "nobody evaluates here")
}

func (neverAsked) Identity() string { return "none" }

const (
	benchBatch   = 100
	benchClients = 4
)

// benchEvents returns the body of a request with n events of about 2.5 KB each.
func benchEvents(n int) []byte {
	var b bytes.Buffer
	b.WriteString(`{"events": [`)
	for i := range benchBatch {
		if i > 0 {
			b.WriteByte(',')
		}
		id := n*benchBatch + i
		fmt.Fprintf(&b, `{"id": "event-%d", "agent": "support", "conversation": "c-%d", "trace_id": "%032x", "version": "v%d", "model": "m-large", "user": "user-%d", "segment": {"lang": "%s", "tier": "1"},`+
			` "prompt": %q, "input": "How long can I return the lamp that I bought on day %d? My card is 4929123412%06d.", "context": %q, "output": %q, "usage": {"prompt_tokens": 400, "completion_tokens": 120}, "cost": 0.002, "latency_ms": 840}`,
			id, id/3, id, id/100_000, id%5000, [...]string{"de", "en", "fr"}[id%3], "You answer questions about returns. "+strings.Repeat("Be kind and exact. ", 20), id%365, id%1_000_000,
			benchText(id, 900), benchText(id+7, 700))
	}
	b.WriteString(`]}`)
	return b.Bytes()
}

// benchText returns a text with little repetition.
func benchText(seed, size int) string {
	words := strings.Fields("returns are possible within thirty days of delivery if the lamp is complete and in its box please send it with order number to our address we refund what you paid when it arrives")
	var b strings.Builder
	for x := uint64(seed)*2654435761 + 1; b.Len() < size; {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		b.WriteString(words[x%uint64(len(words))])
		b.WriteByte(' ')
		if x%11 == 0 {
			fmt.Fprintf(&b, "(%d) ", x%1000)
		}
	}
	return b.String()
}

// BenchmarkIngest sends events to a server with redaction, which samples a tenth of them. The
// figures include the clients. Run it with -benchtime=60s. An operation is one event.
func BenchmarkIngest(b *testing.B) {
	key := []byte(os.Getenv("PROVISO_BENCH_KEY"))
	b.Run("sqlite", func(b *testing.B) {
		path := filepath.Join(b.TempDir(), "proviso.db")
		db, err := sqlite.Open(b.Context(), path, sqlite.Options{ContentKey: key})
		if err != nil {
			b.Fatal(err)
		}
		defer db.Close()
		benchIngest(b, db, db)
		if info, err := os.Stat(path); err == nil {
			b.ReportMetric(float64(info.Size())/float64(b.N), "file-B/event")
		}
	})
	b.Run("postgres", func(b *testing.B) {
		s := postgrestest.StartFor(b, "-c", "fsync=on")
		url, err := s.Create("p")
		if err != nil {
			b.Fatal(err)
		}
		db, err := postgres.Open(b.Context(), url, postgres.Options{Options: sqldb.Options{ContentKey: key}})
		if err != nil {
			b.Fatal(err)
		}
		defer db.Close()
		before := s.Computed()
		benchIngest(b, db, db)
		b.ReportMetric(float64((s.Computed()-before).Microseconds())/float64(max(1, b.N)), "postgres-µs/event")
	})
}

func benchIngest(b *testing.B, db store.Store, jobs store.Jobs) {
	if _, _, err := db.In(store.DefaultProject).PutWatch(b.Context(), store.NewWatch{Name: "w", Content: []byte("{}")}); err != nil {
		b.Fatal(err)
	}
	r, err := ingest.NewRedactor([]ingest.Rule{{Pattern: `\d{16}`}, {Pattern: `[\w.+-]+@[\w-]+\.[\w.]+`}, {Field: "user", HashEnv: "SALT"}}, proviso.EnvMap{"SALT": "s"})
	if err != nil {
		b.Fatal(err)
	}
	s, err := New(Options{Store: db, Jobs: jobs, Judge: neverAsked{}, Open: true, Redactor: r, Log: slog.New(slog.NewJSONHandler(io.Discard, nil))})
	if err != nil {
		b.Fatal(err)
	}
	s.sampleEvent = func(_ context.Context, _ store.Project, e *ingest.Event) ([]store.EventJob, bool, error) {
		if shareOf(e.Group()) < 0.1 {
			return []store.EventJob{{Watch: "w", Probability: 0.1}}, true, nil
		}
		return nil, true, nil
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(b.Context())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, l) }()
	b.ResetTimer()
	before := computed()
	m := sendBench(b, "http://"+l.Addr().String()+"/v1/events")
	b.StopTimer()
	b.ReportMetric(float64((computed()-before).Microseconds())/float64(max(1, m.events)), "cpu-µs/event")
	stop()
	if err := <-served; err != nil {
		b.Error(err)
	}
	slices.Sort(m.took)
	at := func(p float64) float64 { return milliseconds(m.took[int(p*float64(len(m.took)-1))]) }
	b.ReportMetric(float64(m.events)/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric(at(.5), "p50-ms")
	b.ReportMetric(at(.99), "p99-ms")
	b.ReportMetric(at(1), "max-ms")
	b.ReportMetric(float64(m.busy), "refused")
	b.ReportMetric(float64(m.early>>20), "MiB-at-25%")
	b.ReportMetric(float64(m.late>>20), "MiB-at-end")
}

// measured is what the clients of BenchmarkIngest measured.
type measured struct {
	mu           sync.Mutex
	took         []time.Duration
	events, busy int
	early, late  uint64 // memory of the process
}

// sendBench sends b.N events.
func sendBench(b *testing.B, to string) *measured {
	m := &measured{}
	var next atomic.Int64
	batches := max(1, b.N/benchBatch)
	var wait sync.WaitGroup
	for range benchClients {
		wait.Go(func() {
			for {
				n := int(next.Add(1)) - 1
				if n >= batches {
					return
				}
				if n == batches/4 {
					m.early = resident()
				}
				body := benchEvents(n)
				for {
					began := time.Now()
					resp, err := http.Post(to, mediaJSON, bytes.NewReader(body))
					if err != nil {
						b.Error(err)
						return
					}
					answer, _ := io.ReadAll(resp.Body)
					resp.Body.Close()
					m.mu.Lock()
					if resp.StatusCode == http.StatusAccepted {
						m.took, m.events = append(m.took, time.Since(began)), m.events+benchBatch
					} else if m.busy++; resp.StatusCode != http.StatusServiceUnavailable {
						b.Errorf("%d %s", resp.StatusCode, answer)
					}
					m.mu.Unlock()
					if resp.StatusCode == http.StatusAccepted {
						break
					}
					time.Sleep(100 * time.Millisecond)
				}
			}
		})
	}
	wait.Wait()
	m.late = resident()
	return m
}

// computed returns the CPU time of the process, on Linux.
func computed() time.Duration {
	data, _ := os.ReadFile("/proc/self/stat")
	_, rest, _ := strings.Cut(string(data), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0
	}
	var user, system int64
	fmt.Sscan(fields[11], &user)
	fmt.Sscan(fields[12], &system)
	return time.Duration(user+system) * 10 * time.Millisecond
}

// resident returns the memory of the process: the resident set on Linux, the heap elsewhere.
func resident() uint64 {
	if data, err := os.ReadFile("/proc/self/statm"); err == nil {
		var all, pages uint64
		if n, _ := fmt.Sscan(string(data), &all, &pages); n == 2 {
			return pages * uint64(os.Getpagesize())
		}
	}
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
