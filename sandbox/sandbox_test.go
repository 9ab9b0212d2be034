package sandbox_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/sandbox"
	"github.com/proviso-eval/proviso/value"
)

func TestMain(m *testing.M) {
	sandbox.Main()
	os.Exit(m.Run())
}

// python is an interpreter that is a program, not a slow pyenv script, and whose folder every
// user can read.
func python() string {
	for _, path := range []string{"/usr/bin/python3", "/usr/local/bin/python3"} {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	path, _ := exec.LookPath("python3")
	return path
}

// environment is the environment of the tests.
func environment(pairs ...string) proviso.EnvMap {
	env := proviso.EnvMap{"PATH": os.Getenv("PATH"), "HOME": os.Getenv("HOME"), "PROMPTFOO_PYTHON": python()}
	for i := 0; i < len(pairs); i += 2 {
		env[pairs[i]] = pairs[i+1]
	}
	return env
}

// need skips a test on a machine that has no sandbox or no Python.
func need(t testing.TB) {
	t.Helper()
	if !sandbox.KernelSupport().Sandbox() {
		t.Skip("this kernel has no Landlock or no seccomp")
	}
	if python() == "" {
		t.Skip("there is no python3")
	}
}

// open returns a sandbox that is closed after the test.
func open(t testing.TB, o sandbox.Options) *sandbox.Sandbox {
	t.Helper()
	need(t)
	if o.Env == nil {
		o.Env = environment()
	}
	s := sandbox.New(o)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// compile compiles a source of parameters output and context.
func compile(t testing.TB, s *sandbox.Sandbox, form proviso.Form, text string) proviso.Function {
	t.Helper()
	f, err := s.Compile(t.Context(), source(form, text))
	if err != nil {
		t.Fatalf("%s\n%v", text, err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func source(form proviso.Form, text string) proviso.Source {
	src := proviso.Source{Language: "python", Name: "check.py", Text: text, Form: form, Params: []string{"output", "context"}}
	if form == proviso.Module {
		src.Entry, src.Params = "get_assert", nil
	}
	return src
}

// run compiles and calls once.
func run(t testing.TB, s *sandbox.Sandbox, form proviso.Form, text string, args ...any) (any, error) {
	t.Helper()
	f, err := s.Compile(t.Context(), source(form, text))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Call(t.Context(), args...)
}

// codeOf returns the kind of an error.
func codeOf(err error) string {
	var thrown *proviso.ScriptError
	if e, ok := errors.AsType[*proviso.Error](err); ok {
		return e.Code
	}
	if errors.As(err, &thrown) {
		return thrown.Name
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// asker answers yes to questions that contain yes.
func asker(_ context.Context, prompt, response, question string) (bool, error) {
	switch {
	case strings.Contains(question, "broken"):
		return false, errors.New("the judge is down")
	case prompt == "" && response == "":
		return false, errors.New("the judge got no text")
	}
	return strings.Contains(question, "yes"), nil
}

func TestForms(t *testing.T) {
	t.Parallel()
	s := open(t, sandbox.Options{Ask: asker})
	context := value.ObjectOf("vars", value.ObjectOf("name", "Bob", "n", 3.0), "prompt", "p")
	for _, tc := range []struct {
		form proviso.Form
		text string
		want string
	}{
		{proviso.Expression, `len(output) > 3 and 'ell' in output`, `true`},
		{proviso.Expression, "  output.upper()\n", `"HELLO"`},
		{proviso.Expression, `context["vars"]["n"] * 2`, `6`},
		{proviso.Expression, `[w for w in ('a', output) if w in output and context['vars']['name']]`, `["hello"]`},
		{proviso.Expression, `any(c in output for c in "xyz")`, `false`},
		{proviso.Expression, `(lambda n: [x for x in range(n) if str(x) not in output])(2)`, `[0,1]`},
		{proviso.Expression, `json.loads('{"b": [1, 2.5], "a": null}')`, `{"b":[1,2.5],"a":null}`},
		{proviso.Expression, `(n := len(output)) + n`, `10`},
		{proviso.Expression, `await ask_llm("p", output, "yes?")`, `true`},
		{proviso.Expression, `ask_llm("p", output, "yes?") and not ask_llm("p", output, "no?")`, `true`},
		{proviso.Body, "x = len(output)\nreturn x > 3", `true`},
		{proviso.Body, "return {'pass': output == 'hello', 'score': 0.5, 'reason': context['vars']['name']}", `{"pass":true,"score":0.5,"reason":"Bob"}`},
		{proviso.Body, "    if output:\n        return 1\n    return 2", `1`},
		{proviso.Body, "import re\nreturn bool(re.search(r'^h.*o$', output))", `true`},
		{proviso.Body, "return json.dumps({'a': 1})", `"{\"a\": 1}"`},
		{proviso.Body, "# nothing", `null`},
		{proviso.Body, "import asyncio\nawait asyncio.sleep(0)\nreturn 'slept'", `"slept"`},
		{proviso.Body, "from dataclasses import dataclass, asdict\n@dataclass\nclass P:\n    x: 'int' = 1\nreturn asdict(P())", `{"x":1}`},
		{proviso.Module, "def get_assert(output, context):\n    return output == 'hello'", `true`},
		{proviso.Module, "async def get_assert(output, context):\n    return output == 'hello'", `true`},
		{proviso.Module, "async def helper(x):\n    return x + 1\nasync def get_assert(output, context):\n    return await helper(await helper(1))", `3`},
		{proviso.Module, "import asyncio\nasync def get_assert(output, context):\n    a = await asyncio.gather(ask_llm('p', output, 'yes'), ask_llm('p', output, 'no'), asyncio.sleep(0))\n    return a[:2]", `[true,false]`},
		{proviso.Module, "import asyncio\nasync def get_assert(output, context):\n    t = asyncio.create_task(ask_llm('p', output, 'yes'))\n    return await t", `true`},
		{proviso.Module, "import asyncio\nasync def inner(o):\n    return not await ask_llm('p', o, 'yes')\ndef get_assert(output, context):\n    return asyncio.run(inner(output))", `false`},
		{proviso.Module, "def get_assert(output, context):\n    return not ask_llm('p', output, 'yes')", `false`},
		{proviso.Module, "async def get_assert(output, context):\n    return [w async for w in words(output)]\nasync def words(o):\n    for w in o.split('l'):\n        yield w", `["he","","o"]`},
		{proviso.Module, "class A:\n    pass\nget_assert = lambda output, context: isinstance(A(), A)", `true`},
		{proviso.Module, "if True:\n    def get_assert(output, context):\n        return __name__ != '__main__'", `true`},
	} {
		v, err := run(t, s, tc.form, tc.text, "hello", context)
		if got := value.Stringify(v); err != nil || got != tc.want {
			t.Errorf("%s\n gives %s, %v; want %s", tc.text, got, err, tc.want)
		}
	}
}

func TestMistakesOfTheText(t *testing.T) {
	t.Parallel()
	s := open(t, sandbox.Options{})
	for _, tc := range []struct {
		form         proviso.Form
		text         string
		line, column int
		message      string
	}{
		{proviso.Expression, "len(output) >", 1, 14, "invalid syntax"},
		{proviso.Expression, "x = 1", 1, 0, ""},
		{proviso.Body, "a = 1\nif a\n    return 2", 2, 5, ""},
		{proviso.Body, "  a = 1\n  if a\n    return 2", 2, 0, ""},
		{proviso.Module, "import re\n\ndef get_assert(output, context:\n    return 1", 3, 0, ""},
		{proviso.Module, "def get_assert(output, context):\nreturn 1", 2, 0, "expected an indented block"},
		{proviso.Module, "x = '\x00'", 0, 0, "null byte"},
		{proviso.Module, "x = '\xed\xa0\x80'", 0, 0, "surrogates"},
		{proviso.Expression, strings.Repeat("(", 500) + strings.Repeat(")", 500), 0, 0, "nested"},
	} {
		_, err := s.Compile(t.Context(), source(tc.form, tc.text))
		var thrown *proviso.ScriptError
		if !errors.As(err, &thrown) || !thrown.Syntax {
			t.Errorf("%q: %v, want a syntax error", tc.text, err)
			continue
		}
		if tc.line != 0 && thrown.Line != tc.line || tc.column != 0 && thrown.Column != tc.column || !strings.Contains(thrown.Message, tc.message) {
			t.Errorf("%q: %d:%d %v, want %d:%d %s", tc.text, thrown.Line, thrown.Column, err, tc.line, tc.column, tc.message)
		}
	}
	_, err := s.Compile(t.Context(), source(proviso.Module, "def get_asert(o, c):\n    pass\ndef other(): pass\n"))
	e, _ := errors.AsType[*proviso.Error](err)
	if codeOf(err) != proviso.NotFound || strings.Join(e.Valid, " ") != "get_asert other" || !strings.Contains(err.Error(), "check.py: there is no function get_assert") {
		t.Errorf("a missing function: %v %v", err, e)
	}
	if _, err = run(t, s, proviso.Module, "globals()['x'] = 1"); codeOf(err) != proviso.NotFound {
		t.Errorf("a function that is missing when the module ran: %v", err)
	}
	if _, err = run(t, s, proviso.Module, "get_assert = 3"); codeOf(err) != proviso.NotFound {
		t.Errorf("a function that is a number: %v", err)
	}
	src := source(proviso.Module, "def only(x):\n    return x")
	src.Entry = ""
	if f, err := s.Compile(t.Context(), src); err != nil {
		t.Errorf("the only function: %v", err)
	} else if v, err := f.Call(t.Context(), 4.0); v != 4.0 || err != nil {
		t.Errorf("the only function: %v %v", v, err)
	}
}

func TestExceptions(t *testing.T) {
	t.Parallel()
	s := open(t, sandbox.Options{})
	for _, tc := range []struct {
		form  proviso.Form
		text  string
		name  string
		line  int
		wants string // in message or stack
	}{
		{proviso.Expression, "output['x']", "TypeError", 1, "string indices"},
		{proviso.Expression, "1/0", "ZeroDivisionError", 1, "division"},
		{proviso.Body, "a = 1\nreturn a + nothing", "NameError", 2, "nothing"},
		{proviso.Body, "  a = 1\n  return a + nothing", "NameError", 2, "nothing"},
		{proviso.Module, "def f(x):\n    raise ValueError('bad ' + x)\n\ndef get_assert(o, c):\n    return f(o)", "ValueError", 2, "File \"check.py\", line 5, in get_assert\n    return f(o)\n  File \"check.py\", line 2, in f\n    raise ValueError('bad ' + x)\n"},
		{proviso.Module, "import json\ndef get_assert(o, c):\n    return json.loads(o)", "JSONDecodeError", 3, "Expecting value"},
		{proviso.Module, "async def get_assert(o, c):\n    raise KeyError('k')", "KeyError", 2, "'k'"},
		{proviso.Body, "import sys\nsys.exit(3)", "SystemExit", 2, "3"},
		{proviso.Body, "raise KeyboardInterrupt()", "KeyboardInterrupt", 1, ""},
		{proviso.Body, "class E(Exception):\n    def __str__(self): raise E()\nraise E()", "E", 3, "cannot be shown"},
		{proviso.Body, "class E(Exception):\n    @property\n    def reason(self): 1/0\nraise E('x')", "Exception", 0, "cannot be shown"},
		{proviso.Body, "class E(Exception):\n    def __eq__(self, o): return True\nraise E('x' * 100000)", "E", 3, "xxx"},
		{proviso.Body, "def f(n): return f(n + 1)\nreturn f(0)", "RecursionError", 1, "..."},
		{proviso.Body, "return {1, 2}", "TypeError", 0, "Object of type set is not JSON serializable"},
		{proviso.Body, "return b'x'", "TypeError", 0, "Object of type bytes is not JSON serializable"},
		{proviso.Body, "return {'a': lambda: 1}", "TypeError", 0, "Object of type function is not JSON serializable"},
		{proviso.Body, "return {(1, 2): 3}", "TypeError", 0, "keys must be"},
		{proviso.Body, "a = []\na.append(a)\nreturn a", "ValueError", 0, "Circular"},
		{proviso.Body, "return (x for x in output)", "TypeError", 0, "generator"},
		{proviso.Module, "def get_assert(o):\n    return 1", "TypeError", 0, "takes 1 positional argument but 2 were given"},
		{proviso.Module, "raise OSError('at import')\ndef get_assert(o, c): pass", "OSError", 1, "at import"},
		{proviso.Module, "async def get_assert(o, c):\n    class A:\n        def __await__(self): yield 5\n    await A()", "RuntimeError", 3, "import asyncio"},
		{proviso.Module, "async def get_assert(o, c):\n    return not ask_llm('a', 'b', 'c')", "TypeError", 2, "not awaited"},
	} {
		_, err := run(t, s, tc.form, tc.text, "hello", nil)
		var thrown *proviso.ScriptError
		if !errors.As(err, &thrown) || thrown.Syntax {
			t.Errorf("%s\n gives %v, want an exception", tc.text, err)
			continue
		}
		if thrown.Name != tc.name || thrown.Line != tc.line || !strings.Contains(thrown.Message+thrown.Stack, tc.wants) {
			t.Errorf("%s\n gives %s at line %d: %s\n%s", tc.text, thrown.Name, thrown.Line, thrown.Message, thrown.Stack)
		}
		if len(thrown.Message) > 2048 || len(thrown.Stack) > 8192 || strings.Contains(thrown.Stack, "<proviso>") {
			t.Errorf("%s\n has a stack of %d bytes\n%.300s", tc.text, len(thrown.Stack), thrown.Stack)
		}
	}
}

func TestErrorsThatAreNoVerdict(t *testing.T) {
	t.Parallel()
	s := open(t, sandbox.Options{Ask: asker, Timeout: time.Second})
	for _, tc := range []struct{ text, code, message string }{
		{"import nothing_like_this", proviso.Unavailable, "No module named 'nothing_like_this' (packages are not granted)"},
		{"from re import nothing_like_this", proviso.Unavailable, "cannot import name"},
		{"return 'x' * (2 << 20)", proviso.Limit, "larger than 1 MB"},
		{"return bytearray(4 << 30)", proviso.Limit, "memory"},
		{"import mmap\nmmap.mmap(-1, 4 << 30)", proviso.Limit, "memory"}, // ENOMEM
		{"try:\n    bytearray(4 << 30)\nexcept MemoryError as e:\n    raise ValueError('worse') from e", proviso.Limit, "memory"},
		{"while True: pass", proviso.Timeout, "ran longer than 1s"},
		{"import os\nos._exit(0)", proviso.Undecided, "ended without a reply"},
		{"import os\nos._exit(7)", proviso.Undecided, "ended with status 7"},
		{"print('about to')\nimport ctypes\nctypes.string_at(0)", proviso.Undecided, "about to"},
		{"import ctypes\nctypes.string_at(0)", proviso.Undecided, "SIGSEGV"},
		{"open('/etc/passwd')", proviso.Refused, "line 1: blocked by the sandbox"},
		{"import socket\nsocket.create_connection(('127.0.0.1', 9))", proviso.Refused, "blocked by the sandbox"},
		{"import urllib.request\nurllib.request.urlopen('http://example.com')", proviso.Refused, "blocked by the sandbox"},
		{"import subprocess\nsubprocess.run(['true'])", proviso.Refused, "blocked by the sandbox"},
		{"ask_llm('p', output, 'broken')", proviso.Undecided, "the judge is down"},
		{"try:\n    ask_llm('p', output, 'broken')\nexcept Exception:\n    return False", proviso.Undecided, "the judge is down"},
		{"for _ in range(21): ask_llm('p', output, 'yes')", proviso.Limit, "more than 20"},
		{"return ask_llm('p', output, 'yes' * 3000)", proviso.Limit, "8 KB"},
		{"v = []\nfor _ in range(20000): v = [v]\nimport sys\nsys.setrecursionlimit(1000000)\nreturn v", "", ""},
	} {
		v, err := run(t, s, proviso.Body, tc.text, "hello", nil)
		if tc.code == "" {
			if err == nil {
				t.Errorf("%s\n gives %v", tc.text, v)
			}
			continue
		}
		if codeOf(err) != tc.code || !strings.Contains(err.Error(), tc.message) || !strings.HasPrefix(err.Error(), "check.py: ") {
			t.Errorf("%s\n gives %v (%s), want %s: %s", tc.text, err, codeOf(err), tc.code, tc.message)
		}
	}
	bare := open(t, sandbox.Options{})
	if _, err := run(t, bare, proviso.Body, "return ask_llm('p', output, 'yes')", "hello", nil); codeOf(err) != proviso.Unavailable {
		t.Errorf("ask_llm without a judge: %v", err)
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "checks/helper.py", "LIMIT = 4\ndef short(x):\n    return len(x) < LIMIT\n")
	write(t, dir, "data.txt", "from the folder")
	write(t, dir, "secret/key", "granted")
	text := "import os, helper\ndef get_assert(output, context):\n    return [helper.short(output), os.path.basename(__file__), open('data.txt').read(), __name__]"
	write(t, dir, "checks/check.py", text)
	s := open(t, sandbox.Options{Dir: dir})
	src := source(proviso.Module, text)
	for _, file := range []string{filepath.Join(dir, "checks/check.py"), "checks/check.py"} {
		src.File = file
		f, err := s.Compile(t.Context(), src)
		if err != nil {
			t.Fatal(err)
		}
		v, err := f.Call(t.Context(), "hello", nil)
		if got := value.Stringify(v); err != nil || got != `[false,"check.py","from the folder","check"]` {
			t.Errorf("%s: %s %v", file, got, err)
		}
	}
	src.Purpose = proviso.Synthesised
	if f, err := s.Compile(t.Context(), src); err == nil {
		if v, err := f.Call(t.Context(), "hello", nil); codeOf(err) != proviso.Unavailable {
			t.Errorf("synthesised code imports from the folder: %v %v", v, err)
		}
	}
	read := source(proviso.Body, "return open("+quoted(filepath.Join(dir, "data.txt"))+").read()")
	read.Purpose = proviso.Synthesised
	f, err := s.Compile(t.Context(), read)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := f.Call(t.Context(), "", nil); codeOf(err) != proviso.Refused {
		t.Errorf("synthesised code reads the folder: %v %v", v, err)
	}

	other := t.TempDir()
	write(t, other, "x", "other")
	readOther := "return open(" + quoted(filepath.Join(other, "x")) + ").read()"
	if v, err := run(t, s, proviso.Body, readOther, "", nil); codeOf(err) != proviso.Refused {
		t.Errorf("a file that is not granted: %v %v", v, err)
	}
	granting := open(t, sandbox.Options{Dir: dir, Grants: sandbox.Grants{Read: []string{other}}})
	if v, err := run(t, granting, proviso.Body, readOther, "", nil); v != "other" || err != nil {
		t.Errorf("a file that is granted: %v %v", v, err)
	}
}

func write(t testing.TB, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func quoted(s string) string { return string(value.AppendQuoted(nil, s)) }
