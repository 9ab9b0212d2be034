package propose

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/internal/pattern"
	"github.com/proviso-eval/proviso/spade/candidate/python"
	"github.com/proviso-eval/proviso/spade/delta"
	"github.com/proviso-eval/proviso/spade/internal/format"
	"github.com/proviso-eval/proviso/spade/rules"
	"github.com/proviso-eval/proviso/spade/trial"
	"github.com/proviso-eval/proviso/value"
)

// lint explains why a candidate that compiles does not decide its criteria; "" if it finds
// nothing.
func lint(c *proviso.Candidate, covered []DeltaCriterion, prompt string, trials []trial.Trial) string {
	base, not := strings.CutPrefix(c.Assertion.Type, "not-")
	for _, rule := range []func() string{
		func() string { return expression(c) },
		func() string { return unknownVariable(c, prompt, trials) },
		func() string { return ownWords(c, base, not, covered) },
		func() string { return hidden(c, base, not, covered, prompt) },
		func() string { return foreignLimit(c, covered) },
		func() string { return limitless(c) },
	} {
		if problem := rule(); problem != "" {
			return problem
		}
	}
	return ""
}

// searched returns the texts that a check looks for; for a pattern, its words.
func searched(c *proviso.Candidate, base string) []string {
	var list []string
	switch v := c.Assertion.Value.(type) {
	case string:
		if searches(base) == proviso.MatchPattern {
			return wordsOf(v)
		}
		list = append(list, v)
	case []any:
		for _, e := range v {
			list = append(list, value.ToString(e))
		}
	case *value.Object:
		if text := v.Text("text"); text != "" {
			list = append(list, text)
		}
		if re := v.Text("regex"); re != "" {
			list = append(list, wordsOf(re)...)
		}
	}
	return list
}

// wordsOf returns the words of a pattern that have three letters or more.
func wordsOf(re string) []string {
	list := strings.FieldsFunc(re, func(r rune) bool { return r|0x20 < 'a' || r|0x20 > 'z' })
	return slices.DeleteFunc(list, func(w string) bool { return len(w) < 3 })
}

// searches returns where a type searches for text; MatchNone if it does not.
func searches(base string) proviso.Match {
	if kind, ok := check.Lookup(base); ok && kind.Measure == check.NoMeasure {
		return kind.Match
	}
	return proviso.MatchNone
}

// stopWords carry no meaning by themselves.
const stopWords = " a about all an and any are as at be been but by can do does each for from has have if in into is it its may more must no not of on only or other our should so some such than that the their them then there these they this those to up use was we were what when which who will with would you your "

// ownWords finds a check that searches for the words of a quality: an answer is not polite
// because it contains "polite". Only words of the quote count, because the rest of its
// sentence may name the topic of an answer. Of a pattern, only words of qualities count,
// because others may locate a place, such as the subject line. A check that rejects words is
// fine: an answer that says "concise" may well be wordy.
func ownWords(c *proviso.Candidate, base string, not bool, covered []DeltaCriterion) string {
	if not || searches(base) == proviso.MatchNone {
		return ""
	}
	quality := rules.QualityPattern()
	for _, text := range searched(c, base) {
		text = fold(text)
		if strings.Contains(stopWords, " "+text+" ") {
			continue
		}
		for _, x := range covered {
			asks := fold(x.Quote)
			own := quality.MatchString(text) || x.Category == delta.QualitativeCriteria && searches(base) != proviso.MatchPattern
			if own && wordIn(asks, text) && !isQuoted(x.Delta.Text, text) {
				return fmt.Sprintf("it looks for %q, which are words of the criterion itself: an output is not %s because it says so; ask a judge, or count something that goes with it", format.Excerpt(text), format.Excerpt(text))
			}
		}
	}
	return ""
}

// wordIn reports whether a text contains words as whole words.
func wordIn(text, words string) bool {
	if words == "" {
		return false
	}
	for from := 0; ; {
		i := strings.Index(text[from:], words)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(words)
		if (start == 0 || !letter(text[start-1])) && (end == len(text) || !letter(text[end])) {
			return true
		}
		from = start + 1
	}
}

