package mutate

import (
	"regexp"
	"strings"
	"sync"

	"github.com/proviso-eval/proviso/internal/pattern"
)

// An instruction without a check is broken only if it is plain: every word either belongs
// to what the operator breaks or has no content. A word that is left over may narrow the
// instruction ("more than once", "in the first sentence", "if it is missing"), and a mutant
// could then still keep it.

// plainForm is a plain wording of instructions.
type plainForm struct {
	leads string // alternatives for the beginning
	fill  string // alternatives for words without content
}

var (
	demandForm = plainForm{
		leads: `be|stay|remain|keep|sound|use|write|answer|respond|reply|speak|adopt|maintain|show|give|provide|state|name|include|mention|cite|add|quote|(?:you|the answer|your answer|answers|responses) (?:must|should) (?:be|use|include|cite|mention|have)`,
		fill:  `please|always|also|and|or|very|the|a|an|in|to|with|tone|style|manner|voice|language|it|your|all|at|of|answers?|responses?|customers?|users?|as|possible|way|for|times|on|so|words?|each|every|claims?|statements?`,
	}
	banForm = plainForm{
		leads: `do not|don't|never|avoid|refrain from|no|you must not|you must never|must not`,
		fill:  `please|ever|any|a|an|the|our|your|its|of|to|or|and|customers?|users?|mention|mentioning|discuss|discussing|give|giving|make|making|offer|offering|use|using|reveal|revealing|share|sharing|provide|providing|include|including|talk about|talking about|write|writing|be|being|say|saying|state|stating|engage in|promise|language|facts?|information|words|statements?|things|details|data|figures|anything|answers?`,
	}
)

// says reports whether an instruction, in this form, plainly states something that words
// matches.
func (f *plainForm) says(text string, words *pattern.Lazy) bool {
	text = strings.ToLower(strings.ReplaceAll(strings.TrimLeft(text, "-*•+ 0123456789.)"), "’", "'"))
	lead := compiledOnce(`^\W*(?:(?:please|always|also|and)\W+)*(?:` + f.leads + `)\b`)
	if !lead.MatchString(text) || !words.Matches(text) {
		return false
	}
	rest := words.Get().ReplaceAllString(lead.ReplaceAllString(text, ""), " ")
	rest = compiledOnce(`\b(?:`+f.fill+`)\b`).ReplaceAllString(rest, " ")
	return !strings.ContainsFunc(rest, func(r rune) bool {
		return r == '"' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r > 0x7f && r != '’'
	})
}

var compiledForms sync.Map // by expression

// compiledOnce compiles a pattern of the forms once. There are only a few.
func compiledOnce(expr string) *regexp.Regexp {
	if re, ok := compiledForms.Load(expr); ok {
		return re.(*regexp.Regexp) //nolint:forcetypeassert // nothing else is stored
	}
	re := regexp.MustCompile(expr)
	compiledForms.Store(expr, re)
	return re
}
