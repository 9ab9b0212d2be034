package sandbox_test

import (
	"encoding/json"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/sandbox"
	"github.com/proviso-eval/proviso/value"
)

func TestParsePolicy(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"require", "auto", "off"} {
		if p, err := sandbox.ParsePolicy(text); err != nil || p.String() != text {
			t.Errorf("%s: %v %v", text, p, err)
		}
	}
	if _, err := sandbox.ParsePolicy("none"); codeOf(err) != proviso.Invalid {
		t.Errorf("none: %v", err)
	}
}

// warnings collects warnings.
type warnings struct {
	mu    sync.Mutex
	lines []string
}

func (w *warnings) add(line string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines = append(w.lines, line)
}

// with runs a body for a purpose.
func with(t *testing.T, s *sandbox.Sandbox, purpose proviso.Purpose, text string) (any, error) {
	t.Helper()
	src := source(proviso.Body, text)
	src.Purpose = purpose
	f, err := s.Compile(t.Context(), src)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Call(t.Context(), "hello", nil)
}

// TestPolicies: what code of each purpose gets under each policy.
func TestPolicies(t *testing.T) {
	t.Parallel()
	need(t)
	dir, other := t.TempDir(), t.TempDir()
	write(t, dir, "in", "in the suite")
	write(t, other, "out", "outside")
	read := func(path string) string { return "return open(" + quoted(path) + ").read()" }
	inside, outside := read(filepath.Join(dir, "in")), read(filepath.Join(other, "out"))
	network := "import socket\nsocket.socket().close()\nreturn 'net'"
	key := "import os\nreturn os.environ.get('KEY')"
	process := "import subprocess\nsubprocess.run(['true'])\nreturn 'ran'"
	named := sandbox.Grants{Env: []string{"KEY"}}
	all := sandbox.Grants{Env: []string{"KEY"}, Network: true, Read: []string{other}}
	const no = proviso.Refused
	for _, tc := range []struct {
		policy                              sandbox.Policy
		grants                              sandbox.Grants
		purpose                             proviso.Purpose
		inside, outside, net, key, process_ string
	}{
		{sandbox.Require, sandbox.Grants{}, proviso.Deciding, "in the suite", no, no, "null", no},
		{sandbox.Require, sandbox.Grants{}, proviso.Acting, "in the suite", no, no, "null", no},
		{sandbox.Require, all, proviso.Deciding, "in the suite", "outside", "net", "secret", no},
		{sandbox.Require, all, proviso.Synthesised, no, no, no, "null", no},
		{sandbox.Auto, sandbox.Grants{}, proviso.Deciding, "in the suite", no, no, "null", no},
		{sandbox.Auto, named, proviso.Acting, "in the suite", no, "net", "secret", no},
		{sandbox.Auto, all, proviso.Synthesised, no, no, no, "null", no},
		{sandbox.Off, sandbox.Grants{}, proviso.Deciding, "in the suite", "outside", "net", "secret", "ran"},
	} {
		s := open(t, sandbox.Options{Policy: tc.policy, Grants: tc.grants, Dir: dir, Env: environment("KEY", "secret")})
		for _, try := range []struct{ text, want string }{{inside, tc.inside}, {outside, tc.outside}, {network, tc.net}, {key, tc.key}, {process, tc.process_}} {
			v, err := with(t, s, tc.purpose, try.text)
			got := codeOf(err)
			if err == nil {
				got = value.ToString(v)
			}
			if got != try.want {
				t.Errorf("%v, %+v, purpose %d: %s\n gives %q %v, want %q", tc.policy, tc.grants, tc.purpose, try.text, got, err, try.want)
			}
		}
		_ = s.Close()
	}
}

// TestNetworkGrant: code with a network grant reaches a server.
func TestNetworkGrant(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		if c, err := l.Accept(); err == nil {
			_, _ = c.Write([]byte("hi"))
			_ = c.Close()
		}
	}()
	s := open(t, sandbox.Options{Policy: sandbox.Auto})
	_, port, _ := net.SplitHostPort(l.Addr().String())
	v, err := with(t, s, proviso.Acting, "import socket\nreturn socket.create_connection(('127.0.0.1', "+port+")).recv(2).decode()")
	if v != "hi" || err != nil {
		t.Errorf("%v %v", v, err)
	}
	if v, err := with(t, s, proviso.Acting, "import socket\ns = socket.socket()\ns.bind(('127.0.0.1', 0))\ns.listen()\nreturn 1"); codeOf(err) != proviso.Refused {
		t.Errorf("listening: %v %v", v, err)
	}
}

