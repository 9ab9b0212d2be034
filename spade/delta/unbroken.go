package delta

import "strings"

// span is a byte range of a text.
type span struct{ start, end int }

// unbroken finds the parts of a prompt that are never split: closed fenced blocks, code spans,
// and the variables and tags of Jinja, Mustache, f-strings and shells.
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

// maxUnbroken bounds a code span or a variable, in bytes, so that the search for the end of an
// unclosed one stops before the end of the prompt.
const maxUnbroken = 1000

// codeSpan returns the end of the code span that starts at i or, if there is none, the negated
// length of the run of backticks.
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

// variable returns the end of the variable or tag that starts at i, or 0. Those with double
// braces may span lines.
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
