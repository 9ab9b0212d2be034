package run

import (
	"fmt"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/runfile"
)

// Replay makes a run use recorded answers. Such a run has the same bytes every time: its id and
// its time come from the recording, steps without a recorded latency take no time, rows run one
// at a time, in order, and nothing waits. The duration of the run is the sum of the recorded
// latencies.
type Replay struct {
	Made time.Time // when the answers were recorded
	Key  string    // distinguishes recordings
}

// id derives the id of the run from its content.
func (r *Replay) id(p *Plan) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %d", p.Hash(), r.Key, p.Rows)
	for i := range p.columns {
		fmt.Fprintf(&b, " %q %q", p.columns[i].spec.Name(), p.columns[i].prompt.ID)
	}
	return runfile.ContentID(r.Made, b.String())
}

// started returns the start time of the run.
func (p *Plan) started() time.Time {
	if p.o.Replay != nil {
		return p.o.Replay.Made
	}
	return time.Now()
}

// took returns the latency of an answer whose provider reports none.
func (p *Plan) took(start time.Time) *time.Duration {
	var d time.Duration
	if p.o.Replay == nil {
		d = time.Since(start)
	}
	return &d
}

// elapsed returns the duration of the run.
func (e *execution) elapsed(start time.Time) time.Duration {
	if e.p.o.Replay == nil {
		return time.Since(start)
	}
	var ms float64
	for _, c := range e.summary.Columns() {
		ms += c.LatencyMS
	}
	return time.Duration(ms * float64(time.Millisecond)).Round(time.Microsecond)
}

// delay returns the pause after a row.
func (e *execution) delay(col *column, res *proviso.Result) time.Duration {
	if e.p.o.Replay != nil || e.late() {
		return 0
	}
	if res.Output.Cached { // a provider's own delay is only for real requests
		return e.p.o.Delay
	}
	return max(e.p.o.Delay, time.Duration(col.spec.DelayMS)*time.Millisecond)
}
