package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/sandbox"
)

// TestFullOfQuestions makes as many calls wait for the judge as there may be workers, while
// other calls wait for them: all calls must end.
func TestFullOfQuestions(t *testing.T) {
	t.Parallel()
	answer := make(chan struct{})
	var asked, done sync.WaitGroup
	asked.Add(sandbox.MaxAlive)
	s := open(t, sandbox.Options{Workers: 2, Ask: func(context.Context, string, string, string) (bool, error) {
		asked.Done()
		<-answer
		return true, nil
	}})
	asking := compile(t, s, proviso.Body, "return ask_llm('p', output, 'q')")
	other := compile(t, s, proviso.Expression, "len(output) == 5")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	call := func(f proviso.Function) {
		if v, err := f.Call(ctx, "hello", nil); v != true || err != nil {
			t.Errorf("%v %v", v, err)
		}
	}
	for range sandbox.MaxAlive {
		done.Go(func() { call(asking) })
	}
	asked.Wait()
	begun := make(chan struct{}, 4)
	for range cap(begun) {
		done.Go(func() { begun <- struct{}{}; call(other) })
	}
	for range cap(begun) {
		<-begun
	}
	gone, stop := context.WithCancel(t.Context())
	stop()
	if _, err := other.Call(gone, "hello", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that went away: %v", err)
	}
	close(answer)
	done.Wait()
	if v, err := other.Call(ctx, "hello", nil); v != true || err != nil {
		t.Errorf("afterwards: %v %v", v, err)
	}
}

// TestQuestionToTheInterpreter: querying an interpreter outside the sandbox imports nothing
// that a suite could have written.
func TestQuestionToTheInterpreter(t *testing.T) {
	need(t)
	dir := t.TempDir()
	mark := filepath.Join(dir, "mark")
	for _, name := range []string{"json", "_ctypes", "re", "encoder"} {
		write(t, dir, name+".py", "open("+quoted(mark)+", 'w').close()")
	}
	t.Chdir(dir)
	for _, env := range []proviso.EnvMap{environment(), environment("PYTHONPATH", dir)} {
		s := open(t, sandbox.Options{Policy: sandbox.Auto, Dir: dir, Env: env})
		if v, err := run(t, s, proviso.Expression, "len(output)", "hello", nil); v != 5.0 || err != nil {
			t.Errorf("%v %v", v, err)
		}
		if _, err := os.Stat(mark); err == nil {
			t.Errorf("PYTHONPATH=%q: a file of the suite ran outside of the sandbox", env["PYTHONPATH"])
			_ = os.Remove(mark)
		}
	}
}

// TestMachine: a suite's environment does not select the interpreter or the
// home folder if Machine is set.
func TestMachine(t *testing.T) {
	t.Parallel()
	need(t)
	home := t.TempDir()
	write(t, home, "key", "secret")
	s := open(t, sandbox.Options{
		Dir: home, Grants: sandbox.Grants{Env: []string{"WHO"}}, Machine: environment("HOME", home, "WHO", "machine"),
		Env: proviso.EnvMap{"PROMPTFOO_PYTHON": "/nonexistent/python", "HOME": "/nonexistent", "PATH": "/nonexistent", "WHO": "suite"},
	})
	if v, err := run(t, s, proviso.Body, "import os\nreturn os.environ['WHO']", "", nil); v != "suite" || err != nil {
		t.Errorf("%v %v", v, err)
	}
	if v, err := run(t, s, proviso.Body, "return open("+quoted(filepath.Join(home, "key"))+").read()", "", nil); codeOf(err) != proviso.Refused {
		t.Errorf("%v %v", v, err)
	}
	module := source(proviso.Module, "import helper\ndef get_assert(o, c):\n    return 1")
	module.File = "check.py"
	f, err := s.Compile(t.Context(), module)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Call(t.Context(), "", nil); err == nil || !strings.Contains(err.Error(), "are not granted, because the folder holds more than a suite") {
		t.Errorf("%v", err)
	}
}

