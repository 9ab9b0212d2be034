package sandbox_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/sandbox"
	"github.com/proviso-eval/proviso/value"
)

// TestGlobals: calls do not see each other's globals, except in code with side effects, which
// may load large data once.
func TestGlobals(t *testing.T) {
	t.Parallel()
	s := open(t, sandbox.Options{Workers: 1})
	text := "seen = []\ndef get_assert(output, context):\n    global count\n    seen.append(output)\n    count = globals().get('count', 0) + 1\n    return [len(seen), count]"
	for purpose, want := range map[proviso.Purpose]string{proviso.Synthesised: "[1,1]", proviso.Deciding: "[1,1]", proviso.Acting: "[3,3]"} {
		src := source(proviso.Module, text)
		src.Purpose = purpose
		f, err := s.Compile(t.Context(), src)
		if err != nil {
			t.Fatal(err)
		}
		var v any
		for range 3 {
			if v, err = f.Call(t.Context(), "x", nil); err != nil {
				t.Fatal(err)
			}
		}
		if got := value.Stringify(v); got != want {
			t.Errorf("purpose %d: the third call gives %s, want %s", purpose, got, want)
		}
	}
}

// TestTurnsOfSources: of sources that are called in turn, slightly more than there may be
// workers, most calls find the worker of an earlier call.
func TestTurnsOfSources(t *testing.T) {
	t.Parallel()
	const room, sources, rounds = 16, 20, 5
	s := open(t, sandbox.Alive(sandbox.Options{Workers: 1}, room))
	var functions []proviso.Function
	for i := range sources {
		functions = append(functions, compile(t, s, proviso.Body, fmt.Sprintf("import os\nreturn [%d, os.getpid()]", i)))
	}
	workers := map[any]bool{}
	for range rounds {
		for i, f := range functions {
			v, err := f.Call(t.Context(), "abc")
			list, _ := v.([]any)
			if err != nil || len(list) != 2 || list[0] != float64(i) {
				t.Fatalf("source %d gives %v %v", i, v, err)
			}
			workers[list[1]] = true
		}
		if n := s.Workers(); n > room {
			t.Errorf("%d workers", n)
		}
	}
	if n := len(workers); n > sources*rounds*3/4 {
		t.Errorf("%d workers were started for %d calls", n, sources*rounds)
	}
}

