package proviso

import "time"

// Run is the record of one execution of a suite, with one content hash of suite,
// prompts and judge.
type Run struct {
	ID        string
	Suite     string // description, or the file's name
	Hash      string // of suite, prompts and judge
	Started   time.Time
	Elapsed   time.Duration
	Totals    Totals
	Judges    []string
	Completed bool
}

// Totals count the rows of a run.
type Totals struct {
	Passed, Failed, Errors, Skipped int

	// For cases that must pass some of their repeats: MayPass counts failed rows that
	// count as passed if the undecided repeats pass, and WillPass counts undecided
	// rows of cases that have already passed often enough.
	MayPass, WillPass int

	Usage    Usage
	Cost     float64 // US dollars, including answers from a cache
	Incurred float64 // US dollars that this run spent
}

// Rows returns how many rows were counted.
func (t Totals) Rows() int { return t.Passed + t.Failed + t.Errors + t.Skipped }
