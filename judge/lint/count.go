package lint

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/pattern"
	"github.com/proviso-eval/proviso/value"
)

const (
	numberWord = `(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|dozen)`
	lintNumber = `(\d[\d,.  ]*\d|\d|(?:an?\s+|half\s+a\s+)?` + numberWord + `(?:(?:-|\s+|\s+and\s+)` + numberWord + `)*|a single|a)`
	lintUnit   = `(words?|characters?|chars?|letters?|tokens?|sentences?|lines?|bullet points?|bulletpoints?|bullets?|(?:list )?items?|sections?|chapters?|headings?|paragraphs?|stanzas?|(?:table )?rows?)`
)

// countPattern is a phrase for a length, and the bounds that its numbers set.
type countPattern struct {
	re       *regexp.Regexp
	low, top int // groups of the minimum and the maximum; 0 for none
	unit     int
	strict   float64 // added to the number: "fewer than 5" is at most 4
	about    bool    // the number is approximate
}

// roughly is the relative tolerance of an approximate length such as "about 200".
const roughly = 0.1

var countPatterns = sync.OnceValue(func() []countPattern {
	c := func(text string) *regexp.Regexp { return regexp.MustCompile(`\b` + text) }
	return []countPattern{
		{c(`between ` + lintNumber + ` and ` + lintNumber + ` ` + lintUnit + `\b`), 1, 2, 3, 0, false},
		{c(lintNumber + ` to ` + lintNumber + ` ` + lintUnit + `\b`), 1, 2, 3, 0, false},
		{c(`(\d+) ?[-–] ?(\d+) ` + lintUnit + `\b`), 1, 2, 3, 0, false},
		{regexp.MustCompile(`(?:<=|≤) ?` + lintNumber + ` ` + lintUnit + `\b`), 0, 1, 2, 0, false},
		{regexp.MustCompile(`< ?` + lintNumber + ` ` + lintUnit + `\b`), 0, 1, 2, -1, false},
		{c(`(?:at most|no more than|not more than|not longer than|no longer than|up to|a maximum of|maximum|max\.?|within|not exceed(?:ing)?|does not exceed|limited to) ` + lintNumber + ` ` + lintUnit + `\b`), 0, 1, 2, 0, false},
		{c(`(?:fewer than|less than|under|below|shorter than) ` + lintNumber + ` ` + lintUnit + `\b`), 0, 1, 2, -1, false},
		{c(`(?:at least|no fewer than|no less than|not less than|a minimum of|minimum|min\.?) ` + lintNumber + ` ` + lintUnit + `\b`), 1, 0, 2, 0, false},
		{c(`(?:more than|over|longer than) ` + lintNumber + ` ` + lintUnit + `\b`), 1, 0, 2, 1, false},
		{c(lintNumber + ` ` + lintUnit + ` (?:or (?:fewer|less|shorter)|at (?:the )?most|maximum|max\b)`), 0, 1, 2, 0, false},
		{c(lintNumber + ` ` + lintUnit + ` (?:or (?:more|longer)|at (?:the )?least|minimum|min\b)`), 1, 0, 2, 0, false},
		{c(`(?:is|are|be|has|have|contains?|in|of|exactly|only|as) (?:exactly |only |just |no more and no less than )?` + lintNumber + ` ` + lintUnit + `(?: long)?(?: in (?:the|its|an?) (?:output|answer|response|reply|text|summary|document|essay|article))?[.!]?$`), 1, 1, 2, 0, false},
		{c(`(?:about|around|approximately|roughly|some|circa) ` + lintNumber + ` ` + lintUnit + `\b`), 1, 1, 2, 0, true},
	}
})

// notLength matches text after a unit that shows that the phrase is not about the length
// of the output: "at least two words from the list".
var notLength = pattern.Of(`^ (?:from|of|that|which|who|starting|beginning|ending|about|on|explaining|describing|with|after|before|apart|later|earlier|later|above|below|quoted|taken|in (?:capital|upper|bold|italic|french|german|another))`)

// partOfOutput matches a part of the output. A check cannot count the length of a part
// without a scope.
var partOfOutput = pattern.Of(`\b(?:title|headline|heading|subject|introduction|intro|conclusion|paragraph|section|first|last|opening|closing|greeting|signature|quotes?|quotations?|names?|questions?|caption|slogan)\b`)

