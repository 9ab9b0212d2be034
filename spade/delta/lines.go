package delta

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// lineKind says how a line takes part in the prompt.
type lineKind int

const (
	blankLine lineKind = iota
	plainLine
	itemLine    // begins a list item
	headingLine // Markdown's # and the lines of === or ---, and the header of a table
	tableLine   // a row of a table, which is not cut
	codeLine    // a closed fenced block
	markupLine  // a tag, a ruler, the name of a role
	dataLine    // looks like JSON or code
	exampleLine
)

// partOf are the parts of the kinds of lines that are units as they are.
var partOf = map[lineKind]Part{headingLine: Heading, codeLine: Code, markupLine: Markup}

// line is a line of the prompt, with what cannot be cut.
type line struct {
	start, end int
	text       string // without blanks around it
	indent     int
	kind       lineKind
	goesOn     bool // it continues the line before
	shot       int  // the number of its example
}

// lines cuts the prompt at its line breaks.
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

// isTitle reports whether a line is short and alone, as a heading with a line under it is.
func (s *splitter) isTitle(i int) bool {
	l := &s.list[i]
	return l.kind == plainLine && len(l.text) <= 60 && !strings.ContainsAny(l.text[len(l.text)-1:], ".:!?,;") && (i == 0 || s.list[i-1].kind == blankLine)
}

// lineEnd returns where the line that begins at start ends, including its break and any
// uncuttable span.
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
		if s.text[from-1] == '\n' { // a fenced block ends with its line
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

// isUnderline reports whether a line has nothing but three or more of one of -, =, _ and *.
func isUnderline(text string) bool {
	return len(text) >= 3 && strings.ContainsAny(text[:1], "-=_*") && strings.Trim(text, text[:1]) == ""
}

// isTag reports whether a line is nothing but an XML tag.
func isTag(text string) bool {
	name, _ := tagName(text)
	return name != "" && strings.IndexByte(text, '>') == len(text)-1
}

// tagName returns the name of the XML tag that a text begins with, in lower case, and
// whether the tag closes; "" if there is none.
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

// isRole reports whether a line is the name of a role, as a chat has them.
func isRole(text string) bool {
	switch text {
	case "system:", "user:", "assistant:", "developer:", "tool:", "messages:":
		return true
	}
	return strings.HasSuffix(text, "PromptTemplate:") && !strings.Contains(text, " ") // as LangChain's hub prints a chat
}

// isData reports whether a line looks like JSON or code: it is no sentence, and none goes
// on in it.
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

// wrapWidths bounds the widths at which people and editors wrap lines.
const (
	leastWrap = 30
	mostWrap  = 120
)

// wrapped finds the lines that continue a sentence of the line before, and writes a blank
// for the break between them.
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
// all. Lines that surely go on tell, those before a small letter and those that end in a
// word such as "the": a width is the better, the more of them had no room for another word,
// and the fewer had or are longer.
func (s *splitter) wrapWidth() (width int, wrapped bool) {
	var score [mostWrap + 2]int // differences of the score from width to width
	for i := 1; i < len(s.list); i++ {
		a, b := &s.list[i-1], &s.list[i]
		if !a.isText() || b.kind != plainLine || cells(a) > mostWrap || !unicode.IsLower(firstRune(b.text)) && !isOpenWord(strings.ToLower(lastWord(a.text)), true) {
			continue
		}
		n := cells(a)
		room := min(n+1+utf8.RuneCountInString(firstWord(b.text)), mostWrap+1)
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

// cells is the width of a line.
func cells(l *line) int { return l.indent + utf8.RuneCountInString(l.text) }

// fills reports whether the first word of line b had no room in line a.
func fills(a, b *line, width int) bool {
	return cells(a) >= leastWrap && cells(a) <= mostWrap && cells(a)+1+utf8.RuneCountInString(firstWord(b.text)) > width
}

// wrapping is how a prompt is wrapped.
type wrapping struct {
	width, near int  // of its longest line, and of the longest of the paragraph
	evidence    bool // that it is wrapped at all
}

// usualWrap is a width at which a full line before a small letter is wrapped, whatever the
// rest of the prompt.
const usualWrap = 55

// paragraphWidth returns the width of the longest line of the paragraph that line i, or
// the one before, begins.
func (s *splitter) paragraphWidth(i int) int {
	width := cells(&s.list[i-1])
	for ; i < len(s.list) && s.list[i].kind != blankLine; i++ {
		if n := cells(&s.list[i]); n <= mostWrap && s.list[i].isText() {
			width = max(width, n)
		}
	}
	return width
}

// continues reports whether line i goes on with a sentence of the line before.
func (s *splitter) continues(i int, w wrapping) bool {
	a, b := &s.list[i-1], &s.list[i]
	first := firstRune(b.text)
	text := strings.TrimRight(a.text, closingMarks)
	last, size := utf8.DecodeLastRuneInString(text)
	full := fills(a, b, w.width)
	small := unicode.IsLower(first) && (full && w.evidence || cells(a) >= usualWrap && fills(a, b, w.near))
	capital := unicode.IsUpper(first)
	switch {
	case text == "" || s.statementAt(a, b) || strings.ContainsRune(wideMarks+"!?…", last) || first == '<':
		return false
	case onlyVariable(b.text):
		return full && w.evidence && last != ':'
	case last == '.':
		if lowerStop(text[:len(text)-size], " "+b.text) {
			return false
		}
		return abbreviated(text, b.text) && (!capital || full && w.evidence || endsInTitle(text))
	case last == ':':
		return small || full && w.evidence && !capital
	case capital && isLabelled(b.text):
		return false
	case b.indent > a.indent && a.kind == itemLine, a.goesOn && b.indent > 0 && b.indent == a.indent:
		return true
	case opensName(lastWord(a.text), firstWord(b.text)), openQuote(a.text) && openQuote(b.text):
		return true
	case last == ',' && !capital, isOpenWord(strings.ToLower(lastWord(text)), capital):
		return true
	}
	return small || full && w.evidence
}

// openQuote reports whether a line opens a quotation that it does not close, or the reverse.
func openQuote(text string) bool { return strings.Count(text, `"`)%2 == 1 }

// isLabelled reports whether a line begins with a label of few words, as in "Tone: warm".
func isLabelled(text string) bool {
	label, _, ok := strings.Cut(text, ":")
	return ok && len(label) <= 30 && strings.Count(label, " ") <= 2
}

func (l *line) isText() bool { return l.kind == plainLine || l.kind == itemLine }

// statementAt reports whether a statement of the template that stands alone is between
// two lines.
func (s *splitter) statementAt(a, b *line) bool {
	return s.edges[a.start+a.indent+len(a.text)] || s.edges[b.start+b.indent]
}

// onlyVariable reports whether a line is nothing but a variable of the template.
func onlyVariable(text string) bool { return text[0] == '{' && variable(text, 0) == len(text) }

func lastWord(text string) string {
	i := strings.LastIndexFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' && r != '’' })
	if i < 0 {
		return text
	}
	_, n := utf8.DecodeRuneInString(text[i:])
	return text[i+n:]
}

// endsInTitle reports whether a text ends in an abbreviation behind which a name or a number
// stands.
func endsInTitle(text string) bool {
	switch strings.ToLower(lastToken(text)) {
	case "dr", "mr", "mrs", "ms", "prof", "st", "no", "fig", "e.g", "i.e", "vs", "approx":
		return true
	}
	return false
}
