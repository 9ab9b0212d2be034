package rules

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/proviso-eval/proviso/internal/pattern"
	"github.com/proviso-eval/proviso/spade/delta"
	"github.com/proviso-eval/proviso/value"
)

// unitKind is something that can be counted.
type unitKind struct {
	words string // pattern of its names
	name  string // in names and descriptions, plural
	one   string // its singular
	make  func(amount any) []any
}

func counter(kind string) func(any) []any {
	return func(amount any) []any { return []any{"type", kind, "value", amount} }
}

// occurrences returns the assertion values that count a pattern; chars does so for a character
// class.
func occurrences(regex string) func(any) []any {
	return func(amount any) []any { return []any{"type", "count", "value", withKey("regex", regex, amount)} }
}

func withKey(key, val string, amount any) *value.Object {
	o := value.ObjectOf(key, val)
	if r, ok := amount.(*value.Object); ok {
		for k, v := range r.All() {
			o.Set(k, v)
		}
		return o
	}
	o.Set("min", amount)
	o.Set("max", amount)
	return o
}

// unitKinds are the things that the rules can count.
var unitKinds = []unitKind{
	{`words?`, "words", "word", counter("word-count")},
	{`sentences?`, "sentences", "sentence", counter("sentence-count")},
	{`characters?|chars`, "characters", "character", counter("char-count")},
	{`tokens?`, "tokens", "token", counter("token-count")},
	{`bullet[- ]points?|bullets?|list items?|items?|points?|entries`, "items", "item", counter("item-count")},
	{`lines?`, "lines", "line", counter("line-count")},
	{`paragraphs?`, "paragraphs", "paragraph", occurrences(`(?:^|\n[ \t\r]*\n)\s*\S`)},
	{`hashtags?`, "hashtags", "hashtag", occurrences(`#[A-Za-z_]\w*`)},
	{`question marks?|questions?`, "questions", "question", occurrences(`\?`)},
	{`exclamation (?:marks?|points?)`, "exclamation_marks", "exclamation mark", occurrences(`!`)},
	{`headings?|headers?`, "headings", "heading", occurrences(`(?:^|\n)#{1,6} `)},
	{`emojis?`, "emojis", "emoji", func(amount any) []any {
		return []any{"type", "chars", "value", withKey("class", "emoji", amount)}
	}},
}

// NumberWords are the numbers that prompts write as words.
var NumberWords = sync.OnceValue(func() map[string]int {
	return map[string]int{
		"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
		"fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "hundred": 100, "a hundred": 100, "one hundred": 100, "a single": 1,
		"a couple of": 2, "a dozen": 12,
	}
})

// The parts of the quantity patterns.
var (
	digitsPart  = `\d{1,3}(?:,\d{3})+|\d+`
	wordsPart   = `a single|a couple of|a dozen|a hundred|one hundred|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|hundred`
	varPart     = `\{\{\s*\w+\s*\}\}|\{\w+\}|\[\w+\]`
	numberPart  = `(` + digitsPart + `|` + wordsPart + `|` + varPart + `)`
	qualityPart = `(?:(?:short|brief|concise|long|complete|full|main|key|simple|clear|separate|distinct|numbered|different|total|english|unique|well-written|single-line|plain|succinct|relevant|important|specific)[ -]+){0,2}`
	boundPart   = `(no more than|not (?:be )?more than|\w+n['’]t be (?:more|longer) than|(?:not|never) be longer than|no longer than|not longer than|(?:not|never|\w+n['’]t) (?:to )?exceed(?:ing)?|no greater than|at (?:the )?most|(?:a )?maximum(?: of)?|max\.?(?: of)?|up to|within|limit(?:ed)?(?:\s+\S+){0,4}?\s+to` +
		`|no fewer than|no less than|not (?:be )?(?:fewer|less|shorter) than|\w+n['’]t be (?:fewer|less|shorter) than|at least|(?:a )?minimum(?: of)?|min\.?(?: of)?` +
		`|fewer than|less than|under|below|shorter than` +
		`|more than|longer than|over|above|exceed(?:s|ing)?` +
		`|exactly|precisely` +
		`|about|around|approximately|roughly|approx\.?|~|circa|nearly|almost)`
	unitPart = func() string {
		var parts []string
		for _, u := range unitKinds {
			parts = append(parts, u.words)
		}
		return `(` + strings.Join(parts, "|") + `)\b`
	}()
)

