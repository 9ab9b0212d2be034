package suite_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

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

// TestReadEndsWithItsContext: reading a suite with very many cases stops when the
// context ends, at any stage.
func TestReadEndsWithItsContext(t *testing.T) {
	text := "prompts: [hi]\nproviders: [echo]\ntests:\n" + strings.Repeat("- {vars: {a: 1}, assert: [{type: contains, value: x}]}\n", 40_000)
	started := time.Now()
	if s, mistakes := written(t, t.Context(), text); s == nil || mistakes.Err() != nil {
		t.Fatal(mistakes.Err())
	}
	whole := time.Since(started)
	for _, part := range []time.Duration{0, whole / 4, whole / 2, whole * 3 / 4} {
		ctx, cancel := context.WithTimeout(t.Context(), part)
		started := time.Now()
		s, mistakes := written(t, ctx, text)
		took := time.Since(started)
		if ctx.Err() != nil && (s != nil || !strings.Contains(fmt.Sprint(mistakes.Err()), context.DeadlineExceeded.Error())) {
			t.Errorf("cut off after %v: %v %v", part, s != nil, mistakes.Err())
		}
		if took > part+whole/4+200*time.Millisecond {
			t.Errorf("cut off after %v, it ended after %v; the whole takes %v", part, took, whole)
		}
		cancel()
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
