package rules

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/proviso-eval/proviso/internal/language"
	"github.com/proviso-eval/proviso/internal/pattern"
	"github.com/proviso-eval/proviso/spade/delta"
)

// tongue is a language other than English in which the rules read counts, quoted phrases and
// the formats that have the same names everywhere.
type tongue struct {
	name                                 string
	most, least, exact, below, above, by string            // alternatives of the words before a number; by means about
	mostAfter, leastAfter                string            // after the unit
	numbers                              map[string]int    // numbers as words
	units                                map[string]string // singular and plural -> English plural of unitKinds
	joins                                string            // words between the two numbers of a range
	bare                                 string            // words before a number without a bound
	never                                string            // alternatives of forbidding words
	begin, end, include                  string            // alternatives of verbs
	part                                 string            // names of parts of an output
	only                                 string            // words that make a condition
	each                                 string
	words                                func() *vocabulary
	double                               twists // words that reverse or weaken a ban or a demand

	once                                 sync.Once
	sometimes                            *pattern.Lazy
	bound, rng, after, plain             *pattern.Lazy
	negative, begins, ends, says, ofPart *pattern.Lazy
	omits, weakens, allows, writes       *pattern.Lazy
	clauses                              *grammar
}

// twists are alternatives of words that make a sentence too hard for rules.
type twists struct {
	omit   string // verbs and prepositions of omission: with another negation they demand
	weaken string // exceptions, degrees, examples, and words for frequent things
	allow  string // permissions
	write  string // verbs for what an output says
}

// Word patterns for any language: Go's \b supports only ASCII.
const (
	wordStart = `(?:^|[\s(„“"«:;,])`
	wordEnd   = `(?:$|[\s.,;:!?)“”"»])`
)

// compiled compiles the patterns of a language.
func (t *tongue) compiled() *tongue {
	t.once.Do(func() {
		number := `(\d{1,3}(?:[., ]\d{3})+|\d+|` + strings.Join(longestFirst(t.numbers), "|") + `)`
		unit := `(` + strings.Join(longestFirst(t.units), "|") + `)`
		words := strings.Join([]string{t.most, t.least, t.exact, t.below, t.above, t.by}, "|")
		t.bound = pattern.Of(`(?i)` + wordStart + `(` + words + `)\s+` + number + `\s+(?:\pL+\s+)?` + unit + wordEnd)
		t.rng = pattern.Of(`(?i)` + wordStart + number + `\s*(?:-|–|` + t.joins + `)\s*` + number + `\s+(?:\pL+\s+)?` + unit + wordEnd)
		t.after = pattern.Of(`(?i)` + wordStart + number + `\s+` + unit + `\s*,?\s+(` + t.mostAfter + `|` + t.leastAfter + `)` + wordEnd)
		t.plain = pattern.Of(`(?i)` + wordStart + `(?:` + t.bare + `)\s+` + number + `\s+(?:\pL+\s+)?` + unit + wordEnd)
		t.sometimes = pattern.Of(`(?i)` + wordStart + `(?:` + t.only + `)` + wordEnd)
		t.negative = pattern.Of(`(?i)` + wordStart + `(?:` + t.never + `)` + wordEnd)
		t.begins, t.ends, t.says = pattern.Of(`(?i)`+wordStart+`(?:`+t.begin+`)`), pattern.Of(`(?i)`+wordStart+`(?:`+t.end+`)`), pattern.Of(`(?i)`+wordStart+`(?:`+t.include+`)`)
		t.omits, t.weakens = pattern.Of(`(?i)`+wordStart+`(?:`+t.double.omit+`)`+wordEnd), pattern.Of(`(?i)`+wordStart+`(?:`+t.double.weaken+`)`+wordEnd)
		t.allows, t.writes = pattern.Of(`(?i)`+wordStart+`(?:`+allowed()+`)`+wordEnd), pattern.Of(`(?i)(?:^|[\s(„“"«:;,'’])(?:`+t.double.write+`|`+t.begin+`|`+t.end+`|`+t.include+`)`)
		t.clauses = t.words().grammar()
		t.ofPart = pattern.Of(`(?i)` + wordStart + `(?:` + t.part + `|` + t.each + `)` + wordEnd)
	})
	return t
}