// TestManySources: any number of sources can take turns with a bounded number of workers.
func TestManySources(t *testing.T) {
	t.Parallel()
	s := open(t, sandbox.Options{Workers: 3})
	n := 300
	if testing.Short() {
		n = 100
	}
	functions := make([]proviso.Function, n)
	for i := range functions {
		functions[i] = compile(t, s, proviso.Expression, fmt.Sprintf("len(output) + %d", i))
	}
	for range 2 {
		var wg sync.WaitGroup
		for i, f := range functions {
			wg.Go(func() {
				if v, err := f.Call(t.Context(), "abc"); v != float64(3+i) || err != nil {
					t.Errorf("source %d gives %v %v", i, v, err)
				}
			})
		}
		wg.Wait()
		if n := s.Workers(); n > sandbox.MaxAlive {
			t.Errorf("%d workers", n)
		}
	}
	for _, f := range functions {
		_ = f.Close()
	}
	if n := s.Workers(); n != 0 {
		t.Errorf("%d workers are left without a function", n)
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	s := open(t, sandbox.Options{Workers: 1})
	ctx, cancel := context.WithCancel(t.Context())
	f := compile(t, s, proviso.Body, "if output == 'good': return 1\nask_llm('', '', '')\nwhile True: pass")
	_ = f
	asked := make(chan struct{})
	waiting := open(t, sandbox.Options{Workers: 1, Ask: func(ctx context.Context, _, _, _ string) (bool, error) {
		close(asked)
		<-ctx.Done()
		return false, ctx.Err()
	}})
	g := compile(t, waiting, proviso.Body, "if output == 'good': return 1\nreturn ask_llm('', '', '')")
	go func() {
		<-asked
		cancel()
	}()
	if _, err := g.Call(ctx, "bad", nil); err != context.Canceled {
		t.Errorf("a canceled call: %v", err)
	}
	if v, err := g.Call(t.Context(), "good", nil); v != 1.0 || err != nil {
		t.Errorf("the next call: %v %v", v, err)
	}
	if _, err := g.Call(ctx, "good", nil); err != context.Canceled {
		t.Errorf("a call that was canceled before: %v", err)
	}
	if _, err := waiting.Compile(ctx, source(proviso.Expression, "1")); err != context.Canceled {
		t.Errorf("compiling: %v", err)
	}
}

// TestAskStopsTheClock: waiting for a judge costs no time, and other calls run meanwhile.
func TestAskStopsTheClock(t *testing.T) {
	t.Parallel()
	free := make(chan struct{})
	o := sandbox.Options{Timeout: 400 * time.Millisecond, Workers: 1, Ask: func(context.Context, string, string, string) (bool, error) {
		<-free
		return true, nil
	}}
	s := open(t, sandbox.Grace(o, 100*time.Millisecond))
	texts := []string{
		"def get_assert(o, c):\n    return ask_llm('p', o, 'q') and ask_llm('p', o, 'q')",
		"async def get_assert(o, c):\n    return await ask_llm('p', o, 'q') and await ask_llm('p', o, 'q')",
		"import asyncio\nasync def get_assert(o, c):\n    return all(await asyncio.gather(*[ask_llm('p', o, 'q') for _ in range(20)]))",
	}
	var wg sync.WaitGroup
	for _, text := range texts {
		f := compile(t, s, proviso.Module, text)
		wg.Go(func() {
			if v, err := f.Call(t.Context(), "x", nil); v != true || err != nil {
				t.Errorf("%s\n gives %v %v", text, v, err)
			}
		})
	}
	other := compile(t, s, proviso.Expression, "len(output)")
	for start := time.Now(); time.Since(start) < 800*time.Millisecond; {
		if v, err := other.Call(t.Context(), "abc", nil); v != 3.0 || err != nil {
			t.Fatalf("a call in the meantime: %v %v", v, err)
		}
	}
	close(free)
	wg.Wait()
	loop := compile(t, s, proviso.Module, "async def get_assert(o, c):\n    await ask_llm('p', o, 'q')\n    while True: pass")
	if _, err := loop.Call(t.Context(), "x", nil); codeOf(err) != proviso.Timeout {
		t.Errorf("a loop after the answer: %v", err)
	}
}

// TestAskNested: a judge that is code itself does not deadlock.
func TestAskNested(t *testing.T) {
	t.Parallel()
	need(t)
	var judge proviso.Function
	s := open(t, sandbox.Options{Workers: 1, Ask: func(ctx context.Context, _, response, _ string) (bool, error) {
		v, err := judge.Call(ctx, response, nil)
		return v == true, err
	}})
	src := source(proviso.Expression, "output == 'x'")
	src.Purpose = proviso.Acting
	judge, _ = s.Compile(t.Context(), src)
	f := compile(t, s, proviso.Expression, "ask_llm('p', output, 'q')")
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if v, err := f.Call(t.Context(), "x", nil); v != true || err != nil {
				t.Errorf("%v %v", v, err)
			}
		})
	}
	wg.Wait()
}

// TestClose: nothing is left of a closed sandbox, and running calls end.
func TestClose(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{})
	s := open(t, sandbox.Options{Ask: func(ctx context.Context, _, _, _ string) (bool, error) {
		close(asked)
		<-ctx.Done()
		return false, ctx.Err()
	}})
	f := compile(t, s, proviso.Expression, "ask_llm('', output, '')")
	go func() {
		<-asked
		_ = s.Close()
	}()
	if _, err := f.Call(t.Context(), "x", nil); codeOf(err) != proviso.Undecided {
		t.Errorf("a call while the sandbox is closed: %v", err)
	}
	if _, err := f.Call(t.Context(), "x", nil); codeOf(err) != proviso.Unavailable {
		t.Errorf("a call after: %v", err)
	}
	if _, err := s.Compile(t.Context(), source(proviso.Expression, "1")); codeOf(err) != proviso.Unavailable {
		t.Errorf("compiling after: %v", err)
	}
}

