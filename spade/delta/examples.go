package delta

import (
	"slices"
	"strings"
	"unicode"

	"github.com/proviso-eval/proviso/internal/segment"
)

// The labels of the two halves of an example, in lower case.
var (
	inputLabels     = strings.Fields("input user human customer client question q query request text message email tweet review sentence student problem prompt source document article passage context eingabe frage kunde nutzer entrée question entrada pregunta cliente")
	labelAdjectives = strings.Fields("example sample final intermediate correct expected ideal good bad user model assistant customer")
	outputLabels    = strings.Fields("output reply response answer a assistant ai bot agent model result summary translation label sentiment category classification class completion solution expected ausgabe antwort réponse sortie salida respuesta")
)

// longestExample bounds how many lines are searched for the end of an example.
const longestExample = 2000

// examples marks the lines of examples: the content of example tags, the text after a heading
// or a line such as "Example:", pairs of an input and an output, and chat turns that have an
// answer.
func (s *splitter) examples() {
	shot := 0
	mark := func(from, to int) {
		for shot++; from < to; from++ {
			s.list[from].kind, s.list[from].shot = exampleLine, shot
		}
	}
	chat := slices.ContainsFunc(s.list, func(l line) bool { return l.kind == markupLine && isRole(l.text) })
	for i := 0; i < len(s.list); {
		end, lead := i, 0
		switch l := &s.list[i]; {
		case l.kind == markupLine && chat && l.text == "user:":
			end = s.turns(i)
		case l.kind == markupLine && isTag(l.text):
			end = s.tagged(i)
		case l.kind == headingLine && isExampleTitle(strings.Trim(l.text, "# ")):
			end, lead = s.section(i), 1
		case (l.kind == plainLine || l.kind == itemLine) && isExampleLine(l.text):
			end = s.behind(i)
		case s.label(i) == inputLabel:
			end = s.pairs(i)
		}
		if end <= i {
			i++
			continue
		}
		for _, cut := range s.shots(i+lead, end) {
			mark(cut.start, cut.end)
		}
		i = end
	}
}

// shots splits the lines of several examples into one span each.
func (s *splitter) shots(from, to int) []span {
	var list []span
	start, answered := from, false
	for i := from; i < to; i++ {
		label := s.label(i)
		next := label == inputLabel && answered || i > start && (isTag(s.list[i].text) && s.opensExample(i) || isExampleLine(s.list[i].text) || s.list[i].kind == headingLine && isExampleTitle(strings.Trim(s.list[i].text, "# ")))
		if next && i > start {
			list, start, answered = append(list, span{start, i}), i, false
		}
		answered = answered || label == outputLabel
	}
	if to > start {
		list = append(list, span{start, to})
	}
	return list
}

func (s *splitter) opensExample(i int) bool {
	name, closes := tagName(s.list[i].text)
	return !closes && strings.Contains(name, "example") && !strings.HasSuffix(name, "s")
}

// label returns which half of an example a line starts.
func (s *splitter) label(i int) exampleLabel {
	text := strings.TrimLeft(s.list[i].text, "#*-_> ")
	word, rest, ok := strings.Cut(text, ":")
	if !ok || len(word) > 24 || s.list[i].kind == blankLine || s.list[i].kind == codeLine {
		return noLabel
	}
	word = strings.ToLower(strings.Trim(word, "*_ 0123456789[]()"))
	if strings.HasPrefix(strings.TrimSpace(rest), "//") {
		return noLabel
	}
	if strings.HasSuffix(word, "final answer is") {
		return outputLabel
	}
	words := strings.Fields(word)
	for i, w := range words {
		if i < len(words)-1 && !slices.Contains(labelAdjectives, w) {
			return noLabel
		}
	}
	word = word[strings.LastIndexByte(word, ' ')+1:]
	switch {
	case slices.Contains(inputLabels, word):
		return inputLabel
	case slices.Contains(outputLabels, word):
		return outputLabel
	}
	return noLabel
}

type exampleLabel int

const (
	noLabel exampleLabel = iota
	inputLabel
	outputLabel
)

// pairs returns the end of the examples that start at line i with an input label: at least two
// inputs with an output each, or one after a line that announces an example. A pair with a
// template variable in it is where the data goes.
func (s *splitter) pairs(i int) int {
	end, n := i, 0
	for at := i; at < len(s.list); {
		next := s.pair(at)
		if next < 0 {
			break
		}
		n++
		end = next
		for at = next; at < len(s.list) && (s.list[at].kind == blankLine || isUnderline(s.list[at].text)); at++ {
		}
		if at < len(s.list) && s.label(at) != inputLabel {
			break
		}
	}
	if n >= 2 || n == 1 && s.announced(i) {
		return end
	}
	return i
}

// pair returns the line after the input and the output that start at line i; -1 if there is no
// pair.
func (s *splitter) pair(i int) int {
	if s.label(i) != inputLabel {
		return -1
	}
	outputs := 0
	for at := i; at < len(s.list); at++ {
		if at-i > longestExample {
			return -1
		}
		l := &s.list[at]
		switch label := s.label(at); {
		case s.hasVariable(at):
			return -1
		case label == outputLabel:
			outputs++
			if value := strings.TrimSpace(l.text[strings.IndexByte(l.text, ':')+1:]); strings.Trim(value, "*_") == "" && (at+1 == len(s.list) || s.list[at+1].kind == blankLine && (at+2 == len(s.list) || s.label(at+2) != noLabel)) {
				return -1 // there is no answer
			}
		case at > i && label == inputLabel && outputs > 0, l.kind == blankLine && outputs > 0, l.kind == headingLine && label == noLabel:
			if outputs == 0 {
				return -1
			}
			return at
		}
	}
	if outputs == 0 {
		return -1
	}
	return len(s.list)
}

