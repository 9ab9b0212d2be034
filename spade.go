package proviso

import "github.com/proviso-eval/proviso/value"

// Delta is one change between two versions of a prompt.
type Delta struct {
	Version int    // version that introduced it, from 1; version 0 is empty
	Added   bool   // false for text that was removed
	Moved   bool   // the text was elsewhere in the previous version
	Text    string // a sentence, line or list item
	Part    string // heading, code, example or markup; "" for text that may be a requirement by itself
	Line    int    // line in the version that has the text, from 1
	From    int    // line of moved or reworded text in the previous version; otherwise 0
	Former  string // reworded text, which counts as added: its wording in the previous version; otherwise ""
	Removed int    // added text that is not in the last version: the version that removed it; 0 if it is still there or unknown

	// Condition is the template condition around the text, such as vip for {% if vip %};
	// "" if the text always applies. When is the same in CEL, as a suite has it; "" if it
	// cannot be translated.
	Condition, When string
}

// Criterion is a question whose answer decides a judged assertion, or a delta's
// requirement on outputs.
type Criterion struct {
	Text     string
	Template string        // name of a shipped criterion; "" if Text is the whole criterion
	Params   *value.Object // parameters of the template
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
	PromptHash  string // hash of the prompt that the model received

	// Pin and Ban are decisions by people. A pinned candidate is always selected, a
	// banned one never. At most one of them is set.
	Pin, Ban bool
	Cost     int // cost of selecting it, at least 1; 0 if unset
}
