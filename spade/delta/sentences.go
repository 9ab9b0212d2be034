package delta

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/sentences"
	"github.com/proviso-eval/proviso/internal/segment"
)

// Unit is a part of a prompt that changes as a whole: a sentence, a line, a list item, a
// fenced block or an example.
type Unit struct {
	Text string // trimmed; a sentence over several lines is on one line
	Line int    // line where it starts, from 1
	Key  string // equal for units with the same text, ignoring list markers and runs of spaces
	Part Part

	// Start and End are its position in the prompt, in bytes.
	Start, End int

	// Condition is the template condition around the unit, such as vip for {% if vip %}; "" if
	// the unit always applies. When is the same in CEL, as in a suite; "" if it cannot be
	// translated.
	Condition, When string
}

// Part is the kind of a unit.
type Part string

// The parts of a prompt. Only a sentence can require something by itself.
const (
	Sentence Part = ""        // also a line without a full stop, a list item and a table row
	Heading  Part = "heading" // section heading or table header
	Code     Part = "code"    // a closed fenced block
	Example  Part = "example" // an input with its output, an example in tags, a turn of a chat
	Markup   Part = "markup"  // a tag, a template statement, a role name, a ruler
)

// MaxSentence is how many bytes of a unit are read to find its requirement.
const MaxSentence = 8 << 10

// Split splits a prompt into units. It joins the lines of a wrapped sentence, and splits at
// the ends of sentences (Unicode Standard Annex #29), but not after an abbreviation. Headings,
// tables, list items, fenced blocks, tags and examples are their own units. It never splits a
// template variable ({x}, {{x}}, {% x %}, ${x}) or a code span. Blank lines are not units.
func Split(text string) []Unit {
	s := &splitter{text: text, kept: unbroken(text)}
	s.statements()
	s.lines()
	s.examples()
	s.wrapped()
	for i := 0; i < len(s.list); {
		i = s.unitsFrom(i)
	}
	return s.units
}

// splitter splits from the beginning to the end.
type splitter struct {
	text  string
	kept  []span // unsplittable spans, ascending and disjoint
	next  int    // first of kept that may end after the next split
	list  []line
	flat  []byte // the text, with spaces in place of the breaks of wrapped lines
	tags  []statement
	edges map[int]bool // offsets where standalone statements start and end
	units []Unit
	row   int // line number of offset at, from 0
	at    int
	tag   int // first of tags that starts after the last unit
	open  []condition
	names []string          // names that the template assigns itself
	cel   map[string]string // translated conditions
}

// unitsFrom adds the units that start at line i, and returns the next line.
func (s *splitter) unitsFrom(i int) int {
	l := &s.list[i]
	switch l.kind {
	case blankLine:
		return i + 1
	case plainLine, itemLine:
		last := i
		for last+1 < len(s.list) && s.list[last+1].goesOn {
			last++
		}
		s.pieces(l.start, s.list[last].end)
		return last + 1
	case exampleLine:
		last := i
		for last+1 < len(s.list) && s.list[last+1].kind == exampleLine && s.list[last+1].shot == l.shot {
			last++
		}
		s.add(l.start, s.list[last].end, Example)
		return last + 1
	}
	s.add(l.start, l.end, partOf[l.kind])
	return i + 1
}

// pieces splits a block at its template statements, and the text between them into sentences.
func (s *splitter) pieces(start, end int) {
	first, _ := slices.BinarySearchFunc(s.tags, start, func(t statement, at int) int { return t.start - at })
	for _, t := range s.tags[first:] {
		if t.start >= end {
			break
		}
		if !t.alone || t.end > end {
			continue
		}
		s.sentences(start, t.start)
		s.add(t.start, t.end, Markup)
		start = t.end
	}
	s.sentences(start, end)
}

// sentences splits one piece. A piece with line breaks contains an unsplittable span and stays
// whole.
func (s *splitter) sentences(start, end int) {
	text := string(s.flat[start:end])
	if strings.Contains(strings.TrimRight(text, "\r\n"), "\n") {
		s.add(start, end, Sentence)
		return
	}
	seg := sentences.FromString(text)
	from, marker := 0, MarkerLength(text)
	cut := func(to int) {
		if to > marker && s.through(start+to) == 0 && segment.EndsSentence(text[from:to], text[to:]) {
			s.add(start+from, start+to, Sentence)
			from = to
		}
	}
	for seg.Next() {
		value, at := seg.Value(), seg.End()-len(seg.Value())
		for i := 0; i+2 < len(value); i++ { // in the annex, a full stop before a small letter ends no sentence
			if value[i] == '.' && value[i+1] == ' ' && segment.LowerStop(value[:i], value[i+1:]) {
				cut(at + i + 2)
			}
		}
		cut(seg.End())
	}
	s.add(start+from, end, Sentence)
}

