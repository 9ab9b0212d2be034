package report

import (
	"cmp"
	"math"
	"time"

	"github.com/proviso-eval/proviso/internal/runfile"
	"github.com/proviso-eval/proviso/value"
)

// Verdicts on a [Kept] run.
const (
	KeptPassed     = "pass"       // every row passed or was skipped
	KeptFailed     = "fail"       // a row failed
	KeptUndecided  = "undecided"  // no row failed, and some have errors
	KeptUnfinished = "unfinished" // it was interrupted or is still running
)

// Kept describes a kept run by its header and trailer only, which is enough for a list of
// runs.
type Kept struct {
	ID      string    `json:"id"`
	Suite   string    `json:"suite"`
	Started time.Time `json:"started"`
	Verdict string    `json:"verdict"`

	Passed   int      `json:"passed"` // counts of rows; all are 0 for an unfinished run
	Failed   int      `json:"failed"`
	Errors   int      `json:"errors"`
	Skipped  int      `json:"skipped"`
	PassRate *float64 `json:"pass_rate"` // share of the decided rows; nil if there are none
	Cost     float64  `json:"cost"`      // US dollars
	Seconds  float64  `json:"seconds"`

	Revision Revision `json:"revision"`
	Hash     string   `json:"hash,omitempty"` // runs with equal hashes are comparable row by row
	Hashes   Hashes   `json:"hashes"`
	Path     string   `json:"path,omitempty"`

	// Planned is the planned number of rows; 0 if unknown.
	Planned int `json:"-"`

	suiteID string
	folder  string // of a suite that is known by its file alone; "" for others
}

// ReadKept reads a header and a trailer. The trailer of an unfinished run is nil.
func ReadKept(h runfile.Header, trailer []byte) Kept {
	k := Kept{ID: h.ID, Suite: h.Suite, Started: h.Started, Hash: h.Hash, Verdict: KeptUnfinished, suiteID: h.Meta.Object("config").Text("id")}
	if config := h.Meta.Object("config"); k.suiteID == "" && config.Text("description") == "" {
		k.folder = h.Meta.Text("folder")
	}
	if planned, ok := h.Meta.At("rows").(float64); ok && planned > 0 && planned < math.MaxInt32 {
		k.Planned = int(planned)
	}
	k.Revision, k.Hashes = OriginOf(h.Meta)
	v, err := value.ParseJSON(string(trailer))
	o, ok := v.(*value.Object)
	if err != nil || !ok {
		return k
	}
	k.Passed, k.Failed, k.Errors, k.Skipped = integer(o, "passed"), integer(o, "failed"), integer(o, "errors"), integer(o, "skipped")
	k.Cost, k.Seconds = plausible(num(o, "cost")), elapsedOf(o).Seconds()
	if n := k.Passed + k.Failed; n > 0 {
		rate := float64(k.Passed) / float64(n)
		k.PassRate = &rate
	}
	switch {
	case k.Failed > 0:
		k.Verdict = KeptFailed
	case k.Errors > 0:
		k.Verdict = KeptUndecided
	case k.Passed+k.Skipped < k.Planned: // interrupted: the missing rows could fail
	default:
		k.Verdict = KeptPassed
	}
	return k
}

// elapsedOf returns a run's duration from its trailer; 0 if that is negative or longer than
// a century.
func elapsedOf(trailer *value.Object) time.Duration {
	const century = 100 * 366 * 24 * time.Hour
	ms := num(trailer, "elapsedMs")
	if ms >= 0 && ms <= float64(century/time.Millisecond) {
		return time.Duration(ms * float64(time.Millisecond))
	}
	return 0
}

// Of reports whether the run is one of a suite, given by its id, or by its description or
// file.
func (k *Kept) Of(suite string) bool { return suite == k.Suite || suite == cmp.Or(k.suiteID, k.Suite) }

// Elsewhere reports whether two runs of suites with the same name belong to different
// suites: neither suite has an id or a description, and they are in different folders.
func (k *Kept) Elsewhere(other *Kept) bool {
	return k.folder != "" && other.folder != "" && k.folder != other.folder
}

// Known returns the name that identifies an assertion across runs: its id, else its metric,
// else its type, value and threshold.
func (a *AssertionSummary) Known() string { return cmp.Or(a.Label(), a.Name()) }
