package report

import (
	"cmp"
	"math"
	"time"

	"github.com/proviso-eval/proviso/internal/runfile"
	"github.com/proviso-eval/proviso/value"
)

// Verdicts of a [Kept] run.
const (
	KeptPassed     = "pass"       // every row passed or was skipped
	KeptFailed     = "fail"       // a row failed
	KeptUndecided  = "undecided"  // no row failed, and some are errors
	KeptUnfinished = "unfinished" // it was interrupted, or is still running
)

// Kept is a kept run as far as its first and last line describe it, which is enough for
// a list of runs.
type Kept struct {
	ID      string    `json:"id"`
	Suite   string    `json:"suite"`
	Started time.Time `json:"started"`
	Verdict string    `json:"verdict"`

	Passed   int      `json:"passed"` // of the rows; the counts are 0 for an unfinished run
	Failed   int      `json:"failed"`
	Errors   int      `json:"errors"`
	Skipped  int      `json:"skipped"`
	PassRate *float64 `json:"pass_rate"` // of the decided rows; nil if there are none
	Cost     float64  `json:"cost"`      // US dollars
	Seconds  float64  `json:"seconds"`

	Revision Revision `json:"revision"`
	Hash     string   `json:"hash,omitempty"` // runs of equal hash are comparable row by row
	Hashes   Hashes   `json:"hashes"`
	Path     string   `json:"path,omitempty"`

	// Planned is how many rows the run was to have, 0 if that is not known.
	Planned int `json:"-"`

	suiteID string
	folder  string // of a suite that is known by its file alone; "" for others
}

// ReadKept reads header and trailer, which is nil for an unfinished run.
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
	case k.Passed+k.Skipped < k.Planned: // it was interrupted, and the rest could fail
	default:
		k.Verdict = KeptPassed
	}
	return k
}

// elapsedOf returns how long a run took, by its trailer. No run takes longer than a century.
func elapsedOf(trailer *value.Object) time.Duration {
	const century = 100 * 366 * 24 * time.Hour
	ms := num(trailer, "elapsedMs")
	if ms >= 0 && ms <= float64(century/time.Millisecond) {
		return time.Duration(ms * float64(time.Millisecond))
	}
	return 0
}

// Of reports whether a run is one of a suite, by the suite's id, or by its description
// or file.
func (k *Kept) Of(suite string) bool { return suite == k.Suite || suite == cmp.Or(k.suiteID, k.Suite) }

// Elsewhere reports whether two runs of suites with the same name are of different
// suites: neither has an id or a description, and they are in different folders.
func (k *Kept) Elsewhere(other *Kept) bool {
	return k.folder != "" && other.folder != "" && k.folder != other.folder
}

// Known returns the name by which an assertion is followed from run to run: its id, else
// its metric, else type, value and threshold.
func (a *AssertionSummary) Known() string { return cmp.Or(a.Label(), a.Name()) }
