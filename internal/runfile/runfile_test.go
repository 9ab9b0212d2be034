package runfile_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/runfile"
	"github.com/proviso-eval/proviso/value"
)

func row(index, size int) []byte {
	return fmt.Appendf(nil, `{"index":%d,"text":"%s"}`, index, strings.Repeat("x", size))
}

func create(t testing.TB, dir string) *runfile.Writer {
	t.Helper()
	w, err := runfile.Create(dir, runfile.Header{
		Version: "1.2.3", Suite: "a suite", Hash: "abc",
		Options: value.ObjectOf("repeat", 2.0),
		Meta:    value.ObjectOf("columns", []any{"a"}),
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// checkRows reads everything back and compares it with the expected sizes.
func checkRows(t testing.TB, r *runfile.Reader, want []int, size func(int) int) {
	t.Helper()
	var got []int
	for index, record := range r.Rows() {
		if !bytes.Equal(record, row(index, size(index))) {
			t.Fatalf("row %d came back changed", index)
		}
		got = append(got, index)
	}
	must(t, r.Err())
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("rows %v, want %v", got, want)
	}
}

func upTo(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

func TestReadBackInOrder(t *testing.T) {
	t.Parallel()
	sizes := map[string]func(int) int{
		"small":  func(int) int { return 10 },
		"mixed":  func(i int) int { return (i * 7919) % 30000 },
		"larger": func(i int) int { return 400_000 * (i % 7 / 6) },
	}
	for name, size := range sizes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const n = 300
			w := create(t, t.TempDir())
			for _, i := range rand.New(rand.NewPCG(1, 2)).Perm(n) {
				must(t, w.Append(i, row(i, size(i))))
			}
			live, err := w.Reader()
			must(t, err)
			checkRows(t, live, upTo(n), size)
			must(t, w.Close([]byte(`{"passed":3}`)))
			checkRows(t, live, upTo(n), size)
			must(t, live.Close())

			r, err := runfile.Open(filepath.Dir(w.Path()))
			must(t, err)
			defer r.Close()
			checkRows(t, r, upTo(n), size)
			if string(r.Trailer()) != `{"passed":3}` {
				t.Errorf("trailer %s", r.Trailer())
			}
			if one, err := r.Row(17); err != nil || !bytes.Equal(one, row(17, size(17))) {
				t.Errorf("row 17: %v", err)
			}
			if r.Has(n) || !r.Has(n-1) || r.Len() != n {
				t.Errorf("Has or Len is wrong")
			}
			var e *proviso.Error
			if _, err := r.Row(n); !errors.As(err, &e) || e.Code != proviso.NotFound {
				t.Errorf("a row that is not there: %v", err)
			}
		})
	}
}

func TestHeaderAndModes(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state", "runs")
	w := create(t, dir)
	must(t, w.Close(nil))
	r, err := runfile.Open(w.Path())
	must(t, err)
	defer r.Close()
	h := r.Header()
	if h.ID != w.Header().ID || h.Suite != "a suite" || h.Hash != "abc" || h.Version != "1.2.3" || h.Started.IsZero() ||
		value.Stringify(h.Options) != `{"repeat":2}` || value.Stringify(h.Meta) != `{"columns":["a"]}` {
		t.Errorf("header %+v", h)
	}
	if r.Trailer() != nil {
		t.Error("an unfinished run has a trailer")
	}
	if runtime.GOOS == "windows" {
		return
	}
	for name, want := range map[string]fs.FileMode{dir: 0o700, filepath.Dir(w.Path()): 0o700, w.Path(): 0o600} {
		info, err := os.Stat(name)
		must(t, err)
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %o, want %o", name, info.Mode().Perm(), want)
		}
	}
}

