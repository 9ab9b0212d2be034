package gate

import (
	"cmp"

	"github.com/proviso-eval/proviso"
)

// Run is one side of a comparison: the verdicts of one run, without texts.
type Run struct {
	Name     string // how messages call it: its id, or the path or address that the user gave
	Identity Identity
	Columns  []Column
	Rows     []Row // in index order
}

// Identity says what a run was made of. Two runs with different judges, criteria,
// repeats or cases still compare, with a warning. "" means unknown.
type Identity struct {
	Suite   string `json:"suite"`   // hash of the suite
	Prompts string `json:"prompts"` // hash of all prompts
	Judge   string `json:"judge"`   // identity of the judge, as [proviso.Verdict.Judge]
	Cases   string `json:"cases"`   // hash of the identities of all cases
	Repeats int    `json:"repeats"` // per case
}

// Column is a prompt with a provider, both by label.
type Column struct {
	Prompt   string `json:"prompt"`
	Provider string `json:"provider"`
}

// Row is one finished row.
type Row struct {
	Index    int // in the run, so that a report finds its texts
	Column   int // index in [Run.Columns]
	Case     Case
	Status   proviso.Status
	Score    float64 // 0 to 1; meaningless if Status is [proviso.Errored]
	Verdicts []Verdict

	Cost      float64 // US dollars, including what a cache saved
	Tokens    int
	LatencyMS float64 // NaN for an answer from a cache that did not keep it
}

// Case identifies the case of a row.
type Case struct {
	ID      string // that the suite gives; "" if it gives none
	Vars    string // hash of the variables
	Name    string // ID, else the id that proviso made
	Title   string // for people where there is no ID: the description, else the variables in short; "" if they are not known
	Cluster string // cases of equal cluster are not independent; "" is a cluster of its own
	Repeat  int    // 0 for the first
}

// Label returns what people call the case: its title, else its name.
func (c *Case) Label() string { return cmp.Or(c.Title, c.Name) }

// Verdict is the verdict on one assertion of a row.
type Verdict struct {
	// Assertion is the id of the assertion, else its metric, else type and value.
	Assertion string
	Status    proviso.Status
	// Waived is set if the check failed but passes because its weight is 0. The rules
	// that a user writes for an assertion by name count it as a failure.
	Waived bool
	Score  float64 // 0 to 1; meaningless if Status is [proviso.Errored]
	// Criterion hashes everything that can change the verdict; "" is unknown. A
	// different hash under the same name is another criterion.
	Criterion string
	Judge     string // identity; "" if no model was called
}
