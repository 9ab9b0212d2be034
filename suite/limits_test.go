package suite_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/suite"
)

// written reads a suite from a file until ctx ends.
func written(t *testing.T, ctx context.Context, text string) (*proviso.Suite, proviso.Mistakes) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "suite.yaml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return suite.Read(ctx, []string{name}, suite.Options{Env: environment})
}

// countdown is a context that ends after its Err was called left times.
type countdown struct {
	context.Context
	left, asked atomic.Int64
}

func (c *countdown) Err() error {
	if c.asked.Add(1) > c.left.Load() {
		return context.DeadlineExceeded
	}
	return nil
}

// TestReadEndsWithItsContext: reading a suite with very many cases stops when the
// context ends, at any stage. It counts calls of Err, because seconds depend on the machine.
func TestReadEndsWithItsContext(t *testing.T) {
	t.Parallel()
	const cases = 40_000
	text := "prompts: [hi]\nproviders: [echo]\ntests:\n" + strings.Repeat("- {vars: {a: 1}, assert: [{type: contains, value: x}]}\n", cases)
	whole := &countdown{Context: t.Context()}
	whole.left.Store(1 << 40)
	if s, mistakes := written(t, whole, text); s == nil || mistakes.Err() != nil {
		t.Fatal(mistakes.Err())
	}
	all := whole.asked.Load()
	if all < cases {
		t.Errorf("%d calls of Err for %d cases", all, cases)
	}
	for part := range int64(4) {
		ctx := &countdown{Context: t.Context()}
		ctx.left.Store(all * part / 4)
		s, mistakes := written(t, ctx, text)
		if s != nil || !strings.Contains(fmt.Sprint(mistakes.Err()), context.DeadlineExceeded.Error()) {
			t.Errorf("cut off after %d calls of Err: %v %v", ctx.left.Load(), s != nil, mistakes.Err())
		}
		if more := ctx.asked.Load() - ctx.left.Load(); more > 10 {
			t.Errorf("cut off after %d of %d calls of Err, there were %d more", ctx.left.Load(), all, more)
		}
	}
}

// TestMistakeBeyondWarnings: a mistake is reported even after many warnings.
func TestMistakeBeyondWarnings(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString("prompts: [hi]\nproviders: [echo]\ntests:\n")
	for i := range 150 {
		fmt.Fprintf(&text, "- {vars: {a: %d}, colour%d: red}\n", i, i)
	}
	text.WriteString("- {vars: {a: 1}}\n- {vars: 7}\n")
	_, mistakes := written(t, t.Context(), text.String())
	warnings, lines := 0, []int{}
	for _, m := range mistakes {
		if m.Warning {
			warnings++
		} else {
			lines = append(lines, m.Place.Line)
		}
	}
	last := mistakes[len(mistakes)-1]
	if last.Message != "and 51 more warnings" {
		t.Errorf("the last line is %q", last)
	}
	if len(mistakes) != 101 || warnings != 100 || !slices.Equal(lines, []int{155}) {
		t.Errorf("%d mistakes, %d warnings, errors on lines %v", len(mistakes), warnings, lines)
	}
}

// TestMistakesBeyondTheLimit: what is not listed is counted.
func TestMistakesBeyondTheLimit(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{100: "", 101: "and 1 more mistake", 250: "and 150 more mistakes"} {
		_, mistakes := written(t, t.Context(), "prompts: [hi]\nproviders: [echo]\ntests:\n"+strings.Repeat("- {vars: 7}\n", n))
		got := ""
		if len(mistakes) > 100 {
			got = mistakes[100].Message
		}
		if got != want || len(mistakes) < 100 || len(mistakes) > 101 || mistakes.Err() == nil {
			t.Errorf("%d mistakes: %d lines, the last is %q", n, len(mistakes), got)
		}
	}
}
