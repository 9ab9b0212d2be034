package files_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/runfile"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/store/files"
	"github.com/proviso-eval/proviso/value"
)

// verdict is an assertion of a row with its status.
type verdict struct{ id, status string }

// row returns a row as eval writes it. The output is in its text.
func row(index int, status, output string, verdicts ...verdict) []byte {
	var list []string
	for _, v := range verdicts {
		list = append(list, fmt.Sprintf(`{"status":%q,"score":1,"assertion":{"id":%q,"type":"contains","value":"x"}}`, v.status, v.id))
	}
	return fmt.Appendf(nil, `{"index":%d,"caseId":"case %d","promptIdx":0,"response":{"output":%q,"tokenUsage":{"total":7,"prompt":4,"completion":3,"numRequests":1}},"verdict":%q,"score":1,"gradingResult":{"cost":0.25,"tokensUsed":{"total":5},"componentResults":[%s]},"cost":0.5}`,
		index, index, output, status, strings.Join(list, ","))
}

const trailer = `{"passed":2,"failed":1,"errors":0,"skipped":0,"cost":2.25,"elapsedMs":1500}`

func create(tb testing.TB, dir string, h runfile.Header) *runfile.Writer {
	tb.Helper()
	w, err := runfile.Create(dir, h)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = w.Close(nil) }) // a second time where a test closed it
	return w
}

func add(tb testing.TB, w *runfile.Writer, rows ...[]byte) {
	tb.Helper()
	for _, data := range rows {
		index, _ := runfile.RowIndex(data)
		if err := w.Append(index, data); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Commit(); err != nil {
		tb.Fatal(err)
	}
}

// finished creates a run of three rows, one of which failed.
func finished(tb testing.TB, dir string, h runfile.Header) string {
	tb.Helper()
	w := create(tb, dir, h)
	add(tb, w, row(1, "fail", "b", verdict{"short", "fail"}, verdict{"kind", "pass"}), row(0, "pass", "a", verdict{"short", "pass"}), row(2, "pass", "c"))
	if err := w.Close([]byte(trailer)); err != nil {
		tb.Fatal(err)
	}
	return w.Header().ID
}

func header(suite string, rows int) runfile.Header {
	return runfile.Header{Suite: suite, Hash: "h", Meta: value.ObjectOf("rows", float64(rows), "config", value.ObjectOf("id", "agent"),
		"revision", value.ObjectOf("commit", "c0ffee", "branch", "main"), "hashes", value.ObjectOf("suite", "v1"))}
}

func open(tb testing.TB, dir string) (*files.Store, store.ProjectStore) {
	tb.Helper()
	s, err := files.Open(dir, files.Options{Open: 3})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s, s.In(store.DefaultProject)
}

func runOf(tb testing.TB, p store.ProjectStore, id string) store.Run {
	tb.Helper()
	r, err := p.Run(tb.Context(), id)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

func wants(tb testing.TB, code string, err error) {
	tb.Helper()
	var e *proviso.Error
	if !errors.As(err, &e) || e.Code != code {
		tb.Errorf("%v, want the code %s", err, code)
	}
}

func indices(tb testing.TB, p store.ProjectStore, id string, f store.ResultFilter, limit int) []int {
	tb.Helper()
	got, page := []int{}, store.Page{Limit: limit}
	for {
		l, err := p.ListResults(tb.Context(), id, f, page)
		if err != nil {
			tb.Fatal(err)
		}
		for _, r := range l.Items {
			if index, ok := runfile.RowIndex(r.JSON); !ok || index != r.Index {
				tb.Errorf("row %d: %s", r.Index, r.JSON)
			}
			got = append(got, r.Index)
		}
		if page.After = l.Next; l.Next == "" {
			return got
		}
	}
}

func TestRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	started := time.Date(2026, 1, 5, 9, 15, 0, 0, time.UTC)
	h := header("suite", 3)
	h.Started = started
	id := finished(t, dir, h)
	_, p := open(t, dir)
	r := runOf(t, p, id)
	options := string(r.Options)
	if r.Options = nil; options != `{"agent_id":"agent","test_suite":"suite","revision":{"commit":"c0ffee","branch":"main"}}` {
		t.Errorf("options %s", options)
	}
	if got, want := fmt.Sprintf("%+v", r), fmt.Sprintf("%+v", store.Run{ID: id, Project: store.DefaultProject, Suite: "suite", Version: "v1", Hash: "h", Status: store.Done, Rows: 3,
		Totals: proviso.Totals{Passed: 2, Failed: 1, Cost: 2.25}, Created: started, Started: started, Ended: started.Add(1500 * time.Millisecond), Uncounted: true}); got != want {
		t.Errorf("run\n%s\nwant\n%s", got, want)
	}
	got, err := p.Result(t.Context(), id, 1)
	want := store.Result{Index: 1, Status: proviso.Fail, Cost: 0.75, Usage: proviso.Usage{Total: 12, Prompt: 4, Completion: 3, Requests: 1},
		Assertions: []store.AssertionStatus{{ID: "short", Status: proviso.Fail}, {ID: "kind", Status: proviso.Pass}}, JSON: row(1, "fail", "b", verdict{"short", "fail"}, verdict{"kind", "pass"})}
	if err != nil || fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
		t.Errorf("%v\n%+v, want\n%+v", err, got, want)
	}
	for _, tt := range []struct {
		filter store.ResultFilter
		want   []int
	}{
		{store.ResultFilter{}, []int{0, 1, 2}},
		{store.ResultFilter{Status: []proviso.Status{proviso.Pass}}, []int{0, 2}},
		{store.ResultFilter{Assertion: "short"}, []int{0, 1}},
		{store.ResultFilter{Assertion: "short", Status: []proviso.Status{proviso.Pass}}, []int{0}},
		{store.ResultFilter{Assertion: "none"}, []int{}},
	} {
		for limit := range 3 {
			if got := indices(t, p, id, tt.filter, limit+1); !slices.Equal(got, tt.want) {
				t.Errorf("%+v: %v, want %v", tt.filter, got, tt.want)
			}
		}
	}
	counts, err := p.CountAssertions(t.Context(), id)
	if err != nil || !slices.Equal(counts, []store.AssertionCount{{ID: "kind", Passed: 1}, {ID: "short", Passed: 1, Failed: 1}}) {
		t.Errorf("%v %v", counts, err)
	}
	rows, err := p.FinishedRows(t.Context(), id)
	if err != nil || !slices.Equal(rows, []int{0, 1, 2}) {
		t.Errorf("%v %v", rows, err)
	}
	f, err := p.RunFile(t.Context(), id)
	if err != nil || string(f.Trailer) != `{"trailer":`+trailer+`}` || !strings.Contains(string(f.Header), id) {
		t.Errorf("%v %s\n%s", err, f.Header, f.Trailer)
	}
	_, err = p.Result(t.Context(), id, 3)
	wants(t, proviso.NotFound, err)
	for _, none := range []string{"20260105-091500-zzzz", "..", "", "../" + id, id + "/", strings.Repeat("x", 1000)} {
		_, err = p.Run(t.Context(), none)
		wants(t, proviso.NotFound, err)
		_, err = p.ListResults(t.Context(), none, store.ResultFilter{}, store.Page{})
		wants(t, proviso.NotFound, err)
	}
}

