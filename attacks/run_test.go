package attacks

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/internal/fakemodel"
	"github.com/proviso-eval/proviso/internal/runfile"
)

// counter counts how often each question is asked.
type counter struct {
	mu    sync.Mutex
	asked map[string]int
}

func (c *counter) reply(r fakemodel.Request) fakemodel.Reply {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked[r.Prompt]++
	return fakemodel.Reply{Text: "an answer to " + r.Prompt}
}

// all returns how often each question has been asked so far.
func (c *counter) all() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.asked)
}

// asking writes a suite with the given number of rows and starts a model that counts its
// questions.
func asking(t *testing.T, dir string, rows int, latency time.Duration) *counter {
	t.Helper()
	c := &counter{asked: map[string]int{}}
	server := fakemodel.New(fakemodel.Options{Reply: c.reply, Latency: latency, Forget: true})
	t.Cleanup(server.Close)
	var tests strings.Builder
	for i := range rows {
		fmt.Fprintf(&tests, `{"vars":{"n":"%d"},"assert":[{"type":"contains","value":"answer"}]}`+"\n", i)
	}
	write(t, dir, map[string]string{"tests.jsonl": tests.String(), "proviso.yaml": "prompts: ['question {{n}}']\nproviders:\n  - id: openai:chat:fake\n    config: {apiBaseUrl: '" +
		server.URL + "/v1', apiKey: not-a-key}\ntests: file://tests.jsonl\n"})
	return c
}

