package sandbox_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/sandbox"
	"github.com/proviso-eval/proviso/value"
)

// nodeAttacks do in Node what attacks do in Python, as far as Node allows. Each is the body of
// an async function.
func nodeAttacks() []attack {
	return []attack{
		{"read", `return fs.readFileSync("/etc/passwd", "utf8")`, "refused"},
		{"read home", `return fs.readdirSync(path.dirname("SECRET")).concat(fs.readdirSync("/root"))`, "refused"},
		{"list root", `return fs.readdirSync("/")`, "refused"},
		{"list tmp", `return fs.readdirSync("/tmp")`, "refused"},
		{"link", `return fs.readFileSync("link", "utf8")`, "refused Error"},
		{"dots", `return fs.readFileSync("../".repeat(30) + "etc/passwd", "utf8")`, "refused Error"},
		{"proc root", `return fs.readFileSync("/proc/self/root/etc/passwd", "utf8")`, "refused"},
		{"secret", `return fs.promises.readFile("SECRET", "utf8")`, "refused"},
		{"require a file", `return require("SECRET")`, "refused unavailable"},
		{"import a file", `return (await import("file:///etc/passwd")).default`, "refused unavailable TypeError"},
		{"write tmp", `fs.writeFileSync("/tmp/proviso-attack", "x")`, "refused"},
		{"write cwd", `fs.writeFileSync("data.txt", "x")`, "refused"},
		{"create", `fs.writeFileSync("new.txt", "x")`, "refused"},
		{"write shm", `fs.writeFileSync("/dev/shm/proviso-attack", "x")`, "refused"},
		{"truncate", `fs.truncateSync("data.txt", 0); return "WORKED"`, "refused"},
		{"truncate by reading", `fs.closeSync(fs.openSync("data.txt", fs.constants.O_RDONLY | fs.constants.O_TRUNC)); return "WORKED"`, "refused"},
		{"unlink", `fs.unlinkSync("data.txt"); return "WORKED"`, "refused"},
		{"rename", `fs.renameSync("data.txt", "x"); return "WORKED"`, "refused"},
		{"hard link", `fs.linkSync("data.txt", "x"); return "WORKED"`, "refused"},
		{"symlink", `fs.symlinkSync("data.txt", "x"); return "WORKED"`, "refused"},
		{"mkdir", `fs.mkdirSync("x"); return "WORKED"`, "refused"},
		{"rmdir", `fs.rmdirSync("empty"); return "WORKED"`, "refused"},
		{"chmod", `fs.chmodSync("data.txt", 0o777); return "WORKED"`, "refused"},
		{"chown", `fs.chownSync("data.txt", 0, 0); return "WORKED"`, "refused"},
		{"utimes", `fs.utimesSync("data.txt", 1, 1); return "WORKED"`, "refused"},
		{"copy", `fs.copyFileSync("data.txt", "x"); return "WORKED"`, "refused"},
		{"heap snapshot", `require("v8").writeHeapSnapshot("/tmp/proviso-attack"); return "WORKED"`, "refused Error undecided"},
		{"report", `process.report.writeReport("/tmp/proviso-attack"); return "tried"`, `"tried"`},

		{"environ", `return Object.keys(process.env).filter((k) => k !== "PATH" && k !== "LANG")`, "[]"},
		{"by the constructor", `return (function () {}).constructor("return Object.keys(process.env).filter((k) => /KEY|TOKEN/.test(k))")()`, "[]"},
		{"parent environ", `return fs.readFileSync("/proc/PARENT/environ", "utf8")`, "refused"},
		{"own environ", `return fs.readFileSync("/proc/self/environ", "utf8")`, "refused"},
		{"siblings", `return fs.readdirSync("/proc").filter((p) => /^\d/.test(p)).map((p) => fs.readFileSync("/proc/" + p + "/environ", "utf8"))`, "refused"},
		{"descriptors", "const fds = []; for (let fd = 4; fd < 256; fd++) { try { const s = fs.fstatSync(fd); if (s.isFile() || s.isSocket() || s.isDirectory()) fds.push(fd) } catch {} } return fds", "[]"},
		{"report of the environment", `return JSON.stringify(process.report.getReport()).includes("sk-" + "planted")`, "false"},

		{"tcp", `return new Promise((ok, no) => require("net").connect(TCPPORT, "127.0.0.1", () => ok("WORKED")).on("error", no))`, "refused"},
		{"fetch", `return (await fetch("http://127.0.0.1:TCPPORT")).status`, "refused"},
		{"udp", `return new Promise((ok, no) => { const s = require("dgram").createSocket("udp4"); s.on("error", no); s.send("x", UDPPORT, "127.0.0.1", (e) => e ? no(e) : ok("WORKED")) })`, "refused"},
		{"dns", `return require("dns").promises.lookup("example.com")`, "refused"},
		{"dns by hand", `return require("dns").promises.resolve4("example.com")`, "refused Error"},
		{"unix", `return new Promise((ok, no) => require("net").connect("UNIXPATH", () => ok("WORKED")).on("error", no))`, "refused"},
		{"abstract", `return new Promise((ok, no) => require("net").createServer().listen("\0proviso", () => ok("WORKED")).on("error", no))`, "refused"},
		{"listen", `return new Promise((ok, no) => require("net").createServer().listen(0, () => ok("WORKED")).on("error", no))`, "refused"},
		{"inspector", `require("inspector").open(0); return require("inspector").url() || "closed"`, `"closed" refused Error`},

		{"spawn", `return new Promise((ok, no) => require("child_process").spawn("/bin/sh", ["-c", "true"]).on("exit", () => ok("WORKED")).on("error", no))`, "refused"},
		{"shell", `return require("child_process").execSync("true").length`, "refused"},
		{"detached", `require("child_process").spawn("sleep", ["600"], {detached: true, stdio: "ignore"}).unref(); return "tried"`, "refused undecided"},
		{"fork", `return new Promise((ok, no) => require("child_process").fork("data.txt").on("spawn", () => ok("WORKED")).on("error", no))`, "refused"},
		{"fork bomb", `let n = 0; for (let i = 0; i < 200; i++) if (!require("child_process").spawnSync("/bin/true").error) n++; return n`, "0"},
		{"cluster", `return new Promise((ok, no) => { require("cluster").setupPrimary({exec: "data.txt"}); require("cluster").fork().on("online", () => ok("WORKED")).on("error", no) })`, "refused"},
		{"spawn by binding", `const { Process } = process.binding("process_wrap"); return new Process().spawn({file: "/bin/sh", args: ["sh", "-c", "true"], envPairs: [], stdio: [{type: "ignore"}]}) < 0 ? "no" : "WORKED"`, `"no" Error`},
		{"kill parent", `process.kill(PARENT, 0); return "WORKED"`, "refused"},
		{"kill all", `process.kill(-1, "SIGKILL"); return "WORKED"`, "refused"},
		{"priority", `require("os").setPriority(PARENT, 5); return "WORKED"`, "refused SystemError"},
		{"setuid", `process.setuid(0); return "WORKED"`, "refused Error"},
		{"native code", `process.dlopen({exports: {}}, "/lib/x86_64-linux-gnu/libm.so.6"); return "WORKED"`, "refused"},
		{"addon", `require("./evil.node"); return "WORKED"`, "refused unavailable"},
		{"exec in place", `if (!process.execve) throw new Error("none"); process.execve("/bin/sh", ["sh", "-c", "true"], {})`, "undecided Error refused"},
		{"signals", `process.on("SIGTERM", () => {}); process.on("SIGINT", () => {}); return "ok"`, `"ok"`},

		{"exit", `process.exit(0)`, "undecided"},
		{"abort", `process.abort()`, "undecided"},
		{"really exit", `process.reallyExit(3)`, "undecided"},
		{"forged id", `fs.writeSync(3, Buffer.concat([Buffer.from([0, 0, 0, 13]), Buffer.from("R12345678true")])); return 1`, "undecided"},
		{"huge length", `fs.writeSync(3, Buffer.alloc(8, 255)); return 1`, "undecided"},
		{"close the channel", `fs.closeSync(3); return 1`, "undecided"},
		{"exit handlers", `process.on("exit", () => fs.writeSync(3, "xxxx")); return "ok"`, `"ok"`},
		{"patched", `JSON.parse = JSON.stringify = Buffer.from = Array.prototype.slice = String.prototype.split = () => 0; fs.readSync = fs.writeSync = Promise.prototype.then = null; return "ok"`, `"ok" undecided TypeError`},
		{"late throw", `setTimeout(() => { throw new Error("late") }); setImmediate(() => { throw new Error("later") }); return "ok"`, `"ok"`},
		{"hostile value", `return new Proxy({}, { get() { throw new RangeError("got") } })`, "RangeError"},
		{"hostile error", `throw new Proxy(new Error("x"), { get() { throw new RangeError("got") } })`, "Error"},
		{"strange stack", `Error.prepareStackTrace = () => ({ split: 1 }); throw new Error("x")`, "Error"},
		{"flood", `for (let i = 0; i < 20000; i++) console.log("x".repeat(1000)); return "done"`, `"done"`},
		{"flood below", `for (let i = 0; i < 2000; i++) { try { fs.writeSync(1, "x".repeat(1000)) } catch {} } return "done"`, `"done"`},
	}
}

