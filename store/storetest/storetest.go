// Package storetest is the contract of package store, as tests. A store runs them all with
// [Run], and tests its further guarantees itself.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
)

// Backend is the store under test.
type Backend interface {
	store.Store
	store.Jobs
}

// Options configure how a test opens a store. The pause before a retry of a run must be short.
type Options struct {
	Now     func() time.Time
	Workers int // concurrent runs
}

// Target is a kind of store.
type Target struct {
	// Open opens the store at a path, below a folder of the test. It fails the test
	// if it cannot.
	Open func(t testing.TB, path string, o Options) Backend
	// Forgets means that closing the store deletes its data.
	Forgets bool
	// Shared means that several processes may use the store at a time. So no process may end
	// what another one has started before it expires.
	Shared bool
	// Groups are the names of the test groups to run; none means all.
	Groups []string
}

// Run runs all tests against a kind of store.
func Run(t *testing.T, target Target) {
	for _, group := range []struct {
		name  string
		tests []test
	}{
		{"keys", keyTests}, {"projects", projectTests}, {"documents", documentTests}, {"runs", runTests}, {"imports", importTests}, {"results", resultTests}, {"tally", tallyTests},
		{"evaluations", evaluationTests}, {"labels", labelTests}, {"label queues", labelQueueTests}, {"looks", lookTests}, {"replies", replyTests}, {"shared", sharedTests}, {"traces", traceTests}, {"jobs", jobTests}, {"parts", partTests}, {"needs", needTests}, {"leaving", leavingTests}, {"rates", rateTests}, {"pages", pageTests}, {"store", storeTests}, {"watches", watchTests}, {"event jobs", eventJobTests}, {"charts", chartTests}, {"traffic", trafficTests}, {"feedback", feedbackTests}, {"old traffic", oldTrafficTests}, {"event queues", eventQueueTests},
	} {
		if len(target.Groups) > 0 && !slices.Contains(target.Groups, group.name) {
			continue
		}
		t.Run(group.name, func(t *testing.T) {
			t.Parallel()
			for _, c := range group.tests {
				t.Run(c.name, func(t *testing.T) {
					t.Parallel()
					if c.reopens && target.Forgets {
						t.Skip("this store forgets")
					}
					b := &bench{TB: t, target: target, path: filepath.Join(t.TempDir(), "store"), clock: &clock{now: start}}
					b.open(1)
					c.run(b)
				})
			}
		})
	}
}

// test is one rule of the contract.
type test struct {
	name    string
	run     func(*bench)
	reopens bool // needs a persistent store
}

// bench is one test with its store.
type bench struct {
	testing.TB
	Backend
	store.ProjectStore // the default project
	target             Target
	path               string
	clock              *clock
}

var start = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

// clock is a clock that tests set.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// open opens the store, for the first time or again.
func (b *bench) open(workers int) {
	b.Helper()
	s := b.target.Open(b, b.path, Options{Now: b.clock.Now, Workers: workers})
	b.Backend, b.ProjectStore = s, s.In(store.DefaultProject)
	b.Cleanup(func() {
		b.sound(s)
		if err := s.Close(); err != nil {
			b.Errorf("close: %v", err)
		}
	})
}

// beside opens the store a second time, as another process would, whose clock may be ahead.
func (b *bench) beside(ahead time.Duration) Backend {
	b.Helper()
	s := b.target.Open(b, b.path, Options{Now: func() time.Time { return b.clock.Now().Add(ahead) }, Workers: 1})
	b.Cleanup(func() {
		if err := s.Close(); err != nil {
			b.Errorf("close: %v", err)
		}
	})
	return s
}

// sound checks that the data of a store is consistent after a test.
func (b *bench) sound(s Backend) {
	c, ok := s.(interface {
		Check(ctx context.Context) ([]string, error)
	})
	if !ok || b.Failed() || s.Ping(context.Background()) != nil { // the test has closed it
		return
	}
	if problems, err := c.Check(context.Background()); err != nil || len(problems) > 0 {
		b.Errorf("check: %q, %v", problems, err)
	}
}

// reopen closes the store and opens it again.
func (b *bench) reopen() {
	b.Helper()
	b.ok(b.Close())
	b.open(1)
}

func (b *bench) ok(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// works is ok for goroutines of a test.
func (b *bench) works(err error) {
	b.Helper()
	if err != nil {
		b.Error(err)
	}
}

// wants fails unless an error has a code, and a cause if one is given.
func (b *bench) wants(code string, err error, causes ...error) {
	b.Helper()
	var e *proviso.Error
	if !errors.As(err, &e) || e.Code != code {
		b.Fatalf("got the error %v, want one with code %s", err, code)
	}
	for _, cause := range causes {
		if !errors.Is(err, cause) {
			b.Fatalf("the error %v is not because of %v", err, cause)
		}
	}
}

// must returns a value, and fails the test if there is an error.
func must[T any](value T, err error) func(*bench) T {
	return func(b *bench) T {
		b.Helper()
		b.ok(err)
		return value
	}
}

// equal compares values as printed.
func (b *bench) equal(what string, got, want any) {
	b.Helper()
	if g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); g != w {
		b.Errorf("%s:\n got %s\nwant %s", what, g, w)
	}
}

// atOnce calls do concurrently with the numbers below n.
func atOnce(n int, do func(i int)) {
	var wait sync.WaitGroup
	for i := range n {
		wait.Go(func() { do(i) })
	}
	wait.Wait()
}

// until waits for a condition that another goroutine fulfils.
func (b *bench) until(what string, is func() bool) {
	b.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	limit := time.After(20 * time.Second)
	for !is() {
		select {
		case <-tick.C:
		case <-limit:
			b.Fatalf("waited in vain until %s", what)
		}
	}
}

// key creates a key.
func (b *bench) key() (store.Key, string) {
	b.Helper()
	k, secret, err := b.CreateKey(b.Context(), store.NewKey{Name: "ci", Scopes: []store.Scope{store.Evaluate}})
	b.ok(err)
	return k, secret
}

// newRun creates a run.
func (b *bench) newRun() store.Run {
	b.Helper()
	return must(b.CreateRun(b.Context(), store.NewRun{Suite: "s"}))(b)
}

// all reads a whole list, page by page.
func all[T any](b *bench, size int, read func(context.Context, store.Page) (store.List[T], error)) []T {
	b.Helper()
	var items []T
	p := store.Page{Limit: size}
	for {
		l := must(read(b.Context(), p))(b)
		items = append(items, l.Items...)
		if l.Next == "" {
			return items
		}
		if len(l.Items) == 0 || len(l.Items) > size {
			b.Fatalf("a page of %d items has %d and a next one", size, len(l.Items))
		}
		p.After = l.Next
	}
}

// names are texts that are likely to break careless stores.
var names = []string{
	"plain", "with space", " leading", "UPPER", "upper", "ünïcödé", "u\u0308", "ü", "日本語", "🧪🔬", "a/b/../c", `back\slash`,
	"'; DROP TABLE run; --", `"quoted"`, "100%", "under_score", "*", "?", "a:b", "<script>", "{{x}}", "-1", "NULL", "\u00a0x",
}

// notNames are texts that every store must reject as names.
var notNames = []string{"", "   ", "nul\x00", "line\nbreak", "\x1b[31mred", "bad\xffutf8", "\u202eright to left"}
