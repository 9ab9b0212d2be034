package mutate

import (
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
)

// operator is one way to break an output.
type operator struct {
	name   string
	breaks string // what it does to an output
	of     string // which instructions it breaks
	// types are the assertion types of the checks that the operator breaks, without not-.
	// The operator applies to an instruction with such a check; not says whether the check
	// must be negated.
	types string
	not   polarity
	// words reports whether the operator applies to an instruction without a check.
	words func(in *Instruction) bool
	make  func(w *work)
}

// polarity is whether a check demands or forbids.
type polarity uint8

const (
	either polarity = iota
	demanded
	forbidden
)

// countTypes are the assertion types that count parts of an output.
const countTypes = "char-count count item-count line-count sentence-count token-count word-count paragraph-count"

// operators has every way to break an output. If only a few mutants are wanted, they are
// taken in this order.
var operators = []operator{
	{name: "lengthen", breaks: "adds words, sentences, items or lines until there are too many", of: "an upper limit of a count", types: countTypes, make: lengthen},
	{name: "shorten", breaks: "removes sentences, items, lines or words until there are too few", of: "a lower limit of a count", types: countTypes, make: shorten},
	{name: "add-phrase", breaks: "writes a forbidden phrase into a sentence, or as one", of: "a phrase that must not occur", types: "contains contains-any icontains icontains-any", not: forbidden, make: addPhrase},
	{name: "drop-phrase", breaks: "removes a required phrase, or the value of a variable, wherever it occurs", of: "a phrase or a variable that must occur", types: "contains contains-all contains-any icontains icontains-all icontains-any in-order", not: demanded, make: dropPhrase},
	{name: "swap-order", breaks: "puts two phrases in the other order", of: "phrases in an order", types: "in-order", not: demanded, make: swapOrder},
	{name: "drop-start", breaks: "removes how the output begins, or writes something before it", of: "a beginning", types: "starts-with", not: demanded, make: dropStart},
	{name: "drop-end", breaks: "removes how the output ends, or writes something after it", of: "an end", types: "ends-with", not: demanded, make: dropEnd},
	{name: "add-start", breaks: "begins with the forbidden phrase", of: "a forbidden beginning", types: "starts-with", not: forbidden, make: addStart},
	{name: "add-end", breaks: "ends with the forbidden phrase", of: "a forbidden end", types: "ends-with", not: forbidden, make: addEnd},
	{name: "break-json", breaks: "cuts the last bracket, writes text around it, or uses single quotes", of: "JSON", types: "contains-json is-json", not: demanded, make: breakJSON},
	{name: "drop-key", breaks: "removes or renames a key of the JSON", of: "keys of JSON", types: "contains-json is-json", not: demanded, make: dropKey},
	{name: "add-sign", breaks: "adds signs: emojis, punctuation, Markdown, HTML, a link, capital letters", of: "signs or a format that must not occur", types: "chars contains contains-html contains-json contains-xml regex", make: addSign},
	{name: "strip-sign", breaks: "removes signs: punctuation, list markers, Markdown, tags, capital letters", of: "signs or a format that must occur", types: "chars contains contains-html contains-xml is-html is-xml regex", make: stripSign},
	{name: "switch-language", breaks: "writes the sentences in another language", of: "a language", types: "chars regex", words: namesLanguage, make: switchLanguage},
	{name: "drop-citation", breaks: "removes all references: [1], (Name, 2020), links", of: "sources and citations", words: wantsCitations, make: dropCitation},
	{name: "change-number", breaks: "changes a number", of: "facts and figures", words: asksTruth, make: changeNumber},
	{name: "change-name", breaks: "changes a name", of: "facts and names", words: asksTruth, make: changeName},
	{name: "drop-variable", breaks: "removes the value of a variable that the instruction names, or changes a number in it", of: "a variable that is used", words: hasVariable, make: dropVariable},
	{name: "drop-part", breaks: "removes the section, item or sentence that has the words of the instruction", of: "a part that must be there", words: wantsPart, make: dropPart},
	{name: "pad", breaks: "says everything twice, or adds sentences that say nothing", of: "brevity", words: wantsBrevity, make: pad},
	{name: "break-topic", breaks: "adds a sentence that does what is forbidden: a rude word, an apology, a promise, an invented figure, …", of: "tone, and what must not be said", words: hasTopic, make: breakTopic},
	{name: "empty", breaks: "leaves nothing", of: "any answer", words: isAnyAnswer, make: func(w *work) { w.whole("") }},
	{name: "refuse", breaks: "refuses in place of an answer", of: "any answer", words: isAnyAnswer, make: func(w *work) { w.whole("I'm sorry, but I can't help with that.") }},
	{name: "cut-off", breaks: "ends in the middle of a word", of: "any answer", words: isAnyAnswer, make: cutOff},
	{name: "repeat", breaks: "says everything twice", of: "any answer", words: isAnyAnswer, make: func(w *work) { w.whole(strings.TrimSpace(w.out.Text) + "\n\n" + w.out.Text) }},
}

// applies reports whether an operator may break an instruction.
func (op *operator) applies(in *Instruction) bool {
	if len(in.Checks) == 0 {
		return op.words != nil && isAnyAnswer(in) == (op.of == "any answer") && op.words(in) && !in.Apart
	}
	return len(op.checks(in)) > 0
}

// checks returns the checks of an instruction that an operator breaks.
func (op *operator) checks(in *Instruction) []*proviso.Assertion {
	var list []*proviso.Assertion
	for _, a := range in.Checks {
		base, not := strings.CutPrefix(a.Type, "not-")
		if op.not == either || not == (op.not == forbidden) {
			if slices.Contains(strings.Fields(op.types), base) {
				list = append(list, a)
			}
		}
	}
	return list
}

func isAnyAnswer(in *Instruction) bool { return in.Text == AnyAnswer.Text && in.Line == 0 }