// hasVariable reports whether a line has a template variable or statement.
func (s *splitter) hasVariable(i int) bool {
	l := &s.list[i]
	at, _ := slices.BinarySearchFunc(s.kept, l.start, func(k span, at int) int { return k.start - at })
	for ; at < len(s.kept) && s.kept[at].start < l.end; at++ {
		if c := s.text[s.kept[at].start]; c == '{' && !strings.HasPrefix(s.text[s.kept[at].start:], "{#") && isName(s.text[s.kept[at].start:s.kept[at].end]) {
			return true
		}
	}
	return false
}

// isName reports whether text in braces starts like a name, unlike JSON.
func isName(text string) bool {
	inner := strings.TrimLeft(strings.Trim(text, "{}"), "%-#/^& \t\r\n")
	return inner != "" && (inner[0] == '_' || unicode.IsLetter(firstRune(inner)))
}

// announced reports whether the last line with words before line i announces an example.
func (s *splitter) announced(i int) bool {
	for i--; i >= 0; i-- {
		if s.list[i].kind != blankLine {
			text := strings.ToLower(s.list[i].text)
			return slices.ContainsFunc([]string{"example", "for instance", "sample", "like this", "such as", "beispiel", "exemple", "ejemplo"}, func(w string) bool { return strings.Contains(text, w) })
		}
	}
	return false
}

// isExampleTitle reports whether a heading introduces examples.
func isExampleTitle(text string) bool {
	text = strings.ToLower(strings.Trim(text, "*_: "))
	words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })
	return len(words) > 0 && len(words) <= 4 && slices.ContainsFunc(words, func(w string) bool {
		return slices.Contains([]string{"example", "examples", "sample", "samples", "demonstration", "demonstrations", "beispiel", "beispiele", "exemple", "exemples", "ejemplo", "ejemplos"}, w)
	}) && !slices.ContainsFunc(words, func(w string) bool {
		return slices.Contains([]string{"use", "give", "include", "no", "provide", "add"}, w)
	})
}

// isExampleLine reports whether a line is the title of an example: "Example output:".
func isExampleLine(text string) bool {
	word, _, ok := strings.Cut(text, ":")
	if !ok || len(word) > 40 {
		return false
	}
	return isExampleTitle(word)
}

// section returns the end of the section of the heading in line i: the next heading of its
// level, or where the prompt addresses the model again.
func (s *splitter) section(i int) int {
	level := headingLevel(s.list[i].text)
	for at := i + 1; at < min(len(s.list), i+longestExample); at++ {
		l := &s.list[at]
		if l.kind == headingLine && headingLevel(l.text) <= level && !isExampleTitle(strings.Trim(l.text, "# ")) || s.speaks(at) {
			return at
		}
	}
	return min(len(s.list), i+longestExample)
}

// behind returns the end of the example whose title is line i. It ends where the prompt
// addresses the model again.
func (s *splitter) behind(i int) int {
	for at := i; at < min(len(s.list), i+longestExample); at++ {
		if s.hasVariable(at) || at > i && s.speaks(at) {
			if at == i+1 || at == i {
				return i // it is a template for the output
			}
			for at > i+1 && s.list[at-1].kind == blankLine {
				at--
			}
			return at
		}
	}
	return min(len(s.list), i+longestExample)
}

// speakers start a paragraph that addresses the model again.
var speakers = strings.Fields("now remember note do don't never always make ensure be use answer return respond reply write please you your the if begin only avoid follow keep output given here")

// speaks reports whether a paragraph after an example addresses the model again: it has a
// template variable, is a chat role, or starts like an instruction.
func (s *splitter) speaks(i int) bool {
	l := &s.list[i]
	switch {
	case l.kind == blankLine:
		return false
	case s.hasVariable(i), isRole(l.text) && l.text != "assistant:":
		return true
	case s.list[i-1].kind != blankLine || l.kind != plainLine || s.label(i) != noLabel:
		return false
	}
	word := strings.ToLower(strings.Trim(segment.FirstWord(l.text), ",.:;!*_"))
	if word == "the" || word == "here" || word == "given" || word == "your" || word == "you" {
		return strings.HasSuffix(l.text, ":") || slices.ContainsFunc([]string{" must ", " should ", " output ", " answer ", " response "}, func(w string) bool { return strings.Contains(strings.ToLower(l.text), w) })
	}
	return slices.Contains(speakers, strings.ReplaceAll(word, "’", "'"))
}

// tagged returns the end of the example whose tag is in line i.
func (s *splitter) tagged(i int) int {
	name, closes := tagName(s.list[i].text)
	if closes || !strings.Contains(name, "example") && !strings.Contains(name, "demonstration") && name != "sample" && name != "shot" {
		return i
	}
	for at := i + 1; at < min(len(s.list), i+longestExample); at++ {
		if end, closes := tagName(s.list[at].text); closes && end == name {
			return at + 1
		}
	}
	return i
}

// turns returns the end of the user turn in line i and its answer; i if the turn has no
// answer, or has a template variable.
func (s *splitter) turns(i int) int {
	answered := false
	for at := i + 1; at < min(len(s.list), i+longestExample); at++ {
		l := &s.list[at]
		switch {
		case l.kind == markupLine && l.text == "assistant:":
			answered = at+1 < len(s.list)
		case l.kind == markupLine && isRole(l.text):
			if answered {
				return at
			}
			return i
		case s.hasVariable(at):
			return i
		}
	}
	if answered {
		return min(len(s.list), i+longestExample)
	}
	return i
}