// allowed returns the permissions of all languages, because a short sentence may be mistaken
// for a related language.
func allowed() string {
	var list []string
	for _, t := range tongues() {
		list = append(list, t.double.allow)
	}
	return strings.Join(list, "|")
}

func longestFirst[V any](words map[string]V) []string {
	list := make([]string, 0, len(words))
	for w := range words {
		list = append(list, w)
	}
	slices.SortFunc(list, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	return list
}

// languageOf returns the language of a sentence, by its own words or else by those of its
// prompt.
func languageOf(text, prompt string) string {
	if name := language.Of(text); name != "" {
		return name
	}
	return prompt
}

// tongueOf returns the rules for a language; nil for English and for languages that the rules
// do not read.
func tongueOf(name string) *tongue {
	for _, t := range tongues() {
		if t.name == name {
			return t.compiled()
		}
	}
	return nil
}

// Unread says what the rules do not read in a prompt that is not in English; "" if they read
// it.
func Unread(prompt string) string { return unread(language.Of(prompt)) }

func unread(name string) string {
	switch {
	case name == "" || name == "English":
		return ""
	case tongueOf(name) != nil:
		return "the rules read English, and of " + name + " only counts, quoted texts and a few formats; pass --model for the rest"
	}
	return "the rules read English; pass --model for " + name
}

// foreign makes the drafts of a sentence in another language.
func (s *sentence) foreign() {
	s.foreignCounts()
	s.foreignFormats()
	from := 0
	for _, g := range quotedGroups(s.text) {
		s.foreignPhrase(g, s.text[from:g.start])
		from = g.end
	}
}

// foreignCounts finds the required counts. It hides the text that matches one pattern from the
// next ones.
func (s *sentence) foreignCounts() {
	t := s.tongue
	for _, p := range []struct {
		re   *pattern.Lazy
		read func(m []string) (bound, string, bool)
	}{{t.after, t.readAfter}, {t.rng, t.readRange}, {t.bound, t.readBound}, {t.plain, t.readPlain}} {
		s.eachMatch(p.re, func(m []string, at []int) {
			b, unit, ok := p.read(m)
			if !ok {
				return
			}
			if part := strings.Trim(t.ofPart.Get().FindString(before(s.plain, at)), " .,;:"); part != "" {
				s.refuse(delta.Quantity, "it is about a part of the output that the rules cannot find (%s)", part)
			} else if reversed, ok := s.foreignReads(&b, p.re == t.bound, m, at); ok {
				here := placeOf(s.plain, [2]int{at[2], at[1]}, reversed)
				for here.end > here.start && !wordRune(rune(s.plain[here.end-1])) && s.plain[here.end-1] < utf8.RuneSelf {
					here.end--
				}
				s.quantity(b, unit, "", m[0], here)
			}
		})
	}
	s.alternatives()
}

// before returns the text before a count, and the word right after the count: the part of an
// output that the count applies to.
func before(text string, at []int) string {
	out := text[max(0, at[0]-50):at[0]] + " \x00 "
	if next := strings.Fields(text[at[1]:min(len(text), at[1]+40)]); len(next) > 0 && !strings.ContainsAny(text[at[1]-1:at[1]], ".,;:!?)") {
		out += next[0]
	}
	return out
}

// number reads a number in digits or words, and adds a step.
func (t *tongue) number(text string, step int) (string, bool) {
	text = strings.ToLower(text)
	if n, ok := t.numbers[text]; ok {
		return fmt.Sprint(max(0, n+step)), true
	}
	return number(strings.NewReplacer(".", "", ",", "", " ", "").Replace(text), step)
}

func (t *tongue) unit(word string) string { return t.units[strings.ToLower(word)] }

func (t *tongue) readRange(m []string) (bound, string, bool) {
	low, ok1 := t.number(m[1], 0)
	high, ok2 := t.number(m[2], 0)
	return bound{low: low, high: high}, t.unit(m[3]), ok1 && ok2
}

func (t *tongue) readAfter(m []string) (bound, string, bool) {
	n, ok := t.number(m[1], 0)
	if among(m[3], t.leastAfter) {
		return bound{low: n}, t.unit(m[2]), ok
	}
	return bound{high: n}, t.unit(m[2]), ok
}

func (t *tongue) readBound(m []string) (bound, string, bool) {
	step := 0
	switch {
	case among(m[1], t.below):
		step = -1
	case among(m[1], t.above):
		step = 1
	}
	n, ok := t.number(m[2], step)
	switch word, unit := m[1], t.unit(m[3]); {
	case among(word, t.most), among(word, t.below):
		return bound{high: n}, unit, ok
	case among(word, t.least), among(word, t.above):
		return bound{low: n}, unit, ok
	case among(word, t.exact):
		return bound{low: n, high: n}, unit, ok
	default:
		b, fits := about(n)
		return b, unit, ok && fits
	}
}

func (t *tongue) readPlain(m []string) (bound, string, bool) {
	n, ok := t.number(m[1], 0)
	unit := t.unit(m[2])
	if unit == "words" || unit == "characters" {
		b, fits := about(n)
		return b, unit, ok && fits
	}
	return bound{low: n, high: n}, unit, ok
}

// among reports whether words equal one of several alternatives.
func among(words, alternatives string) bool {
	return slices.Contains(strings.Split(alternatives, "|"), strings.ToLower(strings.Join(strings.Fields(words), " ")))
}

// foreignFormats finds the formats that have the same names everywhere.
func (s *sentence) foreignFormats() {
	plain := s.plain
	for i, f := range formats {
		switch f.is {
		case "markdown", "html", "xml", "csv", "emoji", "hashtags":
		default:
			continue
		}
		if at := formatWords()[i].FindStringIndex(plain); at != nil && !s.counted(f.is) {
			s.foreignFormat(f, plain, at)
		}
	}
	if at := jsonWord.Get().FindStringIndex(plain); at != nil {
		s.foreignFormat(shape{is: "json", text: "The output has JSON.", not: "The output has no JSON.", make: []any{"type", "contains-json"}}, plain, at)
	}
}

func (s *sentence) foreignFormat(f shape, plain string, at []int) {
	switch st := s.foreignStance(plain, at[0], at[1]); {
	case st.Unread != "":
		s.refuse(delta.ResponseFormat, "%s", needsModel(st.Unread))
	case !st.Not && st.Choice():
		s.refuse(delta.ResponseFormat, "it names several things to choose from: a model is needed (--model)")
	case st.Not && f.not != "":
		s.draft(f.place(plain, at, true), delta.Exclusion, "no_"+f.is, f.not, negate(f.make)...)
	case !st.Not:
		s.draft(f.place(plain, at, false), delta.ResponseFormat, "has_"+f.is, f.text, f.make...)
	}
}

// foreignPhrase makes a check from a run of quoted phrases, by the words around it.
func (s *sentence) foreignPhrase(g quoted, before string) {
	t, shown := s.tongue, quotedList(g.phrases)
	values, ok := s.templates(g.phrases, shown)
	if !ok {
		return
	}
	st := s.foreignStance(masked(s.text), g.start, g.end)
	if st.Unread != "" {
		s.refuse(delta.Inclusion, "%s", needsModel(st.Unread))
		return
	}
	at := place{start: g.start, end: g.end, kind: phraseKind, not: st.Not}
	around := st.Before + " \x00 " + st.After
	switch begins, ends := t.begins.Get().MatchString(around), t.ends.Get().MatchString(around); {
	case t.ofPart.Get().MatchString(before):
		s.refuse(delta.Inclusion, "it is about a part of the output that the rules cannot find")
	case begins && !ends:
		s.affix("starts", "begin", "", values, shown, at)
	case ends && !begins:
		s.affix("ends", "end", "", values, shown, at)
	case begins || ends:
		s.refuse(delta.ResponseFormat, "it says how the output begins and how it ends; the rules read one of them in a sentence")
	case st.Not:
		s.draft(at, delta.Exclusion, "excludes_"+Slug(g.phrases[0]), "The output does not say "+shown+".", words([]any{"type", "not-icontains-any", "value", values}, g.phrases)...)
	case t.says.Get().MatchString(around):
		s.include(g, values, shown, at)
	default:
		s.refuse(delta.OtherCategory, "it quotes %s, and does not say what to do with it", shown)
	}
}
