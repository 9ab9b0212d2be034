package check

import (
	"slices"
	"strings"
	"sync"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/kind"
)

// Needs are the resources that a type requires.
type Needs uint16

// The needs.
const (
	NeedsJudge      Needs = 1 << iota // a model that grades
	NeedsTrace                        // the spans of a trace
	NeedsCode                         // an interpreter
	NeedsNetwork                      // an HTTP endpoint named by the suite
	NeedsGroup                        // all outputs of a case at once; decided after the rows
	TakesCode                         // a script file as value is the check itself, not a way to make the value
	NeedsEmbedder                     // a model that turns texts into vectors
	NeedsClassifier                   // a model that classifies
	NeedsModerator                    // a model that detects harm
	NeedsRubric                       // a value, or a rubricPrompt that contains it
	NeedsContext                      // the passages that the answer should be based on: the variable context, or contextTransform
	TakesContext                      // like NeedsContext, but the prompt is used if there are none
	NeedsQuery                        // the variable query
	TakesTurns                        // the conversation that the answer belongs to
)

// Negation is the effect of `not-` on the score; the verdict is always inverted.
type Negation uint8

// The negations.
const (
	Flip       Negation = iota // the score becomes 1 or 0, like the verdict
	Complement                 // the score becomes 1 - score
	PassOnly                   // the score does not change
)

// Range is the set of scores that a type can return. Its maximum is the best score
// that an undecided assertion can still get.
type Range uint8

// The ranges of scores.
const (
	UpToOne     Range = iota // 0 to 1
	AnyScore                 // any number, such as a script returns
	SignedScore              // -1 to 1, so up to 2 with the Complement of `not-`
	RubricScore              // 0 to 1, or the range of the suite's rubricPrompt
)

// Limit is the meaning of a threshold of an assertion.
type Limit uint8

// The limits.
const (
	NoLimit       Limit = iota // none: the type has no score to compare with it
	LimitIfGiven               // it is compared with the type's measurement
	LimitAlways                // the same, with Kind.Default if the suite has none
	LimitPositive              // the same, with Kind.Default also for 0
)

// Measure is how a type compares its measurement with the threshold.
type Measure uint8

// The comparisons.
const (
	NoMeasure Measure = iota // it has none, or a more complicated one
	AtMost                   // it must not exceed the threshold
	AtLeast                  // it must reach the threshold
)

// References are texts that the output is measured against.
type References uint8

// The references.
const (
	NoReferences References = iota
	AllOf                   // the value as a whole
	BestOf                  // of several texts, the best measurement counts
)

// Kind describes one assertion type.
type Kind struct {
	Type  string // without "not-"
	Value string // the required value, in words
	// Takes are the kinds of value that the type reads, with Null if it needs none; 0
	// means that a value has no effect. A text that stands for another value, such as a
	// file or a template, is always accepted.
	Takes kind.Set
	Own   bool // not a type of promptfoo
	Needs Needs
	Not   Negation
	Range Range
	Limit Limit
	Words bool // wholeWords has an effect
	Folds bool // ignoreCase has an effect, or the type always ignores case
	Open  bool // without a threshold it passes with any score
	Share bool // the score is a share or a mean that must reach the threshold; 0 is always reached
	Most  int  // maximum bytes of an output for the type; 0 means no limit
	// Default is the threshold of types that always compare with one.
	Default float64
	// Keys lists the allowed keys of an object value, separated by blanks; if it is
	// empty, any key is allowed. Numbers lists the keys that hold a number. Coerced
	// means that a text with a number is accepted there, as in promptfoo.
	Keys, Numbers string
	Coerced       bool
	Empty         bool // an empty list, or null, is a valid value
	Text          bool // any value is compared as text, even an absent one

	Pure bool // it decides from the text of the output and its value alone
	// Beside means that the type does not look at the output itself, but at other parts
	// of the response, such as its latency.
	Beside bool
	// Measure is how the measurement is compared with the threshold. References says
	// whether the value holds texts that the output is measured against.
	Measure    Measure
	References References
	// Match and FoldsCase control what a report marks where an output differs.
	Match     proviso.Match
	FoldsCase bool // upper and lower case are always equal

	// Units are the units of length that the type counts, in the singular.
	Units []string

	// Cell and CellLimit describe how the type is written in a CSV cell, and its
	// default threshold there; 0 means none. The other fields are those of
	// [proviso.CellFacts].
	Cell         proviso.CellForm
	CellLimit    float64
	CellPrefixes string
	CellVerbatim bool
	CellScripts  string
	BareScript   bool

	New func(c *Compiler, s *Spec) (Check, error)
}

