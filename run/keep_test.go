package run_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/runfile"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/run"
)

// TestMemoryIsFlat runs many cases and checks the heap meanwhile. It is not parallel, because
// it would count the memory of other tests.
func TestMemoryIsFlat(t *testing.T) {
	const total, step = 20_000, 4_000
	var b strings.Builder
	for i := range total {
		fmt.Fprintf(&b, `{"vars": {"n": "%d", "text": %q}, "assert": [{"type": "contains", "value": "%d"}]}`+"\n", i, strings.Repeat("lorem ipsum ", 20), i)
	}
	var heap []uint64
	seen := 0
	tick := func(proviso.Totals) {
		if seen++; seen%step == 0 {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			heap = append(heap, m.HeapInuse)
		}
	}
	out := outcome(t, t.Context(), "prompts: [\"{{ n }} {{ text }}\"]\nproviders: [echo]\ntests: file://cases.jsonl\n",
		map[string]string{"cases.jsonl": b.String()}, run.Options{Observers: run.Observers{Tick: tick}})
	if out.Totals.Passed != total {
		t.Fatalf("%s, want %d passed", counts(out), total)
	}
	t.Logf("heap in use after every %d rows: %d KiB", step, kib(heap))
	// The offset of each row needs memory; the row itself takes a kilobyte.
	const perRow = 200
	if grown := int64(heap[len(heap)-1]) - int64(heap[0]); grown > perRow*(total-step) {
		t.Errorf("%d rows took %d bytes more, want less than %d for each", total-step, grown, perRow)
	}
	if most := uint64(32 << 20); heap[len(heap)-1] > most {
		t.Errorf("%d bytes of heap, want at most %d", heap[len(heap)-1], most)
	}
}

func kib(bytes []uint64) []uint64 {
	var list []uint64
	for _, n := range bytes {
		list = append(list, n>>10)
	}
	return list
}

// TestCancel: an interrupted run keeps its finished rows and is marked as interrupted.
func TestCancel(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var done atomic.Int32
	out := outcome(t, ctx, `
prompts: ["{{ n }}"]
providers: [echo]
tests:
  - vars: {n: ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]}
    assert: [{type: is-json}]
  - assert: [{type: javascript, value: "while (true) {}\nreturn true"}]
`, nil, run.Options{Limits: run.Limits{Concurrency: 1}, Observers: run.Observers{Tick: func(proviso.Totals) {
		if done.Add(1) == 5 {
			cancel()
		}
	}}})
	if !out.Interrupted || out.Completed {
		t.Errorf("interrupted %t, completed %t", out.Interrupted, out.Completed)
	}
	if got, want := counts(out), "5 passed, 0 failed, 0 errors, 0 skipped"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := len(rows(t, out)); got != 5 {
		t.Errorf("%d rows are kept, want 5", got)
	}
}

// TestDrain: a drained run starts no further row, and keeps those in flight.
func TestDrain(t *testing.T) {
	t.Parallel()
	drain := make(chan struct{})
	var begun, ended atomic.Int32
	out := outcome(t, t.Context(), `
prompts: ["{{ n }}"]
providers: [echo]
tests:
  - vars: {n: ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]}
    assert: [{type: is-json}]
`, nil, run.Options{Limits: run.Limits{Concurrency: 1}, Task: run.Task{Drain: drain}, Observers: run.Observers{Begin: func(*proviso.Case, *proviso.ProviderSpec) func() {
		if begun.Add(1) == 4 {
			close(drain) // the fourth row is in flight
		}
		return func() { ended.Add(1) }
	}}})
	if out.Completed || out.Interrupted {
		t.Errorf("completed %t, interrupted %t", out.Completed, out.Interrupted)
	}
	if got := len(rows(t, out)); got != 4 || begun.Load() != 4 || ended.Load() != 4 {
		t.Errorf("%d rows are kept of %d begun and %d ended, want 4", got, begun.Load(), ended.Load())
	}
}