func TestWithoutASandbox(t *testing.T) {
	t.Parallel()
	if python() == "" {
		t.Skip("there is no python3")
	}
	require := sandbox.New(sandbox.NoLandlock(sandbox.Options{Env: environment()}))
	defer require.Close()
	_, err := with(t, require, proviso.Deciding, "return 1")
	if codeOf(err) != proviso.Refused || !strings.Contains(err.Error(), "Landlock") || !strings.Contains(err.Error(), "--sandbox off") {
		t.Errorf("require: %v", err)
	}
	var w warnings
	auto := sandbox.New(sandbox.NoLandlock(sandbox.Options{Policy: sandbox.Auto, Env: environment("KEY", "secret"), Warn: w.add}))
	defer auto.Close()
	for range 3 {
		if v, err := with(t, auto, proviso.Deciding, "import os\nreturn [len(open('/etc/passwd').read()) > 0, os.environ.get('KEY')]"); value.Stringify(v) != "[true,null]" || err != nil {
			t.Errorf("auto: %v %v", v, err)
		}
	}
	if _, err := with(t, auto, proviso.Synthesised, "return 1"); codeOf(err) != proviso.Refused {
		t.Errorf("auto, synthesised: %v", err)
	}
	if len(w.lines) != 2 || !strings.Contains(w.lines[0], "without a sandbox") || !strings.Contains(w.lines[1], "--grant env:KEY") {
		t.Errorf("warnings: %q", w.lines)
	}
}

// TestSelfTest: nothing runs in a sandbox with a hole.
func TestSelfTest(t *testing.T) {
	t.Parallel()
	for _, policy := range []sandbox.Policy{sandbox.Require, sandbox.Auto} {
		s := open(t, sandbox.Leaky(sandbox.Options{Policy: policy}))
		_, err := with(t, s, proviso.Deciding, "return 1")
		if codeOf(err) != proviso.Refused || !strings.Contains(err.Error(), "self-test") {
			t.Errorf("%v: %v", policy, err)
		}
	}
}

// TestUncalledMain: a program that does not call Main gets an error that says so.
func TestUncalledMain(t *testing.T) {
	t.Parallel()
	s := open(t, sandbox.Options{Exe: "/nonexistent/proviso"})
	if _, err := with(t, s, proviso.Deciding, "return 1"); codeOf(err) != proviso.Refused || !strings.Contains(err.Error(), "/nonexistent/proviso") {
		t.Errorf("a binary that is not there: %v", err)
	}
}

func TestInterpreters(t *testing.T) {
	t.Parallel()
	need(t)
	dir := t.TempDir()
	script := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, tc := range []struct{ name, path, variable, code, message string }{
		{"none", dir, "", proviso.Unavailable, "install Python 3.8 or later, or name one in PROMPTFOO_PYTHON"},
		{"named and absent", dir, "/nonexistent/python", proviso.Unavailable, "PROMPTFOO_PYTHON=/nonexistent/python: there is no such program"},
		{"old", dir, script("old", `echo '{"version":"3.7.16"}'`), proviso.Unavailable, "is Python 3.7.16, and 3.8 or later is needed"},
		{"broken", dir, script("broken", "echo no such version >&2; exit 1"), proviso.Unavailable, "no such version"},
		{"no Python", dir, script("other", "echo hello"), proviso.Unavailable, "does not say what it is"},
		{"shim", dir, script("shim", "exec "+python()+` "$@"`), "", ""},
	} {
		env := environment("PATH", tc.path, "PROMPTFOO_PYTHON", tc.variable)
		s := sandbox.New(sandbox.Options{Env: env})
		v, err := with(t, s, proviso.Deciding, "return 1")
		if tc.code == "" && (v != 1.0 || err != nil) || codeOf(err) != tc.code || err != nil && !strings.Contains(err.Error(), tc.message) {
			t.Errorf("%s: %v %v", tc.name, v, err)
		}
		_ = s.Close()
	}
	if _, err := sandbox.New(sandbox.Options{}).Compile(t.Context(), proviso.Source{Language: "cobol"}); codeOf(err) != proviso.Unavailable {
		t.Errorf("cobol: %v", err)
	}
}