var (
	bothPattern    = pattern.Of(`(?i)\b(?:at least|(?:a )?minimum(?: of)?|no (?:fewer|less) than|min\.?)\s+` + numberPart + `(?:[ -]+` + unitPart + `)?\s*,?\s+(?:(?:and|but)\s+)?(?:at (?:the )?most|no more than|not more than|(?:a )?maximum(?: of)?|max\.?)\s+` + numberPart + `(?:[ -]+` + unitPart + `)?`)
	rangePattern   = pattern.Of(`(?i)\b(between\s+)?` + numberPart + `\s*(-|–|—|\bto\b|\band\b|\bor\b)\s*` + numberPart + `[ -]+` + qualityPart + unitPart)
	boundPattern   = pattern.Of(`(?i)(?:^|\b|\s)` + boundPart + `\s*` + numberPart + `[ -]+` + qualityPart + unitPart)
	afterPattern   = pattern.Of(`(?i)(?:^|\s)` + numberPart + `[ -]+` + qualityPart + unitPart + `\s*,?\s*\(?(or (?:less|fewer|shorter|under)|or (?:more|longer)|max(?:imum)?\b|at (?:the )?most|at least|min(?:imum)?\b|tops)`)
	orMorePattern  = pattern.Of(`(?i)(?:^|\s)` + numberPart + `(?:\s+or\s+(less|fewer|more)|(\+))\s+` + qualityPart + unitPart)
	hyphenPattern  = pattern.Of(`(?i)(?:^|\s)(` + digitsPart + `|` + wordsPart + `)-(word|sentence|paragraph|line|bullet|item|point|character)\b`)
	barePattern    = pattern.Of(`(?i)\b(?:write|provide|give|list|generate|create|return|use|produce|answer|respond|reply|summari[sz]e\w*|describe|explain|in|with|into|contain|include|have|has|add|make|offer|suggest|ask|output|be|consist\w* of|just|only)\s+(?:\S+\s+){0,5}?` + numberPart + `[ -]+` + qualityPart + unitPart)
	unknownPattern = pattern.Of(`(?i)\b(at least|at most|no more than|up to|exactly|a maximum of|a minimum of|fewer than|more than)\s+(` + digitsPart + `|` + wordsPart + `)\s+((?:[a-z-]+\s+)?[a-z-]+s)\b`)
)

// quantities finds the required counts. It hides the text that matches one pattern from the
// next ones and from the format rules.
func (s *sentence) quantities() {
	for _, p := range []struct {
		re   *pattern.Lazy
		read func(m []string) (bound, string, bool)
		bare bool // no words define the kind of bound
	}{
		{bothPattern, readBoth, false}, {rangePattern, readRange, false}, {orMorePattern, readOrMore, false}, {afterPattern, readAfter, false}, {boundPattern, readBound, false}, {hyphenPattern, readHyphen, true}, {barePattern, readBare, true},
	} {
		s.eachMatch(p.re, func(m []string, at []int) {
			b, unit, ok := p.read(m)
			if !ok {
				return
			}
			a := &amount{bound: b, unit: unit, words: m[0], start: at[0], end: at[1], compared: p.re == boundPattern, bare: p.bare}
			if p.bare {
				a.start = at[2]
			}
			if reversed, ok := s.reads(a); ok {
				s.quantity(a.bound, unit, s.plain[:at[0]], m[0], placeOf(s.plain, a.counted(at), reversed))
			}
		})
	}
	s.alternatives()
	if m := unknownPattern.Get().FindStringSubmatchIndex(s.plain); m != nil {
		s.refuse(delta.Quantity, "the rules cannot count %s", s.plain[m[6]:m[7]])
		s.hide(m)
	}
}

// eachMatch calls found for each match of a pattern, with its groups and their offsets, and
// hides the match from later patterns.
func (s *sentence) eachMatch(re *pattern.Lazy, found func(m []string, at []int)) {
	for at := re.Get().FindStringSubmatchIndex(s.plain); at != nil; at = re.Get().FindStringSubmatchIndex(s.plain) {
		m := make([]string, len(at)/2)
		for i := range m {
			if at[2*i] >= 0 {
				m[i] = s.plain[at[2*i]:at[2*i+1]]
			}
		}
		found(m, at)
		s.hide(at)
	}
}

// hide removes a match from the sentence without changing its length.
func (s *sentence) hide(at []int) {
	s.plain = s.plain[:at[0]] + strings.Repeat("\x00", at[1]-at[0]) + s.plain[at[1]:]
}