// TestHostDies: a killed host is replaced.
func TestHostDies(t *testing.T) {
	t.Parallel()
	s := open(t, sandbox.Options{})
	f := compile(t, s, proviso.Expression, "len(output)")
	if _, err := f.Call(t.Context(), "abc", nil); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		for _, h := range s.Hosts() {
			_ = h.Process.Kill()
		}
		ok := false
		for range 3 { // the call that is running at that moment is lost
			v, err := f.Call(t.Context(), "abc", nil)
			ok = ok || v == 3.0 && err == nil
			if err != nil && codeOf(err) != proviso.Undecided {
				t.Errorf("%v", err)
			}
		}
		if !ok {
			t.Error("no call works any more")
		}
	}
}

// TestSoak mixes good and hostile calls and checks that nothing is left behind.
func TestSoak(t *testing.T) {
	need(t)
	n := 3000
	if os.Getenv("PROVISO_TEST_SLOW") != "" {
		n = 10_000
	}
	o := sandbox.Grace(sandbox.Options{Ask: asker, Workers: 4, Timeout: 2 * time.Second}, time.Second)
	s := open(t, o)
	good := []proviso.Function{
		compile(t, s, proviso.Expression, "len(output)"),
		compile(t, s, proviso.Body, "return len([c for c in output])"),
		compile(t, s, proviso.Module, "async def get_assert(o, c):\n    return len(o) if await ask_llm('p', o, 'yes') else 0"),
		compile(t, s, proviso.Module, "def get_assert(o, c):\n    return len(o)"),
	}
	hostile := []proviso.Function{
		compile(t, s, proviso.Body, "import os\nos._exit(0)"),
		compile(t, s, proviso.Body, "import os\nos.write(3, b'x' * 64)\nreturn 1"),
		compile(t, s, proviso.Body, "import os\nos.close(3)"),
		compile(t, s, proviso.Body, "import builtins\nbuiltins.len = None\nbuiltins.eval = None\nraise ValueError(output)"),
		compile(t, s, proviso.Body, "print('x' * 100000)\nopen('/etc/passwd')"),
		compile(t, s, proviso.Body, "return bytearray(4 << 30)"),
		compile(t, s, proviso.Body, "import _thread, time\n_thread.start_new_thread(time.sleep, (60,))\nreturn 1"),
	}
	late := s
	slow, err := late.Compile(t.Context(), proviso.Source{Language: "python", Text: "while True: pass", Form: proviso.Body, Timeout: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	calls := func(n int) {
		var wrong, at atomic.Int64
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for i := at.Add(1); i <= int64(n); i = at.Add(1) {
					switch {
					case i%500 == 0:
						_, _ = slow.Call(t.Context())
					case i%20 == 0:
						_, _ = hostile[i/20%int64(len(hostile))].Call(t.Context(), "hello", nil)
					default:
						if v, err := good[i%int64(len(good))].Call(t.Context(), "hello", nil); v != 5.0 || err != nil {
							t.Logf("call %d: %v %v", i, v, err)
							wrong.Add(1)
						}
					}
				}
			})
		}
		wg.Wait()
		if wrong.Load() > 0 {
			t.Errorf("%d good calls went wrong", wrong.Load())
		}
	}
	calls(500)
	before := take(s)
	calls(n)
	after := take(s)
	if after.files > before.files+16 || after.goroutines > before.goroutines+16 || after.memory > before.memory+8<<20 || after.workers > sandbox.MaxAlive {
		t.Errorf("before %+v, after %+v", before, after)
	}
	t.Logf("before %+v, after %+v", before, after)
}

// usage is what a test process uses.
type usage struct {
	files, goroutines, workers int
	memory                     uint64
}

func take(s *sandbox.Sandbox) usage {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	files, _ := os.ReadDir("/proc/self/fd")
	return usage{len(files), runtime.NumGoroutine(), s.Workers(), m.HeapAlloc}
}

