package proviso

import "github.com/proviso-eval/proviso/value"

// Delta is one change between two versions of a prompt.
type Delta struct {
	Version int    // the version that introduced it, from 1; version 0 is empty
	Added   bool   // false for text that was removed
	Moved   bool   // the text was elsewhere in the version before
	Text    string // a sentence, line or list item
	Part    string // heading, code, example or markup; "" for what may ask something by itself
	Line    int    // in the version that has it, from 1
	From    int    // of moved or reworded text: its line in the version before; else 0
	Former  string // of reworded text, which counts as added: what the version before said instead; else ""
	Removed int    // of added text that the last version no longer has: the version that removed it; 0 if it is there or unknown

	// Condition is the condition of the prompt's template around the text, such as vip for
	// {% if vip %}; "" if it always applies. When is the same in CEL, as a suite has it; ""
	// if it cannot be translated.
	Condition, When string
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