// nodeHogs take time and memory.
func nodeHogs() []attack {
	return []attack{
		{"loop", `for (;;);`, "timeout"},
		{"backtracking", `return /^(?=a)(a+)+$/.test("a".repeat(40) + "b")`, "timeout"},
		{"promises", `for (;;) await null`, "timeout"},
		{"ticks", `return new Promise(() => { const f = () => process.nextTick(f); f() })`, "timeout"},
		{"wait", `Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)`, "timeout"},
		{"half a frame", `fs.writeSync(3, Buffer.from([0, 0, 0, 100, 82])); for (;;);`, "timeout"},
		{"array", `const a = []; for (;;) a.push({a})`, "limit timeout"},
		{"buffers", `const a = []; for (;;) a.push(Buffer.alloc(1 << 24, 1))`, "limit timeout"},
		{"wasm", `new WebAssembly.Memory({initial: 65536}); const a = []; for (;;) a.push(new Uint8Array(new WebAssembly.Memory({initial: 1000}).buffer).fill(1))`, "limit timeout RangeError"},
		{"recursion", `const f = () => f(); return f()`, "RangeError"},
		{"threads", `const { Worker } = require("worker_threads"); for (let i = 0; i < 1000; i++) new Worker("for (;;);", {eval: true}).on("error", () => {}); for (;;);`, "timeout limit undecided Error"},
		{"50 MB", `return "x".repeat(50 << 20)`, "limit timeout"},
	}
}

