package proviso

import "github.com/proviso-eval/proviso/value"

// Delta is one change between two versions of a prompt.
type Delta struct {
	Version int    // the version that introduced it, from 1; version 0 is empty
	Added   bool   // false for text that was removed
	Moved   bool   // the text was elsewhere in the version before
	Text    string // a sentence, line or list item
	Line    int    // in the version that has it, from 1
	From    int    // of moved text: its line in the version before; else 0
}

// Criterion is a question whose answer decides a judged assertion, or a requirement
// of a delta on outputs.
type Criterion struct {
	Text     string
	Template string        // name of a shipped criterion; "" if Text is the whole criterion
	Params   *value.Object // of the template
	Category string        // spade's taxonomy; "" elsewhere
}

// Candidate is an assertion that was proposed for a prompt.
type Candidate struct {
	Name        string // the id of the assertion, distinct among candidates
	Description string // what is checked, in words
	Assertion   *Assertion
	Category    string // spade's taxonomy; "" if unknown
	Delta       Delta  // the change that led to it; its Version is 0 if unknown
	Model       string // model that proposed it; "" for a rule or a person
	PromptHash  string // of the prompt that the model received

	// What people decided about it. A pinned candidate is always selected, a banned one
	// never; it is not both.
	Pin, Ban bool
	Cost     int // of selecting it, at least 1; 0 if nobody said
}
