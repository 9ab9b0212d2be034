package delta

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/proviso-eval/proviso/internal/segment"
)

// statement is a template statement: {% if x %}, {{#if x}} and the like.
type statement struct {
	span
	kind  statementKind
	text  string // condition; "" for an else
	alone bool   // it stands between sentences, not inside one
}

type statementKind int

const (
	ifStatement statementKind = iota
	unlessStatement
	elseStatement // or elif, with a condition
	endStatement
	loopStatement
	endLoopStatement
	otherStatement // set, include, a comment
)

// condition is a condition around a part of the prompt.
type condition struct {
	loop   bool
	now    string   // condition of the current branch, as in the template
	before []string // conditions of the earlier branches, which do not hold
}

// mostConditions bounds how many conditions around a sentence are written out.
const mostConditions = 4

// statements finds the template statements among the unsplittable spans. A statement that
// opens between two sentences stands alone, and so do all that belong to it.
func (s *splitter) statements() {
	s.edges = map[int]bool{}
	var open []bool // for each open statement: whether it stands alone
	for _, k := range s.kept {
		t, ok := statementOf(s.text[k.start:k.end])
		if !ok {
			continue
		}
		t.span = k
		switch t.kind {
		case ifStatement, unlessStatement, loopStatement:
			t.alone = s.betweenSentences(k.start)
			open = append(open, t.alone)
		case elseStatement:
			t.alone = len(open) > 0 && open[len(open)-1]
		case endStatement, endLoopStatement:
			if n := len(open); n > 0 {
				t.alone, open = open[n-1], open[:n-1]
			}
		default:
			t.alone = s.betweenSentences(k.start)
		}
		if t.alone {
			s.edges[k.start], s.edges[k.end] = true, true
		}
		s.tags = append(s.tags, t)
	}
	s.names, s.cel = assigned(s.tags), map[string]string{}
}

// betweenSentences reports whether no sentence spans an offset.
func (s *splitter) betweenSentences(at int) bool {
	before := s.text[max(0, at-200):at]
	if i := strings.LastIndexByte(before, '\n'); i >= 0 {
		before = before[i+1:]
	}
	before = strings.TrimRightFunc(before, unicode.IsSpace)
	if before == "" || s.edges[at] || MarkerLength(before+" x") == len(before)+1 {
		return true
	}
	if trimmed := strings.TrimRight(s.text[:at], " \t"); s.edges[len(trimmed)] {
		return true
	}
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(before, segment.ClosingMarks))
	return strings.ContainsRune(segment.SentenceMarks+segment.WideMarks+":", last)
}

// statementOf reads a Jinja, Nunjucks or Handlebars statement.
func statementOf(text string) (statement, bool) {
	if strings.HasPrefix(text, "{#") {
		return statement{kind: otherStatement}, true
	}
	if inner, ok := strings.CutPrefix(text, "{%"); ok {
		word, rest := cutWord(strings.Trim(strings.TrimSuffix(inner, "%}"), "-+ \t\r\n"))
		switch word {
		case "if":
			return statement{kind: ifStatement, text: rest}, true
		case "unless": // Liquid
			return statement{kind: unlessStatement, text: rest}, true
		case "elif", "elsif", "elseif", "else":
			return statement{kind: elseStatement, text: rest}, true
		case "endif", "endunless":
			return statement{kind: endStatement}, true
		case "for", "asyncEach", "asyncAll":
			return statement{kind: loopStatement, text: rest}, true
		case "endfor", "endeach", "endall":
			return statement{kind: endLoopStatement}, true
		}
		return statement{kind: otherStatement, text: rest}, true
	}
	inner, ok := strings.CutPrefix(text, "{{")
	if !ok {
		return statement{}, false
	}
	inner = strings.Trim(strings.TrimSuffix(inner, "}}"), "{}~ \t\r\n")
	word, rest := cutWord(inner)
	switch {
	case word == "#if":
		return statement{kind: ifStatement, text: rest}, true
	case word == "#unless":
		return statement{kind: unlessStatement, text: rest}, true
	case word == "else":
		_, rest, _ = strings.Cut(rest, "if ")
		return statement{kind: elseStatement, text: rest}, true
	case word == "#each":
		return statement{kind: loopStatement, text: rest}, true
	case strings.HasPrefix(word, "#") && rest == "":
		return statement{kind: ifStatement, text: word[1:]}, true
	case strings.HasPrefix(word, "^") && rest == "" && len(word) > 1:
		return statement{kind: unlessStatement, text: word[1:]}, true
	case word == "/each":
		return statement{kind: endLoopStatement}, true
	case strings.HasPrefix(word, "/"):
		return statement{kind: endStatement}, true
	}
	return statement{}, false
}

func cutWord(text string) (word, rest string) {
	i := strings.IndexFunc(text, unicode.IsSpace)
	if i < 0 {
		return text, ""
	}
	return text[:i], strings.Join(strings.Fields(text[i:]), " ")
}

// conditionAt returns the template condition at an offset, and the same in CEL. Offsets must
// ascend from call to call.
func (s *splitter) conditionAt(at int) (text, cel string) {
	for ; s.tag < len(s.tags) && s.tags[s.tag].end <= at; s.tag++ {
		s.enter(&s.tags[s.tag])
	}
	var all []string
	for _, c := range s.open {
		if c.loop {
			continue
		}
		for _, b := range c.before {
			all = append(all, "not ("+b+")")
		}
		if c.now != "" {
			all = append(all, c.now)
		}
	}
	if len(all) == 0 {
		return "", ""
	}
	if len(all) > mostConditions {
		return strings.Join(all[:mostConditions], " and ") + " and more", ""
	}
	for i, c := range all {
		if len(all) > 1 && strings.Contains(c, " or ") && !strings.HasPrefix(c, "not (") {
			all[i] = "(" + c + ")"
		}
	}
	text = strings.Join(all, " and ")
	cel, ok := s.cel[text]
	if !ok {
		cel = celOf(text, s.names)
		s.cel[text] = cel
	}
	return text, cel
}

// enter applies a statement to the open conditions.
func (s *splitter) enter(t *statement) {
	n := len(s.open)
	switch t.kind {
	case ifStatement:
		s.open = append(s.open, condition{now: t.text})
	case unlessStatement:
		s.open = append(s.open, condition{before: []string{t.text}})
	case loopStatement:
		s.open = append(s.open, condition{loop: true})
	case elseStatement:
		if n > 0 && !s.open[n-1].loop {
			c := &s.open[n-1]
			if len(c.before) <= mostConditions {
				c.before = append(c.before, c.now)
			}
			c.before = slices.DeleteFunc(c.before, func(b string) bool { return b == "" })
			c.now = t.text
		}
	case endStatement, endLoopStatement:
		if n > 0 {
			s.open = s.open[:n-1]
		}
	}
}

// assigned returns the names that the template itself assigns, in a loop or with set: they are
// not variables of a case.
func assigned(tags []statement) []string {
	var names []string
	for _, t := range tags {
		if t.kind != loopStatement && t.kind != otherStatement {
			continue
		}
		for _, f := range strings.FieldsFunc(t.text, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			if f == "in" || len(names) > 100 {
				break
			}
			names = append(names, f)
		}
	}
	return append(names, "loop", "this")
}
