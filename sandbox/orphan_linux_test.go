package sandbox_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/sandbox"
)

// TestKilledParent kills a process with SIGKILL during a call that never ends: none of its
// workers may survive.
func TestKilledParent(t *testing.T) {
	t.Parallel()
	need(t)
	const inside = "PROVISO_TEST_KILLED_PARENT"
	ways := map[string]sandbox.Options{
		"sandbox":                        {},
		"sandbox, no namespaces":         sandbox.NoNamespaces(sandbox.Options{}),
		"direct":                         sandbox.Direct(sandbox.Options{}),
		"direct, no namespaces":          sandbox.NoNamespaces(sandbox.Direct(sandbox.Options{})),
		"without a sandbox":              {Policy: sandbox.Off},
		"without a sandbox, and direct ": sandbox.Direct(sandbox.Options{Policy: sandbox.Off}),
	}
	if name := os.Getenv(inside); name != "" {
		endless(t, ways[name])
		return
	}
	for name := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilledParent$")
			cmd.Env = append(os.Environ(), inside+"="+name)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			line, _ := bufio.NewReader(out).ReadString('\n')
			pids := strings.Fields(line)
			looping := soon(func() bool { return slices.ContainsFunc(pids, func(pid string) bool { return worked(pid) > start }) })
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			if !looping {
				t.Fatalf("no worker is in the middle of a call: %q", line)
			}
			for _, pid := range pids {
				if !soon(func() bool { return !runs(pid) }) {
					t.Errorf("process %s goes on", pid)
					kill(pid)
				}
			}
		})
	}
}

// TestKilledParentHasUnread kills a process with unread messages from its host: the host's
// connection is reset, and its workers must end nevertheless.
func TestKilledParentHasUnread(t *testing.T) {
	t.Parallel()
	need(t)
	const inside = "PROVISO_TEST_KILLED_UNREAD"
	if os.Getenv(inside) != "" {
		s := open(t, sandbox.Options{Policy: sandbox.Off, Workers: 2})
		f, err := s.Compile(t.Context(), proviso.Source{Language: "python", Form: proviso.Body, Timeout: time.Hour, Text: "while True:\n    pass"})
		if err != nil {
			t.Fatal(err)
		}
		go func() { _, _ = f.Call(t.Context()) }()
		_, err = f.Call(t.Context())
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilledParentHasUnread$")
	cmd.Env = append(os.Environ(), inside+"=yes")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var busy []string
	looping := soon(func() bool {
		busy = slices.DeleteFunc(descendants(cmd.Process.Pid), func(pid string) bool { return worked(pid) <= 2*start })
		return len(busy) > 1
	})
	all := descendants(cmd.Process.Pid)
	_ = cmd.Process.Signal(syscall.SIGSTOP) // it reads nothing more
	if looping {
		kill(busy[0])
		soon(func() bool { return !runs(busy[0]) })
		time.Sleep(100 * time.Millisecond) // the host reports it
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if !looping {
		t.Fatalf("fewer than two workers are in the middle of a call: %q of %q", busy, all)
	}
	for _, pid := range all {
		if !soon(func() bool { return !runs(pid) }) {
			t.Errorf("process %s goes on", pid)
			kill(pid)
		}
	}
}

func kill(pid string) {
	n, _ := strconv.Atoi(pid)
	if p, err := os.FindProcess(n); err == nil {
		_ = p.Kill()
	}
}

// TestThreadsAreLimited: code cannot take all threads of the user, with and without namespaces.
func TestThreadsAreLimited(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]sandbox.Options{"namespaces": {}, "none": sandbox.NoNamespaces(sandbox.Options{})} {
		s := open(t, o)
		if v, err := run(t, s, proviso.Expression, "len(output)", "abc", nil); v != 3.0 || err != nil {
			t.Fatalf("%s: %v %v", name, v, err)
		}
		limits, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", s.Hosts()[0].Process.Pid))
		if err != nil {
			t.Skip(err)
		}
		for line := range strings.Lines(string(limits)) {
			fields := strings.Fields(line)
			if !strings.HasPrefix(line, "Max processes") {
				continue
			}
			if n, err := strconv.Atoi(fields[2]); err != nil || n < 1000 || n > 20000 {
				t.Errorf("%s: %s", name, line)
			}
		}
	}
}

// endless makes a call that does not end, and prints the processes that serve it.
func endless(t *testing.T, o sandbox.Options) {
	o.Ask = func(context.Context, string, string, string) (bool, error) {
		fmt.Println(strings.Join(descendants(os.Getpid()), " "))
		return true, nil
	}
	s := open(t, o)
	f, err := s.Compile(t.Context(), proviso.Source{
		Language: "python", Form: proviso.Body, Timeout: time.Hour, Text: "ask_llm('p', 'r', 'q')\nwhile True:\n    pass",
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Call(t.Context())
	t.Fatal(err)
}

// start is more than the processor time of an interpreter start, in ticks of 10 ms.
const start = 30

// worked returns the processor time that a process has used, in ticks.
func worked(pid string) int {
	stat, _ := os.ReadFile("/proc/" + pid + "/stat")
	_, after, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(after)
	if len(fields) < 13 {
		return 0
	}
	n, _ := strconv.Atoi(fields[11])
	return n
}

// soon waits for a condition, and reports whether it holds within seconds.
func soon(holds func() bool) bool {
	for range 2000 {
		if holds() {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}

// runs reports whether a process exists and is not a zombie.
func runs(pid string) bool {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

// descendants returns the processes that a process and its children have started.
func descendants(pid int) []string {
	parents := map[string]string{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range stats {
		data, err := os.ReadFile(name)
		_, after, ok := strings.Cut(string(data), ") ")
		if fields := strings.Fields(after); err == nil && ok && len(fields) > 1 {
			parents[filepath.Base(filepath.Dir(name))] = fields[1]
		}
	}
	found := []string{strconv.Itoa(pid)}
	for i := 0; i < len(found); i++ {
		for child, parent := range parents {
			if parent == found[i] && !slices.Contains(found, child) {
				found = append(found, child)
			}
		}
	}
	return found[1:]
}