// isQuoted reports whether a sentence quotes a text, which is then literal.
func isQuoted(sentence, text string) bool {
	return slices.ContainsFunc(rules.QuotedPhrases(sentence), func(p string) bool { return strings.Contains(fold(p), text) })
}

// hidePattern finds an instruction to hide a step, a source or the like.
var hidePattern = pattern.Of(`(?i)\b(do not|don['’]t|never|without|avoid|must not|should not|refrain from)\s+(?:\w+\s+){0,3}?(mention\w*|reveal\w*|disclos\w*|show\w*|cit\w+|refer\w*|name|naming|quot\w+|expos\w+|explain\w*|output\w*|print\w*|includ\w*|display\w*)\b[^.;]{0,60}?\b(sources?|steps?|context|documents?|instructions?|prompt|reasoning|thoughts?|tools?|sections?|excerpts?|transcripts?|process|rules|guidelines|search results|database)\b|\b(hide|keep secret|conceal)\b`)

// hides reports whether a sentence asks to hide something in the quoted words.
func hides(sentence, quote string) bool {
	at := hidePattern.Get().FindStringIndex(sentence)
	if at == nil {
		return false
	}
	i := strings.Index(fold(sentence), fold(quote))
	return i < 0 || i < at[1] && i+len(quote) > at[0]
}

// hidden finds a check for something hidden that requires it, or whose texts are not names in
// the prompt. The check must fail if the hidden thing shows under a name that the prompt has.
func hidden(c *proviso.Candidate, base string, not bool, covered []DeltaCriterion, prompt string) string {
	switch searches(base) {
	case proviso.MatchNone, proviso.MatchPattern, proviso.MatchCount:
		return ""
	}
	for _, x := range covered {
		if x.Category != delta.Exclusion || !hides(x.Delta.Text, x.Quote) {
			continue
		}
		if !not {
			return fmt.Sprintf("the sentence hides something, and the check wants it to show: write not-%s with the names that would give it away", base)
		}
		known := fold(prompt + " " + x.Delta.Text)
		if !slices.ContainsFunc(searched(c, base), func(s string) bool {
			return strings.Contains(known, strings.Trim(fold(s), ` :.,*#[]()"'`)) || strings.Contains(s, "{{")
		}) {
			return "none of the texts occurs in the prompt: what is hidden has names there, such as the name of a step, a heading or a source"
		}
	}
	return ""
}

// foreignLimit finds a limit that is not among the numbers of its sentence.
func foreignLimit(c *proviso.Candidate, covered []DeltaCriterion) string {
	var used []float64
	switch v := c.Assertion.Value.(type) {
	case float64:
		used = append(used, v)
	case *value.Object:
		for _, key := range []string{"min", "max"} {
			if n, ok := v.At(key).(float64); ok {
				used = append(used, n)
			}
		}
	}
	var said []float64
	about := false
	for _, x := range covered {
		if x.Vague || x.Category == "ExampleDemonstration" || x.Delta.Part == string(delta.Example) || x.Delta.Part == string(delta.Code) {
			return "" // an example has its own numbers
		}
		said = append(said, numbersIn(x.Delta.Text)...)
		about = about || aboutPattern.Matches(x.Delta.Text)
	}
	if len(said) == 0 {
		return ""
	}
	for _, n := range used {
		if n <= 1 || slices.ContainsFunc(said, func(s float64) bool { return math.Abs(n-s) <= 1 || about && math.Abs(n-s) <= s/2 }) {
			continue
		}
		return fmt.Sprintf("its limit %s is none of the numbers of the sentence (%s)", value.FormatNumber(n), shownNumbers(said))
	}
	return ""
}

var (
	aboutPattern  = pattern.Of(`(?i)\b(about|around|approximately|roughly|approx|circa|~|or so|-ish)\b|~`)
	digitsPattern = pattern.Of(`\d[\d,]*`)
)

// numbersIn returns the numbers of a sentence. Numbers up to one are left out if there are
// others, because any sentence may contain "one".
func numbersIn(text string) []float64 {
	var list []float64
	for _, d := range digitsPattern.Get().FindAllString(text, -1) {
		if f, err := strconv.ParseFloat(strings.ReplaceAll(d, ",", ""), 64); err == nil {
			list = append(list, f)
		}
	}
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return r < 'a' || r > 'z' }) {
		if n := max(rules.NumberWords()[w], severalWord(w)); n > 1 {
			list = append(list, float64(n))
		}
	}
	return list
}

