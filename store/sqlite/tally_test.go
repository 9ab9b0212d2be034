package sqlite_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/store/storetest"
)

// TestRunFromBeforeTallies: a run from an earlier version is counted on the first request for
// its counts, and the verdicts of unnamed assertions get their names.
func TestRunFromBeforeTallies(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "proviso.db")
	d := open(t, path, storetest.Options{})
	defer func() { d.Close() }()
	const n = 700
	row := func(i int) (store.Result, error) {
		return store.Result{Index: i, Status: proviso.Pass, JSON: fmt.Appendf(nil, `{"verdict":"pass","promptId":"p%d","gradingResult":{"componentResults":[`+
			`{"status":"pass","assertion":{"type":"contains","value":"a"}},{"status":"fail","assertion":{"type":"contains","value":"b"}},`+
			`{"status":"pass","judge":"j","assertion":{"type":"judge","id":"tone"}}]}}`, i%2),
			Assertions: []store.AssertionStatus{{ID: "contains", Status: proviso.Pass}, {ID: "contains", Status: proviso.Fail}, {ID: "tone", Status: proviso.Pass}}}, nil
	}
	in := d.In(store.DefaultProject)
	if _, _, err := in.ImportRun(t.Context(), store.ImportedRun{ID: "run_before", Suite: "s", Rows: n}, func(yield func(store.Result, error) bool) {
		for i := range n {
			if !yield(row(i)) {
				return
			}
		}
	}); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	execute(t, path, "UPDATE run SET tally = NULL")
	d = open(t, path, storetest.Options{})
	in = d.In(store.DefaultProject)
	if r, err := in.Run(t.Context(), "run_before"); err != nil || !r.Uncounted {
		t.Fatalf("%+v, %v", r, err)
	}
	first, err := in.ListResults(t.Context(), "run_before", store.ResultFilter{Assertion: "contains b", Status: []proviso.Status{proviso.Fail}}, store.Page{Limit: 1})
	if err != nil || len(first.Items) != 1 || first.Items[0].Assertions[1].ID != "contains b" {
		t.Fatalf("rows of the assertion: %+v, %v", first, err)
	}
	for range 2 { // after counting, and after reopening
		counts, err := in.CountAssertions(t.Context(), "run_before")
		if want := "[{contains a 700 0 0 0} {contains b 0 700 0 0} {tone 700 0 0 0}]"; err != nil || fmt.Sprint(counts) != want {
			t.Errorf("%v, %v, want %s", counts, err, want)
		}
		tally, err := in.Tally(t.Context(), "run_before")
		if want := "{[{p0 350 0 0 0} {p1 350 0 0 0}] [{j 700 0 0 0}]}"; err != nil || fmt.Sprint(tally) != want {
			t.Errorf("%v, %v, want %s", tally, err, want)
		}
		if r, err := in.Run(t.Context(), "run_before"); err != nil || r.Uncounted {
			t.Errorf("%+v, %v", r, err)
		}
		d.Close()
		d = open(t, path, storetest.Options{})
		in = d.In(store.DefaultProject)
	}
}
