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
	Unmet     RunStatus = "waiting"   // is queued, and no process that lives can do what it needs
	Running   RunStatus = "running"   // is being executed
	Done      RunStatus = "done"      // all rows are finished, whatever their verdicts
	Failed    RunStatus = "failed"    // could not be executed; Error says why
	Cancelled RunStatus = "cancelled" // on request
)

// Ended reports whether the status is final.
func (s RunStatus) Ended() bool { return s == Done || s == Failed || s == Cancelled }

// NewRun is a run to be stored and enqueued.
type NewRun struct {
	ID        string // from NewID, or "" to have one made
	Suite     string // name of the suite
	Version   string // hash of the suite's version
	CreatedBy string // id of the API key
	Options   []byte // JSON that the server needs to execute the run; no secrets
	Rows      int    // number of rows, 0 if not known yet
	Hash      string // as of [Run], "" if not known yet
	Division  Division
	// Needs are what a process must have to execute the run, in words that fit after "a
	// worker with": OPENAI_API_KEY. Only a process whose [Offer] can do all of them takes
	// the run. They hold no secrets.
	Needs  []string
	Judges []string // identities, as far as they are known
	Reply  *Reply   // kept in the same transaction, nil if there is none
}

// Division says how the rows of a run are divided among processes; the zero value is a run
// that one process executes as a whole. Part n has the rows from n × Rows by their index, and
// the last part has all that follow.
type Division struct {
	Rows  int // of a part; the rows of one case are in one part
	Parts int
}

// Check returns why a run cannot be divided so, or nil.
func (d Division) Check() error {
	if d != (Division{}) && (d.Rows < 1 || d.Parts < 1 || d.Parts > MaxParts) {
		return proviso.Errorf(proviso.Invalid, "a run is divided into 1 to %d parts of some rows, not %d of %d", MaxParts, d.Parts, d.Rows)
	}
	return nil
}

// Part is a part of a run that a process has taken.
type Part struct {
	RowRange
	Begun bool // a process had it before, and may have finished rows of it
}

// RowRange selects rows by their index.
type RowRange struct {
	From int
	To   int // the first row beyond; 0 is no end
}

// Has reports whether a row is in the range.
func (r RowRange) Has(index int) bool { return index >= r.From && (r.To == 0 || index < r.To) }

// ImportedRun is a run that was made elsewhere and has ended.
type ImportedRun struct {
	ID        string // such as [ContentID] makes
	Suite     string // name of the suite
	Version   string // hash of the suite, "" if unknown
	Hash      string // as of [Run]
	CreatedBy string // id of the API key, which is charged nothing
	Options   []byte // JSON, as of [NewRun]
	Rows      int    // number of rows that it was to have; with fewer results, it is [Cancelled]
	Started   time.Time
	RunFile
}

// RunFile is what the file of a run has beside its rows.
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
		return proviso.Errorf(proviso.Limit, "the run has %d bytes beside its rows, more than %d", n, MaxContent)
	}
	return nil
}

// Interrupted is the error of a run that ended before all of its rows were finished.
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
	Hash      string // hash of suite, prompts and judge, once it is planned: runs of equal hash are comparable
	CreatedBy string // id of the API key
	Options   []byte // JSON, as it was given
	Status    RunStatus
	Waits     string   // what it waits for, as [WaitsFor] says it; "" unless it is [Unmet]
	Needs     []string // as of [NewRun], and what processes found out since; sorted
	Error     string   // why it failed, or why it is tried again
	Attempts  int      // how often its execution was begun and not stopped
	Rows      int      // number of rows, 0 if not known yet
	Division  Division
	Totals    proviso.Totals
	Judges    []string // identities
	Created   time.Time
	Started   time.Time // of the latest execution, zero if there was none
	Ended     time.Time // zero if it has not
	// Uncounted says that its assertions and its tally are counted when they are asked for
	// first, which reads every row.
	Uncounted bool
}

// RunPlan is what is known about a run once it is planned.
type RunPlan struct {
	Rows   int
	Hash   string
	Judges []string
	Fix    Fix
}

// Fix says what a run needs from now on that was open before; the zero value fixes nothing. It
// has a place in every run: one with [MaxNeeds] needs has one more then.
type Fix struct {
	Need  string
	Of    string // how all needs begin of which a run has one at most, such as "the judge "
	Place string // the need whose place it takes, if the run has that
}

// Check returns why nothing can be fixed so, or nil.
func (f Fix) Check() error {
	if f.Need == "" {
		return nil
	}
	return CheckNeeds([]string{f.Need})
}

// Apply returns the needs of a run with what is fixed; ok is false if it needs another one of
// these already.
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
	Index      int // of the row in its run, from 0
	Status     proviso.Status
	Usage      proviso.Usage
	Cost       float64 // US dollars
	Assertions []AssertionStatus
	JSON       []byte // the row as the JSON report shows it
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
	// Rows selects rows in any of these ranges, at most [MaxRanges].
	Rows []RowRange
	// Bare leaves out everything of a row but Index and JSON, which is quicker.
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

// permanent marks an error of [Work] that another attempt would repeat.
type permanent struct{ error }

func (p permanent) Unwrap() error { return p.error }

// Permanent marks an error of [Work] that another attempt would repeat, such as
// a mistake in the suite. It returns nil for nil.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return permanent{err}
}

// ErrNoRoom is the cause of an error of a store whose disk is full. Nothing was written,
// and the same call succeeds once there is room.
var ErrNoRoom = errors.New("the disk is full")

// IsPermanent reports whether an error was marked with [Permanent].
func IsPermanent(err error) bool {
	var p permanent
	return errors.As(err, &p)
}
