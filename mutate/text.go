package mutate

import (
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/sentences"

	"github.com/proviso-eval/proviso/internal/segment"
	"github.com/proviso-eval/proviso/value"
)

// span is a part of a text, as byte offsets.
type span struct{ start, end int }

func (s span) of(text string) string { return text[s.start:s.end] }

// sentencesOf returns the sentences of each line, without list markers and surrounding
// blanks.
func sentencesOf(text string) []span {
	var list []span
	at := 0
	for line := range strings.Lines(text) {
		from := at + marker(line)
		for seg := sentences.FromString(text[from : at+len(line)]); seg.Next(); {
			list = appendTrimmed(list, text, span{from + seg.Start(), from + seg.End()})
		}
		at += len(line)
	}
	return list
}

// contentStart returns where a sentence begins after its label, the text before a colon at
// its beginning, as in "Next step: ask her".
func contentStart(text string, s span) int {
	if n := strings.Index(s.of(text), ": "); n > 0 && n <= maxLabel {
		return s.start + n + 2
	}
	return s.start
}

// maxLabel is the longest label of a sentence, in bytes.
const maxLabel = 30

// before inserts a sentence before one of a list of sentences. Except before the first, it
// stays on the line of the previous sentence, so that the beginnings of lines do not
// change.
func before(text string, list []span, i int, sentence string) string {
	if i == 0 {
		return insert(text, contentStart(text, list[0]), sentence+" ")
	}
	return insert(text, list[i-1].end, " "+sentence)
}

func insert(text string, at int, by string) string { return text[:at] + by + text[at:] }

// linesOf returns the non-blank lines of a text.
func linesOf(text string) []span {
	var list []span
	at := 0
	for line := range strings.Lines(text) {
		list = appendTrimmed(list, text, span{at, at + len(line)})
		at += len(line)
	}
	return list
}

// wordsAt returns the words of a text, which blanks separate.
func wordsAt(text string) []span {
	var list []span
	start := -1
	for i, r := range text {
		switch blank := unicode.IsSpace(r); {
		case blank && start >= 0:
			list, start = append(list, span{start, i}), -1
		case !blank && start < 0:
			start = i
		}
	}
	if start >= 0 {
		list = append(list, span{start, len(text)})
	}
	return list
}

// appendTrimmed appends a span without surrounding blanks, unless it is then empty.
func appendTrimmed(list []span, text string, s span) []span {
	part := s.of(text)
	s.start += len(part) - len(strings.TrimLeftFunc(part, unicode.IsSpace))
	if s.end = s.start + len(strings.TrimSpace(part)); s.end > s.start {
		list = append(list, s)
	}
	return list
}

// marker returns the length of the list marker or heading marks at the start of a line,
// with the blanks around it.
func marker(line string) int {
	trimmed := strings.TrimRight(line, " \t\r\n")
	if items := segment.Items(trimmed); len(items) == 1 && len(items[0]) < len(trimmed) {
		return len(trimmed) - len(items[0])
	}
	n := len(trimmed) - len(strings.TrimLeft(trimmed, " \t"))
	marks := len(trimmed[n:]) - len(strings.TrimLeft(trimmed[n:], "#"))
	if marks > 0 && marks <= 6 && strings.HasPrefix(trimmed[n+marks:], " ") {
		return n + marks + 1
	}
	return 0
}

// replace replaces a part of a text.
func replace(text string, at span, by string) string {
	return text[:at.start] + by + text[at.end:]
}

// remove removes a part of a text and one of the blanks around it.
func remove(text string, at span) string {
	before, after := text[:at.start], text[at.end:]
	if r, size := utf8.DecodeRuneInString(after); unicode.IsSpace(r) && r != '\n' {
		after = after[size:]
	} else if r, size := utf8.DecodeLastRuneInString(before); unicode.IsSpace(r) && r != '\n' {
		before = before[:len(before)-size]
	}
	return before + after
}

// removeLine removes a part of a text, and the rest of its line if only a list marker would
// be left.
func removeLine(text string, at span) string {
	start := strings.LastIndexByte(text[:at.start], '\n') + 1
	end := len(text)
	if n := strings.IndexByte(text[at.end:], '\n'); n >= 0 {
		end = at.end + n + 1
	}
	if strings.TrimSpace(text[at.end:end]) == "" && start+marker(text[start:end]) >= at.start {
		return text[:start] + text[end:]
	}
	return remove(text, at)
}

// fold finds a phrase in a text from an offset, ignoring case. If there is none, the span
// is empty.
func fold(text, phrase string, from int) span {
	first, _ := utf8.DecodeRuneInString(phrase)
	if phrase == "" {
		return span{}
	}
	for i, r := range text[from:] {
		if unicode.ToLower(r) != unicode.ToLower(first) && unicode.ToUpper(r) != unicode.ToUpper(first) {
			continue
		}
		at := from + i
		if end := prefixFold(text[at:], phrase); end > 0 {
			return span{at, at + end}
		}
	}
	return span{}
}

// prefixFold returns the length of the prefix of a text that equals a phrase, ignoring
// case; 0 if there is none.
func prefixFold(text, phrase string) int {
	n := 0
	for _, want := range phrase {
		r, size := utf8.DecodeRuneInString(text[n:])
		if size == 0 || unicode.ToLower(r) != unicode.ToLower(want) && unicode.ToUpper(r) != unicode.ToUpper(want) {
			return 0
		}
		n += size
	}
	return n
}

// frame finds the part of the output that people read. For JSON this is the longest text in
// it, so that text operators keep the JSON valid; otherwise it is the whole output.
func (w *work) frame() {
	text := w.out.Text
	w.body, w.wrap = text, func(body string) string { return body }
	start := strings.IndexAny(text, "{[")
	if start < 0 || strings.TrimSpace(text[:start]) != "" && !strings.Contains(text[:start], "```") {
		return
	}
	at, ok := longestText(text[start:])
	if !ok {
		return
	}
	at.start, at.end = at.start+start, at.end+start
	var body string
	if json.Unmarshal([]byte(at.of(text)), &body) != nil || len(strings.Fields(body)) < 2 {
		return
	}
	w.body = body
	w.wrap = func(body string) string {
		if body == w.body {
			return text
		}
		return replace(text, at, value.Stringify(body))
	}
}

// longestText returns the longest text value, with its quotation marks, of the JSON at the
// beginning of a text. It returns false if there is none, or the text is not JSON.
func longestText(text string) (at span, ok bool) {
	dec := json.NewDecoder(strings.NewReader(text))
	var keys []bool // for each open bracket: whether a key comes next in an object
	var objects []bool
	for {
		before := dec.InputOffset()
		t, err := dec.Token()
		if err != nil {
			return span{}, false
		}
		n := len(objects)
		inKey := n > 0 && objects[n-1] && keys[n-1]
		if d, isDelim := t.(json.Delim); isDelim {
			switch d {
			case '{', '[':
				keys, objects = append(keys, true), append(objects, d == '{')
				continue
			}
			keys, objects = keys[:n-1], objects[:n-1]
		} else if _, isText := t.(string); isText && !inKey {
			end := int(dec.InputOffset())
			start := int(before) + strings.IndexByte(text[before:end], '"')
			if !ok || end-start > at.end-at.start {
				at, ok = span{start, end}, true
			}
		}
		if n = len(objects); n == 0 {
			return at, ok
		}
		if objects[n-1] {
			keys[n-1] = !keys[n-1]
		}
	}
}