// cellLimit is promptfoo's threshold in a cell for most types.
const cellLimit = 0.75

// maxMetricText limits texts that are split into words and tokens, which takes about
// forty times the memory of the text.
const maxMetricText = 4 << 20

// maxGradedText limits texts for a model. It is more than any model can read.
const maxGradedText = 2 << 20

// kinds is sorted by type.
var kinds = []Kind{
	{Type: "agent-rubric", Value: "a text, an object or none, with a rubricPrompt", Takes: kind.Text | kind.List | kind.Object | kind.Null, Limit: LimitIfGiven, Needs: NeedsJudge | NeedsRubric, Not: Complement, Range: RubricScore, Most: maxGradedText, New: newRubric},
	{Type: "answer-relevance", Value: "none", Limit: LimitAlways, Default: 0.5, Needs: NeedsJudge | NeedsEmbedder, Not: Complement, Range: SignedScore, Share: true, Most: maxGradedText, CellLimit: cellLimit, New: newGraded},
	{Type: proviso.TypeSet, Value: "none; put the members under assert", Limit: LimitIfGiven, Cell: proviso.CellNone},
	{Type: "bleu", Value: "a text or a list of texts", Takes: kind.Text | kind.List, Limit: LimitAlways, Default: 0.5, Not: Complement, Most: maxMetricText, Folds: true, Pure: true, Measure: AtLeast, References: AllOf, New: newBLEU},
	{Type: "char-count", Value: "a number, or an object with min and max", Own: true, Takes: kind.Number | kind.Object, Keys: "min max", Numbers: "min max", Coerced: true, Pure: true, Units: []string{"character", "char", "letter"}, New: newCharCount},
	{Type: "chars", Value: "a class, or an object: class, min, max", Own: true, Takes: kind.Text | kind.Object, Keys: "class min max", Numbers: "min max", Coerced: true, Pure: true, New: newChars},
	{Type: "classifier", Value: "the name of a class, or none for any", Takes: kind.Text | kind.Null, Limit: LimitAlways, Default: 1, Needs: NeedsClassifier, Not: Complement, Range: AnyScore, Most: maxGradedText, CellLimit: cellLimit, New: newClassifier},
	{Type: "contains", Value: "a text or a number", Takes: kind.Text | kind.Number, Words: true, Folds: true, Pure: true, Match: proviso.MatchPart, New: newContains},
	{Type: "contains-all", Value: "a list, or texts separated by commas", Takes: kind.Text | kind.List, Words: true, Folds: true, Cell: proviso.CellList, Pure: true, Match: proviso.MatchEvery, New: newContainsAll},
	{Type: "contains-any", Value: "a list, or texts separated by commas", Takes: kind.Text | kind.List, Words: true, Folds: true, Cell: proviso.CellList, Pure: true, Match: proviso.MatchAnyOne, New: newContainsAny},
	{Type: "contains-html", Value: "none", Pure: true, New: newContainsHTML},
	{Type: "contains-json", Value: "none, or a JSON Schema", Takes: kind.Text | kind.Boolean | kind.Object | kind.Null, Cell: proviso.CellKept, Pure: true, New: newContainsJSON},
	{Type: "contains-sql", Value: "an object: databaseType, allowedTables, allowedColumns", Takes: kind.Object | kind.Null, Keys: "databaseType allowedTables allowedColumns", New: newContainsSQL},
	{Type: "contains-xml", Value: "none, or paths of required elements", Takes: kind.Text | kind.List | kind.Object | kind.Null, Keys: "requiredElements", Pure: true, New: newContainsXML},
	{Type: "context-faithfulness", Value: "none", Limit: LimitAlways, Default: 0.5, Needs: NeedsJudge | NeedsContext | NeedsQuery, Not: Complement, Share: true, Most: maxGradedText, CellLimit: cellLimit, New: newGraded},
	{Type: "context-recall", Value: "a text: the correct answer", Takes: kind.Text, Limit: LimitAlways, Default: 0.5, Needs: NeedsJudge | TakesContext, Not: Complement, Share: true, Most: maxGradedText, CellLimit: cellLimit, New: newGradedText},
	{Type: "context-relevance", Value: "none", Limit: LimitAlways, Default: 0.5, Needs: NeedsJudge | NeedsContext | NeedsQuery, Not: Complement, Share: true, Most: maxGradedText, CellLimit: cellLimit, New: newGraded},
	{Type: "conversation-relevance", Value: "none", Limit: LimitAlways, Default: 0.5, Needs: NeedsJudge | TakesTurns, Not: Complement, Share: true, Most: maxGradedText, New: newGraded},
	{Type: "cost", Value: "none; threshold is the limit in US dollars", Limit: LimitIfGiven, CellLimit: cellLimit, Measure: AtMost, Beside: true, New: newCost},
	{Type: "count", Value: "a text, or an object: text or regex, min, max, ignoreCase", Own: true, Takes: kind.Text | kind.Object, Folds: true, Keys: "text regex min max ignoreCase", Numbers: "min max", Coerced: true, Pure: true, Match: proviso.MatchCount, New: newCount},
	{Type: "ends-with", Value: "a text", Own: true, Takes: kind.Text, Words: true, Folds: true, Pure: true, Match: proviso.MatchEnd, New: newEndsWith},
	{Type: proviso.TypeText, Value: "anything; objects and lists are compared with the output read as JSON", Takes: kind.Any, Folds: true, Empty: true, Text: true, Pure: true, Match: proviso.MatchWhole, New: newEquals},
	{Type: "factuality", Value: "a text: the correct answer", Takes: kind.Text, Needs: NeedsJudge, Not: Complement, Range: AnyScore, Most: maxGradedText, New: newGradedText},
	{Type: "finish-reason", Value: "a text", Takes: kind.Text, Folds: true, Beside: true, New: newFinishReason},
	{Type: "g-eval", Value: "a text or a list of texts: criteria", Takes: kind.Text | kind.List, Limit: LimitPositive, Default: 0.7, Needs: NeedsJudge, Not: Complement, Most: maxGradedText, New: newGradedTexts},
	{Type: "gleu", Value: "a text or a list of texts", Takes: kind.Text | kind.List, Limit: LimitAlways, Default: 0.5, Not: Complement, Most: maxMetricText, Folds: true, Pure: true, Measure: AtLeast, References: BestOf, New: newGLEU},
	{Type: "guardrails", Value: "none", Beside: true, New: newGuardrails},
	{Type: "icontains", Value: "a text or a number", Takes: kind.Text | kind.Number, Words: true, Folds: true, Pure: true, Match: proviso.MatchPart, FoldsCase: true, New: newContains},
	{Type: "icontains-all", Value: "a list, or texts separated by commas", Takes: kind.Text | kind.List, Words: true, Folds: true, Cell: proviso.CellList, Pure: true, Match: proviso.MatchEvery, FoldsCase: true, New: newContainsAll},
	{Type: "icontains-any", Value: "a list, or texts separated by commas", Takes: kind.Text | kind.List, Words: true, Folds: true, Cell: proviso.CellList, Pure: true, Match: proviso.MatchAnyOne, FoldsCase: true, New: newContainsAny},
	{Type: "in-order", Value: "a list, or texts separated by commas", Own: true, Takes: kind.Text | kind.List, Folds: true, Cell: proviso.CellList, Pure: true, Match: proviso.MatchInOrder, New: newInOrder},
	{Type: "is-html", Value: "none", Pure: true, New: newIsHTML},
	{Type: "is-json", Value: "none, or a JSON Schema", Takes: kind.Text | kind.Boolean | kind.Object | kind.Null, Cell: proviso.CellKept, Pure: true, New: newIsJSON},
	{Type: "is-refusal", Value: "none", Folds: true, New: newIsRefusal},
	{Type: "is-sql", Value: "an object: databaseType, allowedTables, allowedColumns", Takes: kind.Object | kind.Null, Keys: "databaseType allowedTables allowedColumns", New: newIsSQL},
	{Type: "is-valid-function-call", Value: "none; the provider's configuration declares the functions", New: newFunctionCall},
	{Type: "is-valid-openai-function-call", Value: "none; the provider's configuration declares the functions", New: newFunctionCall},
	{Type: "is-valid-openai-tools-call", Value: "none; the provider's configuration declares the tools", New: newToolsCall},
	{Type: "is-xml", Value: "none, or paths of required elements", Takes: kind.Text | kind.List | kind.Object | kind.Null, Keys: "requiredElements", Pure: true, New: newIsXML},
	{Type: "item-count", Value: "a number, or an object with min and max", Own: true, Takes: kind.Number | kind.Object, Keys: "min max", Numbers: "min max", Coerced: true, Pure: true, Units: []string{"item", "bullet", "bullet point", "bulletpoint", "list item"}, New: newItemCount},
	{Type: "javascript", Value: "JavaScript: an expression, a body with return on several lines, or file://", Takes: kind.Text, Limit: LimitIfGiven, Needs: NeedsCode | TakesCode, Not: PassOnly, Range: AnyScore, CellPrefixes: "fn: eval:", CellScripts: ".js .cjs .mjs .ts .cts .mts", New: newJavascript},
	{Type: "json-path", Value: "a JSONPath, or an object: path with equals or assert", Own: true, Takes: kind.Text | kind.Object, Keys: "path equals assert", New: newJSONPath},
	{Type: proviso.TypeJudge, Value: "none; put questions under criteria, and what is counted under check", Own: true, Takes: kind.Null, Needs: NeedsJudge, Cell: proviso.CellNone, New: newJudged},
	{Type: "latency", Value: "none; threshold is the limit in milliseconds", Limit: LimitIfGiven, CellLimit: cellLimit, Measure: AtMost, Beside: true, New: newLatency},
	{Type: "levenshtein", Value: "a text", Takes: kind.Text, Limit: LimitAlways, Default: 5, Folds: true, CellLimit: cellLimit, Pure: true, Measure: AtMost, References: AllOf, Match: proviso.MatchWhole, New: newLevenshtein},
	{Type: "line-count", Value: "a number, or an object with min and max", Own: true, Takes: kind.Number | kind.Object, Keys: "min max", Numbers: "min max", Coerced: true, Pure: true, Units: []string{"line"}, New: newLineCount},
	{Type: "llm-rubric", Value: "a text, an object or none, with a rubricPrompt", Takes: kind.Text | kind.List | kind.Object | kind.Null, Limit: LimitIfGiven, Needs: NeedsJudge | NeedsRubric, Not: Complement, Range: RubricScore, Most: maxGradedText, CellPrefixes: "grade: llm-rubric:", CellVerbatim: true, New: newRubric},
	{Type: "max-score", Value: "an object: method, weights, threshold", Takes: kind.Object | kind.Null, Needs: NeedsGroup, Cell: proviso.CellNone, Keys: "method weights threshold", Numbers: "threshold"},
	{Type: "meteor", Value: "a text or a list of texts", Takes: kind.Text | kind.List, Limit: LimitAlways, Default: 0.5, Not: Complement, Most: maxMetricText, Folds: true, Pure: true, Measure: AtLeast, References: BestOf, New: newMETEOR},
	{Type: "model-graded-closedqa", Value: "a text: the criterion", Takes: kind.Text, Needs: NeedsJudge, Not: Complement, Most: maxGradedText, New: newGradedText},
	{Type: "model-graded-factuality", Value: "a text: the correct answer", Takes: kind.Text, Needs: NeedsJudge, Not: Complement, Range: AnyScore, Most: maxGradedText, New: newGradedText},
	{Type: "moderation", Value: "a list of categories, or none for all", Takes: kind.List | kind.Null, Needs: NeedsModerator, Not: Complement, Most: maxGradedText, New: newModeration},
	{Type: "perplexity", Value: "none; threshold is the limit", Limit: LimitIfGiven, Open: true, CellLimit: cellLimit, Measure: AtMost, Beside: true, New: newPerplexity},
	{Type: "perplexity-score", Value: "none; threshold is the minimum score", Limit: LimitIfGiven, Not: Complement, Open: true, CellLimit: cellLimit, Measure: AtLeast, Beside: true, New: newPerplexityScore},
	{Type: "python", Value: "Python: an expression, a body with return on several lines, or file://", Takes: kind.Text, Limit: LimitIfGiven, Needs: NeedsCode | TakesCode, Not: PassOnly, Range: AnyScore, CellScripts: ".py", BareScript: true, New: newPython},
	{Type: "regex", Value: "an ECMAScript regular expression", Takes: kind.Text, Folds: true, Pure: true, Match: proviso.MatchPattern, New: newRegex},
	{Type: "rouge-l", Value: "a text or a list of texts", Own: true, Takes: kind.Text | kind.List, Limit: LimitAlways, Default: 0.75, Not: Complement, Most: maxMetricText, Folds: true, Pure: true, Measure: AtLeast, References: BestOf, New: newROUGEL},
	{Type: "rouge-n", Value: "a text", Takes: kind.Text, Limit: LimitAlways, Default: 0.75, Not: Complement, Most: maxMetricText, Folds: true, CellLimit: cellLimit, Pure: true, Measure: AtLeast, References: AllOf, New: newROUGE},
	{Type: "ruby", Value: "Ruby: an expression, a body on several lines, or file://", Takes: kind.Text, Limit: LimitIfGiven, Needs: NeedsCode | TakesCode, Not: PassOnly, Range: AnyScore, New: newRuby},
	{Type: "search-rubric", Value: "a text, an object or none, with a rubricPrompt", Takes: kind.Text | kind.List | kind.Object | kind.Null, Limit: LimitIfGiven, Needs: NeedsJudge | NeedsRubric, Not: Complement, Range: RubricScore, Most: maxGradedText, New: newRubric},
	{Type: "select-best", Value: "a text: the criterion for the best output", Takes: kind.Text, Needs: NeedsGroup | NeedsJudge | NeedsRubric, Cell: proviso.CellNone},
	{Type: "sentence-count", Value: "a number, or an object with min and max", Own: true, Takes: kind.Number | kind.Object, Keys: "min max", Numbers: "min max", Coerced: true, Pure: true, Units: []string{"sentence"}, New: newSentenceCount},
	{Type: "similar", Value: "a text or a list of texts", Takes: kind.Text | kind.List, Limit: LimitAlways, Default: 0.75, Needs: NeedsEmbedder, Not: Complement, Range: SignedScore, Most: maxGradedText, CellLimit: 0.8, New: newGradedTexts},
	{Type: "similar:cosine", Value: "a text or a list of texts", Takes: kind.Text | kind.List, Limit: LimitAlways, Default: 0.75, Needs: NeedsEmbedder, Not: Complement, Range: SignedScore, Most: maxGradedText, Cell: proviso.CellNone, New: newGradedTexts},
	{Type: "similar:dot", Value: "a text or a list of texts", Takes: kind.Text | kind.List, Limit: LimitAlways, Default: 0.75, Needs: NeedsEmbedder, Not: Complement, Range: AnyScore, Most: maxGradedText, Cell: proviso.CellNone, New: newGradedTexts},
	{Type: "similar:euclidean", Value: "a text or a list of texts; threshold is the maximum distance", Takes: kind.Text | kind.List, Limit: LimitAlways, Default: 0.75, Needs: NeedsEmbedder, Not: Complement, Most: maxGradedText, Cell: proviso.CellNone, New: newGradedTexts},
	{Type: "skill-used", Value: "a name, a list of names, or an object: name or pattern, min, max", Takes: kind.Text | kind.List | kind.Object, Keys: "name pattern min max", Numbers: "min max", New: newSkillUsed},
	{Type: "starts-with", Value: "a text", Takes: kind.Text, Words: true, Folds: true, CellLimit: cellLimit, Pure: true, Match: proviso.MatchStart, New: newStartsWith},
	{Type: "token-count", Value: "a number, or an object with min and max", Own: true, Takes: kind.Number | kind.Object, Most: maxMetricText, Keys: "min max", Numbers: "min max", Coerced: true, Pure: true, Units: []string{"token"}, New: newTokenCount},
	{Type: "tool-call-f1", Value: "names of tools: a list, or texts separated by commas", Takes: kind.Text | kind.List, Limit: LimitAlways, Default: 1, Not: PassOnly, New: newToolCallF1},
	{Type: "trace-error-spans", Value: "a number, or an object: max_count, max_percentage, pattern", Takes: kind.Number | kind.Object | kind.Null, Needs: NeedsTrace, Keys: "max_count max_percentage pattern", Numbers: "max_count max_percentage", New: newErrorSpans},
	{Type: "trace-span-count", Value: "an object: pattern, min, max", Takes: kind.Object, Needs: NeedsTrace, Keys: "pattern min max", Numbers: "min max", New: newSpanCount},
	{Type: "trace-span-duration", Value: "an object: max in milliseconds, pattern, percentile", Takes: kind.Object, Needs: NeedsTrace, Keys: "max pattern percentile", Numbers: "max percentile", New: newSpanDuration},
	{Type: "trajectory:goal-success", Value: "a text: the goal, or an object: goal", Takes: kind.Text | kind.Object, Limit: LimitIfGiven, Needs: NeedsTrace | NeedsJudge, Most: maxGradedText, Keys: "goal", New: newGoalSuccess},
	{Type: "trajectory:step-count", Value: "an object: type, pattern, min, max", Takes: kind.Object, Needs: NeedsTrace, Keys: "type name pattern min max", Numbers: "min max", New: newStepCount},
	{Type: "trajectory:tool-args-match", Value: "an object: name or pattern, args, mode, defaults, ignore", Takes: kind.Object, Needs: NeedsTrace, Keys: "name pattern type args arguments mode defaults ignore", New: newToolArgsMatch},
	{Type: "trajectory:tool-sequence", Value: "a list of tools, or an object: steps, mode", Takes: kind.List | kind.Object, Needs: NeedsTrace, Keys: "steps mode", New: newToolSequence},
	{Type: "trajectory:tool-used", Value: "a tool, a list of tools, or an object: name or pattern, min, max", Takes: kind.Text | kind.List | kind.Object, Needs: NeedsTrace, Keys: "name pattern type min max", Numbers: "min max", New: newToolUsed},
	{Type: "webhook", Value: "the URL of an HTTP endpoint", Takes: kind.Text, Needs: NeedsNetwork, Not: Complement, Range: AnyScore, New: newWebhook},
	{Type: "word-count", Value: "a number, or an object with min and max", Takes: kind.Number | kind.Object, Keys: "min max", Numbers: "min max", Coerced: true, Pure: true, Units: []string{"word"}, New: newWordCount},
}

