package rules

import (
	"fmt"
	"github.com/proviso-eval/proviso/internal/pattern"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A sentence is read twice. First, patterns find the things that it names and its apparent
// statements about them. Then a grammar of clauses must account for every word. A thing gets
// no check if the grammar does not derive its clause, or derives another meaning, because an
// unexplained word may reverse, weaken or narrow the requirement.

// meaning is a clause's statement about the things that it names.
type meaning uint8

const (
	unclear  meaning = iota
	silent           // it names nothing, and changes no other clause
	demanded         // the things must be present
	barred           // the things must be absent
)

// kinds of things, as grammar symbols.
const (
	amountKind = 'q' // a quantity
	formKind   = 'f' // a format, or a character with a name
	caseKind   = 'c' // a format that is an adjective: comma-separated
	jsonKind   = 'j'
	phraseKind = 'p' // a quoted phrase
	affixKind  = 's' // a quoted phrase at the start or the end
	valueKind  = 'v' // a variable
	endKind    = 'e' // a question at the end
)

// accounted keeps the drafts of a sentence that the grammar derives with the same meaning, and
// rejects the others.
func (s *sentence) accounted() {
	if len(s.drafts) == 0 {
		return
	}
	text, symbols := s.symbols()
	read, left := s.derive(text)
	var kept []draft
	refused := map[string]bool{}
	for i, d := range s.drafts {
		want := demanded
		if d.not {
			want = barred
		}
		if d.end > 0 && read[symbols[i]] == want && !s.answers(&d) {
			kept = append(kept, d)
			continue
		}
		why := needsModel(s.text)
		if left != "" {
			why = needsModel(s.shownSymbols(left))
		}
		if !refused[d.category+why] {
			refused[d.category+why] = true
			s.refuse(d.category, "%s", why)
		}
	}
	s.drafts = kept
}

// answers reports whether a number of questions may be the number that is answered: the
// sentence does not say that the questions are asked.
func (s *sentence) answers(d *draft) bool {
	return strings.HasPrefix(d.name, "questions_") && !asked.Get().MatchString(s.text)
}

var asked = pattern.Of(`(?i)\b(?:ask\w*|pose[rz]?|contains?|include|ends? with|question marks?|stell\w*|frag[et]?|haz|haga|fai|chiedi|faça|pergunte|stel|vraag)\b`)

// symbols writes the sentence in the words of the grammar: in lower case, with a symbol in
// place of each thing that a draft was read from, and spaces around marks. It returns the
// symbol of each draft.
func (s *sentence) symbols() (string, []string) {
	type piece struct {
		place
		symbol string
	}
	var pieces []piece
	order := make([]int, len(s.drafts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return s.drafts[a].start - s.drafts[b].start })
	names := make([]string, len(s.drafts))
	for _, i := range order {
		d := s.drafts[i]
		if n := len(pieces); n > 0 && d.start < pieces[n-1].end {
			pieces[n-1].end = max(pieces[n-1].end, d.end)
			names[i] = pieces[n-1].symbol
			continue
		}
		p := piece{d.place, fmt.Sprintf("#%c%d", d.kind, len(pieces))}
		if d.each {
			p.symbol += "e"
		}
		pieces, names[i] = append(pieces, p), p.symbol
	}
	for _, g := range quotedGroups(s.text) { // quotes without a draft
		if !slices.ContainsFunc(pieces, func(p piece) bool { return p.start < g.end && g.start < p.end }) {
			pieces = append(pieces, piece{place{start: g.start, end: g.end}, "~p"})
		}
	}
	slices.SortStableFunc(pieces, func(a, b piece) int { return a.start - b.start })
	var b strings.Builder
	at := 0
	for _, p := range pieces {
		if p.end == 0 || p.start < at {
			continue
		}
		b.WriteString(s.text[at:p.start] + " " + p.symbol + " ")
		at = p.end
	}
	b.WriteString(s.text[at:])
	data := dataPlace.Get().ReplaceAllString(b.String(), " ~v ")
	return colon.Get().ReplaceAllString(normal(data), " $1"), names
}

// dataPlace is where the template puts data.
var dataPlace = pattern.Of(`\{\{[^{}]*\}\}|\{\s*\w+\s*\}|<</?sys>>`)

// colon precedes a quote, and ends no clause.
var colon = pattern.Of(` : (#[ps]|~p)`)

// normal writes a text in lower case, with marks as separate words and without emphasis. It
// expands contractions of not.
func normal(text string) string {
	text = strings.ToLower(strings.NewReplacer("’", "'", "**", "", "__", "", "\u00a0", " ", "\u202f", " ").Replace(text))
	text = strings.NewReplacer("can't", "can not", "cannot", "can not", "won't", "will not", "dont ", "do not ", "n't", " not", "it's", "it is", "you're", "you are").Replace(text)
	var b strings.Builder
	var last rune
	for i, r := range text {
		next, _ := utf8.DecodeRuneInString(text[i+utf8.RuneLen(r):])
		inside := (r == '-' || r == '\'' || r == '_') && wordRune(last) && wordRune(next)
		switch {
		case inside, wordRune(r), r == '#' && (next >= 'a' && next <= 'z'), r == '~':
			b.WriteRune(r)
			if out := b.String(); r == '\'' && len(out)-strings.LastIndexByte(out, ' ')-1 <= 3 { // an elided article or negation is a word: n'utilise
				b.WriteByte(' ')
			}
		case unicode.IsSpace(r):
			b.WriteByte(' ')
		case r == '(' || r == ')' || r == '–' || r == '—' || r == '-':
			b.WriteString(" – ")
		case r == '*' || r == '`' || r == '"':
			b.WriteByte(' ')
		default:
			b.WriteString(" " + string(r) + " ")
		}
		last = r
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

func wordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

// shownSymbols replaces the symbols in a clause with their original text, for a reason.
func (s *sentence) shownSymbols(clause string) string {
	_, names := s.symbols()
	for i, d := range s.drafts {
		clause = strings.ReplaceAll(clause, names[i], strings.TrimSpace(s.text[d.start:d.end]))
	}
	return strings.NewReplacer(" ,", ",", " :", ":", "~p", "“…”").Replace(clause)
}

// clausesOf splits a sentence in grammar words where a clause starts.
func clausesOf(text string, starts []*regexp.Regexp) (clauses, joints []string) {
	from, joint := 0, ""
	add := func(to int) {
		if c := strings.Trim(text[from:to], " ,"); c != "" {
			clauses, joints = append(clauses, c), append(joints, joint)
		}
	}
	var cuts [][]int
	for _, re := range starts {
		cuts = append(cuts, re.FindAllStringSubmatchIndex(text, -1)...)
	}
	slices.SortStableFunc(cuts, func(a, b []int) int { return a[2] - b[2] })
	for _, m := range cuts {
		if m[2] < from {
			continue
		}
		add(m[2])
		from, joint = m[3], strings.TrimSpace(text[m[2]:m[3]])
	}
	add(len(text))
	return clauses, joints
}

// derive reads each clause, and returns the meaning of each symbol. If a clause is not
// derived, no symbol has a meaning, because the clause may change the others; left is that
// clause.
func (s *sentence) derive(text string) (read map[string]meaning, left string) {
	g := english()
	if s.tongue != nil {
		g = s.tongue.clauses
	}
	read = map[string]meaning{}
	text = " " + strings.Join(strings.Fields(g.without(never.Get().ReplaceAllString(text, " never "))), " ") + " "
	clauses, joints := clausesOf(text, g.starts)
	var swapped []string
	swap := false
	before := silent
	for i, c := range clauses {
		m := g.meaning(c)
		things := symbol.Get().FindAllString(c, -1)
		switch {
		case m == unclear,
			m == demanded && g.choice.MatchString(c),
			before == barred && goesOn.Get().MatchString(c),
			// "Do not apologise and say …" may forbid both.
			before == barred && m == demanded && g.and.MatchString(joints[i]),
			// "Answer in 3 sentences, then sign off" does not count what follows.
			g.then != nil && g.then.MatchString(joints[i]) && strings.Contains(text, " #q"):
			return map[string]meaning{}, c
		}
		for _, t := range things {
			read[t] = m
		}
		if m == demanded && g.swaps.MatchString(c) {
			swapped = append(swapped, things...)
		}
		swap = swap || m == barred && g.instead.MatchString(c)
		if m != silent {
			before = m
		} else if g.forbids.MatchString(c) {
			before = barred
		} else {
			before = silent
		}
	}
	if swap {
		for _, t := range swapped { // if one of them is written at all, it is this one
			read[t] = unclear
		}
	}
	return read, ""
}

var (
	never         = pattern.Of(` ?\bnever , ever ,? `)
	dataOnly      = pattern.Of(`^(?:~v ?)+$`)
	fullSentences = pattern.Of(`\b(?:full|complete|whole) sentences\b`)
	symbol        = pattern.Of(`#[a-z]\d+e?`)
	// goesOn starts a clause that depends on the one before.
	goesOn = pattern.Of(`^(?:without|instead of|rather than|not|ohne|sans|sin|senza|sem|zonder) `)
)

// grammar holds the clause patterns of a language.
type grammar struct {
	starts      []*regexp.Regexp // start of a clause; the first group is the joint to the previous clause
	idle        *regexp.Regexp   // words without meaning
	demand, bar []form           // whole clauses that name something
	free        *regexp.Regexp   // whole clauses that name nothing and change nothing
	risky       *regexp.Regexp   // words with which a clause that names nothing may change another one
	forbids     *regexp.Regexp   // a clause that names nothing and forbids
	choice      *regexp.Regexp   // a choice between several things
	end         string           // end of each clause
	then        *regexp.Regexp   // a joint after which something is added
	// In a pair of clauses, the first says what not to write, and the second what to write
	// instead.
	instead, swaps *regexp.Regexp
	and            *regexp.Regexp // a joint after which a negation may continue
}

// form is a pattern of whole clauses that name one of some symbols. It is compiled when it is
// first tried: a sentence needs few of them, and to compile all of English takes 40 ms.
type form struct {
	symbols string // the kinds of which each clause of this form names one
	whole   *pattern.Lazy
}

// formsOf returns the forms of clauses that name one of the same symbols.
func formsOf(symbols string, patterns ...string) []form {
	list := make([]form, len(patterns))
	for i, p := range patterns {
		list[i] = form{symbols, pattern.Of(`^(?:` + p + `)$`)}
	}
	return list
}

// matches reports whether a clause has one of several forms.
func matches(list []form, clause string) bool {
	var named strings.Builder
	for _, s := range symbol.Get().FindAllString(clause, -1) {
		named.WriteByte(s[1])
	}
	return slices.ContainsFunc(list, func(f form) bool {
		return strings.ContainsAny(named.String(), f.symbols) && f.whole.Matches(clause)
	})
}

// without removes the idle words; anything else that the pattern matches stays.
func (g *grammar) without(clause string) string {
	if g.idle == nil {
		return clause
	}
	return g.idle.ReplaceAllString(clause, " $1 ")
}

// meaning reads one clause.
func (g *grammar) meaning(clause string) meaning {
	clause = strings.Join(strings.Fields(g.without(fullSentences.Get().ReplaceAllString(clause, "prose"))), " ")
	named := symbol.Get().MatchString(clause)
	switch {
	case clause == "", dataOnly.Get().MatchString(clause):
		return silent
	case !named && g.free.MatchString(clause) && !g.risky.MatchString(clause):
		return silent
	case !named:
		return unclear
	}
	demands, bars := matches(g.demand, clause+g.end), matches(g.bar, clause+g.end)
	switch {
	case demands && !bars:
		return demanded
	case bars && !demands:
		return barred
	}
	return unclear
}