// TestWorn: workers are replaced when they have grown, and when the code leaves threads behind.
func TestWorn(t *testing.T) {
	t.Parallel()
	s := open(t, sandbox.Options{Workers: 1})
	pid := "import os\nreturn os.getpid()"
	first := compile(t, s, proviso.Body, pid)
	a, _ := first.Call(t.Context(), "", nil)
	b, _ := first.Call(t.Context(), "", nil)
	if a == nil || a != b {
		t.Errorf("an ordinary worker is not kept: %v %v", a, b)
	}
	for _, text := range []string{
		"import _thread, time, os\n_thread.start_new_thread(time.sleep, (60,))\ntime.sleep(0.05)\nreturn os.getpid()",
		"import os\nx = bytearray(300 << 20)\nfor i in range(0, len(x), 4096): x[i] = 1\nreturn os.getpid()",
	} {
		patient := source(proviso.Body, text)
		patient.Timeout = time.Minute // on a busy machine, allocating memory takes long
		f, err := s.Compile(t.Context(), patient)
		if err != nil {
			t.Fatal(err)
		}
		a, err := f.Call(t.Context(), "", nil)
		b, _ := f.Call(t.Context(), "", nil)
		if a == nil || a == b {
			t.Errorf("%s\n is served by the same worker: %v %v %v", text, a, b, err)
		}
	}
}

// TestOrphans: without a sandbox, too, what code has started dies with it, and nothing waits
// for a pipe that it holds.
func TestOrphans(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, sandbox.Options{Policy: sandbox.Off, Dir: dir})
	for i, end := range []string{"import time\ntime.sleep(600)", "os._exit(0)", "return 1"} {
		name := fmt.Sprintf("pid%d", i)
		f, err := s.Compile(t.Context(), proviso.Source{
			Language: "python", Form: proviso.Body, Timeout: 2 * time.Second,
			Text: "import os, subprocess\np = subprocess.Popen(['sleep', '600'])\nopen('" + name + "', 'w').write(str(p.pid))\n" + end,
		})
		if err != nil {
			t.Fatal(err)
		}
		_, _ = f.Call(t.Context())
		_ = f.Close()
		pid, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		gone := false
		for range 2000 {
			stat, err := os.ReadFile("/proc/" + string(pid) + "/stat")
			if gone = err != nil || strings.Contains(string(stat), ") Z "); gone {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if !gone {
			t.Errorf("%s: process %s goes on", end, pid)
		}
	}
}

// TestEndingIsNoticed: a worker that ends cleanly, without a reply, is noticed at once, not
// only at the timeout.
func TestEndingIsNoticed(t *testing.T) {
	t.Parallel()
	s := open(t, sandbox.Options{Timeout: time.Hour})
	start := time.Now()
	if _, err := run(t, s, proviso.Body, "import os\nos._exit(0)"); codeOf(err) != proviso.Undecided || time.Since(start) > time.Minute {
		t.Errorf("%v after %s", err, time.Since(start))
	}
}

// TestDirect: workers that were not forked behave the same.
func TestDirect(t *testing.T) {
	t.Parallel()
	for _, o := range []sandbox.Options{{}, {Policy: sandbox.Off}} {
		o.Ask, o.Workers = asker, 1
		s := open(t, sandbox.Direct(o))
		for range 2 {
			if v, err := run(t, s, proviso.Expression, "ask_llm('p', output, 'yes') and len(output)", "abc", nil); v != 3.0 || err != nil {
				t.Errorf("%v %v", v, err)
			}
		}
		if _, err := run(t, s, proviso.Body, "import os\nos._exit(3)"); codeOf(err) != proviso.Undecided || !strings.Contains(err.Error(), "status 3") {
			t.Errorf("%v", err)
		}
		_, err := run(t, s, proviso.Body, "import os\nos.fork()\nreturn open('/etc/passwd')")
		if o.Policy == sandbox.Require && codeOf(err) != proviso.Refused {
			t.Errorf("%v", err)
		}
		_ = s.Close()
	}
}

// TestOtherBinary: any binary that calls Main can start workers.
func TestOtherBinary(t *testing.T) {
	t.Parallel()
	need(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "proviso")
	if err := os.Symlink(exe, link); err != nil {
		t.Fatal(err)
	}
	s := open(t, sandbox.Options{Exe: link})
	if v, err := run(t, s, proviso.Expression, "output", "x", nil); v != "x" || err != nil {
		t.Errorf("%v %v", v, err)
	}
	if text := strings.Repeat("#", 1<<20) + "\nreturn 1"; true {
		if v, err := run(t, s, proviso.Body, text, "x", nil); v != 1.0 || err != nil {
			t.Errorf("a large source: %v %v", v, err)
		}
	}
}