// TestPythonVersions runs the forms in every Python version that pyenv has here.
func TestPythonVersions(t *testing.T) {
	t.Parallel()
	need(t)
	paths, _ := filepath.Glob(filepath.Join(os.Getenv("HOME"), ".pyenv/versions/3.*/bin/python3"))
	for _, path := range paths {
		t.Run(filepath.Base(filepath.Dir(filepath.Dir(path))), func(t *testing.T) {
			t.Parallel()
			s := open(t, sandbox.Options{Ask: asker, Env: environment("PROMPTFOO_PYTHON", path)})
			text := "import asyncio, json, re, sys\nasync def get_assert(output, context):\n    a = await asyncio.gather(ask_llm('p', output, 'yes'), ask_llm('p', output, 'no'))\n    return [a, bool(re.search('l+', output)), float('nan') != 0, sys.version_info[1] > 7]"
			v, err := run(t, s, proviso.Module, text, "hello", nil)
			old := strings.Contains(path, "/3.6.") || strings.Contains(path, "/3.7.")
			if old && codeOf(err) == proviso.Unavailable && strings.Contains(err.Error(), "3.8 or later") {
				return
			}
			if value.Stringify(v) != "[[true,false],true,true,true]" || err != nil {
				t.Errorf("%v %v", value.Stringify(v), err)
			}
			if v, err = run(t, s, proviso.Body, "x = 1\nreturn await ask_llm('p', output, 'yes')", "hello", nil); v != true || err != nil {
				t.Errorf("await in a body: %v %v", v, err)
			}
			if v, err = run(t, s, proviso.Expression, "float('inf')", "hello", nil); value.ToString(v) != "Infinity" || err != nil {
				t.Errorf("infinity: %v %v", v, err)
			}
			var thrown *proviso.ScriptError
			if _, err = run(t, s, proviso.Body, "a = 1\nreturn a / 0", "hello", nil); !errors.As(err, &thrown) || thrown.Line != 2 {
				t.Errorf("an exception: %v", err)
			}
			if _, err = run(t, s, proviso.Body, "open('/etc/passwd')", "hello", nil); codeOf(err) != proviso.Refused {
				t.Errorf("a file: %v", err)
			}
		})
	}
}

// TestPackages: packages of a virtual environment are available when granted, and only then.
func TestPackages(t *testing.T) {
	t.Parallel()
	need(t)
	dir := t.TempDir()
	venv := filepath.Join(dir, "venv")
	if out, err := exec.CommandContext(t.Context(), python(), "-m", "venv", "--without-pip", venv).CombinedOutput(); err != nil {
		t.Skipf("no virtual environments here: %v %s", err, out)
	}
	site, _ := filepath.Glob(filepath.Join(venv, "lib/python3.*/site-packages"))
	if len(site) != 1 {
		t.Fatalf("site-packages: %q", site)
	}
	write(t, site[0], "proviso_sample/__init__.py", "ANSWER = 42\n")
	write(t, dir, "extra/proviso_extra.py", "ANSWER = 43\n")
	env := environment("PROMPTFOO_PYTHON", filepath.Join(venv, "bin", "python3"), "PYTHONPATH", filepath.Join(dir, "extra"))
	text := "import proviso_sample, proviso_extra, sys\nreturn [proviso_sample.ANSWER, proviso_extra.ANSWER]"
	for _, o := range []sandbox.Options{{Policy: sandbox.Auto}, {Grants: sandbox.Grants{Packages: true}}, {Policy: sandbox.Off}, sandbox.NoNamespaces(sandbox.Options{Policy: sandbox.Auto})} {
		o.Env = env
		s := open(t, o)
		if v, err := with(t, s, proviso.Deciding, text); value.Stringify(v) != "[42,43]" || err != nil {
			t.Errorf("%v: %v %v", o.Policy, v, err)
		}
	}
	s := open(t, sandbox.Options{Env: env})
	if v, err := with(t, s, proviso.Deciding, text); codeOf(err) != proviso.Unavailable || !strings.Contains(err.Error(), "proviso_sample") {
		t.Errorf("require: %v %v", v, err)
	}
	auto := open(t, sandbox.Options{Env: env, Policy: sandbox.Auto})
	if v, err := with(t, auto, proviso.Synthesised, text); codeOf(err) != proviso.Unavailable {
		t.Errorf("synthesised: %v %v", v, err)
	}
}

func TestProbe(t *testing.T) {
	t.Parallel()
	need(t)
	r := sandbox.Probe(t.Context(), sandbox.Options{Env: environment()})
	i := r.Interpreters[0]
	if r.Missing != "" || r.Kernel.Landlock < 1 || i.Language != "python" || !i.Sandbox || i.Version == "" || i.Problem != "" {
		text, _ := json.Marshal(r)
		t.Errorf("%s", text)
	}
	r = sandbox.Probe(t.Context(), sandbox.NoLandlock(sandbox.Options{Env: environment("PATH", "", "PROMPTFOO_PYTHON", "")}))
	if i = r.Interpreters[0]; r.Missing == "" || i.Sandbox || !strings.Contains(i.Problem, "Python is not installed") {
		t.Errorf("%+v", r)
	}
}