// severalWord returns the number for a word that the rules know only in longer phrases,
// otherwise 0.
func severalWord(word string) int {
	switch word {
	case "couple", "both", "twice":
		return 2
	case "dozen":
		return 12
	case "thousand":
		return 1000
	}
	return 0
}

func shownNumbers(list []float64) string {
	var parts []string
	for _, n := range list {
		parts = append(parts, value.FormatNumber(n))
	}
	return excerpt.Head(strings.Join(parts, ", "), 100)
}

// limitless finds a count that every output satisfies.
func limitless(c *proviso.Candidate) string {
	v, ok := c.Assertion.Value.(*value.Object)
	if !ok || !v.Has("min") {
		return ""
	}
	if v.At("min") == 0.0 && !v.Has("max") {
		return "every output has at least 0: it could never fail"
	}
	return ""
}

var (
	templateMark  = pattern.Of(`\{[{%#]`)
	plainVariable = pattern.Of(`^\{\{-?\s*([A-Za-z_]\w*)(?:\.\w+|\s*\|\s*[a-z]+)*\s*-?\}\}`)
)

// expression finds anything in a template except a plain variable. A prompt could have made
// the model use more than the variables, such as a key in the environment of the suite that
// includes the candidate.
func expression(c *proviso.Candidate) string {
	if c.Assertion.Type == python.Type {
		return ""
	}
	for key, v := range c.Assertion.Raw.All() {
		if key == "id" || key == "description" || key == "config" {
			continue
		}
		for _, text := range stringsIn(v, nil) {
			for _, at := range templateMark.Get().FindAllStringIndex(text, -1) {
				m := plainVariable.Get().FindStringSubmatch(text[at[0]:])
				if m == nil || m[1] == "env" {
					return fmt.Sprintf("%s is not a variable: braces may contain only the name of a variable, {{ name }}", value.Stringify(format.Excerpt(excerpt.Head(text[at[0]:], 40))))
				}
			}
		}
	}
	return ""
}

// stringsIn appends the strings of a value to a list, including keys.
func stringsIn(v any, list []string) []string {
	switch v := v.(type) {
	case string:
		return append(list, v)
	case []any:
		for _, e := range v {
			list = stringsIn(e, list)
		}
	case *value.Object:
		for key, e := range v.All() {
			list = stringsIn(e, append(list, key))
		}
	}
	return list
}

// unknownVariable finds a template variable that the prompt does not have.
func unknownVariable(c *proviso.Candidate, prompt string, trials []trial.Trial) string {
	known := shownVars(prompt)
	for i := range trials {
		for _, name := range trials[i].Vars.Keys() {
			if !slices.Contains(known, name) {
				known = append(known, name)
			}
		}
	}
	if c.Assertion.Type == python.Type {
		return ""
	}
	names := rules.Variables(value.Stringify(c.Assertion.Raw))
	for _, m := range conditionVariable.Get().FindAllStringSubmatch(c.Assertion.When, -1) {
		names = append(names, m[1])
	}
	for _, name := range names {
		if slices.Contains(known, name) {
			continue
		}
		problem := fmt.Sprintf("the prompt has no variable %q", format.Excerpt(name))
		if near := document.Nearest(name, known); near != "" {
			problem += "; the nearest is " + near
		}
		return problem
	}
	return ""
}

// shownVars returns the variables that a prompt names, sorted.
func shownVars(prompt string) []string {
	var names []string
	for _, m := range promptVariable.Get().FindAllStringSubmatch(prompt, -1) {
		names = append(names, cmp.Or(m[1], m[2]))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// conditionVariable finds the variables of a condition (when).
var conditionVariable = pattern.Of(`\bvars\.([A-Za-z_]\w*)`)

var promptVariable = pattern.Of(`\{\{-?\s*([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\}`)

// fold returns a text in lower case with runs of white space as one space.
func fold(text string) string { return strings.ToLower(strings.Join(strings.Fields(text), " ")) }

func letter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }
