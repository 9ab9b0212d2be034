package delta

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/proviso-eval/proviso/internal/segment"
)

// lineKind is the role of a line in the prompt.
type lineKind int

const (
	blankLine lineKind = iota
	plainLine
	itemLine    // starts a list item
	headingLine // Markdown's # and underlines of === or ---, and a table header
	tableLine   // a table row, which is not split
	codeLine    // a closed fenced block
	markupLine  // a tag, a ruler or a role name
	dataLine    // looks like JSON or code
	exampleLine
)

// partOf maps the kinds of lines that are whole units to their parts.
var partOf = map[lineKind]Part{headingLine: Heading, codeLine: Code, markupLine: Markup}

// line is a line of the prompt, including any unsplittable span.
type line struct {
	start, end int
	text       string // trimmed
	indent     int
	kind       lineKind
	goesOn     bool // continues the previous line
	shot       int  // number of its example
}

// lines splits the prompt at its line breaks.
func (s *splitter) lines() {
	s.flat = []byte(s.text)
	for _, k := range s.kept {
		if s.text[k.start] != '{' {
			continue
		}
		for i, c := range s.flat[k.start:k.end] { // a variable over several lines
			if c == '\n' || c == '\r' {
				s.flat[k.start+i] = ' '
			}
		}
	}
	for start := 0; start < len(s.text); {
		end := s.lineEnd(start)
		raw := s.text[start:end]
		l := line{start: start, end: end, text: strings.TrimSpace(raw)}
		l.indent = len(raw) - len(strings.TrimLeft(raw, " \t"))
		l.kind = s.kindOf(&l)
		s.list = append(s.list, l)
		start = end
	}
	s.next = 0
	for i := range s.list {
		s.tableAt(i)
		if under := s.list[i].text; i > 0 && isUnderline(under) && strings.ContainsAny(under[:1], "-=") && s.isTitle(i-1) {
			s.list[i-1].kind = headingLine
		}
	}
}

// isTitle reports whether a line is short and stands alone, like a heading that a line
// underlines.
func (s *splitter) isTitle(i int) bool {
	l := &s.list[i]
	return l.kind == plainLine && len(l.text) <= 60 && !strings.ContainsAny(l.text[len(l.text)-1:], ".:!?,;") && (i == 0 || s.list[i-1].kind == blankLine)
}

// lineEnd returns where the line that starts at start ends, including its line break and any
// unsplittable span.
func (s *splitter) lineEnd(start int) int {
	for from := start; ; {
		i := strings.IndexByte(s.text[from:], '\n')
		if i < 0 {
			return len(s.text)
		}
		end := from + i + 1
		if from = s.through(end); from == 0 {
			return end
		}
		if s.text[from-1] == '\n' { // a fenced block ends at the end of its line
			return from
		}
	}
}

func (s *splitter) kindOf(l *line) lineKind {
	text := l.text
	switch {
	case text == "":
		return blankLine
	case strings.Contains(text, "\n"):
		if mark, _ := FenceMark(text[:strings.IndexByte(text, '\n')]); mark != "" {
			return codeLine
		}
		return plainLine
	case headingLevel(text) > 0:
		return headingLine
	case isUnderline(text), isTag(text), isRole(text):
		return markupLine
	case strings.HasPrefix(text, "|") && strings.HasSuffix(text, "|") && len(text) > 2:
		return tableLine
	case isData(text):
		return dataLine
	case MarkerLength(text) > 0, len(text) > 1 && text[0] == '-' && unicode.IsLetter(firstRune(text[1:])):
		return itemLine
	}
	return plainLine
}

// headingLevel returns the number of # of a Markdown heading, else 0.
func headingLevel(text string) int {
	n := len(text) - len(strings.TrimLeft(text, "#"))
	if n == 0 || n > 6 || n == len(text) || text[n] != ' ' && text[n] != '\t' {
		return 0
	}
	return n
}

// isUnderline reports whether a line consists of three or more of one of -, =, _ and *.
func isUnderline(text string) bool {
	return len(text) >= 3 && strings.ContainsAny(text[:1], "-=_*") && strings.Trim(text, text[:1]) == ""
}

// isTag reports whether a line consists of one XML tag.
func isTag(text string) bool {
	name, _ := tagName(text)
	return name != "" && strings.IndexByte(text, '>') == len(text)-1
}

// tagName returns the name of the XML tag at the start of a text, in lower case, and whether
// it is a closing tag; "" if there is none.
func tagName(text string) (name string, closes bool) {
	rest, ok := strings.CutPrefix(text, "<")
	if !ok {
		return "", false
	}
	rest, closes = strings.CutPrefix(rest, "/")
	end := strings.IndexFunc(rest, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-:.", r)
	})
	if end <= 0 || !strings.Contains(rest, ">") || !strings.ContainsRune(" \t>/", rune(rest[end])) {
		return "", false
	}
	return strings.ToLower(rest[:end]), closes
}

// isRole reports whether a line is the name of a chat role.
func isRole(text string) bool {
	switch text {
	case "system:", "user:", "assistant:", "developer:", "tool:", "messages:":
		return true
	}
	return strings.HasSuffix(text, "PromptTemplate:") && !strings.Contains(text, " ") // as LangChain's hub prints a chat
}

// isData reports whether a line looks like JSON or code: it neither is nor continues a
// sentence.
func isData(text string) bool {
	switch {
	case strings.ContainsAny(text[:1], "{}[]") && !strings.ContainsAny(strings.Trim(text, "{}[]"), " "):
		return variable(text, 0) != len(text) && !strings.Contains(text, "{{")
	case text[0] == '"' && (strings.Contains(text, "\":") || strings.Contains(text, "\" :")):
		return true
	}
	return false
}

// tableAt marks a table whose second line is line i: its header is a heading.
func (s *splitter) tableAt(i int) {
	text := s.list[i].text
	if i == 0 || len(text) < 3 || !strings.Contains(text, "|") || !strings.Contains(text, "-") || strings.Trim(text, "|-: \t") != "" || !strings.Contains(s.list[i-1].text, "|") {
		return
	}
	s.list[i-1].kind, s.list[i].kind = headingLine, markupLine
	for j := i + 1; j < len(s.list) && strings.Contains(s.list[j].text, "|"); j++ {
		s.list[j].kind = tableLine
	}
}

// wrapWidths bound the widths at which people and editors wrap lines.
const (
	leastWrap = 30
	mostWrap  = 120
)

// wrapped finds the lines that continue the previous line's sentence, and replaces the line
// break between them with a space.
func (s *splitter) wrapped() {
	width, evidence := s.wrapWidth()
	near := 0 // width of the paragraph
	for i := 1; i < len(s.list); i++ {
		a, b := &s.list[i-1], &s.list[i]
		if i == 1 || a.kind == blankLine {
			near = s.paragraphWidth(i)
		}
		if !a.isText() || b.kind != plainLine || !s.continues(i, wrapping{width, near, evidence}) {
			continue
		}
		b.goesOn = true
		for at := a.end - 1; at >= a.start && (s.flat[at] == '\n' || s.flat[at] == '\r'); at-- {
			s.flat[at] = ' '
		}
	}
}

// wrapWidth returns the width at which the prompt is wrapped, and whether it is wrapped at
// all. The evidence is lines that certainly continue: before a small letter, or ending in a
// word such as "the". A width scores higher the more of these lines had no room for another
// word, and the fewer had room or are longer.
func (s *splitter) wrapWidth() (width int, wrapped bool) {
	var score [mostWrap + 2]int // differences of the score from one width to the next
	for i := 1; i < len(s.list); i++ {
		a, b := &s.list[i-1], &s.list[i]
		if !a.isText() || b.kind != plainLine || cells(a) > mostWrap || !unicode.IsLower(firstRune(b.text)) && !isOpenWord(strings.ToLower(lastWord(a.text)), true) {
			continue
		}
		n := cells(a)
		room := min(n+1+utf8.RuneCountInString(segment.FirstWord(b.text)), mostWrap+1)
		score[0]--
		if n < leastWrap {
			continue // too short at any width
		}
		score[n] += 2
		score[room] -= 2
	}
	sum, best := 0, 1
	for w := range mostWrap + 1 {
		if sum += score[w]; sum > best {
			best, width = sum, w
		}
	}
	return width, width > 0
}

