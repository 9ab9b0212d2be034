package run

import (
	"fmt"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/runfile"
)

// Replay says that the answers of a run are recorded ones. Such a run is the same
// to the byte whenever it is made: its id and its time come from the recording,
// what is not recorded takes no time, rows are done one at a time, in order, and
// nothing waits. The time that the run took is that of its answers.
type Replay struct {
	Made time.Time // when the answers were recorded
	Key  string    // tells recordings apart
}

// id names the run after what it is made of.
func (r *Replay) id(p *Plan) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %d", p.Hash(), r.Key, p.Rows)
	for i := range p.columns {
		fmt.Fprintf(&b, " %q %q", p.columns[i].spec.Name(), p.columns[i].prompt.ID)
	}
	return runfile.ContentID(r.Made, b.String())
}

// started is the time of the run.
func (p *Plan) started() time.Time {
	if p.o.Replay != nil {
		return p.o.Replay.Made
	}
	return time.Now()
}

// took is how long an answer took whose provider does not say.
func (p *Plan) took(start time.Time) *time.Duration {
	var d time.Duration
	if p.o.Replay == nil {
		d = time.Since(start)
	}
	return &d
}

// elapsed is how long the run took.
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

// delay is how long to wait after a row.
func (e *execution) delay(col *column, res *proviso.Result) time.Duration {
	if e.p.o.Replay != nil || e.late() {
		return 0
	}
	if res.Output.Cached { // a provider's own delay is for those that are really asked
		return e.p.o.Delay
	}
	return max(e.p.o.Delay, time.Duration(col.spec.DelayMS)*time.Millisecond)
}
