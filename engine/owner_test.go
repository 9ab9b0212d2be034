package engine_test

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/run"
	"github.com/proviso-eval/proviso/suite"
)

// resident returns the memory of this process in bytes, including memory outside the Go heap;
// without /proc, only what Go counts.
func resident(t *testing.T) int64 {
	t.Helper()
	runtime.GC()
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	pages, err := strconv.ParseInt(strings.Fields(string(data))[1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}

// goroutines counts the goroutines that stay: some end a moment after their work.
func goroutines(most int) int {
	n := runtime.NumGoroutine()
	for range 100 {
		if n <= most {
			break
		}
		time.Sleep(10 * time.Millisecond)
		n = runtime.NumGoroutine()
	}
	return n
}

// openings counts what engines opened and closed, by kind.
type openings struct {
	mu           sync.Mutex
	opened, left map[string]int
}

func (o *openings) observer() func(string) func() {
	o.opened, o.left = map[string]int{}, map[string]int{}
	return func(kind string) func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.opened[kind]++
		o.left[kind]++
		return sync.OnceFunc(func() {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.left[kind]--
		})
	}
}

// TestCloseFreesEverything opens suite after suite: after they are closed, no engines,
// goroutines or memory are left. One in twenty uses the engines that start slowly: JavaScript
// for templates, patterns and metrics. It runs alone.
func TestCloseFreesEverything(t *testing.T) {
	const light, heavy = "light", "heavy"
	names := map[string]string{}
	for kind, text := range map[string]string{
		light: "prompts: ['{{ x }}2']\nproviders: [echo]\ntests:\n  - {vars: {x: 1}, assert: [{type: regex, value: '^12$'}]}\n",
		heavy: `
prompts: ["{% for x in [1, 2] %}{{ x }}{% endfor %}"]
providers: [echo]
derivedMetrics: [{name: twice, value: 2 * m}]
tests:
  - assert:
      - {type: regex, value: "(?<=1)2"}
      - {type: equals, value: "12", metric: m}
`,
	} {
		const judged = "  - {vars: {x: 1}, assert: [{type: llm-rubric, value: kind}]}\n"
		names[kind] = write(t, map[string]string{"proviso.yaml": text + judged})
	}
	var seen openings
	o := engine.Options{
		Engines:   engine.Engines{Answers: engine.Folder(t.TempDir()), Verdicts: engine.Folder(t.TempDir())},
		Observers: engine.Observers{Opened: seen.observer()},
		Judge:     engine.Judge{Name: "echo"},
	}
	use := func(times, every int) {
		for i := range times {
			kind := light
			if i%every == 0 && !race { // slow under the race detector
				kind = heavy
			}
			s, mistakes := suite.Read(t.Context(), []string{names[kind]}, suite.Options{Facts: engine.Facts()})
			if err := mistakes.Err(); err != nil {
				t.Fatal(err)
			}
			e, err := engine.Open(t.Context(), s, o)
			if err != nil {
				t.Fatal(err)
			}
			p, mistakes := e.Plan(t.Context(), run.Task{})
			if err := mistakes.Err(); err != nil {
				t.Fatal(err)
			}
			if i%every < 2 {
				out, err := p.Run(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if out.Totals.Passed != 1 || out.Totals.Errors != 1 {
					t.Fatalf("%+v", out.Totals)
				}
				if err := out.Close(); err != nil {
					t.Fatal(err)
				}
			}
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	suites := 1000
	if race {
		suites = 100
	}
	use(4, 1)
	memory, before := resident(t), runtime.NumGoroutine()
	started := time.Now()
	use(suites, 20)
	grown, more := resident(t)-memory, goroutines(before)-before
	t.Logf("%d suites in %v: %+d bytes, %+d goroutines, %v", suites, time.Since(started).Round(time.Millisecond), grown, more, seen.opened)
	if grown > 12<<20 && !race { // memory of the race detector grows
		t.Errorf("%d suites took %d bytes that are still held", suites, grown)
	}
	if more > 0 {
		t.Errorf("%d goroutines more", more)
	}
	for kind, n := range seen.left {
		if n != 0 {
			t.Errorf("%d of %d %s are open", n, seen.opened[kind], kind)
		}
	}
	for _, kind := range []string{"templates", "metrics", "checks", "client", "judge", "plan"} {
		if seen.opened[kind] < suites {
			t.Errorf("%d %s were opened", seen.opened[kind], kind)
		}
	}
}
