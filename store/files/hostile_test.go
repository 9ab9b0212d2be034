package files_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/store/files"
)

const (
	hostileHead = `{"proviso":"run","format":1,"id":%q,"version":"test","suite":"s","hash":"h","started":"2026-01-05T09:15:00Z","meta":{}}` + "\n"
	hostileTail = `{"trailer":{"passed":1,"failed":0,"errors":0,"skipped":0,"cost":0,"elapsedMs":5}}` + "\n"
)

// hostileRun writes a run with a number of tiny rows.
func hostileRun(t *testing.T, dir, id string, rows int) *os.File {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, id), 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(dir, id, "run.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	fmt.Fprintf(w, hostileHead, id)
	for i := range rows {
		fmt.Fprintf(w, `{"index":%d,"verdict":"pass"}`+"\n", i)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return f
}

// TestHostileRuns: a run with too many rows, and one with a huge row, affect only themselves.
// They take little memory, and other runs are shown. The test is not parallel.
func TestHostileRuns(t *testing.T) {
	dir := t.TempDir()
	const many, cut, huge, good = "20260105-091500-aaaa", "20260105-091500-bbbb", "20260105-091500-cccc", "20260105-091500-dddd"
	for id, rows := range map[string]int{many: 1_200_000, cut: 1_200_000, huge: 1, good: 1} {
		f := hostileRun(t, dir, id, rows)
		end := hostileTail
		switch id {
		case cut:
			end = ""
		case huge: // a sparse file
			if _, err := f.WriteString(`{"index":1,"verdict":"pass","x":"`); err != nil {
				t.Fatal(err)
			}
			if _, err := f.Seek(4<<30, 1); err != nil {
				t.Fatal(err)
			}
			end = "\"}\n" + hostileTail
		}
		if _, err := f.WriteString(end); err != nil {
			t.Skip("no file of this size: ", err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	s, err := files.Open(dir, files.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	p := s.In(store.DefaultProject)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	started := time.Now()
	list, err := p.ListRuns(t.Context(), store.RunFilter{}, store.Page{})
	if err != nil || len(list.Items) != 4 {
		t.Fatalf("%d runs, %v", len(list.Items), err)
	}
	for id, want := range map[string]string{many: "more than 1000000 rows", cut: "more than 1000000 rows", huge: "a row, has more than 67108864 bytes"} {
		_, err := p.FinishedRows(t.Context(), id)
		var e *proviso.Error
		if !errors.As(err, &e) || e.Code != proviso.Limit || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", id, err, want)
		}
	}
	if r, err := p.Run(t.Context(), cut); err != nil || r.Status != store.Failed || !strings.Contains(r.Error, "more than 1000000 rows") {
		t.Errorf("%+v, %v", r, err)
	}
	if rows, err := p.FinishedRows(t.Context(), good); err != nil || len(rows) != 1 {
		t.Errorf("%v, %v", rows, err)
	}
	runtime.ReadMemStats(&after)
	t.Logf("%d MiB from the system, %d MiB allocated, in %v", (after.Sys-before.Sys)>>20, (after.TotalAlloc-before.TotalAlloc)>>20, time.Since(started).Round(time.Millisecond))
	if grown := after.Sys - before.Sys; after.Sys > before.Sys && grown > 256<<20 {
		t.Errorf("%d MiB of memory", grown>>20)
	}
}
