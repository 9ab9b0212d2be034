// Package lint finds probable mistakes in the wording of the assertions that a model
// judges: an assertion that two judges, or two people, may answer differently.
package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/pattern"
)

// Finding is a probable problem in the wording of an assertion: a judge can decide the
// assertion, but two judges, or two people, may answer it differently.
type Finding struct {
	Rule       string `json:"rule"`                 // one of [Rules]
	Pointer    string `json:"pointer"`              // pointer to the criterion or the instruction
	Message    string `json:"message"`              // the problem, and why it matters
	Suggestion string `json:"suggestion,omitempty"` // what to write instead; "" if there is none
}

// Text returns the finding as a warning.
func (l Finding) Text() string {
	text := l.Message + " [" + l.Rule + "]"
	if l.Suggestion != "" {
		text += "; write " + l.Suggestion
	}
	return text
}

// Rule is one rule of [Assertion].
type Rule struct {
	Name string
	Doc  string // one line

	find func(text string) (message, suggestion string)
}

// rules is sorted by name. A rule without find applies to the whole assertion.
var rules = []Rule{
	{Name: "cannot-tell", Doc: "the judge of a finished run often could not tell (`--run`)"},
	{Name: "count", Doc: "a length is left to the judge, which cannot count; a check can", find: findCount},
	{Name: "empty", Doc: "the text says nothing yet", find: findEmpty},
	{Name: "negation", Doc: "two negations in one sentence are read the wrong way round", find: findNegation},
	{Name: "repeats", Doc: "the criterion says what the instruction, or another criterion, says already"},
	{Name: "two-questions", Doc: "one criterion asks two things, so its verdict does not say which one failed", find: findTwoQuestions},
	{Name: "unseen", Doc: "it compares with a document that the judge is not shown", find: findUnseen},
	{Name: "vague", Doc: "a word that everybody understands differently decides the verdict", find: findVague},
}

// Rules returns every rule, sorted by name.
func Rules() []Rule { return slices.Clone(rules) }

// Assertion checks the instruction and the criteria of a judged assertion. It would
// rather miss a bad criterion than report a good one. It ignores criteria that name a
// template.
func Assertion(a *proviso.Assertion) []Finding {
	var found []Finding
	if a.Instruction != "" {
		if message, _ := findEmpty(a.Instruction); message != "" {
			found = append(found, Finding{Rule: "empty", Pointer: a.Pointer + "/instruction", Message: message})
		}
	}
	seen := map[string]string{}
	if words := essence(a.Instruction); words != "" {
		seen[words] = "the instruction"
	}
	for i, c := range a.Criteria {
		if c.Template != "" {
			continue
		}
		pointer := fmt.Sprintf("%s/criteria/%d", a.Pointer, i)
		for _, rule := range rules {
			if rule.find == nil {
				continue
			}
			if message, suggestion := rule.find(c.Text); message != "" {
				found = append(found, Finding{rule.Name, pointer, message, suggestion})
			}
		}
		words := essence(c.Text)
		if what, again := seen[words]; again {
			found = append(found, Finding{Rule: "repeats", Pointer: pointer, Message: "the criterion repeats " + what + ", so it adds nothing to decide by", Suggestion: "what has to be seen in an output that keeps it"})
		} else if words != "" {
			seen[words] = fmt.Sprintf("criterion %d", i+1)
		}
	}
	return found
}

// quotedText matches quotations and placeholders, whose words are not part of the
// criterion's own wording.
var quotedText = pattern.Of("\"[^\"]*\"|“[^”]*”|„[^“]*“|«[^»]*»|`[^`]*`|(^|\\s)'[^']*'|\\{\\{.*?\\}\\}")

// plainWords returns text in lower case, with quotations replaced.
func plainWords(text string) string {
	text = quotedText.Get().ReplaceAllString(text, " QUOTED")
	return strings.ToLower(strings.ReplaceAll(text, "’", "'"))
}

// fillers are words ignored when two texts are compared.
var fillers = strings.Fields("a an the must should shall will has have to be is are it its response output answer reply agent assistant model that please always")

// essence returns the words of a text without fillers, in order.
func essence(text string) string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !(r == '\'' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 0x80)
	})
	var kept []string
	for _, w := range words {
		if !slices.Contains(fillers, w) {
			kept = append(kept, strings.TrimSuffix(w, "s"))
		}
	}
	return strings.Join(kept, " ")
}

// unwritten matches a placeholder text, such as "TODO".
var unwritten = pattern.Of(`(?i)^\W*(todo|tbd|tba|fixme|xxx+|n/?a|none|placeholder|criteria|criterion|lorem ipsum.*|\?+)?\W*$`)

// findEmpty finds placeholder texts.
func findEmpty(text string) (message, suggestion string) {
	if unwritten.Matches(text) {
		return "the text says nothing that could be judged", "one sentence about the output that is either true or false"
	}
	return "", ""
}

// doubleNegation matches two negations that cancel out: "does not fail to", "is not
// without", "no claim that is not".
var doubleNegation = pattern.Of(`\b(?:(?:not|never|cannot|can't|doesn't|don't|isn't|aren't|won't|mustn't|shouldn't)\s+(?:\w+\s+){0,2}?(?:fail(?:s|ing)?\s+to|avoid(?:s|ing)?|omit(?:s|ting)?|neglect(?:s|ing)?|lack(?:s|ing)?|refrain(?:s|ing)?\s+from|without|leave(?:s)?\s+out|forget(?:s)?|not|never|nothing|none|miss(?:es|ing)?)` +
	`|(?:no|none|nothing)\s+(?:\w+\s+){0,3}?(?:that|which|who)\s+(?:\w+\s+)?(?:is|are|was|were|has|have|does|do|did|can)(?:\s+not|n't)` +
	`|never\s+(?:\w+\s+){0,2}?(?:no|not|without|fails?\s+to))\b`)

// findNegation finds double negations.
func findNegation(text string) (message, suggestion string) {
	words := plainWords(text)
	at := doubleNegation.Get().FindString(words)
	if at == "" || strings.Contains(words, "not only") {
		return "", ""
	}
	return fmt.Sprintf("two negations take each other back: %q", at), "what the output does, such as \"every claim has a source\""
}
