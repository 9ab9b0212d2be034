package check

import (
	"context"
	"iter"
	"regexp"
	"strings"
	"sync"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// maxUnmatched limits the number of unmatched brackets in an output.
const maxUnmatched = 1 << 16

// The errors of outputs with too many brackets to search for JSON.
var (
	errUnmatched = &proviso.Error{Code: proviso.Limit, Message: "tool-call-f1: the output has more than 65536 unmatched brackets"}
	errBlockWork = &proviso.Error{Code: proviso.Limit, Message: "tool-call-f1: the output has too much nested text that is not JSON"}
)

// A bracket is one of {}[] outside strings and code fences. One with mark 0 means
// that no block crosses this position.
type bracket struct {
	mark                 byte
	at                   int
	startsLine, endsLine bool
}

var (
	fenceMark = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("^[ \t]*(`{3,}|~{3,})") })
	itemMark  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[ \t]*(?:[-+*]|[0-9]+[.)])[ \t]+`) })
)

// jsonBlocks calls found with the JSON values in prose: those that begin a line, end
// a line, and are not in a code fence. If a block is not JSON, the blocks inside it
// are tried.
func jsonBlocks(ctx context.Context, text string, found func(v any)) error {
	work := 4 * value.UTF16Len(text)
	return nestedBlocks(ctx, text, false, &work, found)
}

// nestedBlocks processes the blocks of text; inner leaves out the brackets around
// it. work is how many bytes may still be parsed.
func nestedBlocks(ctx context.Context, text string, inner bool, work *int, found func(v any)) error {
	alone, err := unmatched(text)
	if err != nil {
		return err
	}
	level, depth, start := 0, 0, -1
	if inner {
		level = 1
	}
	startsLine := false
	for b := range brackets(text) {
		switch {
		case b.mark == 0:
			continue
		case len(alone) > 0 && b.at == alone[0]:
			alone = alone[1:]
			continue
		case b.mark == '{' || b.mark == '[':
			if start < 0 && depth == level {
				start, startsLine = b.at, b.startsLine
			}
			depth++
			continue
		}
		depth--
		if start < 0 || depth != level {
			continue
		}
		if b.endsLine {
			if err := parseBlock(ctx, text[start:b.at+1], startsLine, work, found); err != nil {
				return err
			}
		}
		start = -1
	}
	return nil
}

func parseBlock(ctx context.Context, block string, startsLine bool, work *int, found func(v any)) error {
	if *work -= value.UTF16Len(block); *work < 0 {
		return errBlockWork
	}
	v, err := value.ParseReply(ctx, block)
	if unread(ctx, err) {
		return err
	}
	if err != nil {
		return nestedBlocks(ctx, block, true, work, found)
	}
	if startsLine {
		found(v)
	}
	return nil
}

// unmatched returns the positions of the unmatched brackets.
func unmatched(text string) ([]int, error) {
	var open []int
	floor := 0 // brackets opened before it can no longer be closed
	for b := range brackets(text) {
		switch {
		case b.mark == 0:
			floor = len(open)
		case b.mark == '{' || b.mark == '[':
			open = append(open, b.at)
		case len(open) > floor && text[open[len(open)-1]] == partner(b.mark):
			open = open[:len(open)-1]
		default:
			open = append(open, b.at)
			floor = len(open)
		}
		if len(open) > maxUnmatched {
			return nil, errUnmatched
		}
	}
	return open, nil
}

func partner(mark byte) byte {
	if mark == '}' {
		return '{'
	}
	return '['
}

// brackets yields the brackets of a text in Markdown.
func brackets(text string) iter.Seq[bracket] {
	return func(yield func(bracket) bool) {
		m := &markdown{}
		for at := 0; at < len(text); {
			line, _, _ := strings.Cut(text[at:], "\n")
			if !m.line(at, strings.TrimRightFunc(line, value.IsSpace), yield) {
				return
			}
			at += len(line) + 1
		}
	}
}

// markdown is the state after the lines so far: the open code fence, and the columns
// at which the text of the open list items begins.
type markdown struct {
	fence   string
	fenceIn int
	items   []int
}

// line yields the brackets of a line without trailing space.
func (m *markdown) line(at int, line string, yield func(bracket) bool) bool {
	body := strings.TrimLeftFunc(line, value.IsSpace)
	first := len(line) - len(body)
	indent := columns(line[:first])
	if m.fence != "" && line != "" && indent < m.fenceIn {
		m.fence = ""
		if !yield(bracket{}) {
			return false
		}
	}
	if m.fence != "" {
		if m.closes(line, indent) {
			m.fence = ""
		}
		return true
	}
	if m.opens(line, indent) {
		return yield(bracket{})
	}
	return bracketsOf(at, line, first, yield)
}

// closes reports whether a line ends the open fence.
func (m *markdown) closes(line string, indent int) bool {
	found := fenceMark().FindStringSubmatch(line)
	return found != nil && indent <= m.fenceIn+3 && found[1][0] == m.fence[0] && len(found[1]) >= len(m.fence) && len(found[0]) == len(line)
}

// opens reports whether a line begins a fence, which may start a list item.
func (m *markdown) opens(line string, indent int) bool {
	for line != "" && len(m.items) > 0 && indent < m.items[len(m.items)-1] {
		m.items = m.items[:len(m.items)-1]
	}
	item := itemMark().FindString(line)
	if item != "" {
		m.items = append(m.items, columns(item))
	}
	in := 0
	if len(m.items) > 0 {
		in = m.items[len(m.items)-1]
	}
	rest := line[len(item):]
	found := fenceMark().FindStringSubmatch(rest)
	if found == nil || item == "" && indent > in+3 || found[1][0] == '`' && strings.Contains(rest[len(found[0]):], "`") {
		return false
	}
	m.fence, m.fenceIn = found[1], in
	return true
}

// columns is the width of a text, with tab stops every four columns.
func columns(text string) int {
	n := 0
	for _, r := range text {
		if r == '\t' {
			n += 4 - n%4
		} else {
			n++
		}
	}
	return n
}

// bracketsOf yields the brackets of one line outside strings, which end with the
// line.
func bracketsOf(at int, line string, first int, yield func(bracket) bool) bool {
	quoted, escaped := false, false
	for i := range len(line) {
		c := line[i]
		switch {
		case quoted && escaped:
			escaped = false
		case quoted:
			escaped, quoted = c == '\\', c != '"'
		case c == '"':
			quoted = true
		case c == '{' || c == '}' || c == '[' || c == ']':
			if !yield(bracket{c, at + i, i == first, i == len(line)-1}) {
				return false
			}
		}
	}
	return !quoted || yield(bracket{})
}
