package store

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
)

// RunStatus is the status of a run.
type RunStatus string

// The statuses of runs. The last three are final.
const (
	Queued    RunStatus = "queued"    // waits to be executed, for the first time or again
	Unmet     RunStatus = "waiting"   // is queued, and no live process can execute it
	Running   RunStatus = "running"   // is being executed
	Done      RunStatus = "done"      // all rows are finished, whatever their verdicts
	Failed    RunStatus = "failed"    // could not be executed; Error says why
	Cancelled RunStatus = "cancelled" // on request
)

// Ended reports whether the status is final.
func (s RunStatus) Ended() bool { return s == Done || s == Failed || s == Cancelled }

// NewRun is a run to be stored and enqueued.
type NewRun struct {
	ID        string // from NewID, or "" to generate one
	Suite     string // name of the suite
	Version   string // hash of the suite's version
	CreatedBy string // id of the API key
	Options   []byte // JSON that the server needs to execute the run, without secrets
	Rows      int    // number of rows, 0 if unknown
	Hash      string // see [Run], "" if unknown
	Division  Division
	// Needs are what a process must have to execute the run, such as OPENAI_API_KEY, worded to
	// follow "a worker with". Only a process whose [Offer] meets all of them takes the run.
	// They hold no secrets.
	Needs  []string
	Judges []string // known judge identities
	Reply  *Reply   // stored in the same transaction, nil if there is none
}

// Division says how a run is sharded among processes. The zero value is a run that one process
// executes as a whole. Part n starts at row index n × Rows; the last part has all rows from
// there.
type Division struct {
	Rows  int // rows per part; all rows of a case are in the same part
	Parts int
}

// Check returns why a division is invalid, or nil.
func (d Division) Check() error {
	if d != (Division{}) && (d.Rows < 1 || d.Parts < 1 || d.Parts > MaxParts) {
		return proviso.Errorf(proviso.Invalid, "a run is divided into 1 to %d parts of some rows, not %d of %d", MaxParts, d.Parts, d.Rows)
	}
	return nil
}

// Part is a part of a run that a process has taken.
type Part struct {
	RowRange
	Begun bool // another process had it before and may have finished some of its rows
}

// RowRange selects rows by their index.
type RowRange struct {
	From int
	To   int // first row after the range; 0 means no end
}

// Has reports whether a row is in the range.
func (r RowRange) Has(index int) bool { return index >= r.From && (r.To == 0 || index < r.To) }

// ImportedRun is a finished run that was made elsewhere.
type ImportedRun struct {
	ID        string // for example from [ContentID]
	Suite     string // name of the suite
	Version   string // hash of the suite, "" if unknown
	Hash      string // see [Run]
	CreatedBy string // id of the API key, which is not charged
	Options   []byte // JSON, see [NewRun]
	Rows      int    // planned number of rows; with fewer results, the run is [Cancelled]
	Started   time.Time
	RunFile
}

// RunFile holds the lines of a run file other than its rows.
type RunFile struct {
	Header  []byte // first line, without the line break
	Trailer []byte // last line, without the line break
}

// Check returns why a run cannot be imported, or nil.
func (r *ImportedRun) Check() error {
	if err := checkText("id of the run", r.ID, MaxName); err != nil {
		return err
	}
	if err := checkText("suite", r.Suite, MaxName); err != nil {
		return err
	}
	if n := len(r.Header) + len(r.Trailer) + len(r.Options); n > MaxContent {
		return proviso.Errorf(proviso.Limit, "the run has %d bytes without its rows, more than %d", n, MaxContent)
	}
	return nil
}

// Interrupted returns the error text of a run that ended before all of its rows were finished.
func Interrupted(finished, rows int) string {
	are := "are"
	switch rows - finished {
	case 0:
		return fmt.Sprintf("interrupted: %d of %d rows are finished", finished, rows)
	case 1:
		are = "is"
	}
	return fmt.Sprintf("interrupted: %d of %d rows %s not finished", rows-finished, rows, are)
}

