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

// A sentence is read twice. First, patterns find what it names and what it seems to say of
// it; then every word of it has to be accounted for by a grammar of clauses. What the
// grammar does not derive, or derives with another meaning, gets no check: a word that is
// left over may turn, weaken or narrow what is asked.

// meaning is what a clause says of the things that it names.
type meaning uint8

const (
	unclear  meaning = iota
	silent           // it names nothing, and changes no other clause
	demanded         // what it names has to be there
	barred           // what it names must not be there
)

// kinds of things, as the symbols of the grammar have them.
const (
	amountKind = 'q' // a quantity
	formKind   = 'f' // a format, and a sign with a name
	caseKind   = 'c' // a format that is an adjective: comma-separated
	jsonKind   = 'j'
	phraseKind = 'p' // a quoted phrase
	affixKind  = 's' // a quoted phrase at the start or the end
	valueKind  = 'v' // a variable
	endKind    = 'e' // a question at the end
)

// accounted keeps the drafts of a sentence that the grammar derives with the same meaning,
// and refuses the others.
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

// answers reports whether a number of questions may be one of those that are answered: the
// sentence does not say that they are asked.
func (s *sentence) answers(d *draft) bool {
	return strings.HasPrefix(d.name, "questions_") && !asked.Get().MatchString(s.text)
}

var asked = pattern.Of(`(?i)\b(?:ask\w*|pose[rz]?|contains?|include|ends? with|question marks?|stell\w*|frag[et]?|haz|haga|fai|chiedi|faça|pergunte|stel|vraag)\b`)

// symbols writes the sentence in the words of the grammar: small letters, with a symbol in
// place of each thing that a draft was read from, and blanks around marks. It returns the
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
	for _, g := range quotedGroups(s.text) { // which no draft has
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

// colon stands before what is quoted, and ends no clause.
var colon = pattern.Of(` : (#[ps]|~p)`)

// normal writes a text in small letters, with marks as words of their own and without
// emphasis. Contractions of not are written out.
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

// shownSymbols puts what was read back into a clause, for a reason.
func (s *sentence) shownSymbols(clause string) string {
	_, names := s.symbols()
	for i, d := range s.drafts {
		clause = strings.ReplaceAll(clause, names[i], strings.TrimSpace(s.text[d.start:d.end]))
	}
	return strings.NewReplacer(" ,", ",", " :", ":", "~p", "“…”").Replace(clause)
}

// clausesOf cuts a sentence in the words of the grammar where a clause begins.
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

// derive reads each clause, and returns what is said of each symbol. If one clause is not
// derived, nothing is said of any, because it may change the others; left is that clause.
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
			// "Answer in 3 sentences, then sign off" does not count what comes then.
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
		for _, t := range swapped { // where one of them is written at all, it is this one
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
	// goesOn begins a clause that depends on the one before.
	goesOn = pattern.Of(`^(?:without|instead of|rather than|not|ohne|sans|sin|senza|sem|zonder) `)
)

// grammar is the clauses of a language.
type grammar struct {
	starts      []*regexp.Regexp // where a clause begins; their first group is what joins it
	idle        *regexp.Regexp   // words that say nothing
	demand, bar *regexp.Regexp   // whole clauses that name something
	free        *regexp.Regexp   // whole clauses that name nothing, and change nothing
	risky       *regexp.Regexp   // words with which a clause that names nothing may change another
	forbids     *regexp.Regexp   // a clause that names nothing, and forbids
	choice      *regexp.Regexp   // several things to choose from
	end         string           // of each clause
	then        *regexp.Regexp   // a joint behind which something is added
	// Of two clauses, the first says what not to write, and the second what to write in its
	// place.
	instead, swaps *regexp.Regexp
	and            *regexp.Regexp // a joint behind which a negation may go on
}

// without takes the idle words away; what else the pattern matches stays.
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
	demands, bars := g.demand.MatchString(clause+g.end), g.bar.MatchString(clause+g.end)
	switch {
	case demands && !bars:
		return demanded
	case bars && !demands:
		return barred
	}
	return unclear
}