// Kinds returns every assertion type, sorted.
func Kinds() []Kind { return slices.Clone(kinds) }

// Types returns the names of every assertion type, sorted, without "not-".
func Types() []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.Type
	}
	return names
}

// Facts returns what other packages need to know of each type, sorted by type. It
// includes the promptfoo types that this version does not support. The table is shared
// and must not be changed.
func Facts() proviso.Types { return facts() }

var facts = sync.OnceValue(func() proviso.Types {
	list := make(proviso.Types, 0, len(kinds)+len(unsupported))
	for i := range kinds {
		list = append(list, kinds[i].facts())
	}
	for _, u := range unsupported {
		list = append(list, proviso.TypeFacts{Type: u.Type, Cell: proviso.CellFacts{Form: u.Cell}})
	}
	slices.SortFunc(list, func(a, b proviso.TypeFacts) int { return strings.Compare(a.Type, b.Type) })
	return slices.Clip(list)
})

func (k *Kind) facts() proviso.TypeFacts {
	return proviso.TypeFacts{
		Type: k.Type, Code: k.Needs&NeedsCode != 0, Address: k.Needs&NeedsNetwork != 0, Match: k.Match, FoldsCase: k.FoldsCase,
		Cell: proviso.CellFacts{
			Form: k.Cell, Threshold: k.CellLimit, Prefixes: k.CellPrefixes, Verbatim: k.CellVerbatim,
			Scripts: k.CellScripts, BareScript: k.BareScript,
		},
	}
}

// Counting returns the type that counts a unit of length, such as "word".
func Counting(unit string) (name string, ok bool) {
	for i := range kinds {
		if slices.Contains(kinds[i].Units, unit) {
			return kinds[i].Type, true
		}
	}
	return "", false
}

// Lookup returns the kind of a type written without "not-".
func Lookup(base string) (*Kind, bool) {
	kind, ok := byType()[base]
	return kind, ok
}

// byType is made at its first use, as the rows of the table refer to [Lookup].
var byType = sync.OnceValue(func() map[string]*Kind {
	index := make(map[string]*Kind, len(kinds))
	for i := range kinds {
		index[kinds[i].Type] = &kinds[i]
	}
	return index
})