// Run is one execution of a suite.
type Run struct {
	ID        string
	Project   Project
	Suite     string
	Version   string // hash of the suite's version
	Hash      string // hash of suite, prompts and judge, once planned; runs with equal hashes are comparable
	CreatedBy string // id of the API key
	Options   []byte // JSON, as given
	Status    RunStatus
	Waits     string   // what it waits for, from [WaitsFor]; "" unless it is [Unmet]
	Needs     []string // see [NewRun], with those that processes added; sorted
	Error     string   // why it failed, or why it is retried
	Attempts  int      // number of executions that were started and not stopped
	Rows      int      // number of rows, 0 if unknown
	Division  Division
	Totals    proviso.Totals
	Judges    []string // identities
	Created   time.Time
	Started   time.Time // start of the latest execution, zero if there was none
	Ended     time.Time // zero if it has not ended
	// Uncounted means that the run's assertions and tally are not counted yet. The first
	// request for them counts them, which reads every row.
	Uncounted bool
}

// RunPlan is what is known about a run after planning.
type RunPlan struct {
	Rows   int
	Hash   string
	Judges []string
	Fix    Fix
}

// Fix sets a need of a run that was open before; the zero value sets nothing. A fix is allowed
// even if the run already has [MaxNeeds] needs.
type Fix struct {
	Need  string
	Of    string // common prefix of needs of which a run has at most one, such as "the judge "
	Place string // placeholder need that it replaces, if the run has it
}

// Check returns why a fix is invalid, or nil.
func (f Fix) Check() error {
	if f.Need == "" {
		return nil
	}
	return CheckNeeds([]string{f.Need})
}

// Apply returns the needs of a run with the fix. ok is false if the run already has another
// need with the same prefix.
func (f Fix) Apply(needs []string) (fixed []string, ok bool) {
	if f.Need == "" {
		return needs, true
	}
	for _, need := range needs {
		if strings.HasPrefix(need, f.Of) {
			return needs, need == f.Need
		}
		if need != f.Place {
			fixed = append(fixed, need)
		}
	}
	return append(fixed, f.Need), true
}

// RunFilter selects runs; zero fields select all.
type RunFilter struct {
	Suite     string
	Version   string
	Status    []RunStatus
	CreatedBy string
	Since     time.Time // created then or later
	Until     time.Time // created before
}

// Result is one finished row of a run.
type Result struct {
	Index      int // row index in the run, from 0
	Status     proviso.Status
	Usage      proviso.Usage
	Cost       float64 // US dollars
	Assertions []AssertionStatus
	JSON       []byte // the row as in the JSON report
}

// CountIn adds the row to totals.
func (r *Result) CountIn(sum *proviso.Totals) {
	*counterOf(r.Status, &sum.Passed, &sum.Failed, &sum.Errors, &sum.Skipped)++
	sum.Usage.Add(r.Usage)
	sum.Cost += r.Cost
}

// counterOf returns the counter of a status.
func counterOf(status proviso.Status, passed, failed, errors, skipped *int) *int {
	switch status {
	case proviso.Pass:
		return passed
	case proviso.Fail:
		return failed
	case proviso.Skip:
		return skipped
	}
	return errors
}

// AssertionStatus is the status of one assertion in a row.
type AssertionStatus struct {
	ID     string
	Status proviso.Status
}

// ResultFilter selects rows; zero fields select all.
type ResultFilter struct {
	Status []proviso.Status // of the row or, with Assertion, of that assertion
	// Assertion selects rows in which an assertion with this id was evaluated.
	Assertion string
	// Rows selects rows in any of these ranges. There are at most [MaxRanges].
	Rows []RowRange
	// Bare reads only Index and JSON of each row, which is faster.
	Bare bool
}

// AssertionCount counts the verdicts of one assertion in a run.
type AssertionCount struct {
	ID                              string
	Passed, Failed, Errors, Skipped int
}

// Add counts a verdict.
func (c *AssertionCount) Add(status proviso.Status) {
	*counterOf(status, &c.Passed, &c.Failed, &c.Errors, &c.Skipped)++
}

// permanent marks a [Work] error that another attempt would repeat.
type permanent struct{ error }

func (p permanent) Unwrap() error { return p.error }

// Permanent marks a [Work] error that another attempt would repeat, such as a mistake in the
// suite. It returns nil for nil.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return permanent{err}
}

// ErrNoRoom is the cause of a store error when the disk is full. Nothing was written, and the
// same call succeeds once there is space.
var ErrNoRoom = errors.New("the disk is full")

// IsPermanent reports whether an error was marked with [Permanent].
func IsPermanent(err error) bool {
	var p permanent
	return errors.As(err, &p)
}
