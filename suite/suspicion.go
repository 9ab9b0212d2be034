package suite

import (
	"fmt"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/value"
)

// suspicion is a cell that seems to name a type but does not, such as "containss:
// Paris". Like promptfoo, proviso compares it as text.
type suspicion struct {
	name    string // the text in place of the type; "" if nothing is suspicious
	message string
	meant   []string // the type that was probably meant, if one is near
}

// suspect compares a cell with the assertion it was read as.
func (c Cells) suspect(cell string, read *value.Object) suspicion {
	bare := strings.TrimPrefix(strings.TrimLeftFunc(cell, value.IsSpace), "not-")
	asText := read.At("type") == proviso.TypeText && read.At("value") == any(cell)
	for i := range c { // some of their names hold a colon
		t := &c[i]
		if t.Cell.Form != proviso.CellNone {
			continue
		}
		if rest, ok := strings.CutPrefix(bare, t.Type); ok && (rest == "" || rest[0] == ':' || rest[0] == '(') {
			return suspicion{name: t.Type, message: fmt.Sprintf("%q cannot be written in a cell; this one is read as %s with the text %q",
				t.Type, value.ToString(read.At("type")), document.Excerpt(value.ToString(read.At("value"))))}
		}
	}
	if !asText {
		return suspicion{}
	}
	end := strings.IndexAny(bare, ":(")
	if end < 0 && strings.Contains(bare, "-") {
		end = len(bare)
	}
	if end < 0 {
		return suspicion{}
	}
	name := strings.TrimRightFunc(bare[:end], value.IsSpace)
	if meant := strings.NewReplacer("_", "-", " ", "-").Replace(name); meant != name && slices.Contains(c.written(), strings.TrimPrefix(meant, "not-")) {
		return notAType(cell, name, meant)
	}
	if len(name) < 4 || strings.ContainsFunc(name, func(r rune) bool { return !isTypeLetter(r) }) {
		return suspicion{}
	}
	near := document.Nearest(name, c.written())
	if near == "" || name != strings.ToLower(name) && !strings.EqualFold(name, near) {
		return suspicion{} // an ordinary word, such as one that begins a sentence
	}
	return notAType(cell, name, near)
}

func notAType(cell, name, meant string) suspicion {
	return suspicion{name: name, meant: []string{meant}, message: fmt.Sprintf(
		"the cell %q names no assertion type; the output has to equal this text", document.Excerpt(cell))}
}

func isTypeLetter(r rune) bool {
	return r == '-' || r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z'
}

// written are the names of the types that can be written in a cell.
func (c Cells) written() []string {
	var names []string
	for i := range c {
		if c[i].Cell.Form != proviso.CellNone {
			names = append(names, c[i].Type)
		}
	}
	return names
}