// through returns the end of the unsplittable span around an offset, or 0. Offsets must ascend
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

func (s *splitter) add(start, end int, part Part) {
	raw := s.text[start:end]
	if strings.TrimSpace(raw) == "" {
		return
	}
	end = start + len(strings.TrimRightFunc(raw, unicode.IsSpace))
	start += len(raw) - len(strings.TrimLeftFunc(raw, unicode.IsSpace))
	s.row += strings.Count(s.text[s.at:start], "\n")
	s.at = start
	text := s.text[start:end]
	if part == Sentence {
		text = s.oneLine(start, end)
	}
	condition, when := s.conditionAt(start)
	if part == Markup {
		condition, when = "", ""
	}
	s.units = append(s.units, Unit{Text: text, Line: s.row + 1, Key: Key(text), Part: part, Start: start, End: end, Condition: condition, When: when})
}

// oneLine returns a part of the text, with a space for each break of a wrapped line and the
// indentation around it.
func (s *splitter) oneLine(start, end int) string {
	text := s.text[start:end]
	if !strings.Contains(text, "\n") {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		i := strings.IndexByte(text, '\n')
		if i < 0 || s.flat[start+i] == '\n' { // a line break inside an unsplittable span stays
			n := i + 1
			if i < 0 {
				n = len(text)
			}
			b.WriteString(text[:n])
			text, start = text[n:], start+n
			continue
		}
		b.WriteString(strings.TrimRight(text[:i], " \t\r"))
		b.WriteByte(' ')
		rest := strings.TrimLeft(text[i+1:], " \t")
		start += len(text) - len(rest)
		text = rest
	}
	return b.String()
}

// Key returns the text that identifies a unit. A new list number does not change it.
func Key(text string) string {
	return strings.Join(strings.Fields(text[MarkerLength(text):]), " ")
}

// MarkerLength returns the length of the list marker at the start of a text, with the white
// space around it.
func MarkerLength(text string) int {
	line, _, _ := strings.Cut(text, "\n")
	line = strings.TrimRight(line, " \t\r")
	items := segment.Items(line)
	if len(items) != 1 {
		return 0
	}
	return len(line) - len(items[0])
}

func firstRune(text string) rune {
	r, _ := utf8.DecodeRuneInString(text)
	return r
}

// Words that do not end a sentence, in English, German, French and Spanish: before any word,
// or only before a small letter, a number or a quotation mark.
var (
	openAlways = strings.Fields("a an the of and with from by at your their its than don't der die das dem den des weder sowie kein keine keinen ein eine einen und oder mit für von zum zur le les un une du des et ou avec el los las una del para")
	openBefore = strings.Fields("use say write include contain avoid mention add exceed refrain like using saying writing to for in on or not no any all each every as that which who whose is are be been must should may can could will would do does never only most least more less fewer exactly about our his her my these those if when while unless because so into onto over under between without within per via please than also " +
		"nicht zu im in auf an bei nach aus als höchstens mindestens maximal genau nie niemals ohne la de à au aux ne pas en dans sur pour par sans maximum moins plus y o no con por sin al que más menos")
)

// openVerbs need an object: a sentence continues after them even before a format name.
var openVerbs = strings.Fields("use write avoid contain include output return produce not in no never like verwende vermeide utilise évite usa evita")

// formatNames are names that have a capital letter anywhere in a sentence.
var formatNames = strings.Fields("html json xml csv yaml markdown latex emojis")

// opensName reports whether a sentence continues from a verb to a format name.
func opensName(last, next string) bool {
	return slices.Contains(openVerbs, strings.ToLower(last)) && slices.Contains(formatNames, strings.ToLower(strings.Trim(next, ".,;:!")))
}

// isOpenWord reports whether a sentence continues after a word, before a capital letter or
// before another sign.
func isOpenWord(word string, beforeCapital bool) bool {
	word = strings.ReplaceAll(word, "’", "'")
	return slices.Contains(openAlways, word) || !beforeCapital && slices.Contains(openBefore, word)
}
