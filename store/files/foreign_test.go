package files_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/runfile"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/value"
)

// keep writes a file as a run that may come from elsewhere, and returns its id.
func keep(tb testing.TB, dir string, n int, text string) string {
	tb.Helper()
	id := fmt.Sprintf("20260101-%06d-k3x9", n)
	path := filepath.Join(dir, id, runfile.FileName)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		tb.Fatal(err)
	}
	return id
}

func headerAt(started string) string {
	return fmt.Sprintf(`{"proviso":"run","format":1,"id":"x","suite":"s","hash":"h","started":%q}`+"\n", started)
}

const today = "2026-01-05T09:15:00Z"

// TestForeignNumbers: numbers and times that JSON can represent but a response cannot do not
// make the list of runs unreadable.
func TestForeignNumbers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	costs := strings.ReplaceAll(string(row(0, "pass", "a"))+"\n"+string(row(1, "pass", "b"))+"\n", `"cost":0.`, `"cost":1e308,"x":0.`)
	for n, text := range []string{
		headerAt("9999-12-31T23:59:59-23:00") + costs + `{"trailer":{"passed":2}}` + "\n",
		headerAt("9999-12-31T23:59:59Z") + costs + `{"trailer":{"passed":2,"elapsedMs":1e7}}` + "\n",
		headerAt("0000-01-01T00:00:00+14:00") + costs,
		headerAt(today) + costs + `{"trailer":{"passed":2,"cost":1e308,"elapsedMs":1e300}}` + "\n",
		headerAt(today) + costs + `{"trailer":{"passed":2,"cost":-1e308,"elapsedMs":-1e300}}` + "\n",
		headerAt(today) + costs,
	} {
		id := keep(t, dir, n, text)
		late := time.Date(20_000, 1, 1, 0, 0, 0, 0, time.UTC)
		if err := os.Chtimes(filepath.Join(dir, id, runfile.FileName), late, late); err != nil {
			t.Log("the system has no such time:", err)
		}
	}
	_, p := open(t, dir)
	l, err := p.ListRuns(t.Context(), store.RunFilter{}, store.Page{})
	if err != nil || len(l.Items) != 6 {
		t.Fatal(l, err)
	}
	for _, r := range l.Items {
		text, err := json.Marshal(r)
		if err != nil {
			t.Errorf("%s: %v", r.ID, err)
		}
		if r.Status == store.Done && r.Ended.Before(r.Started) {
			t.Errorf("%s", text)
		}
	}
	if r := runOf(t, p, "20260101-000000-k3x9"); r.Status != store.Failed || !strings.Contains(r.Error, "started in the year 10000, expected one from 1 to 9000") {
		t.Errorf("%s %q", r.Status, r.Error)
	}
	tally, err := p.Tally(t.Context(), "20260101-000005-k3x9")
	if _, bad := json.Marshal(tally); err != nil || bad != nil {
		t.Error(err, bad)
	}
}

// checkForeignRow fails if a listed row cannot be read, or makes a page invalid JSON.
func checkForeignRow(t *testing.T, text string) {
	t.Helper()
	if strings.Contains(text, "\n") {
		return
	}
	dir := t.TempDir()
	good := row(7, "pass", "a", verdict{"v", "pass"})
	id := keep(t, dir, 0, headerAt(today)+`{"index":0,`+text+"\n"+string(good)+"\n")
	_, p := open(t, dir)
	for _, f := range []store.ResultFilter{{}, {Status: []proviso.Status{proviso.Pass, proviso.Fail, proviso.Errored, proviso.Skip}}} {
		l, err := p.ListResults(t.Context(), id, f, store.Page{})
		if err != nil || len(l.Items) == 0 {
			t.Fatalf("%q: %d rows, %v", text, len(l.Items), err)
		}
		var found []int
		sum := report.NewSummary(0)
		for _, r := range l.Items {
			found = append(found, r.Index)
			if _, err := json.Marshal(json.RawMessage(r.JSON)); err != nil {
				t.Errorf("%.100q: %v", text, err)
			}
			if err := sum.AddRow(r.JSON); err != nil {
				t.Errorf("%.100q: %v", text, err)
			}
		}
		if !slices.Contains(found, 7) {
			t.Errorf("%.100q hides other rows: %v", text, found)
		}
		if _, err := json.Marshal(report.NewBatch(&report.Meta{}, sum)); err != nil {
			t.Errorf("%.100q: %v", text, err)
		}
	}
	if _, err := json.Marshal(runOf(t, p, id)); err != nil {
		t.Errorf("%.100q: %v", text, err)
	}
}

var foreignRows = []string{
	`"vars":tru,"verdict":"pass","promptIdx":0}`,
	`"a":1e999,"verdict":"pass","promptIdx":0}`,
	`"a":"\ud800\udc00\ud800","verdict":"fail","promptIdx":0}`,
	`"a":"` + "\xff\xed\xa0\x80" + `","verdict":"fail","promptIdx":0}`,
	`"cost":1e308,"index":5,"verdict":"error","promptIdx":-1,"gradingResult":{"cost":1e308,"componentResults":[{"judge":"j","cost":1e308,"members":-1}]}}`,
	`"verdict":"pass"}}`, `}`, `"a":01}`, `"a":.5}`, `"a":"` + "\t" + `"}`,
}

func TestForeignRows(t *testing.T) {
	t.Parallel()
	for _, text := range foreignRows {
		checkForeignRow(t, text)
	}
	for _, depth := range []int{value.MaxDepth - 2, value.MaxDepth - 1, value.MaxDepth, value.MaxDepth + 1, 100_000} {
		checkForeignRow(t, `"a":`+strings.Repeat("[", depth)+strings.Repeat("]", depth)+"}")
	}
}

func FuzzForeignRow(f *testing.F) {
	for _, text := range foreignRows {
		f.Add(text)
	}
	f.Fuzz(checkForeignRow)
}
