package server_test

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/server"
)

// TestSharedRatesAlone: the log reports when a process continues without the others, and when
// that ends.
func TestSharedRatesAlone(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	r := server.SharedRates(nil, slog.New(slog.NewTextHandler(&log, nil)))
	r.Alone(errors.New("no connection"), 0.5)
	r.Alone(nil, 0)
	r.Alone(errors.New("no connection"), 0)
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	for i, want := range []string{
		`level=WARN msg="the rate of a model cannot be shared; this process continues with its last share" per_minute=30 error="no connection"`,
		`level=INFO msg="the rate of a model is shared with the other processes again"`,
		`level=WARN msg="the rate of a model cannot be shared; this process continues on its own, as no limit is known" error="no connection"`,
	} {
		if i >= len(lines) || !strings.HasSuffix(lines[i], want) {
			t.Errorf("line %d: %q, want %q", i, lines, want)
		}
	}
	server.SharedRates(nil, nil).Alone(nil, 0)
}