// TestDeadline: a row that takes too long is undecided and names the limit.
// Rows after the time limit of the run are undecided, not missing.
func TestDeadline(t *testing.T) {
	t.Parallel()
	const text = `
prompts: ["{{ n }}"]
providers: [echo]
tests:
  - vars: {n: "0"}
    assert: [{type: contains, value: "0"}]
  - vars: {n: "1"}
    assert: [{type: contains, value: "1"}, {type: javascript, value: "while (true) {}\nreturn true"}]
  - vars: {n: "2"}
    assert: [{type: contains, value: "2"}]
`
	row := outcome(t, t.Context(), text, nil, run.Options{Limits: run.Limits{RowTimeout: 50 * time.Millisecond}})
	if got, want := statuses(t, row), "pass error pass"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if reason := fmt.Sprint(rows(t, row)[1].At("error")); !strings.Contains(reason, "the row took longer than 50ms") {
		t.Errorf("the reason is %q", reason)
	}
	whole := outcome(t, t.Context(), text, nil, run.Options{Limits: run.Limits{Timeout: 100 * time.Millisecond, Concurrency: 1}})
	if got, want := statuses(t, whole), "pass error error"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for _, r := range rows(t, whole)[1:] {
		if reason := fmt.Sprint(r.At("error")); reason != "the run took longer than 100ms" {
			t.Errorf("the reason is %q", reason)
		}
	}
	if whole.Interrupted {
		t.Error("a run that took too long was not interrupted")
	}
}

// TestKept: the run file yields the same totals and rows again.
func TestKept(t *testing.T) {
	t.Parallel()
	out := outcome(t, t.Context(), "prompts: [a]\nproviders: [echo]\ntests: [{assert: [{type: equals, value: a}]}, {assert: [{type: equals, value: b}]}]\n", nil, run.Options{})
	r, err := runfile.Open(out.Meta.RunFile)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	meta, sum, err := report.FromRun(r)
	if err != nil {
		t.Fatal(err)
	}
	if got := sum.Totals(); got != out.Totals || meta.RunID != out.ID {
		t.Errorf("got %+v of run %s, want %+v of %s", got, meta.RunID, out.Totals, out.ID)
	}
}

// TestFolders: a temporary run leaves nothing, and a run whose folder cannot be
// made is stored elsewhere, with a warning.
func TestFolders(t *testing.T) {
	temp := t.TempDir()
	for _, name := range []string{"TMPDIR", "TMP", "TEMP"} {
		t.Setenv(name, temp)
	}
	const text = "prompts: [a]\nproviders: [echo]\ntests: [{assert: [{type: equals, value: a}]}]\n"
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Run("below a file", func(t *testing.T) {
		out := outcome(t, t.Context(), text, nil, run.Options{Task: run.Task{Dir: filepath.Join(file, "runs")}})
		if out.Warning == "" || !strings.Contains(out.Warning, filepath.Dir(out.Meta.RunFile)) || strings.Contains(out.Warning, "\n") {
			t.Errorf("warning %q, kept in %s", out.Warning, out.Meta.RunFile)
		}
		if _, err := os.Stat(out.Meta.RunFile); err != nil {
			t.Error(err)
		}
		if err := os.RemoveAll(filepath.Dir(filepath.Dir(out.Meta.RunFile))); err != nil {
			t.Error(err)
		}
	})
	t.Run("not kept", func(t *testing.T) {
		p, mistakes := plan(t, text, nil, run.Options{Task: run.Task{Dir: notKept}})
		if err := mistakes.Err(); err != nil {
			t.Fatal(err)
		}
		out, err := p.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if out.Meta.RunFile != "" || out.Warning != "" || len(rows(t, out)) != 1 {
			t.Errorf("kept in %q, warning %q", out.Meta.RunFile, out.Warning)
		}
		if err := out.Close(); err != nil {
			t.Error(err)
		}
		if left, err := filepath.Glob(filepath.Join(temp, "proviso*")); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	})
}
