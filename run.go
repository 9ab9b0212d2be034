package proviso

import "time"

// Run is the record of one execution of a suite, with one content hash over suite,
// prompts and judge.
type Run struct {
	ID        string
	Suite     string // description, or the file's name
	Hash      string // hash of suite, prompts and judge
	Started   time.Time
	Elapsed   time.Duration
	Totals    Totals
	Judges    []string
	Completed bool
}

// Totals count the rows of a run.
type Totals struct {
	Passed, Failed, Errors, Skipped int

	// MayPass and WillPass are for cases that must pass only some of their repeats.
	// MayPass counts failed rows that count as passed if the undecided repeats pass.
	// WillPass counts undecided rows of cases that have already passed often enough.
	MayPass, WillPass int

	Usage    Usage
	Cost     float64 // US dollars, including answers from a cache
	Incurred float64 // US dollars that this run spent
}

// Rows returns the number of rows counted.
func (t Totals) Rows() int { return t.Passed + t.Failed + t.Errors + t.Skipped }