// cells returns the width of a line.
func cells(l *line) int { return l.indent + utf8.RuneCountInString(l.text) }

// fills reports whether the first word of line b did not fit in line a.
func fills(a, b *line, width int) bool {
	return cells(a) >= leastWrap && cells(a) <= mostWrap && cells(a)+1+utf8.RuneCountInString(segment.FirstWord(b.text)) > width
}

// wrapping is how a prompt is wrapped.
type wrapping struct {
	width, near int  // longest line of the prompt, and of the paragraph
	evidence    bool // the prompt is certainly wrapped
}

// usualWrap is a width from which a full line before a small letter counts as wrapped,
// whatever the rest of the prompt.
const usualWrap = 55

// paragraphWidth returns the width of the longest line in the paragraph that starts at line
// i-1.
func (s *splitter) paragraphWidth(i int) int {
	width := cells(&s.list[i-1])
	for ; i < len(s.list) && s.list[i].kind != blankLine; i++ {
		if n := cells(&s.list[i]); n <= mostWrap && s.list[i].isText() {
			width = max(width, n)
		}
	}
	return width
}

// continues reports whether line i continues the sentence of the previous line.
func (s *splitter) continues(i int, w wrapping) bool {
	a, b := &s.list[i-1], &s.list[i]
	first := firstRune(b.text)
	text := strings.TrimRight(a.text, segment.ClosingMarks)
	last, size := utf8.DecodeLastRuneInString(text)
	full := fills(a, b, w.width)
	small := unicode.IsLower(first) && (full && w.evidence || cells(a) >= usualWrap && fills(a, b, w.near))
	capital := unicode.IsUpper(first)
	switch {
	case text == "" || s.statementAt(a, b) || strings.ContainsRune(segment.WideMarks+"!?…", last) || first == '<':
		return false
	case onlyVariable(b.text):
		return full && w.evidence && last != ':'
	case last == '.':
		if segment.LowerStop(text[:len(text)-size], " "+b.text) {
			return false
		}
		return segment.Abbreviated(text, b.text) && (!capital || full && w.evidence || segment.EndsInTitle(text))
	case last == ':':
		return small || full && w.evidence && !capital
	case capital && isLabelled(b.text):
		return false
	case b.indent > a.indent && a.kind == itemLine, a.goesOn && b.indent > 0 && b.indent == a.indent:
		return true
	case opensName(lastWord(a.text), segment.FirstWord(b.text)), openQuote(a.text) && openQuote(b.text):
		return true
	case last == ',' && !capital, isOpenWord(strings.ToLower(lastWord(text)), capital):
		return true
	}
	return small || full && w.evidence
}

// openQuote reports whether a line has an odd number of quotation marks.
func openQuote(text string) bool { return strings.Count(text, `"`)%2 == 1 }

// isLabelled reports whether a line starts with a label of a few words, as in "Tone: warm".
func isLabelled(text string) bool {
	label, _, ok := strings.Cut(text, ":")
	return ok && len(label) <= 30 && strings.Count(label, " ") <= 2
}

func (l *line) isText() bool { return l.kind == plainLine || l.kind == itemLine }

// statementAt reports whether a standalone template statement is between two lines.
func (s *splitter) statementAt(a, b *line) bool {
	return s.edges[a.start+a.indent+len(a.text)] || s.edges[b.start+b.indent]
}

// onlyVariable reports whether a line consists of one template variable.
func onlyVariable(text string) bool { return text[0] == '{' && variable(text, 0) == len(text) }

func lastWord(text string) string {
	i := strings.LastIndexFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' && r != '’' })
	if i < 0 {
		return text
	}
	_, n := utf8.DecodeRuneInString(text[i:])
	return text[i+n:]
}
