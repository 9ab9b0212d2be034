package regex_test

import (
	"math/rand/v2"
	"strings"
)

// grammar writes random patterns and texts with few characters, so that they match
// often. It is driven by a seed: the same seed gives the same pattern.
type grammar struct {
	*rand.Rand
	unicode bool
}

func newGrammar(seed uint64, unicode bool) *grammar {
	return &grammar{Rand: rand.New(rand.NewPCG(seed, 1)), unicode: unicode}
}

func (g *grammar) of(list ...string) string { return list[g.IntN(len(list))] }

// pattern returns a pattern that is usually valid.
func (g *grammar) pattern(depth int) string {
	var b strings.Builder
	for i := range 1 + g.IntN(3) {
		if i > 0 && g.IntN(3) == 0 {
			b.WriteByte('|')
		}
		for range g.IntN(4) {
			b.WriteString(g.term(depth))
		}
	}
	return b.String()
}

func (g *grammar) term(depth int) string {
	switch n := g.IntN(20); {
	case n == 0:
		return g.of("^", "$", `\b`, `\B`)
	case n == 1 && depth > 0:
		return g.of("(?=", "(?!", "(?<=", "(?<!") + g.pattern(depth-1) + ")"
	case n < 5 && depth > 0:
		return g.of("(", "(?:", "(?:", "(?<n"+g.of("a", "b", "c", "d", "e", "f")+">") + g.pattern(depth-1) + ")" + g.quantifier()
	case n < 8:
		return g.class() + g.quantifier()
	}
	return g.atom() + g.quantifier()
}

func (g *grammar) atom() string {
	if g.IntN(3) > 0 {
		return g.of("a", "b", "A", "B", "k", "s", "1", "_", " ", "é", "É", "ß", "ſ", "K", "ŉ", "Ω", "ω", "ᾳ", "ᾼ", "ı", "İ", "日", ".", ".", "-", "😀", "🎉")
	}
	if g.unicode && g.IntN(4) > 0 {
		return g.of(`\d`, `\D`, `\w`, `\W`, `\s`, `\S`, `\n`, `\x61`, `\u0041`, `\u{1F600}`, `\ud83d\ude00`, `\ud83d`, `\.`, `\/`, `\p{L}`, `\P{Lu}`, `\p{Script=Greek}`, `\p{Nd}`, `\cA`, `\0`)
	}
	return g.of(`\d`, `\D`, `\w`, `\W`, `\s`, `\S`, `\n`, `\t`, `\x61`, `\x6`, `\u0041`, `\u004`, `\ud83d`, `\ude00`, `\u{2}`, `\.`, `\-`, `\p{L}`, `\cA`, `\c`, `\0`, `\01`, `\1`, `\2`, `\8`, `\141`, `\k<na>`, `\A`, `\z`, `\a`, `]`, `}`, `{`, `{,2}`, `a{`, `[]`, `[^]`)
}

func (g *grammar) class() string {
	var b strings.Builder
	// A hyphen is only first: if a range has an escape such as \d as a bound, QuickJS
	// deviates from annex B (TestMatch has such classes).
	b.WriteString(g.of("[", "[", "[^", "[-"))
	for range g.IntN(4) {
		if g.IntN(3) == 0 {
			b.WriteString(g.of("a-c", "A-Z", "a-z", "0-9", " -~", "é-ω", `\ud83c-\ud83e`, "\u00e0-\uffff", `\x00-\x7f`, "😀-🙏"))
			continue
		}
		b.WriteString(g.of("a", "b", "K", "s", "_", "^", "[", "é", "ſ", "😀", `\d`, `\W`, `\s`, `\S`, `\b`, `\B`, `\]`, `\-`, `\c`, `\c1`, `\cA`, `\1`, `\p{L}`, `\n`, "."))
	}
	return b.String() + "]"
}

func (g *grammar) quantifier() string {
	if g.IntN(2) == 0 {
		return ""
	}
	return g.of("*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{0,1}", "{1,}", "{0}", "{2,3}?", "{1,", "{,2}", "{2,1}")
}

// text returns a text that patterns of the grammar may match.
func (g *grammar) text() string {
	var b strings.Builder
	for range g.IntN(10) {
		b.WriteString(g.of("a", "a", "b", "b", "A", "B", "k", "K", "S", "s", "1", "_", " ", "\n", "\r", "\u2028", "\u00a0", "é", "É", "ß", "ſ", "K", "ŉ", "Ω", "ω", "ᾳ", "ᾼ", "ı", "i", "İ", "日", "-", "😀", "🎉", "]", "{", "\x01", "\x00", "{,2}", "p{L}", "\uFFFD", "x", "c", "\\"))
		if g.IntN(12) == 0 {
			b.WriteString(g.of("\xed\xa0\xbd", "\xed\xb8\x80")) // lone surrogates, in three bytes
		}
	}
	return b.String()
}
