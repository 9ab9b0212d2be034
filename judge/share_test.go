package judge_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/judge"
)

// TestLongOutputsAreReadOnce: for a long output, the vendor answers the first call before
// the others are sent, so that it can reuse the shared part, and is told how long that
// part is. Calls about a short output do not wait.
func TestLongOutputsAreReadOnce(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("All is well. ", 400)
	for name, c := range map[string]struct {
		output string
		votes  int
		shares bool
	}{"long": {long, 4, true}, "short": {"short", 4, false}, "alone": {long, 1, false}} {
		var under, most, early atomic.Int64
		f := &fake{}
		f.Edit = func(_ seen, _ *proviso.Output) {
			if f.Count() == 1 {
				time.Sleep(20 * time.Millisecond) // time in which the others would start
				for end := time.Now().Add(10 * time.Second); !c.shares && c.votes > 1 && f.Count() == 1 && time.Now().Before(end); {
					time.Sleep(time.Millisecond)
				}
				early.Store(int64(f.Count()))
			}
			most.Store(max(most.Load(), under.Add(1)))
			under.Add(-1)
		}
		j := one(t, f, func(o *judge.Options) { o.Votes = c.votes })
		r := request(t, j, &judge.Request{Output: c.output, Assertions: []judge.Assertion{wants("a", "yes")}})
		if statuses(r) != "a=pass" || f.Count() != c.votes {
			t.Fatalf("%s: %s after %d calls", name, statuses(r), f.Count())
		}
		if c.votes > 1 && (early.Load() == 1) != c.shares {
			t.Errorf("%s: %d calls are made before the first is answered", name, early.Load())
		}
		for _, call := range f.Calls() {
			shared := call.User[:call.Ask.Shared]
			if c.shares && !strings.HasSuffix(shared, "\n["+call.Fence+" end output]\n") || !c.shares && shared != "" {
				t.Errorf("%s: the call shares %q", name, shared)
			}
		}
	}
}
