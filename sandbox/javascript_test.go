package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/script"
	"github.com/proviso-eval/proviso/sandbox"
	"github.com/proviso-eval/proviso/value"
)

// needNode skips a test on a machine that has no sandbox or no Node.
func needNode(t testing.TB) {
	t.Helper()
	if !sandbox.KernelSupport().Sandbox() {
		t.Skip("this kernel has no Landlock or no seccomp")
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("there is no node")
	}
}

// openFor returns a sandbox that is closed after the test.
func openFor(t testing.TB, o sandbox.Options) *sandbox.Sandbox {
	t.Helper()
	if !sandbox.KernelSupport().Sandbox() {
		t.Skip("this kernel has no Landlock or no seccomp")
	}
	if o.Env == nil {
		o.Env = environment()
	}
	s := sandbox.New(o)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// nodeSource returns a file that needs Node.
func nodeSource(file, text, entry string) proviso.Source {
	return proviso.Source{Language: "javascript", Name: file, File: file, Text: text, Entry: entry, Form: proviso.Module}
}

// inline returns JavaScript in the suite itself.
func inline(form proviso.Form, text string) proviso.Source {
	return proviso.Source{Language: "javascript", Name: "assertion", Text: text, Form: form, Params: []string{"output", "context"}}
}

// once compiles and calls once.
func once(t testing.TB, code proviso.Code, src proviso.Source, args ...any) (any, error) {
	t.Helper()
	f, err := code.Compile(t.Context(), src)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Call(t.Context(), args...)
}

// acting returns a file with side effects.
func acting(file, text string) proviso.Source {
	src := nodeSource(file, text, "")
	src.Purpose = proviso.Acting
	return src
}

func TestNeedsNode(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		src  proviso.Source
		want bool
	}{
		{inline(proviso.Body, "return require('fs')"), false},
		{nodeSource("a.js", "module.exports = () => 1", ""), false},
		{nodeSource("a.js", "module.exports = () => require('fs')", ""), true},
		{nodeSource("a.js", "// checks the url\nconst { lib } = require('../lib');\nmodule.exports = () => lib", ""), true},
		{nodeSource("a.js", "const u = 'http://x'; // y\nmodule.exports = () => require('fs')", ""), true},
		{nodeSource("a.js", "/* one */ const a = `/*${require('fs')}`", ""), true},
		{nodeSource("a.js", "// require('fs')\nmodule.exports = () => `\nimport fs from 'fs'`", ""), false},
		{acting("a.js", "// asks the service\nmodule.exports = () => fetch('http://x')"), true},
		{acting("a.js", "const key = process.env.KEY; // of the service"), true},
		{acting("a.js", "// fetch('x')\nmodule.exports = () => 'process.env'"), false},
		{nodeSource("a.mjs", "import fs from 'fs'", ""), true},
		{nodeSource("a.ts", "export default () => 1", ""), true},
		{nodeSource("a.js", "module.exports = () => fetch('x')", ""), true},
		{inline(proviso.Expression, "process.env.KEY === 'x'"), true},
		{inline(proviso.Body, "return new Intl.NumberFormat('en').format(output)"), true},
		{inline(proviso.Body, "const process = (s) => s.trim(); return process(output) // fetch"), false},
		{proviso.Source{Language: "javascript", Text: "return fetch('x')", Form: proviso.Body, Purpose: proviso.Synthesised}, false},
		{proviso.Source{Language: "python", File: "a.ts", Form: proviso.Module}, false},
	} {
		if got := sandbox.NeedsNode(tc.src); got != tc.want {
			t.Errorf("%s %q: %v", tc.src.File, tc.src.Text, got)
		}
	}
}