// eachPart matches phrases about the length of each part, not of the whole output.
var eachPart = pattern.Of(`\b(?:each|every|per|any|all|no)\s+(?:\w+\s+)?(sentences?|lines?|items?|bullets?|bullet points?|paragraphs?)\b`)

// findCount finds lengths, which a check can count without a judge, and suggests that
// check.
func findCount(text string) (message, suggestion string) {
	words := strings.TrimSpace(plainWords(text))
	for _, p := range countPatterns() {
		m := p.re.FindStringSubmatchIndex(words)
		if m == nil || notLength.Matches(words[m[2*p.unit+1]:]) || reported(words[:m[0]]) {
			continue
		}
		if partOfOutput.Matches(words[:m[0]]) && !eachPart.Matches(words) {
			return "", ""
		}
		group := func(i int) string { return words[m[2*i]:m[2*i+1]] }
		unit := strings.TrimSuffix(group(p.unit), "s")
		write := countingCheck(unit, p.value(group), scopeOf(words, unit))
		return fmt.Sprintf("the length %q is left to the judge, which guesses it; a check counts it", words[m[0]:m[1]]), write
	}
	if phrase, unit, low, high := foreignCount(text); phrase != "" {
		return fmt.Sprintf("the length %q is left to the judge, which guesses it; a check counts it", phrase), countingCheck(unit, bounds(low, high), "")
	}
	return "", ""
}

// countingCheck returns the check that replaces a length. It suggests a script for units
// that no check type counts.
func countingCheck(unit, value, scope string) string {
	kind, _ := check.Counting(unit)
	switch {
	case kind != "":
		return "check: {type: " + kind + ", value: " + value + scope + "}"
	case unit == "section" || unit == "chapter" || unit == "heading":
		return "{\"template\": \"has-sections\", \"params\": {\"sections\": [\"…\"]}} with the headings, or count them by a check of type javascript"
	}
	return "a check of type javascript that counts them"
}

// bounds formats the bounds of a check; -1 means no bound.
func bounds(low, high float64) string {
	switch {
	case low == high:
		return value.FormatNumber(low)
	case low < 0:
		return "{max: " + value.FormatNumber(high) + "}"
	}
	return "{min: " + value.FormatNumber(low) + "}"
}

// value returns the value of the check.
func (p countPattern) value(group func(int) string) string {
	number := func(i int) string { return value.FormatNumber(numberIn(group(i)) + p.strict) }
	switch {
	case p.about:
		n := numberIn(group(p.low))
		return "{min: " + value.FormatNumber(math.Round(n*(1-roughly))) + ", max: " + value.FormatNumber(math.Round(n*(1+roughly))) + "}"
	case p.low == p.top:
		return number(p.low)
	case p.top == 0:
		return "{min: " + number(p.low) + "}"
	case p.low == 0:
		return "{max: " + number(p.top) + "}"
	}
	return "{min: " + number(p.low) + ", max: " + number(p.top) + "}"
}

// scopeOf returns the scope for a phrase about the length of parts.
func scopeOf(words, unit string) string {
	m := eachPart.Get().FindStringSubmatch(words)
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

// numberWords are the numbers written as words.
var numberWords = sync.OnceValue(func() map[string]float64 {
	return map[string]float64{
		"a": 1, "an": 1, "single": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
		"ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18,
		"nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
		"half": 0.5, "dozen": 12, "hundred": 100, "thousand": 1000,
	}
})

// numberIn parses a number in digits or in words, such as "two hundred and five".
func numberIn(text string) float64 {
	digits := strings.NewReplacer(",", "", ".", "", " ", "", " ", "").Replace(text)
	if f, err := strconv.ParseFloat(digits, 64); err == nil {
		return f
	}
	total, group := 0.0, 0.0
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '-' }) {
		switch n := numberWords()[w]; {
		case n == 12 && w == "dozen", n == 100:
			group = max(group, 0.5) * n
			if group == 0.5*n && !strings.Contains(text, "half") {
				group = n
			}
		case n == 1000:
			total, group = total+max(group, 1)*n, 0
		case n == 1 && w != "one" && group == 0.5: // half a dozen
		default:
			group += n
		}
	}
	return total + group
}
