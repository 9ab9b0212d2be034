package suite

import (
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/textlist"
	"github.com/proviso-eval/proviso/value"
)

// Cells are the assertion types that an expectation in a CSV cell may name, sorted
// by type; package check has them all.
type Cells proviso.Types

// ParseExpected reads one expectation of a CSV cell, such as "contains: Paris" or
// "similar(0.9): hello", and returns its assertion in the form of a suite. A text
// that names no type is an equals assertion. The grammar, including its default
// thresholds, is promptfoo's (docs/suite.md).
func (c Cells) ParseExpected(cell string) *value.Object {
	if a := c.parsePrefixed(cell); a != nil {
		return a
	}
	if a := c.parseTyped(cell); a != nil {
		return a
	}
	return typed(proviso.TypeText, cell)
}

// parsePrefixed reads a cell that begins with a prefix of a type, or names a script; it
// returns nil for anything else.
func (c Cells) parsePrefixed(cell string) *value.Object {
	end := strings.IndexByte(cell, ':')
	if end < 0 {
		return nil
	}
	if t := c.find(cell[:end]); t != nil && t.Cell.Prefixes == "" {
		return nil // most cells: the table need not be searched
	}
	for i := range c {
		if t := &c[i]; t.Cell.Prefixes != "" || t.Cell.Scripts != "" {
			if a := prefixed(t, cell); a != nil {
				return a
			}
		}
	}
	return nil
}

// prefixed reads a cell that begins with a prefix of t, or names a script of that
// type.
func prefixed(t *proviso.TypeFacts, cell string) *value.Object {
	for prefix := range strings.FieldsSeq(t.Cell.Prefixes) {
		val, ok := strings.CutPrefix(cell, prefix)
		switch {
		case ok && t.Cell.Verbatim:
			return typed(t.Type, val)
		case ok:
			return typed(t.Type, value.TrimSpace(val))
		}
	}
	name, ok := strings.CutPrefix(cell, "file://")
	if !ok {
		return nil
	}
	for suffix := range strings.FieldsSeq(t.Cell.Scripts) {
		switch {
		case strings.HasSuffix(name, suffix) && !t.Cell.BareScript:
			return typed(t.Type, value.TrimSpace(cell))
		case t.Cell.BareScript && (strings.HasSuffix(name, suffix) || strings.Contains(name, suffix+":")):
			return typed(t.Type, value.TrimSpace(name))
		}
	}
	return nil
}

// parseTyped reads "type(threshold): value"; it returns nil for anything else.
func (c Cells) parseTyped(cell string) *value.Object {
	name := strings.TrimPrefix(cell, "not-")
	kind, rest := c.cut(name)
	if kind == nil {
		return nil
	}
	threshold, rest, ok := cutThreshold(rest)
	if !ok || (rest != "" && rest[0] != ':') {
		return nil
	}
	a := value.NewObject(3)
	a.Set("type", cell[:len(cell)-len(name)]+kind.Type)
	if rest != "" {
		a.Set("value", cellValue(kind.Cell.Form, rest[1:]))
	}
	switch {
	case kind.Cell.Threshold == 0:
	case threshold != nil:
		a.Set("threshold", *threshold)
	default:
		a.Set("threshold", kind.Cell.Threshold)
	}
	return a
}

// cut returns the type at the beginning of text and the rest; nil if there is none.
// The name of a type ends at a parenthesis or a colon. If no type has that name,
// the name may include the first colon.
func (c Cells) cut(text string) (t *proviso.TypeFacts, rest string) {
	for end, colons := 0, 0; colons < 2; colons++ {
		if i := strings.IndexAny(text[end:], "(:"); i < 0 {
			end = len(text)
		} else {
			end += i
		}
		if t = c.find(text[:end]); t != nil {
			rest = text[end:]
			break
		}
		if end == len(text) || text[end] != ':' {
			break
		}
		end++
	}
	if t == nil || t.Cell.Form == proviso.CellNone {
		return nil, ""
	}
	return t, rest
}

// find returns the type with a name. The name has no "not-" prefix.
func (c Cells) find(name string) *proviso.TypeFacts {
	if strings.HasPrefix(name, "not-") {
		return nil
	}
	return proviso.Types(c).Of(name)
}

// cellThreshold matches a number in parentheses.
var cellThreshold = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\((\d+(?:\.\d+)?)\)`) })

// cutThreshold reads a number in parentheses, such as "(0.5)", if there is one.
func cutThreshold(text string) (threshold *float64, rest string, ok bool) {
	if text == "" || text[0] != '(' {
		return nil, text, true
	}
	m := cellThreshold().FindStringSubmatch(text)
	if m == nil {
		return nil, "", false
	}
	f, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		return nil, text[len(m[0]):], true
	}
	return &f, text[len(m[0]):], true
}

func isDigits(s string) bool {
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return s != ""
}

func cellValue(form proviso.CellForm, text string) any {
	switch form {
	case proviso.CellKept:
		return text
	case proviso.CellList:
		if list, err := textlist.Split(text); err == nil && text != "" {
			return textlist.Values(list)
		}
		return text // compiling the assertion reports the mistake
	default:
		return value.TrimSpace(text)
	}
}

func typed(kind, val string) *value.Object {
	return value.ObjectOf("type", kind, "value", val)
}

// isJavaScript reports whether a file name has the suffix of a script that QuickJS or
// Node would load.
func isJavaScript(name string) bool {
	for _, ext := range [...]string{".js", ".cjs", ".mjs", ".ts", ".cts", ".mts"} {
		if strings.HasSuffix(name, ext) {
			return true
		}
	}
	return false
}