// TestInlineInNode: inline code that uses a global of Node gets it, at the positions and with
// the parameters of the text in the suite.
func TestInlineInNode(t *testing.T) {
	t.Parallel()
	needNode(t)
	s := openFor(t, sandbox.Options{Dir: t.TempDir(), Env: environment("KEY", "secret"), Grants: sandbox.Grants{Env: []string{"KEY"}}})
	for _, tc := range []struct {
		form       proviso.Form
		text, want string // want is the result, or part of the error
	}{
		{proviso.Body, "return process.env.KEY + output + context.n", `"secretout1"`},
		{proviso.Expression, "crypto.randomUUID().length // 36", `36`},
		{proviso.Expression, "new Intl.NumberFormat('en').format(1000)", `"1,000"`},
		{proviso.Body, "const require = process.mainModule.require;\nreturn require('path').basename('/a/b')", `"b"`},
		{proviso.Body, "return typeof require + (process ? '' : 'x')", `"undefined"`},
		{proviso.Body, "return process.cwd() ? output.no.such : 0", "Cannot read properties of undefined (reading 'such')"},
		{proviso.Body, "return process.cwd() +* 2", "line 1, column 23"},
		{proviso.Body, "process.cwd();\nreturn 1 +* 2", "line 2, column 11"},
		{proviso.Body, "return fetch('http://127.0.0.1:8999').then(() => true)", "--grant network allows it"},
	} {
		src := inline(tc.form, tc.text)
		src.Params = append(src.Params, "process")
		var got string
		f, err := s.Compile(t.Context(), src)
		if err == nil {
			var v any
			v, err = f.Call(t.Context(), "out", value.ObjectOf("n", 1.0), value.Undefined{})
			got = value.Stringify(v)
		}
		if err != nil {
			got = err.Error()
			var thrown *proviso.ScriptError
			if errors.As(err, &thrown) && thrown.Syntax {
				got = fmt.Sprintf("line %d, column %d", thrown.Line, thrown.Column)
			}
		}
		if !strings.Contains(got, tc.want) {
			t.Errorf("%s\n gives %s\n want %s", tc.text, got, tc.want)
		}
	}
}

func TestNodeForms(t *testing.T) {
	t.Parallel()
	needNode(t)
	dir := t.TempDir()
	write(t, dir, "lib/dep.js", "exports.two = 2; exports.seen = []")
	write(t, dir, "lib/dep.mjs", "export const three = 3; export default class { n() { return 4 } }")
	write(t, dir, "lib/data.json", `{"a": [1]}`)
	s := openFor(t, sandbox.Options{Dir: dir, Workers: 1})
	for _, tc := range []struct{ file, entry, text, want string }{
		{"lib/a.js", "", "const {two} = require('./dep'); module.exports = (output, context) => two + output.length + context.vars.n", `10`},
		{"lib/a.js", "check", "const d = require('./dep.js'); exports.check = async (o) => { await null; return {pass: true, score: d.two, reason: o} }", `{"pass":true,"score":2,"reason":"hello"}`},
		{"lib/a.cjs", "", "const p = require('path'); exports.default = (o) => p.basename(__filename) + typeof module.id + p.basename(__dirname)", `"a.cjsstringlib"`},
		{"lib/a.mjs", "", "import {three} from './dep.mjs'; export default (o) => three", `3`},
		{"lib/a.js", "", "import Four, {three} from './dep.mjs'; import fs from 'node:fs';\nexport default async (o) => three + new Four().n() + fs.readFileSync('lib/data.json', 'utf8').length", `17`},
		{"lib/a.mjs", "named", "import * as all from './dep.js'; export function named(o) { return [Object.keys(all).length > 0, import.meta.url.endsWith('/lib/a.mjs'), import.meta.dirname.endsWith('lib')] }", `[true,true,true]`},
		{"lib/a.mjs", "", "export default async (o) => (await import('./dep.mjs')).three", `3`},
		{"lib/a.cjs", "", "module.exports = async (o) => (await import('./dep.mjs')).three + require('./dep').two", `5`},
		{"lib/a.mjs", "", "import data from './data.json' with { type: 'json' }; export default () => data", `{"a":[1]}`},
		{"lib/a.mjs", "", "import 'node:fs'; const x = await Promise.resolve(7); export default () => x", `7`},
		{"lib/a.js", "", "require('fs'); count = (globalThis.count || 0) + 1; module.exports = () => [count, typeof fetch, typeof require, typeof process.binding]", `[1,"function","function","function"]`},
		{"lib/a.js", "", "require('fs'); module.exports = () => [undefined, NaN, -0, 'x', null, () => 1, new Date(0), Object(1)]", `[null,null,0,"x",null,null,"1970-01-01T00:00:00.000Z",1]`},
		{"lib/a.js", "", "const { createHash } = require('node:crypto'); module.exports = (o) => createHash('sha256').update(o).digest('hex').slice(0, 8)", `"2cf24dba"`},
		{"lib/a.js", "", "const {Worker} = require('worker_threads'); module.exports = () => new Promise((ok) => new Worker('require(\"worker_threads\").parentPort.postMessage(5)', {eval: true}).on('message', ok))", `5`},
	} {
		f, err := s.Compile(t.Context(), nodeSource(tc.file, tc.text, tc.entry))
		if err != nil {
			t.Errorf("%s\n %v", tc.text, err)
			continue
		}
		for range 2 { // the second call sees nothing of the first
			v, err := f.Call(t.Context(), "hello", value.ObjectOf("vars", value.ObjectOf("n", 3.0)))
			if got := value.Stringify(v); got != tc.want || err != nil {
				t.Errorf("%s\n gives %s %v, want %s", tc.text, got, err, tc.want)
			}
		}
		_ = f.Close()
	}
	echo := nodeSource("lib/a.js", "require('fs'); module.exports = (...args) => args[0]", "")
	f, err := s.Compile(t.Context(), echo)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range values() {
		if got, err := f.Call(t.Context(), v); err != nil || !sameValue(got, v) {
			t.Errorf("%#v comes back as %#v %v", v, got, err)
		}
	}
	if v, err := once(t, s, nodeSource("lib/a.js", "require('fs'); module.exports = () => () => 1", "")); !reflect.DeepEqual(v, &value.Opaque{Kind: "function"}) || err != nil {
		t.Errorf("a function: %#v %v", v, err)
	}
}

