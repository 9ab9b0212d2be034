package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
)

func TestVerdictCode(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name      string
		totals    proviso.Totals
		threshold float64
		want      int
	}{
		{"nothing", proviso.Totals{}, 100, exitOK},
		{"all pass", proviso.Totals{Passed: 3}, 100, exitOK},
		{"all skipped", proviso.Totals{Skipped: 3}, 100, exitOK},
		{"skips do not count", proviso.Totals{Passed: 1, Failed: 1, Skipped: 8}, 60, exitFailed},
		{"a failure", proviso.Totals{Passed: 99, Failed: 1}, 100, exitFailed},
		{"an error", proviso.Totals{Passed: 99, Errors: 1}, 100, exitUndecided},
		{"both", proviso.Totals{Passed: 98, Failed: 1, Errors: 1}, 100, exitFailed},
		{"an error could still make it", proviso.Totals{Passed: 4, Failed: 1, Errors: 5}, 90, exitUndecided},
		{"no error could", proviso.Totals{Passed: 4, Failed: 2, Errors: 4}, 90, exitFailed},
		{"exactly the threshold", proviso.Totals{Passed: 2, Failed: 1}, 200.0 / 3, exitOK},
		{"no threshold", proviso.Totals{Failed: 3}, 0, exitOK},
	} {
		if got := verdictCode(tt.totals, tt.threshold, exitFailed); got != tt.want {
			t.Errorf("%s: got %d, want %d", tt.name, got, tt.want)
		}
	}
}

// TestCodes: every code of an error has an exit code.
func TestCodes(t *testing.T) {
	t.Parallel()
	for _, code := range []string{
		proviso.Invalid, proviso.Unsupported, proviso.NotFound, proviso.Refused, proviso.Limit,
		proviso.Timeout, proviso.Unavailable, proviso.Undecided, proviso.Internal,
	} {
		if got := codeOf(proviso.Errorf(code, "x")); got != exitUsage && got != exitUndecided {
			t.Errorf("%s: exit code %d", code, got)
		}
	}
}

// TestInterruptedWhileReading: Ctrl-C before anything ran is no mistake of the
// suite.
func TestInterruptedWhileReading(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "proviso.yaml")
	if err := os.WriteFile(file, []byte("prompts: [a]\nproviders: [echo]\ntests: [{vars: {n: 1}}]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, command := range []string{"eval", "validate"} {
		var out, errs bytes.Buffer
		root := newRoot(&app{stdio: stdio{out: &out, err: &errs}})
		root.SetArgs([]string{command, "-c", file})
		err := root.ExecuteContext(ctx)
		var exit exitError
		if !errors.As(err, &exit) || exit.code != exitInterrupted {
			t.Errorf("%s: got %v, want exit code %d", command, err, exitInterrupted)
		}
		if !strings.Contains(errs.String(), "interrupted; nothing was run") || out.Len() > 0 {
			t.Errorf("%s printed %q and %q", command, out.String(), errs.String())
		}
	}
}