// TestKilledRunsAskNothingTwice kills a run with SIGKILL at random moments and resumes
// it. A question is asked twice only if it was in flight at a kill. A row in the run file
// never runs again, and each kill loses at most one answer per worker.
func TestKilledRunsAskNothingTwice(t *testing.T) {
	t.Parallel()
	const rows, workers, kills = 1500, 8, 8
	dir := t.TempDir()
	c := asking(t, dir, rows, time.Millisecond)
	command(t, dir) // build the binary before the time counts
	args := []string{"eval", "--no-cache", "--no-table", "--run-dir", "runs", "-j", fmt.Sprint(workers)}
	before := map[string]int{}
	for kill := range kills {
		cmd := command(t, dir, args...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(100+rand.IntN(150)) * time.Millisecond)
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
		time.Sleep(20 * time.Millisecond) // for in-flight answers
		after := c.all()
		kept := keptRows(t, dir)
		lost := 0
		for question, n := range after {
			if n > 0 && !kept[question] {
				lost++
			}
			if before[question] < n && before["kept "+question] == 1 {
				t.Errorf("kill %d: %q was kept before and asked again", kill, question)
			}
		}
		if lost > workers {
			t.Errorf("kill %d: %d answers were paid for and are not kept, with %d rows in flight", kill, lost, workers)
		}
		before = after
		for question := range kept {
			before["kept "+question] = 1
		}
		if len(kept) > 0 && !slices.Contains(args, "--resume") {
			args = append(args[:len(args):len(args)], "--resume")
		}
	}
	if out, err := command(t, dir, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	twice := 0
	for _, n := range c.all() {
		twice += n - 1
	}
	t.Logf("%d of %d questions were asked again after %d kills", twice, rows, kills)
	if len(keptRows(t, dir)) != rows || twice > kills*workers {
		t.Errorf("%d rows are kept, %d questions were asked again", len(keptRows(t, dir)), twice)
	}
}

// keptRows returns the questions of the rows in the only run.
func keptRows(t *testing.T, dir string) map[string]bool {
	t.Helper()
	kept := map[string]bool{}
	runs, err := filepath.Glob(filepath.Join(dir, "runs", "*", "run.jsonl"))
	if err != nil || len(runs) > 1 {
		t.Fatalf("%d runs: %v", len(runs), err)
	}
	for _, name := range runs {
		// A kill before the header is written leaves an empty file: nothing was asked yet.
		if info, err := os.Stat(name); err == nil && info.Size() == 0 {
			if err := os.RemoveAll(filepath.Dir(name)); err != nil {
				t.Fatal(err)
			}
			continue
		}
		r, err := runfile.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for i := range r.Rows() {
			kept[fmt.Sprintf("question %d", i)] = true
		}
	}
	return kept
}

// TestFullDiskEndsTheRun records to a disk that fills up: the run makes no more requests,
// explains why, and can be resumed elsewhere.
func TestFullDiskEndsTheRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	full := filepath.Join(dir, "full")
	if err := os.Mkdir(full, 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", full).CombinedOutput(); err != nil {
		t.Skipf("cannot mount a small disk: %v: %s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command("umount", full).Run() })
	const rows, workers = 300, 4
	for _, where := range []struct{ name, flag, folder, says string }{
		{"recording", "--record", "full/tape", "record: write to full/tape: no space left on device"},
		{"run", "--run-dir", "full/runs", "keep the run: write full/runs/"},
	} {
		t.Run(where.name, func(t *testing.T) {
			dir := filepath.Join(dir, where.name)
			if err := os.MkdirAll(filepath.Join(dir, "full"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(filepath.Join(dir, "full")); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(full, filepath.Join(dir, "full")); err != nil {
				t.Fatal(err)
			}
			c := asking(t, dir, rows, 5*time.Millisecond)
			args := []string{"eval", "--no-cache", "--no-table", "-j", fmt.Sprint(workers), where.flag, where.folder}
			if where.flag == "--record" {
				args = append(args, "--run-dir", "runs")
			}
			cmd := command(t, dir, args...)
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 3 {
				t.Errorf("it ended with %v, want exit code 3", err)
			}
			if !bytes.Contains(out, []byte(where.says)) || !bytes.Contains(out, []byte("--resume=")) {
				t.Errorf("it said %s", out)
			}
			asked := len(c.all())
			for question, n := range c.all() {
				if n > 1 {
					t.Errorf("%q was asked %d times", question, n)
				}
			}
			if asked == 0 || asked > 100 {
				t.Errorf("%d questions were asked before it ended", asked)
			}
			if where.flag != "--record" {
				return
			}
			args = []string{"eval", "--no-cache", "--no-table", "--run-dir", "runs", "--record", "tape", "--resume"}
			if out, err := command(t, dir, args...).CombinedOutput(); err != nil {
				t.Errorf("resumed: %v: %s", err, out)
			}
			if kept := keptRows(t, dir); len(kept) != rows {
				t.Errorf("%d rows are kept after it was resumed", len(kept))
			}
			_ = os.RemoveAll(filepath.Join(full, "tape"))
		})
	}
}

// TestHangUp closes the terminal of a run: the run ends as with SIGTERM, with a report
// and instructions to resume. Under nohup it continues.
func TestHangUp(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there are no such signals")
	}
	for _, test := range []struct {
		name   string
		signal os.Signal
		before []string
		exit   int
	}{
		{"SIGTERM", syscall.SIGTERM, nil, 130},
		{"SIGHUP", syscall.SIGHUP, nil, 130},
		{"nohup", syscall.SIGHUP, []string{"nohup"}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if test.name == "SIGHUP" && signal.Ignored(syscall.SIGHUP) {
				t.Skip("the tests run under nohup, so their children ignore SIGHUP")
			}
			dir := t.TempDir()
			c := asking(t, dir, 80, 50*time.Millisecond)
			cmd := command(t, dir, "eval", "--no-cache", "--no-table", "--run-dir", "runs", "-j", "4", "-o", "report.json")
			if test.before != nil {
				path, err := exec.LookPath(test.before[0])
				if err != nil {
					t.Skip(err)
				}
				cmd.Args, cmd.Path = append([]string{path, cmd.Path}, cmd.Args[1:]...), path
			}
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			for range 1000 {
				if len(c.all()) > 8 {
					break
				}
				time.Sleep(10 * time.Millisecond)
			}
			if err := cmd.Process.Signal(test.signal); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait() // the exit code shows the result
			if got := cmd.ProcessState.ExitCode(); got != test.exit {
				t.Errorf("exit code %d, want %d: %s", got, test.exit, &out)
			}
			if _, err := os.Stat(filepath.Join(dir, "report.json")); err != nil {
				t.Errorf("there is no report: %v", err)
			}
			if says := strings.Contains(out.String(), "--resume="); says != (test.exit == 130) {
				t.Errorf("it said %s", &out)
			}
		})
	}
}

// TestCorruptRunFile: --resume reports the file and the row of a broken record.
func TestCorruptRunFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"proviso.yaml": "prompts: ['{{n}}']\nproviders: [echo]\ntests: [{vars: {n: [a, b, c]}}]\n"})
	if out, err := command(t, dir, "eval", "--run-dir", "runs").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	files, err := filepath.Glob(filepath.Join(dir, "runs", "*", "run.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	data = bytes.Replace(data, []byte(`{"index":1,"`), []byte(`{"index":1,x`), 1)
	if err := os.WriteFile(files[0], data, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"eval", "--run-dir", "runs", "--resume"}, {"show", "--run-dir", "runs"}} {
		out, err := command(t, dir, args...).CombinedOutput()
		if err == nil || !bytes.Contains(out, []byte("run.jsonl: row 1: ")) {
			t.Errorf("%s: %v: %s", args[0], err, out)
		}
	}
}
