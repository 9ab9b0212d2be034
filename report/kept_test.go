package report_test

import (
	"testing"
	"time"

	"github.com/proviso-eval/proviso/report"
)

// TestVerdictOfKept: a run that stopped before its end never counts as passed.
func TestVerdictOfKept(t *testing.T) {
	t.Parallel()
	m := &report.Meta{Suite: "s", Started: time.Unix(0, 0), Planned: 4}
	for trailer, want := range map[string]string{
		"":                         report.KeptUnfinished,
		`{"passed":4}`:             report.KeptPassed,
		`{"passed":3,"skipped":1}`: report.KeptPassed,
		`{"passed":3}`:             report.KeptUnfinished,
		`{"passed":2,"errors":1}`:  report.KeptUndecided,
		`{"passed":2,"failed":1}`:  report.KeptFailed,
	} {
		if k := report.ReadKept(m.Header(), []byte(trailer)); k.Verdict != want {
			t.Errorf("%q: %s, want %s", trailer, k.Verdict, want)
		}
	}
}
