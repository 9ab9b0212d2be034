package proviso

// Delta is one change between two versions of a prompt.
type Delta struct {
	Version int    // the version that brought it, from 1; version 0 is empty
	Added   bool   // false for text that was removed
	Moved   bool   // the text stood elsewhere in the version before
	Text    string // a sentence, line or list item
	Line    int    // in the version that has it, from 1
}

// Criterion is a question whose answer decides a judged assertion, or what a
// delta asks of outputs.
type Criterion struct {
	Text     string
	Template string  // name of a shipped criterion; "" if Text is the whole
	Params   *Object // of the template
	Category string  // spade's taxonomy; "" elsewhere
}

// Candidate is an assertion that was proposed for a prompt.
type Candidate struct {
	Name        string
	Description string
	Assertion   *Assertion
	Criteria    []Criterion
	Delta       Delta
	Model       string // "" for a rule
	PromptHash  string
}

// Selection is a subset of candidates with what it catches.
type Selection struct {
	Names           []string
	Covered, Bad    int // bad outputs caught, of how many
	FalseFail, Good int // good outputs failed, of how many
	Optimal         bool
}
