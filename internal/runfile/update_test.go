package runfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/proviso-eval/proviso/internal/runfile"
)

// TestUpdate: a reader follows its file, and detects that it was replaced.
func TestUpdate(t *testing.T) {
	t.Parallel()
	w := create(t, t.TempDir())
	must(t, w.Append(7, row(7, 100)))
	must(t, w.Commit())
	r, err := runfile.Open(w.Path())
	must(t, err)
	defer r.Close()
	update := func(want ...int) {
		t.Helper()
		if got, err := r.Update(); err != nil || !slices.Equal(got, want) {
			t.Errorf("%v %v, want %v", got, err, want)
		}
	}
	update()
	must(t, w.Append(3, row(3, 100_000)))
	must(t, w.Append(9, row(9, 1)))
	must(t, w.Commit())
	update(3, 9)
	f, err := os.OpenFile(w.Path(), os.O_WRONLY|os.O_APPEND, 0)
	must(t, err)
	defer f.Close()
	_, err = f.WriteString(`{"index":3,"again":1`)
	must(t, err)
	update()
	if _, cut := r.Damage(); !cut || r.Len() != 3 {
		t.Errorf("%d rows, cut %v", r.Len(), cut)
	}
	_, err = f.WriteString("}\n{\"trailer\":{\"passed\":3}}\n")
	must(t, err)
	update(3)
	if record, err := r.Row(3); err != nil || string(record) != `{"index":3,"again":1}` || r.Len() != 3 || string(r.Trailer()) != `{"passed":3}` {
		t.Errorf("%s %v, %d rows, trailer %s", record, err, r.Len(), r.Trailer())
	}
	var after []int
	for index := range r.RowsAfter(3) {
		after = append(after, index)
	}
	if !slices.Equal(after, []int{7, 9}) {
		t.Errorf("after row 3 come %v", after)
	}
	_, err = f.WriteString(string(row(10, 1)) + "\n")
	must(t, err)
	if update(10); r.Trailer() != nil {
		t.Error("a trailer with a row behind it closes the run")
	}
	text, err := os.ReadFile(w.Path())
	must(t, err)
	must(t, os.Truncate(w.Path(), 100))
	if _, err := r.Update(); !errors.Is(err, runfile.ErrReplaced) {
		t.Errorf("shortened: %v", err)
	}
	text = append(text, text...)
	text[len(text)/2-3]++
	must(t, os.WriteFile(w.Path(), text, 0o600))
	if _, err := r.Update(); !errors.Is(err, runfile.ErrReplaced) {
		t.Errorf("written anew: %v", err)
	}
	must(t, w.Close(nil))
	must(t, os.RemoveAll(filepath.Dir(w.Path())))
	if _, err := r.Update(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("removed: %v", err)
	}
}

// TestFind finds only folders of runs, and nothing outside.
func TestFind(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := create(t, dir)
	must(t, w.Close(nil))
	id := w.Header().ID
	runs, err := runfile.List(dir)
	must(t, err)
	got, ok := runfile.Find(dir, id)
	if !ok || len(runs) != 1 || got.ID != id || got.Path != w.Path() || !got.Begun.Equal(runs[0].Begun) || got.File.Size() != runs[0].File.Size() {
		t.Errorf("%+v, listed %+v", got, runs)
	}
	must(t, os.Mkdir(filepath.Join(dir, "20260101-000000-aaaa"), 0o700))
	for _, none := range []string{"", ".", "..", "../" + filepath.Base(dir), id + "/", "20260101-000000-aaaa", "20260101-000000-bbbb"} {
		if got, ok := runfile.Find(dir, none); ok {
			t.Errorf("%q is %+v", none, got)
		}
	}
}