// TestLinks: following a link out of the folder is refused by the sandbox, and gives no
// verdict.
func TestLinks(t *testing.T) {
	t.Parallel()
	need(t)
	dir, other := t.TempDir(), t.TempDir()
	write(t, other, "key", "secret")
	write(t, dir, "real/data", "data")
	for link, to := range map[string]string{"out": filepath.Join(other, "key"), "in": "real/data", "loop": "loop", "dir": other} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	suite := filepath.Join(t.TempDir(), "suite") // which is itself a link
	if err := os.Symlink(dir, suite); err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]sandbox.Options{"namespaces": {Dir: suite}, "none": sandbox.NoNamespaces(sandbox.Options{Dir: suite})} {
		s := open(t, o)
		for _, tc := range []struct{ path, code string }{
			{"in", ""}, {filepath.Join(suite, "in"), ""}, {filepath.Join(dir, "in"), ""},
			{"out", proviso.Refused}, {filepath.Join(suite, "out"), proviso.Refused}, {"dir/key", proviso.Refused},
			{"missing", "FileNotFoundError"}, {filepath.Join(suite, "missing"), "FileNotFoundError"}, {filepath.Join(dir, "missing"), "FileNotFoundError"},
		} {
			v, err := run(t, s, proviso.Body, "return open("+quoted(tc.path)+").read()", "", nil)
			if codeOf(err) != tc.code || tc.code == "" && v != "data" {
				t.Errorf("%s: %s: %v %v", name, tc.path, v, err)
			}
		}
	}
}

// TestLowLimits runs code in a process with few open files and a small stack, limits that it
// cannot raise.
func TestLowLimits(t *testing.T) {
	t.Parallel()
	need(t)
	const inside = "PROVISO_TEST_LOW_LIMITS"
	if os.Getenv(inside) == "" {
		cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", `ulimit -n 48 && ulimit -s 4096 && exec "$0" -test.run='^TestLowLimits$'`, os.Args[0])
		cmd.Env = append(os.Environ(), inside+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	s := open(t, sandbox.Options{Workers: 1})
	host := 0
	for i := range sandbox.MaxAlive { // more sources than the process can have workers
		f, err := s.Compile(t.Context(), source(proviso.Expression, fmt.Sprintf("len(output) + %d", i)))
		if err != nil {
			t.Fatal(err)
		}
		v, err := f.Call(t.Context(), "hello", nil)
		if err != nil || v != float64(5+i) {
			t.Errorf("call %d: %v %v", i, v, err)
		}
		if hosts := s.Hosts(); host == 0 {
			host = hosts[0].Process.Pid
		} else if host != hosts[0].Process.Pid {
			t.Fatalf("call %d: the host was replaced, which has done nothing wrong", i)
		}
	}
}

// TestFlood: a directly started worker that fills its standard error loses further output, and
// does not block.
func TestFlood(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("pipes block there")
	}
	s := open(t, sandbox.Direct(sandbox.Options{}))
	text := "import os\nfor i in range(100):\n    try:\n        os.write(2, b'x' * 100000)\n    except BlockingIOError:\n        return True"
	if v, err := run(t, s, proviso.Body, text, "", nil); v != true || err != nil {
		t.Errorf("%v %v", v, err)
	}
}

// TestDeepNesting: a module nested deeper than our analysis supports is still compiled if
// Python compiles it.
func TestDeepNesting(t *testing.T) {
	t.Parallel()
	s := open(t, sandbox.Options{})
	text := "x = 700\nif x == 0:\n    y = 0\n"
	for i := range 700 {
		text += fmt.Sprintf("elif x == %d:\n    y = %d\n", i+1, i+1)
	}
	if v, err := run(t, s, proviso.Module, text+"def get_assert(o, c):\n    return y", "", nil); v != 700.0 || err != nil {
		t.Errorf("%v %v", v, err)
	}
}

func TestFolderThatIsNoText(t *testing.T) {
	t.Parallel()
	s := open(t, sandbox.Options{Dir: "/tmp/\xff"})
	if _, err := s.Compile(t.Context(), source(proviso.Expression, "1")); codeOf(err) != proviso.Unsupported {
		t.Errorf("%v", err)
	}
}