// values are values that reach JavaScript and come back unchanged.
func values() []any {
	return []any{
		nil, true, 1.5, math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), value.Undefined{}, "", "héllo 😀", "\x01u", "\xed\xa0\xbd",
		[]any{1.0, value.Undefined{}, "\x01s"}, value.ObjectOf("a", nil, "u", value.Undefined{}, "__proto__", 1.0), strings.Repeat("x", 200000),
	}
}

func sameValue(a, b any) bool {
	x, ok := a.(float64)
	y, ok2 := b.(float64)
	if ok && ok2 {
		return math.Float64bits(x) == math.Float64bits(y) || x != x && y != y
	}
	if o, ok := a.(*value.Object); ok {
		p, ok := b.(*value.Object)
		if !ok || o.Len() != p.Len() {
			return false
		}
		for k, v := range o.All() {
			if !sameValue(v, p.At(k)) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(a, b)
}

func TestNodeMistakes(t *testing.T) {
	t.Parallel()
	needNode(t)
	dir := t.TempDir()
	write(t, dir, "dep.mjs", "export const three = 3")
	write(t, dir, "broken.js", "const a = (")
	s := openFor(t, sandbox.Options{Dir: dir, Workers: 1, Timeout: 2 * time.Second})
	for _, tc := range []struct {
		file, text, code string
		line, column     int
		message          string
		syntax           bool
	}{
		{"a.js", "const fs = require('fs');\nlet a = (;\n", "SyntaxError", 2, 10, "Unexpected token ';'", true},
		{"a.mjs", "import {three} from './dep.mjs'\n\nexport default (o) => { return three +; }", "SyntaxError", 3, 39, "Unexpected token ';'", true},
		{"a.js", "import fs from 'fs'\nexport const a = 1;\nexport function f( { }", "SyntaxError", 3, 0, "", true},
		{"a.mjs", "import fs from 'fs'\nconst x = await 1;\nexport default class { a( }", "SyntaxError", 3, 27, "", true},
		{"a.mjs", "import fs from 'fs'\nexport default 1\nexport default 2", "SyntaxError", 0, 0, "already been declared", true},
		{"a.js", "const fs = require('fs');\nmodule.exports = (o) => o.x.y", "TypeError", 2, 29, "Cannot read properties of undefined", false},
		{"a.mjs", "import fs from 'fs'\nexport default async (o) => {\n  await null;\n  throw new RangeError('far ' + o)\n}", "RangeError", 4, 9, "far hello", false},
		{"a.js", "require('fs'); module.exports = () => { throw 'text' }", "", 0, 0, "text", false},
		{"a.js", "require('fs'); module.exports = () => Promise.reject(null)", "", 0, 0, "null", false},
		{"a.js", "require('fs'); module.exports = () => { throw { get message() { throw 1 } } }", "Error", 0, 0, "cannot be shown", false},
		{"a.js", "require('fs');\nmodule.exports = () => new Promise(() => setTimeout(() => { throw new Error('late') }))", "Error", 2, 67, "late", false},
		{"a.js", "require('fs'); module.exports = () => { const a = {}; a.a = a; return a }", "TypeError", 0, 0, "cyclic", false},
		{"a.js", "require('fs'); module.exports = () => [1n]", "TypeError", 0, 0, "BigInt", false},
		{"a.js", "require('fs');\nthrow new Error('at load')", "Error", 2, 7, "at load", false},
		{"a.js", "require('./broken'); module.exports = () => 1", "SyntaxError", 0, 0, "Unexpected end of input", false},
		{"a.js", "require('left-pad'); module.exports = () => 1", proviso.Unavailable, 0, 0, "line 1: Cannot find module 'left-pad' (packages are not granted)", false},
		{"a.js", "require('./nothing'); module.exports = () => 1", proviso.Unavailable, 0, 0, "Cannot find module './nothing'", false},
		{"a.mjs", "import x from 'left-pad'; export default () => x", proviso.Unavailable, 0, 0, "Cannot find module 'left-pad' (packages are not granted)", false},
		{"a.mjs", "import x from './nothing.mjs'; export default () => x", proviso.Unavailable, 0, 0, "Cannot find module", false},
		{"a.mjs", "import {four} from './dep.mjs'; export default () => four", proviso.Unavailable, 0, 0, "does not provide an export named 'four'", false},
		{"a.js", "require('fs'); exports.checks = () => 1; exports.n = 1", proviso.NotFound, 0, 0, "it exports no function as its default", false},
		{"a.js", "require('fs'); module.exports = () => { for (;;); }", proviso.Timeout, 0, 0, "ran longer than 300ms", false},
		{"a.js", "require('fs'); module.exports = () => new Promise(() => {})", proviso.Timeout, 0, 0, "waits for a promise that nothing will settle", false},
		{"a.js", "require('fs'); module.exports = () => new Promise((ok) => setTimeout(ok, 1e6))", proviso.Timeout, 0, 0, "ran longer than 300ms", false},
		{"a.js", "require('fs'); module.exports = () => 'x'.repeat(2 << 20)", proviso.Limit, 0, 0, "larger than 1 MB", false},
		{"a.js", "require('fs'); module.exports = () => Buffer.alloc(3e9).length", proviso.Limit, 0, 0, "memory", false},
		{"a.js", "require('fs'); module.exports = () => process.exit(0)", proviso.Undecided, 0, 0, "ended without a reply", false},
		{"a.js", "require('fs'); module.exports = () => { console.log('about to'); process.exit(7) }", proviso.Undecided, 0, 0, "ended with status 7; it printed: about to", false},
		{"a.js", "module.exports = () => require('fs').readFileSync('/etc/passwd')", proviso.Refused, 0, 0, "line 1: blocked by the sandbox", false},
		{"a.js", "module.exports = () => require('child_process').execSync('true')", proviso.Refused, 0, 0, "blocked by the sandbox", false},
		{"a.js", "require('fs'); module.exports = () => fetch('http://127.0.0.1:8099')", proviso.Refused, 0, 0, "blocked by the sandbox", false},
		{"a.js", "require('fs'); module.exports = () => fetch('http://example.com')", proviso.Refused, 0, 0, "blocked by the sandbox", false},
	} {
		src := nodeSource(tc.file, tc.text, "")
		if tc.code == proviso.Timeout {
			src.Timeout = 300 * time.Millisecond
		}
		v, err := once(t, s, src, "hello")
		var thrown *proviso.ScriptError
		if codeOf(err) != tc.code || !strings.Contains(err.Error(), tc.message) {
			t.Errorf("%s\n gives %v %v (%s), want %s %s", tc.text, v, err, codeOf(err), tc.code, tc.message)
			continue
		}
		if tc.syntax && (!errors.As(err, &thrown) || !thrown.Syntax) {
			t.Errorf("%s\n is no syntax error: %v", tc.text, err)
		}
		if tc.line > 0 && (!errors.As(err, &thrown) || thrown.Line != tc.line || tc.column > 0 && thrown.Column != tc.column) {
			t.Errorf("%s\n is at %d:%d, want %d:%d\n%s", tc.text, thrown.Line, thrown.Column, tc.line, tc.column, thrown.Stack)
		}
		if errors.As(err, &thrown) && (strings.Contains(thrown.Stack, "[eval]") || strings.Contains(thrown.Stack, dir+"/a.")) {
			t.Errorf("%s\n has the stack\n%s", tc.text, thrown.Stack)
		}
	}
	_, err := once(t, s, nodeSource("a.js", "require('fs'); exports.check = () => 1; exports.other = () => 2", "chek"))
	e, _ := errors.AsType[*proviso.Error](err)
	if codeOf(err) != proviso.NotFound || strings.Join(e.Valid, " ") != "check other" || !strings.Contains(err.Error(), "a.js: there is no function chek") {
		t.Errorf("a missing function: %v %v", err, e)
	}
}

// TestNodeLeavesNothing: a call sees nothing of an earlier one, of the same
// source or another.
func TestNodeLeavesNothing(t *testing.T) {
	t.Parallel()
	needNode(t)
	s := openFor(t, sandbox.Options{Dir: t.TempDir(), Workers: 1})
	const clean = "({}).polluted === undefined && [].map.call([1], (x) => x + 1)[0] === 2 && JSON.parse('1') === 1 && typeof leak === 'undefined' && seen === 0"
	for _, attack := range []string{
		"Object.prototype.polluted = 1", "Array.prototype.map = () => [0]", "JSON.parse = () => 2", "leak = 1", "globalThis.leak = 1",
		"Object.setPrototypeOf(Array.prototype, {polluted: 1})", "Object.defineProperty(globalThis, 'leak', {value: 1, enumerable: true})", "seen++",
		"setInterval(() => { globalThis.leak = 1 }, 1)", "new (require('worker_threads').Worker)('for (;;);', {eval: true})",
	} {
		f, err := s.Compile(t.Context(), nodeSource("a.js", "require('fs'); let seen = 0;\nmodule.exports = (o) => { const was = "+clean+"; if (o === 'bad') { "+attack+" } return was }", ""))
		if err != nil {
			t.Fatal(err)
		}
		for _, arg := range []string{"bad", "good", "bad", "good"} {
			if v, err := f.Call(t.Context(), arg); v != true || err != nil {
				t.Errorf("%s: a later call (%s) gives %v %v", attack, arg, v, err)
			}
		}
		_ = f.Close()
	}
}

// TestNodeThreads: a worker with a thread that continues after a call is replaced: at once for
// code that decides, and when the thread is found to compute for code with side effects.
func TestNodeThreads(t *testing.T) {
	t.Parallel()
	needNode(t)
	s := openFor(t, sandbox.Options{Dir: t.TempDir(), Workers: 1})
	for _, purpose := range []proviso.Purpose{0, proviso.Acting} {
		src := nodeSource("a.js", "const {Worker} = require('worker_threads');\nmodule.exports = (o) => { if (o === 'spin') new Worker('for (;;);', {eval: true}).unref(); return process.cpuUsage().user }", "")
		src.Purpose = purpose
		f, err := s.Compile(t.Context(), src)
		if err != nil {
			t.Fatal(err)
		}
		spent := func(arg string) float64 {
			v, err := f.Call(t.Context(), arg)
			if err != nil {
				t.Fatal(err)
			}
			return v.(float64)
		}
		spent("spin")
		time.Sleep(700 * time.Millisecond)
		spent("") // with side effects, the worker with the spinning thread answers once more
		// On a busy machine a spinning thread may get less than the tenth of a processor by
		// which it is detected, and more the next time.
		used, allowed := 0.0, -1.0
		for try := 0; try < 5 && (used > allowed || used < 0 && purpose != 0); try++ {
			first, start := spent(""), time.Now()
			time.Sleep(500 * time.Millisecond)
			used = spent("") - first
			allowed = 30e3 + float64(time.Since(start).Microseconds())/10
		}
		if used > allowed || used < 0 && purpose != 0 {
			t.Errorf("purpose %v: the worker uses %v µs of 500 ms in which nobody calls it", purpose, used)
		}
		_ = f.Close()
	}
}

// TestIdleThreads: a worker whose thread computes between calls is ended without a further
// call. An idle one stays.
func TestIdleThreads(t *testing.T) {
	t.Parallel()
	needNode(t)
	if runtime.GOOS != "linux" {
		t.Skip("only Linux says what a process computes")
	}
	for _, o := range []sandbox.Options{{}, sandbox.NoNamespaces(sandbox.Options{}), {Policy: sandbox.Off}} {
		o.Dir = t.TempDir()
		s := openFor(t, sandbox.IdleCheck(o, 200*time.Millisecond))
		for _, arg := range []string{"stay", "spin"} {
			src := nodeSource("a.js", "const {Worker} = require('worker_threads');\nmodule.exports = (o) => { if (o === 'spin') new Worker('for (;;);', {eval: true}).unref(); return o }", "")
			src.Purpose = proviso.Acting
			f, err := s.Compile(t.Context(), src)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.Call(t.Context(), arg); err != nil {
				t.Fatal(err)
			}
			end := time.Now().Add(time.Second)
			if arg == "spin" {
				end = time.Now().Add(40 * time.Second) // a busy machine
			}
			for s.Workers() > 0 && time.Now().Before(end) {
				time.Sleep(20 * time.Millisecond)
			}
			if gone := s.Workers() == 0; gone != (arg == "spin") {
				t.Errorf("%v, %s: the idle worker is gone: %v", o.Policy, arg, gone)
			}
			_ = f.Close()
		}
	}
}

func TestNodeFilesAndPackages(t *testing.T) {
	t.Parallel()
	needNode(t)
	root := t.TempDir()
	dir := filepath.Join(root, "evals")
	write(t, root, "package.json", `{"type": "module"}`)
	write(t, root, "node_modules/above/index.js", "export default 42")
	write(t, root, "node_modules/above/package.json", `{"type": "module"}`)
	write(t, root, "packages/sibling/index.js", "export const linked = 43")
	write(t, dir, "node_modules/near/index.js", "module.exports = 44")
	write(t, dir, "node_modules/near/package.json", `{}`)
	write(t, dir, "helper.js", "import near from 'near'; export default near")
	write(t, root, "secret.txt", "secret")
	if err := os.Symlink("../packages/sibling", filepath.Join(root, "node_modules", "sibling")); err != nil {
		t.Fatal(err)
	}
	text := "import above from 'above'; import {linked} from 'sibling'; import helper from './helper.js';\nexport default () => [above, linked, helper]"
	for _, o := range []sandbox.Options{{Policy: sandbox.Auto}, {Grants: sandbox.Grants{Packages: true}}, sandbox.NoNamespaces(sandbox.Options{Policy: sandbox.Auto}), {Policy: sandbox.Off}} {
		o.Dir = dir
		if v, err := once(t, openFor(t, o), nodeSource("a.mjs", text, "")); value.Stringify(v) != "[42,43,44]" || err != nil {
			t.Errorf("%v: %v %v", o.Policy, v, err)
		}
	}
	for _, purpose := range []proviso.Purpose{proviso.Deciding, proviso.Synthesised} {
		s := openFor(t, sandbox.Options{Dir: dir})
		src := nodeSource("a.mjs", text, "")
		src.Purpose = purpose
		if v, err := once(t, s, src); codeOf(err) != proviso.Unavailable || !strings.Contains(err.Error(), "'above'") {
			t.Errorf("require, purpose %d: %v %v", purpose, v, err)
		}
	}
	auto := openFor(t, sandbox.Options{Policy: sandbox.Auto, Dir: dir, Env: environment("KEY", "secret"), Grants: sandbox.Grants{Env: []string{"KEY"}}})
	secret := nodeSource("a.js", "const fs = require('fs'); module.exports = () => fs.readFileSync("+quoted(filepath.Join(root, "secret.txt"))+", 'utf8')", "")
	if v, err := once(t, auto, secret); codeOf(err) != proviso.Refused {
		t.Errorf("a file beside the suite's folder: %v %v", v, err)
	}
	if v, err := once(t, auto, nodeSource("a.js", "require('fs'); module.exports = () => [process.env.KEY, process.env.HOME, Object.keys(process.env).sort().join()]", "")); value.Stringify(v) != `["secret",null,"KEY,LANG,PATH"]` || err != nil {
		t.Errorf("the environment: %v %v", v, err)
	}
}

// TestNodeActing: a provider keeps its module and its connections, and gets the network under
// auto.
func TestNodeActing(t *testing.T) {
	t.Parallel()
	needNode(t)
	connections := 0
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("hi")) }))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections++
		}
	}
	server.Start()
	defer server.Close()
	text := "import fs from 'fs';\nlet n = 0;\nexport default async (url) => [await (await fetch(url)).text(), ++n]"
	for _, tc := range []struct {
		o    sandbox.Options
		want string
	}{
		{sandbox.Options{Policy: sandbox.Auto}, `["hi",2]`},
		{sandbox.Options{Grants: sandbox.Grants{Network: true}}, `["hi",2]`},
		{sandbox.Options{}, proviso.Refused},
	} {
		tc.o.Dir, tc.o.Workers = t.TempDir(), 1
		s := openFor(t, tc.o)
		src := nodeSource("p.mjs", text, "")
		src.Purpose = proviso.Acting
		f, err := s.Compile(t.Context(), src)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = f.Call(t.Context(), server.URL)
		v, err := f.Call(t.Context(), server.URL)
		got := codeOf(err)
		if err == nil {
			got = value.Stringify(v)
		}
		if got != tc.want {
			t.Errorf("%+v: %s %v, want %s", tc.o.Policy, got, err, tc.want)
		}
	}
}

