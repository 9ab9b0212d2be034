package subsume

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/proviso-eval/proviso/internal/regex"
)

// maxLiteral bounds the phrases in automata, in characters.
const maxLiteral = 300

// languages makes languages from the texts that assertions search for.
type languages struct {
	patterns *regex.Engine
	machines map[string]*machine
	lowers   map[rune][]rune // the characters, other than itself, that have a given lower case
}

func newLanguages() *languages {
	t := &languages{patterns: regex.New(regex.Options{}), machines: map[string]*machine{}, lowers: map[rune][]rune{}}
	for _, span := range unicode.CaseRanges {
		for r := rune(span.Lo); r <= rune(span.Hi); r++ {
			if low := unicode.ToLower(r); low != r && r != dottedI {
				t.lowers[low] = append(t.lowers[low], r)
			}
		}
	}
	return t
}

// dottedI is the only character whose lower case is two characters: i and a dot above.
const (
	dottedI  = 'İ'
	dotAbove = '\u0307'
)

// lowered returns a phrase in lower case like package check; ok is false if lower case depends
// on the context (sigma) or has more characters than before.
func lowered(phrase string) (string, bool) {
	if !utf8.ValidString(phrase) || strings.ContainsAny(phrase, "Σσςİ\u0307\uFFFD") {
		return "", false
	}
	return strings.Map(unicode.ToLower, phrase), true
}

// cased reports whether another character of an output becomes r in lower case, or r itself
// changes.
func (t *languages) cased(r rune) bool {
	return unicode.ToLower(r) != r || len(t.lowers[r]) > 0 || r == 'i'
}

// literal returns an expression for a phrase. With fold, the searched text is lowercased
// first; open means that the text may continue after the phrase.
func (t *languages) literal(phrase string, fold, open bool) (string, bool) {
	if !utf8.ValidString(phrase) || strings.ContainsRune(phrase, utf8.RuneError) || utf8.RuneCountInString(phrase) > maxLiteral {
		return "", false
	}
	if !fold {
		return regexp.QuoteMeta(string(regex.Units(phrase))), true
	}
	low, ok := lowered(phrase)
	if !ok {
		return "", false
	}
	var b strings.Builder
	rest := []rune(low)
	for i, r := range rest {
		b.WriteString("(?:" + quotedRune(r))
		for _, upper := range t.lowers[r] {
			b.WriteString("|" + quotedRune(upper))
		}
		if r == 'i' && open && i == len(rest)-1 {
			b.WriteString("|" + quotedRune(dottedI))
		}
		b.WriteString(")")
	}
	return b.String(), true
}

func quotedRune(r rune) string { return regexp.QuoteMeta(string(regex.Units(string(r)))) }

// pattern returns the language of an expression; nil if it is too large.
func (t *languages) pattern(expr string) *language {
	m, ok := t.machines[expr]
	if !ok {
		m = newMachine(expr)
		t.machines[expr] = m
	}
	if m == nil {
		return nil
	}
	return &language{op: 'm', m: m}
}

// places of a phrase.
const (
	anywhere = ""
	atStart  = "start"
	atEnd    = "end"
	whole    = "whole"
)

// phrase returns the texts that have a phrase at a place.
func (t *languages) phrase(text, place string, fold bool) *language {
	expr, ok := t.literal(text, fold, place == anywhere || place == atStart)
	if !ok {
		return nil
	}
	if place == atStart || place == whole {
		expr = `\A` + expr
	}
	if place == atEnd || place == whole {
		expr += `\z`
	}
	return t.pattern(expr)
}

// sequence returns the texts that contain the phrases one after another.
func (t *languages) sequence(phrases []string, fold bool) *language {
	parts := make([]string, len(phrases))
	size := 0
	for i, p := range phrases {
		expr, ok := t.literal(p, fold, true)
		if size += utf8.RuneCountInString(p); !ok || size > maxLiteral {
			return nil
		}
		parts[i] = expr
	}
	return t.pattern(strings.Join(parts, `(?s:.)*`))
}

// times returns the texts in which a phrase occurs a number of times that is in the amounts;
// overlapping occurrences count once.
func (t *languages) times(phrase string, fold bool, in amounts) *language {
	atLeast := func(n int) *language {
		if n == 0 {
			return not(nothing)
		}
		if n > maxLiteral {
			return nil
		}
		return t.sequence(slices.Repeat([]string{phrase}, n), fold)
	}
	either := &language{op: '|'}
	for _, span := range in {
		l := atLeast(span.lo)
		if l == nil {
			return nil
		}
		if span.hi < endless {
			more := atLeast(span.hi + 1)
			if more == nil {
				return nil
			}
			l = &language{op: '&', subs: []*language{l, not(more)}}
		}
		either.subs = append(either.subs, l)
	}
	return either
}

// each returns the intersection, or the union, of the languages of phrases.
func (t *languages) each(phrases []string, all, fold bool) *language {
	l := &language{op: '|'}
	if all {
		l.op = '&'
	}
	for _, p := range phrases {
		sub := t.phrase(p, anywhere, fold)
		if sub == nil {
			return nil
		}
		l.subs = append(l.subs, sub)
	}
	return l
}

// matches returns the texts in which an ECMAScript pattern matches; nil if automata
// cannot decide it.
func (t *languages) matches(pattern string, ignoreCase bool) *language {
	flags := ""
	if ignoreCase {
		flags = "i"
	}
	re, err := t.patterns.Compile(pattern, flags)
	if err != nil {
		return nil
	}
	expr, ok := re.Program()
	if !ok {
		return nil
	}
	return t.pattern(expr)
}

func not(l *language) *language { return &language{op: '!', subs: []*language{l}} }
