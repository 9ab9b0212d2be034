package gate

import (
	"cmp"

	"github.com/proviso-eval/proviso"
)

// Run is one side of a comparison: the verdicts of one run, without texts.
type Run struct {
	Name     string // name for messages: the id, or the path or address that the user gave
	Identity Identity
	Columns  []Column
	Rows     []Row // in index order
}

// Identity describes what a run was made from. Two runs with different judges, criteria,
// repeats or cases can be compared, with a warning. "" means unknown.
type Identity struct {
	Suite   string `json:"suite"`   // suite hash
	Prompts string `json:"prompts"` // hash of all prompts
	Judge   string `json:"judge"`   // judge identity, as in [proviso.Verdict.Judge]
	Cases   string `json:"cases"`   // hash of all case identities
	Repeats int    `json:"repeats"` // per case
}

// Column is a prompt and a provider, both by label.
type Column struct {
	Prompt   string `json:"prompt"`
	Provider string `json:"provider"`
}

// Row is one finished row.
type Row struct {
	Index    int // index in the run, with which a report finds the texts
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
	ID      string // id from the suite; "" if it gives none
	Vars    string // hash of the variables
	Name    string // ID, otherwise the id that proviso generated
	Title   string // display name if there is no ID: the description, otherwise the variables in short; "" if they are unknown
	Cluster string // cases with the same cluster are not independent; "" means a cluster of its own
	Repeat  int    // 0 for the first
}

// Label returns the display name of the case: its title, otherwise its name.
func (c *Case) Label() string { return cmp.Or(c.Title, c.Name) }

// Verdict is the verdict on one assertion of a row.
type Verdict struct {
	// Assertion is the id of the assertion, otherwise its metric, otherwise type and
	// value.
	Assertion string
	Status    proviso.Status
	// Waived is set if the check failed but passes because its weight is 0. Rules that
	// name the assertion count it as a failure.
	Waived bool
	Score  float64 // 0 to 1; meaningless if Status is [proviso.Errored]
	// Criterion is a hash of everything that can change the verdict; "" means unknown. A
	// different hash under the same name means a different criterion.
	Criterion string
	Judge     string // identity; "" if no model was called
}