// TestGoesOn follows a run from its first line through an interruption to its end.
func TestGoesOn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := create(t, dir, header("suite", 4))
	id := w.Header().ID
	_, p := open(t, dir)
	check := func(status store.RunStatus, finished int, why string) {
		t.Helper()
		r := runOf(t, p, id)
		if r.Status != status || r.Totals.Rows() != finished || r.Rows != 4 || !strings.Contains(r.Error, why) || (why == "") != (r.Error == "") {
			t.Errorf("%s %q, %d of %d rows; want %s %q, %d of 4", r.Status, r.Error, r.Totals.Rows(), r.Rows, status, why, finished)
		}
		l, err := p.ListRuns(t.Context(), store.RunFilter{Status: []store.RunStatus{status}}, store.Page{})
		if err != nil || len(l.Items) != 1 || l.Items[0].Totals != r.Totals {
			t.Errorf("listed: %+v %v", l.Items, err)
		}
		if got := len(indices(t, p, id, store.ResultFilter{}, 1)); got != finished {
			t.Errorf("%d rows are listed, want %d", got, finished)
		}
	}
	check(store.Running, 0, "")
	add(t, w, row(3, "error", "x", verdict{"a", "error"}))
	check(store.Running, 1, "")
	add(t, w, row(0, "pass", "y", verdict{"a", "pass"}))
	check(store.Running, 2, "")
	if got := indices(t, p, id, store.ResultFilter{Assertion: "a"}, 9); !slices.Equal(got, []int{0, 3}) {
		t.Errorf("%v", got)
	}
	if err := w.Close(nil); err != nil {
		t.Fatal(err)
	}
	check(store.Cancelled, 2, "interrupted: 2 of 4 rows are not finished; `proviso eval --resume="+id+"` does the rest")
	f, err := p.RunFile(t.Context(), id)
	if err != nil || f.Trailer != nil {
		t.Errorf("%v: the trailer of an unfinished run is %s", err, f.Trailer)
	}
	w, err = runfile.Resume(filepath.Join(dir, id))
	if err != nil {
		t.Fatal(err)
	}
	check(store.Running, 2, "")
	add(t, w, row(3, "pass", "tried again", verdict{"a", "pass"}), row(1, "fail", "z"))
	check(store.Running, 3, "")
	if r := runOf(t, p, id); r.Totals.Errors != 0 || r.Totals.Passed != 2 {
		t.Errorf("a row that was tried again counts twice: %+v", r.Totals)
	}
	if err := w.Close([]byte(`{"passed":2,"failed":1,"skipped":1}`)); err != nil {
		t.Fatal(err)
	}
	r := runOf(t, p, id)
	if r.Status != store.Done || r.Error != "" || r.Totals.Rows() != 4 {
		t.Errorf("%+v", r)
	}
	if got := indices(t, p, id, store.ResultFilter{Status: []proviso.Status{proviso.Pass}}, 9); !slices.Equal(got, []int{0, 3}) {
		t.Errorf("%v", got)
	}
}

