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
		name     string
		totals   proviso.Totals
		passRate float64
		want     int
	}{
		{"nothing", proviso.Totals{}, 1, exitOK},
		{"all pass", proviso.Totals{Passed: 3}, 1, exitOK},
		{"all skipped", proviso.Totals{Skipped: 3}, 1, exitOK},
		{"skips do not count", proviso.Totals{Passed: 1, Failed: 1, Skipped: 8}, 0.6, exitFailed},
		{"a failure", proviso.Totals{Passed: 99, Failed: 1}, 1, exitFailed},
		{"an error", proviso.Totals{Passed: 99, Errors: 1}, 1, exitUndecided},
		{"both", proviso.Totals{Passed: 98, Failed: 1, Errors: 1}, 1, exitFailed},
		{"an error could still make it", proviso.Totals{Passed: 4, Failed: 1, Errors: 5}, 0.9, exitUndecided},
		{"no error could", proviso.Totals{Passed: 4, Failed: 2, Errors: 4}, 0.9, exitFailed},
		{"met, whatever the errors are", proviso.Totals{Passed: 9, Errors: 1}, 0.9, exitOK},
		{"met but for an error", proviso.Totals{Passed: 8, Errors: 2}, 0.9, exitUndecided},
		{"exactly the pass rate", proviso.Totals{Passed: 2, Failed: 1}, 2.0 / 3, exitOK},
		{"7 of 100 is 0.07", proviso.Totals{Passed: 7, Failed: 93}, 0.07, exitOK},
		{"nothing has to pass", proviso.Totals{Failed: 3, Errors: 1}, 0, exitOK},
		{"an undecided repeat may forgive a failed one", proviso.Totals{Passed: 1, Failed: 1, Errors: 1, MayPass: 1}, 1, exitUndecided},
		{"repeats that passed often enough", proviso.Totals{Passed: 2, Errors: 1, WillPass: 1}, 1, exitOK},
	} {
		if got := verdictCode(tt.totals, tt.passRate, exitFailed); got != tt.want {
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

// TestInterruptedWhileReading: Ctrl-C before the run is not a mistake in the suite.
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
		root := newRootFor(newApp(stdio{out: &out, err: &errs}), nil)
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