// placeOf returns the place of a quantity, without the white space around it.
func placeOf(text string, at [2]int, reversed bool) place {
	words := text[at[0]:at[1]]
	start := at[0] + len(words) - len(strings.TrimLeft(words, " \t\n,"))
	return place{start: start, end: max(start, at[1]-len(words)+len(strings.TrimRight(words, " \t\n,."))), kind: amountKind, not: reversed}
}

// bound is a range of units from low to high; "" means no limit. Each limit is digits or a
// template variable.
type bound struct {
	low, high string
	about     bool
}

func readRange(m []string) (bound, string, bool) {
	if strings.EqualFold(m[3], "and") && m[1] == "" {
		return bound{}, "", false
	}
	low, ok1 := number(m[2], 0)
	high, ok2 := number(m[4], 0)
	return bound{low: low, high: high}, m[5], ok1 && ok2
}

// readBoth reads a lower and an upper bound, one of which has the unit.
func readBoth(m []string) (bound, string, bool) {
	low, ok1 := number(m[1], 0)
	high, ok2 := number(m[3], 0)
	unit := cmp.Or(m[4], m[2])
	return bound{low: low, high: high}, unit, ok1 && ok2 && unit != "" && (m[2] == "" || m[4] == "" || unitOf(m[2]) == unitOf(m[4]))
}

func readOrMore(m []string) (bound, string, bool) {
	n, ok := number(m[1], 0)
	if m[3] != "" || strings.EqualFold(m[2], "more") {
		return bound{low: n}, m[4], ok
	}
	return bound{high: n}, m[4], ok
}

func readAfter(m []string) (bound, string, bool) {
	n, ok := number(m[1], 0)
	switch w := strings.ToLower(m[3]); {
	case strings.HasPrefix(w, "or more"), strings.HasPrefix(w, "or longer"), strings.HasPrefix(w, "at least"), strings.HasPrefix(w, "min"):
		return bound{low: n}, m[2], ok
	}
	return bound{high: n}, m[2], ok
}

// Bound words, grouped by their effect on the number.
var (
	mostWords  = pattern.Of(`(?i)^(no more|not (be )?more|\w+n['’]t be (more|longer)|(not|never) be longer|no longer|not longer|(not|never|\w+n['’]t) (to )?exceed|no greater|at (the )?most|(a )?max|up to|within|limit)`)
	leastWords = pattern.Of(`(?i)^(no fewer|no less|not (be )?(fewer|less|shorter)|\w+n['’]t be (fewer|less|shorter)|at least|(a )?min)`)
	belowWords = pattern.Of(`(?i)^(fewer|less|under|below|shorter)`)
	aboveWords = pattern.Of(`(?i)^(more|longer|over|above|exceed)`)
	exactWords = pattern.Of(`(?i)^(exactly|precisely)`)
)

func readBound(m []string) (bound, string, bool) {
	step := 0
	switch {
	case belowWords.Get().MatchString(m[1]):
		step = -1
	case aboveWords.Get().MatchString(m[1]):
		step = 1
	}
	n, ok := number(m[2], step)
	switch w := m[1]; {
	case mostWords.Get().MatchString(w), belowWords.Get().MatchString(w):
		return bound{high: n}, m[3], ok
	case leastWords.Get().MatchString(w), aboveWords.Get().MatchString(w):
		return bound{low: n}, m[3], ok
	case exactWords.Get().MatchString(w):
		return bound{low: n, high: n}, m[3], ok
	}
	b, fits := about(n)
	return b, m[3], ok && fits
}

func readHyphen(m []string) (bound, string, bool) {
	n, ok := number(m[1], 0)
	if unit := strings.ToLower(m[2]); unit == "word" || unit == "character" {
		b, fits := about(n)
		return b, m[2], ok && fits
	}
	return bound{low: n, high: n}, m[2], ok
}

func readBare(m []string) (bound, string, bool) {
	n, ok := number(m[1], 0)
	if strings.EqualFold(m[1], "a couple of") {
		return bound{low: "2", high: "3"}, m[2], ok
	}
	unit := strings.ToLower(m[2])
	if strings.HasPrefix(unit, "word") || strings.HasPrefix(unit, "char") || strings.HasPrefix(unit, "token") {
		if b, fits := about(n); fits {
			return b, m[2], ok
		}
	}
	return bound{low: n, high: n}, m[2], ok
}

// tolerance is the allowed deviation of an approximate number.
const tolerance = 0.25

