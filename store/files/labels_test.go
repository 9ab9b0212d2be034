package files_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/label"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/store/files"
	"github.com/proviso-eval/proviso/store/storetest"
)

// backend is a folder of runs with jobs that do nothing.
type backend struct {
	*files.Store
	store.Jobs
}

// TestLabelContract runs the label tests of the store contract.
func TestLabelContract(t *testing.T) {
	t.Parallel()
	target := storetest.Target{Groups: []string{"labels"}, Open: func(t testing.TB, path string, o storetest.Options) storetest.Backend {
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
		s, err := files.Open(path, files.Options{Now: o.Now})
		if err != nil {
			t.Fatal(err)
		}
		return backend{Store: s}
	}}
	storetest.Run(t, target)
	target.Groups, target.Forgets = []string{"label queues"}, true
	storetest.Run(t, target)
}

func saying(row int, v label.Verdict) store.NewLabel {
	return store.NewLabel{Label: label.Label{By: "ana", Verdict: v, Subject: label.Subject{Run: "run_1", Index: row, Assertion: "a"}}}
}

// labelled lists the verdicts in force, newest first.
func labelled(tb testing.TB, p store.ProjectStore) string {
	tb.Helper()
	l, err := p.ListLabels(tb.Context(), store.LabelFilter{}, store.Page{})
	if err != nil {
		tb.Fatal(err)
	}
	var texts []string
	for _, x := range l.Items {
		texts = append(texts, fmt.Sprint(x.Index, " ", x.Verdict))
	}
	return strings.Join(texts, ", ")
}

// TestLabelFile: two processes write one file, an incomplete last line is repaired, foreign
// lines stay, and a defect is reported with its position.
func TestLabelFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, label.FileName)
	_, one := open(t, dir)
	_, two := open(t, dir)
	var wait sync.WaitGroup
	for i := range 20 {
		p := []store.ProjectStore{one, two}[i%2]
		wait.Go(func() {
			if _, err := p.AddLabel(t.Context(), saying(i, label.Pass)); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if a, b := labelled(t, one), labelled(t, two); a != b || strings.Count(a, "pass") != 20 {
		t.Errorf("one shows %s, the other %s", a, b)
	}
	whole, err := os.ReadFile(path)
	if err != nil || strings.Count(string(whole), "\n") != 20 {
		t.Fatalf("%s %v", whole, err)
	}
	foreign := `{"id":"case","label":1}` + "\n"
	if err := os.WriteFile(path, []byte(string(whole)+foreign+`{"label_id":"label_x","run":"ru`), 0o600); err != nil {
		t.Fatal(err)
	}
	_, again := open(t, dir)
	if got := labelled(t, again); strings.Count(got, "pass") != 20 {
		t.Errorf("after a cut line: %s", got)
	}
	l, err := again.AddLabel(t.Context(), saying(3, label.Fail))
	if err != nil {
		t.Fatal(err)
	}
	if got := labelled(t, one); !strings.HasPrefix(got, "3 fail, ") || strings.Count(got, "pass") != 19 {
		t.Errorf("after it was mended: %s", got)
	}
	if err := again.DeleteLabel(t.Context(), l.ID, "ana"); err != nil {
		t.Fatal(err)
	}
	data, _ := os.ReadFile(path)
	if !strings.HasPrefix(string(data), string(whole)+foreign) || strings.Count(string(data), "\n") != 23 {
		t.Errorf("the file is %s", data)
	}
	if err := os.WriteFile(path, []byte(foreign+"{\"label_id\":\"x\",\"run\":\"r\",\"by\":\"ana\",\"human\":\"so so\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, broken := open(t, dir)
	_, err = broken.ListLabels(t.Context(), store.LabelFilter{}, store.Page{})
	wants(t, proviso.Invalid, err)
	if err == nil || !strings.Contains(err.Error(), label.FileName+":2: there is no label \"so so\"") {
		t.Errorf("the error is %v", err)
	}
}

// TestLabelsRefused: a copy of a run accepts no labels, and other projects have none.
func TestLabelsRefused(t *testing.T) {
	t.Parallel()
	s, err := files.Open(t.TempDir(), files.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.In(store.DefaultProject).AddLabel(t.Context(), saying(0, label.Pass))
	wants(t, proviso.Refused, err)
	s, err = files.Open(t.TempDir(), files.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.In("other").AddLabel(t.Context(), saying(0, label.Pass))
	wants(t, proviso.Refused, err)
}
