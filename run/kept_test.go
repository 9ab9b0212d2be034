package run_test

import (
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/run"
)

// countedCases counts how often cases are read.
type countedCases struct {
	proviso.CaseSource
	passes int
}

func (c *countedCases) Cases() iter.Seq2[*proviso.Case, error] {
	c.passes++
	return c.CaseSource.Cases()
}

// TestSmallSuitesAreReadOnce: the run uses the cases kept from the check, unless they are too
// many or too large.
func TestSmallSuitesAreReadOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		cases, bytes int // number of cases, and text size of each
		passes       int // passes over the cases during the run
	}{
		{"few", 3, 10, 0},
		{"many", 1025, 10, 1},
		{"large", 5, 1 << 20, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var b strings.Builder
			for i := range c.cases {
				serial := ""
				if i == 1 { // runs before the others
					serial = `, "options": {"runSerially": true}`
				}
				fmt.Fprintf(&b, `{"vars": {"n": "%d", "text": %q}, "assert": [{"type": "starts-with", "value": "%d"}]%s}`+"\n", i, strings.Repeat("x", c.bytes), i, serial)
			}
			p, mistakes := plan(t, "prompts: [\"{{ n }} {{ text }}\"]\nproviders: [echo]\ntests: file://cases.jsonl\n", map[string]string{"cases.jsonl": b.String()}, run.Options{})
			if err := mistakes.Err(); err != nil {
				t.Fatal(err)
			}
			counted := &countedCases{CaseSource: p.Suite.CaseSource}
			p.Suite.CaseSource = counted
			for again := range 2 {
				counted.passes = 0
				out, err := p.Run(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				defer out.Close()
				if out.Totals.Passed != c.cases {
					t.Errorf("%s, want %d passed", counts(out), c.cases)
				}
				// Serial cases take a pass of their own, and kept cases serve only one run.
				want := 2 * max(c.passes, again)
				if counted.passes != want {
					t.Errorf("run %d read the cases %d times, want %d", again, counted.passes, want)
				}
			}
		})
	}
}
