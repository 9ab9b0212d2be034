package delta

import (
	"strings"
	"unicode"

	"github.com/clipperhouse/uax29/v2/sentences"

	"github.com/proviso-eval/proviso/internal/segment"
)

// Unit is a part of a prompt that changes as a whole: a sentence, a line, a list
// item or a fenced block.
type Unit struct {
	Text string // without blanks around it
	Line int    // that it begins in, from 1
	Key  string // equal for units with the same text, ignoring list markers and runs of blanks
}

// MaxSentence is how many bytes of a unit are read to find what it asks for.
const MaxSentence = 8 << 10

// Split cuts a prompt into units: at line breaks, and lines at the ends of sentences
// (Unicode Standard Annex #29). A template variable ({x}, {{x}}, {% x %}, ${x}), a code
// span and a fenced block are never cut. Blank lines are not units.
func Split(text string) []Unit {
	s := splitter{text: text, kept: unbroken(text)}
	for start := 0; start < len(text); {
		first := s.next
		end := s.lineEnd(start)
		last := s.next
		s.next = first
		s.sentences(start, end)
		s.next = last
		start = end
	}
	return s.units
}

// splitter cuts from the beginning to the end.
type splitter struct {
	text  string
	kept  []span // uncuttable spans, ascending and disjoint
	next  int    // the first of kept that may end after the next cut
	units []Unit
	line  int // of offset at
	at    int
}

// span is a part of a text, by bytes.
type span struct{ start, end int }

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

// through returns the end of the uncuttable span around an offset, or 0. Offsets ascend
// from call to call.
func (s *splitter) through(at int) int {
	for s.next < len(s.kept) && s.kept[s.next].end <= at {
		s.next++
	}
	if s.next < len(s.kept) && s.kept[s.next].start < at {
		return s.kept[s.next].end
	}
	return 0
}

// sentences cuts one line; a line with breaks inside contains an uncuttable span and
// stays whole.
func (s *splitter) sentences(start, end int) {
	line := s.text[start:end]
	if strings.Contains(strings.TrimRight(line, "\r\n"), "\n") {
		s.add(start, end)
		return
	}
	seg := sentences.FromString(line)
	from, marker := 0, MarkerLength(line)
	for seg.Next() {
		to := seg.End()
		if to <= marker || s.through(start+to) > 0 || abbreviated(line[from:to]) {
			continue
		}
		s.add(start+from, start+to)
		from = to
	}
	s.add(start+from, end)
}

// abbreviations look like the end of a sentence but are not.
var abbreviations = []string{"e.g.", "i.e.", "vs.", "approx.", "incl.", "resp.", "max.", "min.", "no."}

func abbreviated(part string) bool {
	part = strings.TrimRightFunc(part, unicode.IsSpace)
	for _, a := range abbreviations {
		n := len(part) - len(a)
		if n >= 0 && strings.EqualFold(part[n:], a) && (n == 0 || !isLetter(part[n-1])) {
			return true
		}
	}
	return false
}

func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

func (s *splitter) add(start, end int) {
	part := s.text[start:end]
	text := strings.TrimSpace(part)
	if text == "" {
		return
	}
	start += len(part) - len(strings.TrimLeftFunc(part, unicode.IsSpace))
	s.line += strings.Count(s.text[s.at:start], "\n")
	s.at = start
	s.units = append(s.units, Unit{Text: text, Line: s.line + 1, Key: Key(text)})
}

// Key returns the text that identifies a unit: a new number in a list does not change
// it.
func Key(text string) string {
	return strings.Join(strings.Fields(text[MarkerLength(text):]), " ")
}

// MarkerLength is the length of the list marker at the start of a text, with the blanks
// around it.
func MarkerLength(text string) int {
	line, _, _ := strings.Cut(text, "\n")
	line = strings.TrimRight(line, " \t\r")
	items := segment.Items(line)
	if len(items) != 1 {
		return 0
	}
	return len(line) - len(items[0])
}

// unbroken finds the parts of a prompt that are never cut: closed fenced blocks, code
// spans, and the variables and tags of Jinja, Mustache, f-strings and shells.
func unbroken(text string) []span {
	if !strings.ContainsAny(text, "`~{") {
		return nil
	}
	blocks := fences(text)
	var list []span
	for i := 0; i < len(text); {
		if len(blocks) > 0 && i >= blocks[0].start {
			list = append(list, blocks[0])
			i = blocks[0].end
			blocks = blocks[1:]
			continue
		}
		end := 0
		switch text[i] {
		case '`':
			end = codeSpan(text, i)
		case '{':
			end = variable(text, i)
		}
		if end == 0 {
			i++
			continue
		}
		if end < 0 { // an unmatched run of backticks
			i -= end
			continue
		}
		list = append(list, span{i, end})
		i = end
	}
	return list
}

// maxUnbroken bounds a code span or a variable, in bytes, so that an unclosed one is
// not searched to the end of the prompt.
const maxUnbroken = 1000

// codeSpan returns the end of the code span that begins at i, or, if there is none, the
// negated length of the run of backticks.
func codeSpan(text string, i int) int {
	window := text[i:min(len(text), i+maxUnbroken)]
	run := len(window) - len(strings.TrimLeft(window, "`"))
	rest := text[i+run : min(len(text), i+run+maxUnbroken)]
	if n := strings.IndexByte(rest, '\n'); n >= 0 {
		rest = rest[:n]
	}
	for at := 0; ; {
		n := strings.IndexByte(rest[at:], '`')
		if n < 0 {
			return -run
		}
		at += n
		closing := len(rest[at:]) - len(strings.TrimLeft(rest[at:], "`"))
		if closing == run {
			return i + run + at + closing
		}
		at += closing
	}
}

// variable returns the end of the variable or tag that begins at i, or 0. Those with
// double marks may span lines.
func variable(text string, i int) int {
	window := text[i:min(len(text), i+maxUnbroken)]
	for _, pair := range [...][2]string{{"{%", "%}"}, {"{#", "#}"}, {"{{{", "}}}"}, {"{{", "}}"}} {
		if !strings.HasPrefix(window, pair[0]) {
			continue
		}
		if n := strings.Index(window[2:], pair[1]); n >= 0 {
			return i + 2 + n + len(pair[1])
		}
	}
	if n := strings.IndexAny(window[1:], "{}\n"); n >= 0 && window[1+n] == '}' {
		return i + n + 2
	}
	return 0
}

// fences finds blocks between lines of three or more backticks or tildes (CommonMark
// 0.31, section 4.5). An unclosed one does not count: prompts mention backticks more
// often than they forget to close a block.
func fences(text string) []span {
	var list []span
	open, mark, at := -1, "", 0
	for line := range strings.Lines(text) {
		m, alone := FenceMark(line)
		switch {
		case m == "":
		case open < 0:
			open, mark = at, m
		case alone && m[0] == mark[0] && len(m) >= len(mark):
			list = append(list, span{open, at + len(line)})
			open = -1
		}
		at += len(line)
	}
	return list
}

// FenceMark returns the run of backticks or tildes at the start of a line, "" if it is
// not a fence, and whether nothing else follows.
func FenceMark(line string) (mark string, alone bool) {
	line = strings.TrimSpace(line)
	for _, c := range []string{"`", "~"} {
		n := len(line) - len(strings.TrimLeft(line, c))
		if n >= 3 && !strings.Contains(line[n:], c) {
			return line[:n], n == len(line)
		}
	}
	return "", false
}