// TestBroken: files that cannot be read are shown as such, and the others as usual.
func TestBroken(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	good := finished(t, dir, header("good", 3))
	broken := map[string]string{}
	write := func(name, text, want string) {
		t.Helper()
		path := filepath.Join(dir, name, runfile.FileName)
		if err := errors.Join(os.Mkdir(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
		broken[name] = want
	}
	head := string((&runfile.Header{ID: "x", Suite: "s", Started: time.Now()}).Line())
	write("20260101-000000-aaaa", "", "not a run file")
	write("20260101-000000-bbbb", "{}\n", "not a run file")
	write("20260101-000000-cccc", `{"proviso":"run","format":99}`+"\n", "format 99, this version of proviso reads up to 1")
	write("20260101-000000-dddd", head+string(row(0, "pass", "a"))+"\n{\"index\":1,broken}\nrubbish\n{\"trailer\":{\"passed\":2}}\n", "the file is damaged: 2 lines cannot be read")
	write("20260101-000000-eeee", head+string(row(0, "pass", "a"))+"\n{\"index\":1,\"verdict\":\"pa", "interrupted: 1 of 1 rows")
	write("20260101-000000-ffff", strings.Repeat("\x00", 1<<20), "not a run file")
	loop := filepath.Join(dir, "20260101-000000-gggg")
	if err := errors.Join(os.Mkdir(loop, 0o700), os.Symlink(runfile.FileName, filepath.Join(loop, runfile.FileName))); err == nil {
		broken[filepath.Base(loop)] = "run.jsonl: "
	}
	folder := filepath.Join(dir, "20260101-000000-hhhh", runfile.FileName)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	broken["20260101-000000-hhhh"] = "no such file" // a folder of that name
	_, p := open(t, dir)
	l, err := p.ListRuns(t.Context(), store.RunFilter{}, store.Page{})
	if err != nil || len(l.Items) != len(broken)+1 {
		t.Fatalf("%d runs, want %d: %v", len(l.Items), len(broken)+1, err)
	}
	for _, listed := range l.Items {
		r := runOf(t, p, listed.ID)
		want, isBroken := broken[r.ID]
		if (r.Status == store.Done) == isBroken || !strings.Contains(r.Error, want) {
			t.Errorf("%s: %s %q, want %q", r.ID, r.Status, r.Error, want)
		}
		if rows, err := p.ListResults(t.Context(), r.ID, store.ResultFilter{}, store.Page{}); err != nil || isBroken && len(rows.Items) > 1 {
			t.Errorf("%s: %d rows, %v", r.ID, len(rows.Items), err)
		}
	}
	_, err = p.Result(t.Context(), "20260101-000000-dddd", 1)
	wants(t, proviso.Invalid, err)
	if r := runOf(t, p, good); r.Status != store.Done {
		t.Errorf("%+v", r)
	}
}

// TestReplaced: reads always return the current content of the file.
func TestReplaced(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	id := finished(t, dir, header("first", 3))
	path := filepath.Join(dir, id, runfile.FileName)
	_, p := open(t, dir)
	if got := indices(t, p, id, store.ResultFilter{Status: []proviso.Status{proviso.Pass}}, 1); len(got) != 2 {
		t.Fatal(got)
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	if r := runOf(t, p, id); r.Status != store.Failed || !strings.Contains(r.Error, "not a run file") {
		t.Errorf("cut off: %s %q", r.Status, r.Error)
	}
	_, err := p.Result(t.Context(), id, 0)
	wants(t, proviso.Invalid, err)
	other := t.TempDir()
	w := create(t, other, header("second", 1))
	add(t, w, row(5, "skip", strings.Repeat("long ", 1000)))
	if err := errors.Join(w.Close([]byte(`{"skipped":1}`)), os.Rename(w.Path(), path)); err != nil {
		t.Fatal(err)
	}
	if r := runOf(t, p, id); r.Suite != "second" || r.Totals.Skipped != 1 {
		t.Errorf("replaced: %+v", r)
	}
	if got := indices(t, p, id, store.ResultFilter{}, 1); !slices.Equal(got, []int{5}) {
		t.Errorf("%v", got)
	}
	if err := os.RemoveAll(filepath.Dir(path)); err != nil {
		t.Fatal(err)
	}
	_, err = p.Run(t.Context(), id)
	wants(t, proviso.NotFound, err)
	if l, err := p.ListRuns(t.Context(), store.RunFilter{}, store.Page{}); err != nil || len(l.Items) != 0 {
		t.Errorf("%+v %v", l, err)
	}
}

// TestPages: every run comes exactly once while others are added.
func TestPages(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	want := map[string]int{}
	for i := range 23 {
		want[finished(t, dir, header([]string{"a", "b"}[i%2], 3))] = 0
	}
	_, p := open(t, dir)
	page := store.Page{Limit: 5}
	for {
		l, err := p.ListRuns(t.Context(), store.RunFilter{}, page)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range l.Items {
			if _, old := want[r.ID]; old {
				want[r.ID]++
			}
		}
		finished(t, dir, header("new", 3))
		if page.After = l.Next; l.Next == "" {
			break
		}
	}
	for id, n := range want {
		if n != 1 {
			t.Errorf("%s came %d times", id, n)
		}
	}
	for f, n := range map[*store.RunFilter]int{
		{Suite: "a"}: 12, {Suite: "agent"}: 28, {Version: "v1", Suite: "b"}: 11, {Version: "v2"}: 0, {Status: []store.RunStatus{store.Failed}}: 0,
		{CreatedBy: "key_1"}: 0, {Since: time.Now().Add(time.Hour)}: 0, {Until: time.Now().Add(time.Hour)}: 28,
	} {
		l, err := p.ListRuns(t.Context(), *f, store.Page{})
		if err != nil || len(l.Items) != n {
			t.Errorf("%+v: %d runs, want %d; %v", f, len(l.Items), n, err)
		}
	}
	for _, after := range []string{"x", store.Cursor("runs", "1 2"), store.Cursor("runs", "a b c"), store.Cursor("results", "1")} {
		_, err := p.ListRuns(t.Context(), store.RunFilter{}, store.Page{After: after})
		wants(t, proviso.Invalid, err)
	}
	id := finished(t, dir, header("a", 3))
	_, err := p.ListResults(t.Context(), id, store.ResultFilter{}, store.Page{After: "x"})
	wants(t, proviso.Invalid, err)
}

// TestAtOnce uses more runs concurrently than may be open.
func TestAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var ids []string
	for range 12 {
		ids = append(ids, finished(t, dir, header("s", 3)))
	}
	going := create(t, dir, header("s", 100))
	s, p := open(t, dir)
	var wait sync.WaitGroup
	for g := range 8 {
		wait.Go(func() {
			for i := range 50 {
				id := ids[(i*7+g)%len(ids)]
				if r, err := p.Result(t.Context(), id, 2); err != nil || r.Index != 2 {
					t.Errorf("%+v %v", r, err)
				}
				if rows := indices(t, p, id, store.ResultFilter{Assertion: "short"}, 1); len(rows) != 2 {
					t.Errorf("%v", rows)
				}
				if r := runOf(t, p, going.Header().ID); r.Status != store.Running {
					t.Errorf("%+v", r)
				}
			}
		})
	}
	for i := range 100 {
		add(t, going, row(99-i, "pass", "x"))
	}
	wait.Wait()
	if r := runOf(t, p, going.Header().ID); r.Totals.Passed != 100 {
		t.Errorf("%+v", r.Totals)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := p.Result(t.Context(), ids[0], 0)
	wants(t, proviso.Unavailable, err)
	wants(t, proviso.Unavailable, s.Ping(t.Context()))
}

// TestHostile: texts with terminal control characters are not names, two folders with a run of
// the same id are two runs, and a page of large rows is short.
func TestHostile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := header("red\x1b[31m\x00\u202e "+strings.Repeat("long", 1000), 3)
	h.Meta.Set("rows", -1e300)
	id := finished(t, dir, h)
	copied := filepath.Join(dir, "20260101-000000-copy")
	if err := os.CopyFS(copied, os.DirFS(filepath.Join(dir, id))); err != nil {
		t.Fatal(err)
	}
	_, p := open(t, dir)
	r, twin := runOf(t, p, id), runOf(t, p, filepath.Base(copied))
	if strings.ContainsAny(r.Suite, "\x1b\x00\u202e") || len(r.Suite) > store.MaxName || r.Rows != 3 || r.ID == twin.ID || r.Suite != twin.Suite {
		t.Errorf("%+v\n%+v", r, twin)
	}
	w := create(t, dir, header("large", 4))
	text := strings.Repeat("0123456789", 1<<20)
	for i := range 4 {
		add(t, w, row(i, "pass", text))
	}
	large := w.Header().ID
	l, err := p.ListResults(t.Context(), large, store.ResultFilter{}, store.Page{})
	if err != nil || len(l.Items) != 1 || l.Next == "" {
		t.Errorf("%d rows of 10 MB on a page, %v", len(l.Items), err)
	}
	if got := indices(t, p, large, store.ResultFilter{Status: []proviso.Status{proviso.Pass}}, 9); !slices.Equal(got, upTo(4)) {
		t.Errorf("%v", got)
	}
	if got := indices(t, p, large, store.ResultFilter{}, 9); !slices.Equal(got, upTo(4)) {
		t.Errorf("%v", got)
	}
}

func upTo(n int) (list []int) {
	for i := range n {
		list = append(list, i)
	}
	return list
}

// TestFile shows one file, whatever its name and folder.
func TestFile(t *testing.T) {
	t.Parallel()
	dir, other := t.TempDir(), t.TempDir()
	id := finished(t, dir, header("suite", 3))
	path := filepath.Join(other, "from ci.jsonl")
	if err := os.Rename(filepath.Join(dir, id, runfile.FileName), path); err != nil {
		t.Fatal(err)
	}
	s, err := files.Open("", files.Options{File: path})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	p := s.In(store.DefaultProject)
	if r := runOf(t, p, id); r.Totals.Passed != 2 {
		t.Errorf("%+v", r)
	}
	if l, err := p.ListRuns(t.Context(), store.RunFilter{}, store.Page{}); err != nil || len(l.Items) != 1 {
		t.Errorf("%+v %v", l, err)
	}
	if got := indices(t, p, id, store.ResultFilter{}, 2); !slices.Equal(got, upTo(3)) {
		t.Errorf("%v", got)
	}
	if err := os.WriteFile(path, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = files.Open("", files.Options{File: path})
	wants(t, proviso.Invalid, err)
}

// TestReadOnly: nothing can be changed, and another project has nothing.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	id := finished(t, dir, header("suite", 3))
	s, p := open(t, dir)
	ctx := t.Context()
	for _, err := range []error{
		second(p.CreateRun(ctx, store.NewRun{})), second(p.CancelRun(ctx, id)), p.DeleteRun(ctx, id), second(p.PlanRun(ctx, id, store.RunPlan{})),
		second(p.AddResults(ctx, id, nil)), second(p.AddEvaluation(ctx, store.NewEvaluation{})), s.TouchKey(ctx, "k", time.Now()),
	} {
		wants(t, proviso.Refused, err)
	}
	_, err := s.Authenticate(ctx, store.NewSecret())
	wants(t, proviso.NotFound, err)
	if l, err := s.ListKeys(ctx, store.Page{}); err != nil || len(l.Items) != 0 {
		t.Errorf("%+v %v", l, err)
	}
	if n, err := s.Prune(ctx, store.Retention{Runs: 1}); err != nil || n != (store.Pruned{}) {
		t.Errorf("%+v %v", n, err)
	}
	elsewhere := s.In("other")
	_, err = elsewhere.Run(ctx, id)
	wants(t, proviso.NotFound, err)
	if l, err := elsewhere.ListRuns(ctx, store.RunFilter{}, store.Page{}); err != nil || len(l.Items) != 0 {
		t.Errorf("%+v %v", l, err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := p.ListRuns(ended, store.RunFilter{}, store.Page{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := p.Run(ended, id); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = files.Open(file, files.Options{})
	wants(t, proviso.Unavailable, err)
}

func second[T any](_ T, err error) error { return err }
