package sandbox_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/sandbox"
	"github.com/proviso-eval/proviso/value"
)

// readable makes a folder and its parents readable for everybody.
func readable(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for d := dir; d != "/" && d != "/tmp"; d = filepath.Dir(d) {
		_ = os.Chmod(d, 0o755)
	}
	return dir
}

// TestRootBecomesNobody: where root runs proviso, code runs as nobody, unless only root
// can read the suite's folder.
func TestRootBecomesNobody(t *testing.T) {
	t.Parallel()
	need(t)
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user")
	}
	for name, o := range map[string]sandbox.Options{"namespaces": {}, "none": sandbox.NoNamespaces(sandbox.Options{})} {
		for mode, want := range map[os.FileMode]string{0o755: "[65534,65534,65534]", 0o700: "[0,0,0]"} {
			o.Dir = readable(t)
			if err := os.Chmod(o.Dir, mode); err != nil {
				t.Fatal(err)
			}
			s := open(t, o)
			v, err := run(t, s, proviso.Body, "import os\nreturn list(os.getresuid())", "", nil)
			if got := value.Stringify(v); got != want || err != nil {
				t.Errorf("%s, a folder with %v: code runs as %s, want %s: %v", name, mode, got, want, err)
			}
			_ = s.Close()
		}
	}
}

// TestLimitsOfWorkers tests the limits that no attack reaches: open files, the size of results
// for each purpose, and the number of workers of code with side effects.
func TestLimitsOfWorkers(t *testing.T) {
	t.Parallel()
	need(t)
	s := open(t, sandbox.Options{Workers: 2})
	const open = "import os\nn = 0\ntry:\n    while True:\n        os.pipe()\n        n += 2\nexcept OSError as e:\n    return [e.errno, 20 < n < 2000]"
	if v, err := run(t, s, proviso.Body, open, "", nil); value.Stringify(v) != "[24,true]" || err != nil {
		t.Errorf("open files: %v %v, want EMFILE", value.Stringify(v), err)
	}
	for _, tc := range []struct {
		purpose proviso.Purpose
		size    int
		want    string
	}{
		{proviso.Deciding, 1<<20 - 100, ""}, {proviso.Deciding, 1 << 20, proviso.Limit},
		{proviso.Synthesised, 1 << 20, proviso.Limit},
		{proviso.Acting, 1 << 20, ""}, {proviso.Acting, 16 << 20, proviso.Limit},
	} {
		if v, err := with(t, s, tc.purpose, fmt.Sprintf("return 'x' * %d", tc.size)); codeOf(err) != tc.want || err == nil && len(value.ToString(v)) != tc.size {
			t.Errorf("purpose %d, %d bytes: %v, want %q", tc.purpose, tc.size, err, tc.want)
		}
	}
	var functions []proviso.Function
	for i := range sandbox.MaxActing + 6 {
		src := source(proviso.Expression, fmt.Sprint(i))
		src.Purpose = proviso.Acting
		f, err := s.Compile(t.Context(), src)
		if err != nil {
			t.Fatal(err)
		}
		functions = append(functions, f)
		if v, err := f.Call(t.Context(), "", nil); v != float64(i) || err != nil {
			t.Errorf("source %d gives %v %v", i, v, err)
		}
	}
	if n := s.ActingWorkers(); n != sandbox.MaxAlive {
		t.Errorf("%d workers of code with side effects, want %d", n, sandbox.MaxAlive)
	}
	for _, f := range functions {
		_ = f.Close()
	}
}

// TestSocketsOfTheMachine: a granted network does not reach the local sockets of this machine.
func TestSocketsOfTheMachine(t *testing.T) {
	t.Parallel()
	need(t)
	path := filepath.Join(readable(t), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := os.Chmod(path, 0o777); err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]sandbox.Options{"namespaces": {}, "none": sandbox.NoNamespaces(sandbox.Options{})} {
		o.Grants = sandbox.Grants{Network: true, Read: []string{filepath.Dir(path)}}
		s := open(t, o)
		for _, purpose := range []proviso.Purpose{proviso.Deciding, proviso.Acting} {
			if v, err := with(t, s, purpose, "import socket\nsocket.socket(socket.AF_UNIX).connect("+quoted(path)+")\nreturn 1"); codeOf(err) != proviso.Refused {
				t.Errorf("%s, purpose %d: %v %v", name, purpose, v, err)
			}
		}
	}
}

// TestFoldersThatAreNotGranted: the root, the home folder and its parents would expose more
// than a suite.
func TestFoldersThatAreNotGranted(t *testing.T) {
	t.Parallel()
	need(t)
	above := readable(t)
	home := filepath.Join(above, "home")
	write(t, home, ".ssh/id", "secret")
	write(t, above, "beside/suite/data", "data")
	for dir, want := range map[string]string{
		"/": proviso.Refused, above: proviso.Refused, home: proviso.Refused, filepath.Join(above, "home", "..", "home"): proviso.Refused,
		filepath.Join(home, ".ssh"): "",
	} {
		warned := ""
		s := open(t, sandbox.Options{Dir: dir, Env: environment("HOME", home), Warn: func(line string) { warned += line }})
		_, err := run(t, s, proviso.Body, "return open("+quoted(filepath.Join(home, ".ssh/id"))+").read()", "", nil)
		if codeOf(err) != want || strings.Contains(warned, "a folder of its own") != (want != "") {
			t.Errorf("the suite is in %s: %v, warned %q, want %q", dir, err, warned, want)
		}
		_ = s.Close()
	}
}
