package judge

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/proviso-eval/proviso"
)

// countedUnits are the units of length that a check counts.
var countedUnits = map[string]string{
	"word": "word-count", "character": "char-count", "char": "char-count", "letter": "char-count", "token": "token-count",
	"sentence": "sentence-count", "line": "line-count",
	"bullet": "item-count", "bullet point": "item-count", "bulletpoint": "item-count", "list item": "item-count",
}

const (
	lintNumber = `(\d[\d,.  ]*\d|\d|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|fifty|a hundred|a single|a)`
	lintUnit   = `(words?|characters?|chars?|letters?|tokens?|sentences?|lines?|bullet points?|bulletpoints?|bullets?|list items?)`
)

// countPattern is a way to say a length, with the bounds that its numbers are.
type countPattern struct {
	re       *regexp.Regexp
	low, top int // groups of the number that is the least and the most; 0 for none
	unit     int
	strict   float64 // added to the number: "fewer than 5" is at most 4
}

var countPatterns = sync.OnceValue(func() []countPattern {
	c := func(text string) *regexp.Regexp { return regexp.MustCompile(`\b` + text) }
	return []countPattern{
		{c(`between ` + lintNumber + ` and ` + lintNumber + ` ` + lintUnit + `\b`), 1, 2, 3, 0},
		{c(lintNumber + `(?: to | ?- ?| ?– ?)` + lintNumber + ` ` + lintUnit + `\b`), 1, 2, 3, 0},
		{regexp.MustCompile(`(?:<=|≤) ?` + lintNumber + ` ` + lintUnit + `\b`), 0, 1, 2, 0},
		{regexp.MustCompile(`< ?` + lintNumber + ` ` + lintUnit + `\b`), 0, 1, 2, -1},
		{c(`(?:at most|no more than|not more than|not longer than|no longer than|up to|a maximum of|maximum|max\.?|within|not exceed(?:ing)?|does not exceed|limited to) ` + lintNumber + ` ` + lintUnit + `\b`), 0, 1, 2, 0},
		{c(`(?:fewer than|less than|under|below|shorter than) ` + lintNumber + ` ` + lintUnit + `\b`), 0, 1, 2, -1},
		{c(`(?:at least|no fewer than|no less than|not less than|a minimum of|minimum|min\.?) ` + lintNumber + ` ` + lintUnit + `\b`), 1, 0, 2, 0},
		{c(`(?:more than|over|longer than) ` + lintNumber + ` ` + lintUnit + `\b`), 1, 0, 2, 1},
		{c(lintNumber + ` ` + lintUnit + ` (?:or (?:fewer|less|shorter)|at (?:the )?most|maximum|max\b)`), 0, 1, 2, 0},
		{c(lintNumber + ` ` + lintUnit + ` (?:or (?:more|longer)|at (?:the )?least|minimum|min\b)`), 1, 0, 2, 0},
		{c(`(?:is|are|be|has|have|contains?|in|of|exactly|only|as) (?:exactly |only |just |no more and no less than )?` + lintNumber + ` ` + lintUnit + `(?: long)?[.!]?$`), 1, 1, 2, 0},
	}
})

// notLength follows a unit where not the output is counted: "at least two words
// from the list".
var notLength = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^ (?:from|of|that|which|who|starting|beginning|ending|about|on|explaining|describing|with|after|before|apart|later|earlier|later|above|below|quoted|taken|in (?:capital|upper|bold|italic|french|german|another))`)
})

// partOfOutput is a part whose length no check counts without a scope of its own.
var partOfOutput = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(?:title|headline|heading|subject|introduction|intro|conclusion|paragraph|section|first|last|opening|closing|greeting|signature|quotes?|quotations?|names?|questions?|caption|slogan)\b`)
})

// eachPart is a length of parts, not of the whole output.
var eachPart = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(?:each|every|per|any|all|no)\s+(?:\w+\s+)?(sentences?|lines?|items?|bullets?|bullet points?|paragraphs?)\b`)
})

// lintCount finds lengths, which a check counts without a judge, and writes the
// check.
func lintCount(text string) (message, suggestion string) {
	words := strings.TrimSpace(plainWords(text))
	for _, p := range countPatterns() {
		m := p.re.FindStringSubmatchIndex(words)
		if m == nil || notLength().MatchString(words[m[2*p.unit+1]:]) {
			continue
		}
		if partOfOutput().MatchString(words[:m[0]]) && !eachPart().MatchString(words) {
			return "", ""
		}
		group := func(i int) string { return words[m[2*i]:m[2*i+1]] }
		unit := strings.TrimSuffix(group(p.unit), "s")
		check := "check: {type: " + countedUnits[unit] + ", value: " + p.value(group) + scopeOf(words, unit) + "}"
		return fmt.Sprintf("the length %q is left to the judge, which guesses it; a check counts it", words[m[0]:m[1]]), check
	}
	return "", ""
}

// value writes the value of the check.
func (p countPattern) value(group func(int) string) string {
	number := func(i int) string { return proviso.FormatNumber(numberSaid(group(i)) + p.strict) }
	switch {
	case p.low == p.top:
		return number(p.low)
	case p.top == 0:
		return "{min: " + number(p.low) + "}"
	case p.low == 0:
		return "{max: " + number(p.top) + "}"
	}
	return "{min: " + number(p.low) + ", max: " + number(p.top) + "}"
}

// scopeOf is the scope of a length of parts.
func scopeOf(words, unit string) string {
	m := eachPart().FindStringSubmatch(words)
	if m == nil {
		return ""
	}
	each := strings.TrimSuffix(m[1], "s")
	if strings.HasPrefix(each, "bullet") {
		each = "item"
	}
	if each == unit {
		return ""
	}
	return ", scope: {each: " + each + "}"
}

// numberWords are the numbers that people write in words.
var numberWords = map[string]float64{
	"a": 1, "a single": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
	"ten": 10, "eleven": 11, "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30, "fifty": 50, "a hundred": 100,
}

func numberSaid(text string) float64 {
	if f, ok := numberWords[text]; ok {
		return f
	}
	digits := strings.NewReplacer(",", "", ".", "", " ", "", " ", "").Replace(text)
	f, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return 0
	}
	return f
}