func about(n string) (bound, bool) {
	f, err := strconv.ParseFloat(n, 64)
	if err != nil {
		return bound{}, false
	}
	off := math.Max(1, math.Round(f*tolerance))
	if f < 3 {
		off = 0
	}
	return bound{low: strconv.Itoa(int(f - off)), high: strconv.Itoa(int(f + off)), about: off > 0}, true
}

// number reads a number in digits or words and adds a step, or reads a template
// variable, to which nothing can be added.
func number(text string, step int) (string, bool) {
	text = strings.ToLower(strings.TrimSpace(text))
	if n, ok := NumberWords()[strings.Join(strings.Fields(text), " ")]; ok {
		return strconv.Itoa(max(0, n+step)), true
	}
	if name := strings.Trim(text, "{}[] "); strings.ContainsAny(text, "{[") {
		return "{{ " + name + " }}", name != ""
	}
	n, err := strconv.Atoi(strings.ReplaceAll(text, ",", ""))
	if err != nil || n > 1_000_000_000 {
		return "", false
	}
	return strconv.Itoa(max(0, n+step)), true
}

// quantity makes a check of a bound.
func (s *sentence) quantity(b bound, unit, before, words string, at place) {
	kind := unitOf(unit)
	if kind == nil {
		return
	}
	if strings.Contains(b.low+b.high, "{{") && (b.low != b.high || !s.hasVariable(b.low)) {
		s.refuse(delta.Quantity, "the limit is the variable %s, and the rules read only numbers", "{"+strings.Trim(b.low+b.high, "{} ")+"}")
		return
	}
	scope, part := s.scopeOf(before, words)
	if part != "" {
		s.refuse(delta.Quantity, "it is about a part of the output that the rules cannot find (%s)", part)
		return
	}
	pairs := kind.make(b.amount())
	if scope != nil {
		pairs = append(pairs, "scope", scope)
	}
	name, text := b.words(kind)
	if scope != nil {
		name += "_" + scopeName(scope)
		text += " in " + scopeText(scope)
	}
	at.each = scope != nil
	s.counts = append(s.counts, count{b, kind.name, scope, len(s.drafts)})
	s.draft(at, delta.Quantity, name, "The output has "+text+".", pairs...)
}

func unitOf(word string) *unitKind {
	for i := range unitKinds {
		if regexp.MustCompile(`(?i)^(?:` + unitKinds[i].words + `)$`).MatchString(word) {
			return &unitKinds[i]
		}
	}
	return nil
}

// hasVariable reports whether the prompt has every variable of a bound.
func (s *sentence) hasVariable(text string) bool {
	for _, m := range anyVariable.Get().FindAllStringSubmatch(text, -1) {
		if !regexp.MustCompile(`\{\s*`+m[1]+`\s*[}|]`).MatchString(s.prompt) || regexp.MustCompile(`\{%-?\s*(?:for|set|assign|capture|with)\s[^%]*\b`+m[1]+`\b[^%]*?(?:\bin\b|=|%\})`).MatchString(s.prompt) || m[1] == "this" || m[1] == "loop" {
			return false // the template itself assigns it
		}
	}
	return true
}

func (b bound) amount() any {
	val := func(n string) any {
		if f, err := strconv.ParseFloat(n, 64); err == nil {
			return f
		}
		return n
	}
	if b.low == b.high {
		return val(b.low)
	}
	o := value.NewObject(2)
	if b.low != "" {
		o.Set("min", val(b.low))
	}
	if b.high != "" {
		o.Set("max", val(b.high))
	}
	return o
}

// words returns a name and a description for a bound.
func (b bound) words(kind *unitKind) (name, text string) {
	units := func(n string) string {
		if n == "1" {
			return kind.one
		}
		return strings.ReplaceAll(kind.name, "_", " ")
	}
	id := func(n string) string { return Slug(n) }
	switch {
	case b.low == b.high:
		return kind.name + "_exactly_" + id(b.low), fmt.Sprintf("exactly %s %s", b.low, units(b.low))
	case b.low == "":
		return kind.name + "_at_most_" + id(b.high), fmt.Sprintf("at most %s %s", b.high, units(b.high))
	case b.high == "":
		return kind.name + "_at_least_" + id(b.low), fmt.Sprintf("at least %s %s", b.low, units(b.low))
	}
	return kind.name + "_" + id(b.low) + "_to_" + id(b.high), fmt.Sprintf("%s to %s %s", b.low, b.high, units(b.high))
}