func TestTypeScript(t *testing.T) {
	t.Parallel()
	needNode(t)
	for _, node := range []string{"node", os.Getenv("PROVISO_TEST_NODE")} {
		if node == "" {
			continue
		}
		dir := t.TempDir()
		path := os.Getenv("PATH")
		if node != "node" {
			path = filepath.Dir(node)
		}
		write(t, dir, "dep.ts", "export const two: number = 2")
		s := openFor(t, sandbox.Options{Dir: dir, Env: environment("PATH", path)})
		v, err := once(t, s, nodeSource("a.ts", "import { two } from './dep.ts'\ninterface A { n: number }\nexport default (o: string): A => ({ n: o.length + two })", ""), "hello")
		if codeOf(err) == proviso.Unavailable && strings.Contains(err.Error(), "TypeScript needs Node 22.13 or later") {
			t.Logf("%v", err)
			continue
		}
		if value.Stringify(v) != `{"n":7}` || err != nil {
			t.Errorf("%v %v", v, err)
		}
		write(t, dir, "lib/place.ts", "import { basename } from 'path';\nexport const place: string = basename(__dirname)")
		const placed = "import { basename } from 'path';\nimport { place } from './lib/place';\nexport default (o: string) => [basename(__filename), place, __dirname.length > 0]"
		if v, err = once(t, s, nodeSource("a.ts", placed, ""), "x"); value.Stringify(v) != `["a.ts","lib",true]` || err != nil {
			t.Errorf("%v %v", value.Stringify(v), err)
		}
		if v, err = once(t, s, nodeSource("a.ts", "import { dirname } from 'path';\nconst __dirname = dirname('/a/b');\nexport default (o: string) => __dirname", ""), "x"); v != "/a" || err != nil {
			t.Errorf("%v %v", v, err)
		}
		if v, err = once(t, s, nodeSource("a.ts", "enum E { A = 3 }\nexport const f = (o: string) => E.A", "f"), "hello"); v != 3.0 || err != nil {
			t.Errorf("an enum: %v %v", v, err)
		}
		write(t, dir, "lib/index.ts", "import { two } from '../dep.js'\nexport const three: number = two + 1")
		for _, name := range []string{"./dep", "./dep.js", "./dep.ts"} {
			if v, err = once(t, s, nodeSource("a.ts", "import { two } from '"+name+"'\nexport default (): number => two", ""), ""); v != 2.0 || err != nil {
				t.Errorf("%s: %v %v", name, v, err)
			}
		}
		if v, err = once(t, s, nodeSource("a.ts", "import { three } from './lib'\nexport default (): number => three", ""), ""); v != 3.0 || err != nil {
			t.Errorf("a folder: %v %v", v, err)
		}
		if _, err = once(t, s, nodeSource("a.ts", "import { two } from './gone'\nexport default (): number => two", ""), ""); err == nil || !strings.Contains(err.Error(), "gone") {
			t.Errorf("a file that is not there: %v", err)
		}
		write(t, dir, "package.json", `{"type": "commonjs"}`)
		s = openFor(t, sandbox.Options{Dir: dir, Env: environment("PATH", path)})
		if v, err = once(t, s, nodeSource("a.ts", "import { three } from './lib'\nexport default (): number => three", ""), ""); v != 3.0 || err != nil {
			t.Errorf("in a package of CommonJS: %v %v", v, err)
		}
		var thrown *proviso.ScriptError
		if _, err = once(t, s, nodeSource("a.ts", "const a: number = 1\nlet b: = 2\nexport default () => a", "")); !errors.As(err, &thrown) || !thrown.Syntax || thrown.Line != 2 {
			t.Errorf("a mistake: %v %+v", err, thrown)
		}
		if _, err = once(t, s, nodeSource("a.cts", "const a: number = 1\nmodule.exports = (o: any) => o.x.y", ""), "hello"); !errors.As(err, &thrown) || thrown.Line != 2 || thrown.Column != 34 {
			t.Errorf("an exception: %v %+v", err, thrown)
		}
	}
}

// TestEngine: JavaScript in a worker gives the same results as in process.
func TestEngine(t *testing.T) {
	t.Parallel()
	s := openFor(t, sandbox.Options{Workers: 1})
	here := script.New(script.Options{MaxVMs: 1})
	defer here.Close()
	for _, src := range []proviso.Source{
		inline(proviso.Expression, "output.length > context.vars.n"),
		inline(proviso.Expression, "[1, undefined, -0, NaN, () => 1, {u: undefined}]"),
		inline(proviso.Expression, "() => 1"),
		inline(proviso.Expression, "'\\ud83d\\u0001'"),
		inline(proviso.Body, "const a = await 1"),
		inline(proviso.Body, "return Promise.resolve({pass: true, score: 0.5, reason: output})"),
		inline(proviso.Body, "let a = 1;\nreturn a.b.c"),
		inline(proviso.Body, "return require('fs')"),
		inline(proviso.Body, "return [typeof process, typeof fetch, typeof Intl]"),
		inline(proviso.Body, "throw 'text'"),
		inline(proviso.Body, "return new Promise(() => {})"),
		inline(proviso.Expression, "'a'.repeat(1 << 29)"),
		{Language: "javascript", Name: "a.js", File: "a.js", Form: proviso.Module, Text: "module.exports = (o) => o + 1"},
		{Language: "javascript", Name: "a.mjs", File: "a.mjs", Form: proviso.Module, Entry: "f", Text: "export const f = async (o) => o + 1"},
		{Language: "javascript", Name: "a.js", File: "a.js", Form: proviso.Module, Entry: "g", Text: "exports.f = (o) => o + 1"},
		{Language: "javascript", Name: "a.js", File: "a.js", Form: proviso.Module, Text: "throw new RangeError('at load')"},
	} {
		want, wantErr := once(t, here, src, "hello", value.ObjectOf("vars", value.ObjectOf("n", 3.0)))
		got, err := once(t, s, src, "hello", value.ObjectOf("vars", value.ObjectOf("n", 3.0)))
		if !reflect.DeepEqual(got, want) && !sameList(got, want) || codeOf(err) != codeOf(wantErr) {
			t.Errorf("%s\n gives %#v %v, in process %#v %v", src.Text, got, err, want, wantErr)
		}
		var a, b *proviso.ScriptError
		if errors.As(err, &a) && errors.As(wantErr, &b) && *a != *b {
			t.Errorf("%s\n fails with %+v, in process with %+v", src.Text, a, b)
		}
	}
	f, err := s.Compile(t.Context(), inline(proviso.Body, "return output"))
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range values() {
		if got, err := f.Call(t.Context(), v); err != nil || !sameValue(got, v) && !sameList(got, v) {
			t.Errorf("%#v comes back as %#v %v", v, got, err)
		}
	}
	src := inline(proviso.Body, "return new Array(3e5).fill('xxxx')")
	src.Timeout = time.Minute
	if _, err := once(t, s, src); codeOf(err) != proviso.Limit || !strings.Contains(err.Error(), "larger than 1 MB") {
		t.Errorf("a large result: %v", err)
	}
}

func sameList(a, b any) bool {
	x, ok := a.([]any)
	y, ok2 := b.([]any)
	if !ok || !ok2 || len(x) != len(y) {
		return false
	}
	for i := range x {
		if !sameValue(x[i], y[i]) && !sameList(x[i], y[i]) {
			return false
		}
	}
	return true
}

func TestEngineTimeouts(t *testing.T) {
	t.Parallel()
	s := openFor(t, sandbox.Options{Workers: 1, Timeout: 200 * time.Millisecond})
	for _, text := range []string{"for (;;);", "return /^(?=a)(a+)+$/.test('a'.repeat(40) + 'b')", "return [].indexOf.call({length: 2 ** 53 - 1}, 1)", "return (async () => { for (;;) await 1 })()"} {
		f, err := s.Compile(t.Context(), inline(proviso.Body, "if (output === 'good') return 1;\n"+text))
		if err != nil {
			t.Fatal(err)
		}
		if v, err := f.Call(t.Context(), "bad"); codeOf(err) != proviso.Timeout {
			t.Errorf("%s: %v %v", text, v, err)
		}
		if v, err := f.Call(t.Context(), "good"); v != 1.0 || err != nil {
			t.Errorf("%s: the next call gives %v %v", text, v, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	f, err := s.Compile(ctx, inline(proviso.Body, "return 1"))
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := f.Call(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled call: %v", err)
	}
}

// TestLeftByAnException: what a failing call leaves behind, globals and threads, does not reach
// the next call.
func TestLeftByAnException(t *testing.T) {
	t.Parallel()
	javascript := "const {Worker} = require('worker_threads');\nmodule.exports = (o) => {\n  const left = typeof leak;\n" +
		"  globalThis.leak = 1;\n  if (o === 'thread') new Worker('setTimeout(() => {}, 60000)', {eval: true});\n  if (o !== 'look') throw new Error('x');\n  return left;\n};\n"
	python := "import threading, time\ndef get_assert(output, context):\n    left = threading.active_count()\n    if output == 'thread': threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n" +
		"    if output != 'look': raise ValueError('x')\n    return left\n"
	for _, test := range []struct {
		src  proviso.Source
		want string // of each call
	}{
		{nodeSource("a.js", javascript, ""), `"undefined"`},
		{proviso.Source{Language: "python", Name: "a.py", File: "a.py", Text: python, Entry: "get_assert", Form: proviso.Module}, "1"},
	} {
		t.Run(test.src.Language, func(t *testing.T) {
			if test.src.Language == "javascript" {
				needNode(t)
			}
			s := openFor(t, sandbox.Options{Dir: t.TempDir(), Workers: 1})
			f, err := s.Compile(t.Context(), test.src)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			for _, leaves := range []string{"nothing", "thread", "thread"} {
				if _, err := f.Call(t.Context(), leaves, nil); err == nil {
					t.Fatal("it does not throw")
				}
				if left, err := f.Call(t.Context(), "look", nil); value.Stringify(left) != test.want || err != nil {
					t.Fatalf("after %s, the next call finds %v %v", leaves, value.Stringify(left), err)
				}
			}
		})
	}
}