func TestAppendRefusesWhatCannotBeReadBack(t *testing.T) {
	t.Parallel()
	w := create(t, t.TempDir())
	defer w.Close(nil)
	for name, c := range map[string]struct {
		index  int
		record string
	}{
		"negative":     {-1, `{"index":-1,"a":1}`},
		"too large":    {1 << 33, `{"index":8589934592,"a":1}`},
		"other index":  {1, `{"index":12,"a":1}`},
		"not first":    {1, `{"a":1,"index":1}`},
		"two lines":    {1, "{\"index\":1,\n\"a\":1}"},
		"not closed":   {1, `{"index":1,"a":1`},
		"empty record": {1, ``},
	} {
		if err := w.Append(c.index, []byte(c.record)); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

func TestConcurrentAppend(t *testing.T) {
	t.Parallel()
	const workers, each = 8, 200
	w := create(t, t.TempDir())
	var wg sync.WaitGroup
	for worker := range workers {
		wg.Go(func() {
			for i := range each {
				index := i*workers + worker
				if err := w.Append(index, row(index, 500)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	must(t, w.Close([]byte(`{}`)))
	r, err := runfile.Open(w.Path())
	must(t, err)
	defer r.Close()
	checkRows(t, r, upTo(workers*each), func(int) int { return 500 })
}

func TestRunsAtOnceGetTheirOwnFolders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const n = 50
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			w, err := runfile.Create(dir, runfile.Header{Started: time.Unix(1e9, 0)})
			if err != nil {
				t.Error(err)
				return
			}
			if err := errors.Join(w.Append(0, row(0, 5)), w.Close([]byte(`{}`))); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	runs, err := runfile.List(dir)
	must(t, err)
	if len(runs) != n {
		t.Errorf("%d runs, want %d", len(runs), n)
	}
}

func TestCutLastLineAndResume(t *testing.T) {
	t.Parallel()
	w := create(t, t.TempDir())
	for i := range 5 {
		must(t, w.Append(i, row(i, 20)))
	}
	must(t, w.Close(nil))
	info, err := os.Stat(w.Path())
	must(t, err)
	must(t, os.Truncate(w.Path(), info.Size()-10))

	r, err := runfile.Open(w.Path())
	must(t, err)
	checkRows(t, r, upTo(4), func(int) int { return 20 })
	if lines, cut := r.Damage(); lines != 0 || !cut {
		t.Errorf("damage %d, %v", lines, cut)
	}
	must(t, r.Close())

	again, err := runfile.Resume(w.Path())
	must(t, err)
	if again.Header().ID != w.Header().ID {
		t.Error("the resumed run has another id")
	}
	must(t, again.Append(2, row(2, 33))) // repeated: the later record counts
	must(t, again.Append(4, row(4, 20)))
	must(t, again.Close([]byte(`{"passed":5}`)))
	r, err = runfile.Open(w.Path())
	must(t, err)
	defer r.Close()
	checkRows(t, r, upTo(5), func(i int) int {
		if i == 2 {
			return 33
		}
		return 20
	})
	if lines, cut := r.Damage(); lines != 0 || cut || r.Trailer() == nil {
		t.Error("the resumed run is not whole")
	}
}

func TestResumeOfARunStillWritten(t *testing.T) {
	t.Parallel()
	w := create(t, t.TempDir())
	defer w.Close(nil)
	var e *proviso.Error
	if _, err := runfile.Resume(w.Path()); !errors.As(err, &e) || e.Code != proviso.Refused {
		t.Errorf("got %v", err)
	}
}

func TestOpenRefusesOtherFiles(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"empty":        "",
		"no line":      `{"proviso":"run"`,
		"other JSON":   "{\"index\":0,\"a\":1}\n",
		"newer format": "{\"proviso\":\"run\",\"format\":99,\"started\":\"2026-01-01T00:00:00Z\"}\n",
		"no format":    "{\"proviso\":\"run\",\"started\":\"2026-01-01T00:00:00Z\"}\n",
	} {
		path := filepath.Join(t.TempDir(), "x.jsonl")
		must(t, os.WriteFile(path, []byte(text), 0o600))
		if _, err := runfile.Open(path); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	if _, err := runfile.Open(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

func TestListLatestFirst(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	replay := runfile.ContentID(time.Unix(1e9, 0), "x")
	at := func(started int64, id string) string {
		w, err := runfile.Create(dir, runfile.Header{ID: id, Started: time.Unix(started, 0)})
		must(t, err)
		must(t, w.Close(nil))
		return w.Header().ID
	}
	began := func(id string, hours int) {
		when := time.Now().Add(time.Duration(hours) * time.Hour)
		must(t, os.Chtimes(filepath.Join(dir, id), when, when))
	}
	ids := []string{at(2e9, ""), at(1e9, replay), at(15e8, "")}
	for i, id := range ids {
		began(id, i-10)
	}
	must(t, os.Mkdir(filepath.Join(dir, "zz-not-a-run"), 0o700))
	order := func() string {
		runs, err := runfile.List(dir)
		must(t, err)
		var list []string
		for _, r := range runs {
			list = append(list, r.ID)
		}
		return strings.Join(list, " ")
	}
	if got, want := order(), ids[2]+" "+ids[1]+" "+ids[0]; got != want {
		t.Errorf("listed %s, want %s", got, want)
	}
	if again := at(1e9, replay); again != replay {
		t.Errorf("the run %s became %s", replay, again)
	}
	if got, want := order(), ids[1]+" "+ids[2]+" "+ids[0]; got != want {
		t.Errorf("after a replay: listed %s, want %s", got, want)
	}
	w, err := runfile.Resume(filepath.Join(dir, ids[0]))
	must(t, err)
	must(t, w.Close(nil))
	if got, want := order(), ids[0]+" "+ids[1]+" "+ids[2]; got != want {
		t.Errorf("after going on: listed %s, want %s", got, want)
	}
	if none, err := runfile.List(filepath.Join(dir, "none")); none != nil || err != nil {
		t.Errorf("a missing folder: %v, %v", none, err)
	}
}

// TestListAfterClockSetBack: the last started run is listed first, even if the clock was set
// back since the previous one.
func TestListAfterClockSetBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	begin := func() string {
		w, err := runfile.Create(dir, runfile.Header{})
		must(t, err)
		must(t, w.Close(nil))
		return w.Header().ID
	}
	first := begin()
	ahead := time.Now().Add(48 * time.Hour) // as if the clock had been wrong then
	for _, name := range []string{filepath.Join(dir, first), dir} {
		must(t, os.Chtimes(name, ahead, ahead))
	}
	second := begin()
	third := begin()
	w, err := runfile.Resume(filepath.Join(dir, first))
	must(t, err)
	must(t, w.Close(nil))
	runs, err := runfile.List(dir)
	must(t, err)
	var got []string
	for _, r := range runs {
		got = append(got, r.ID)
	}
	if want := []string{first, third, second}; !slices.Equal(got, want) {
		t.Errorf("listed %v, want %v", got, want)
	}
}

// TestContentID: a run of the same content replaces the previous one, unless that one is still
// being written.
func TestContentID(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := runfile.Header{ID: runfile.ContentID(time.Unix(1e9, 0), "a"), Started: time.Unix(1e9, 0)}
	if other := runfile.ContentID(time.Unix(1e9, 0), "b"); other == h.ID || !strings.HasPrefix(h.ID, "20010909-014640-") {
		t.Errorf("ids %s and %s", h.ID, other)
	}
	first, err := runfile.Create(dir, h)
	must(t, err)
	must(t, first.Append(0, row(0, 500)))
	var e *proviso.Error
	if _, err := runfile.Create(dir, h); !errors.As(err, &e) || e.Code != proviso.Refused {
		t.Errorf("a run that is being written was replaced: %v", err)
	}
	aside, warning, err := runfile.CreateOrTemp(dir, h) // two concurrent replays
	must(t, err)
	must(t, aside.Close(nil))
	if !strings.Contains(warning, "still being written by another process") || strings.HasPrefix(aside.Path(), dir) || aside.Header().ID != h.ID {
		t.Errorf("%q, kept in %s", warning, aside.Path())
	}
	must(t, os.RemoveAll(filepath.Dir(filepath.Dir(aside.Path()))))
	must(t, first.Append(1, row(1, 500)))
	must(t, first.Close([]byte(`{}`)))
	second, err := runfile.Create(dir, h)
	must(t, err)
	must(t, second.Append(2, row(2, 5)))
	must(t, second.Close(nil))
	r, err := runfile.Open(second.Path())
	must(t, err)
	defer r.Close()
	if r.Len() != 1 || !r.Has(2) || r.Trailer() != nil || second.Path() != first.Path() {
		t.Errorf("%d rows in %s", r.Len(), second.Path())
	}
	if _, err := runfile.Create(dir, runfile.Header{ID: "../../etc"}); err == nil {
		t.Error("a path was taken for an id")
	}
}

func TestCreateOrTemp(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", t.TempDir())
	w, warning, err := runfile.CreateOrTemp(dir, runfile.Header{})
	must(t, err)
	must(t, w.Close(nil))
	if warning != "" || !strings.HasPrefix(w.Path(), dir) {
		t.Errorf("warning %q for %s", warning, w.Path())
	}
	blocked := filepath.Join(dir, "file") // a file in place of a folder fails for root, too
	must(t, os.WriteFile(blocked, nil, 0o600))
	w, warning, err = runfile.CreateOrTemp(filepath.Join(blocked, "runs"), runfile.Header{})
	must(t, err)
	must(t, w.Append(0, row(0, 3)))
	must(t, w.Close(nil))
	if !strings.Contains(warning, blocked) || !strings.Contains(warning, filepath.Dir(w.Path())) || strings.Contains(warning, "\n") {
		t.Errorf("warning %q", warning)
	}
}

// TestKill kills a process in the middle of a run and checks what it left.
func TestKill(t *testing.T) {
	const env = "PROVISO_TEST_RUN_DIR"
	if dir := os.Getenv(env); dir != "" {
		w := create(t, dir)
		for i := range 1000 {
			must(t, w.Append(i, row(i, 100)))
		}
		time.Sleep(time.Minute)
	}
	if testing.Short() {
		t.Skip("starts a process")
	}
	t.Parallel()
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^TestKill$")
	cmd.Env = append(os.Environ(), env+"="+dir)
	must(t, cmd.Start())
	defer cmd.Wait()
	defer cmd.Process.Kill()
	var runs []runfile.Info
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		runs, _ = runfile.List(dir)
		if len(runs) == 1 {
			if info, err := os.Stat(runs[0].Path); err == nil && info.Size() > 100_000 {
				break
			}
		}
		if time.Now().After(deadline) {
			t.Fatal("rows did not reach the disk by themselves")
		}
	}
	must(t, cmd.Process.Kill())
	r, err := runfile.Open(runs[0].Path)
	must(t, err)
	defer r.Close()
	checkRows(t, r, upTo(1000), func(int) int { return 100 })
}

func FuzzOpen(f *testing.F) {
	const head = "{\"proviso\":\"run\",\"format\":1,\"started\":\"2026-01-01T00:00:00Z\"}\n"
	f.Add(head + "{\"index\":3,\"a\":1}\n{\"index\":1,\"a\":1}\n{\"trailer\":{}}\n")
	f.Add(head + "{\"index\":4294967295,\"a\":1}\n{\"index\":4294967296,}\n{\"index\":")
	f.Add(head + "\n\n{\"trailer\":}\n{\"index\":0,}\n")
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(t.TempDir(), "run.jsonl")
		must(t, os.WriteFile(path, []byte(text), 0o600))
		r, err := runfile.Open(path)
		if err != nil {
			return
		}
		defer r.Close()
		last, n := -1, 0
		for index, record := range r.Rows() {
			if index <= last || !bytes.HasPrefix(record, fmt.Appendf(nil, `{"index":%d,`, index)) && !strings.Contains(string(record), `"index":0`) {
				t.Fatalf("row %d after %d: %q", index, last, record)
			}
			last = index
			n++
		}
		must(t, r.Err())
		if n != r.Len() {
			t.Fatalf("%d rows, Len %d", n, r.Len())
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	w := create(b, b.TempDir())
	record := row(0, 4000)
	b.SetBytes(int64(len(record)))
	b.ReportAllocs()
	for b.Loop() {
		must(b, w.Append(0, record))
	}
	must(b, w.Close(nil))
}

// A file that was closed can be opened again at once, though a child process that is just
// being started may still hold it, and though others list it meanwhile.
func TestLockEndsWithClose(t *testing.T) {
	dir := t.TempDir()
	w, err := runfile.Create(dir, runfile.Header{Started: time.Unix(1e9, 0)})
	must(t, err)
	path := w.Path()
	must(t, w.Close(nil))
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				_ = exec.Command(os.Args[0], "-test.run=^$").Run()
			}
		}
	}()
	for range 100 {
		runfile.Busy(path)
		w, err := runfile.Resume(path)
		must(t, err)
		must(t, w.Close(nil))
	}
	close(stop)
	<-stopped
}