func TestNodeAttacks(t *testing.T) {
	t.Parallel()
	needNode(t)
	inEachMode(t, func(t *testing.T, namespaces bool) {
		p := plant(t)
		s := attacked(t, p, namespaces)
		list := nodeAttacks()
		attackNode(t, s, p, list, 10*time.Second)
		if namespaces && !testing.Short() { // they do not depend on the user
			attackNode(t, s, p, nodeHogs(), 400*time.Millisecond)
		}
		p.unchanged(t)
		_ = s.Close()
	})
}

// attacked returns a sandbox with something to steal.
func attacked(t *testing.T, p *planted, namespaces bool) *sandbox.Sandbox {
	o := sandbox.Options{
		Dir: p.dir, Timeout: 3 * time.Second, Workers: 2,
		Env: environment("OPENAI_API_KEY", "sk-"+"planted", "HOME", filepath.Dir(p.secret)),
	}
	if !namespaces {
		o = sandbox.NoNamespaces(o)
	}
	return openFor(t, o)
}

// attackNode makes the attacks from one source, since starting Node for each takes long. After
// each, it calls the source and another one harmlessly.
func attackNode(t *testing.T, s *sandbox.Sandbox, p *planted, list []attack, timeout time.Duration) {
	var text strings.Builder
	text.WriteString("const fs = require('fs'), path = require('path');\nconst attacks = {\n")
	for _, a := range list {
		fmt.Fprintf(&text, "%q: async () => { %s },\n", a.name, p.replace.Replace(a.text))
	}
	text.WriteString("good: async () => [JSON.parse('[42]')[0], 'a-b'.split('-').length, [1].slice().length] };\nmodule.exports = (name) => attacks[name]();\n")
	src := nodeSource("attack.js", text.String(), "")
	src.Timeout = timeout
	f, err := s.Compile(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	probe, err := s.Compile(t.Context(), nodeSource("probe.js", "require('fs'); module.exports = (o) => [o.length, JSON.parse('1'), typeof polluted]", ""))
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range list {
		v, err := f.Call(t.Context(), a.name)
		got := codeOf(err)
		if err == nil {
			got = value.Stringify(v)
		}
		if !slices.Contains(strings.Fields(a.want), got) {
			t.Errorf("%s gives %.200s (%v), want %s", a.name, got, err, a.want)
		}
		v, err = f.Call(t.Context(), "good")
		for range 20 {
			if codeOf(err) != proviso.Timeout { // a busy machine
				break
			}
			v, err = f.Call(t.Context(), "good")
		}
		if value.Stringify(v) != "[42,2,1]" || err != nil {
			t.Errorf("after %s the next call gives %v %v", a.name, v, err)
		}
		if v, err := probe.Call(t.Context(), "hello"); value.Stringify(v) != `[5,1,"undefined"]` || err != nil {
			t.Errorf("after %s another source gives %v %v", a.name, value.Stringify(v), err)
		}
	}
}

// TestEngineAttacks attacks the engine for the JavaScript of suites.
func TestEngineAttacks(t *testing.T) {
	t.Parallel()
	p := plant(t)
	s := attacked(t, p, true)
	for _, a := range []attack{
		{"repeat", `return "ab".repeat(1 << 29)`, "limit RangeError"},
		{"fill", `return new Array(2e8).fill(0)`, "limit timeout"},
		{"array", `const a = []; for (;;) a.push({a})`, "limit timeout"},
		{"buffers", `const a = []; for (;;) a.push(new Uint8Array(1 << 24))`, "limit"},
		{"shared", `return new SharedArrayBuffer(2 ** 31).byteLength`, "limit RangeError"},
		{"recursion", `const f = () => f(); return f()`, "InternalError"},
		{"promises", `return (async () => { for (;;) await null })()`, "timeout"},
		{"large", `return "x".repeat(2 << 20)`, "limit"},
		{"reach", `return [typeof process, typeof require, typeof std, typeof os, typeof bjson, typeof Worker, (() => {}).constructor("return typeof process")()].join()`, `"undefined,undefined,undefined,undefined,undefined,undefined,undefined"`},
		{"import", `return import("fs")`, "TypeError"},
		{"import os", `return import("os")`, "TypeError"},
		{"pollution", `Object.prototype.polluted = 1; Array.prototype.map = 1; JSON.parse = () => 0; leak = 1; return "ok"`, `"ok"`},
	} {
		src := inline(proviso.Body, "if (output === 'good') return [42, ({}).polluted === undefined, typeof leak, JSON.parse('1')];\n"+a.text)
		src.Timeout = time.Minute
		if strings.Contains(a.want, "timeout") {
			src.Timeout = 200 * time.Millisecond
		}
		f, err := s.Compile(t.Context(), src)
		if err != nil {
			t.Fatal(err)
		}
		v, err := f.Call(t.Context(), "bad")
		got := codeOf(err)
		if err == nil {
			got = value.Stringify(v)
		}
		if !slices.Contains(strings.Fields(a.want), got) {
			t.Errorf("%s gives %.200s (%v), want %s", a.name, got, err, a.want)
		}
		if v, err := f.Call(t.Context(), "good"); value.Stringify(v) != `[42,true,"undefined",1]` || err != nil {
			t.Errorf("after %s the next call gives %v %v", a.name, value.Stringify(v), err)
		}
		_ = f.Close()
	}
	p.unchanged(t)
}

// TestSelfTestOfOthers: nothing runs in a sandbox with a hole.
func TestSelfTestOfOthers(t *testing.T) {
	t.Parallel()
	s := openFor(t, sandbox.Leaky(sandbox.Options{Policy: sandbox.Auto}))
	for _, src := range []proviso.Source{
		nodeSource("a.js", "require('fs'); module.exports = () => 1", ""),
		inline(proviso.Expression, "1"),
		{Language: "ruby", Text: "1"},
	} {
		_, err := once(t, s, src)
		if codeOf(err) == proviso.Unavailable {
			t.Logf("%v", err)
		} else if codeOf(err) != proviso.Refused || !strings.Contains(err.Error(), "self-test") {
			t.Errorf("%s: %v", src.Language, err)
		}
	}
}
