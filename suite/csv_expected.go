package suite

import (
	"slices"
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// Cells are the assertion types that an expectation in a CSV cell may name, sorted
// by type; package check has them all.
type Cells []proviso.CellType

// ParseExpected reads one expectation of a CSV cell, such as "contains: Paris" or
// "similar(0.9): hello", and returns its assertion in the form of a suite. A text
// that names no type is an equals assertion. The grammar, including its default
// thresholds, is promptfoo's (docs/suite.md).
func (c Cells) ParseExpected(cell string) *value.Object {
	for _, prefix := range [...]string{"javascript:", "fn:", "eval:"} {
		if code, ok := strings.CutPrefix(cell, prefix); ok {
			return typed("javascript", value.TrimSpace(code))
		}
	}
	for _, prefix := range [...]string{"grade:", "llm-rubric:"} {
		if rubric, ok := strings.CutPrefix(cell, prefix); ok {
			return typed("llm-rubric", rubric)
		}
	}
	if code, ok := strings.CutPrefix(cell, "python:"); ok {
		return typed("python", value.TrimSpace(code))
	}
	if name, ok := strings.CutPrefix(cell, "file://"); ok {
		switch {
		case isJavaScript(name):
			return typed("javascript", value.TrimSpace(cell))
		case strings.HasSuffix(name, ".py") || strings.Contains(name, ".py:"):
			return typed("python", value.TrimSpace(name))
		}
	}
	if a := c.parseTyped(cell); a != nil {
		return a
	}
	return typed("equals", cell)
}

// parseTyped reads "type(threshold): value"; it returns nil for anything else.
func (c Cells) parseTyped(cell string) *value.Object {
	name := strings.TrimPrefix(cell, "not-")
	kind, rest, ok := c.cut(name)
	if !ok {
		return nil
	}
	threshold, rest, ok := cutThreshold(rest)
	if !ok || (rest != "" && rest[0] != ':') {
		return nil
	}
	a := value.NewObject(3)
	a.Set("type", cell[:len(cell)-len(name)]+kind.Type)
	if rest != "" {
		a.Set("value", cellValue(kind.Form, rest[1:]))
	}
	switch {
	case kind.Threshold == 0:
	case threshold != nil:
		a.Set("threshold", *threshold)
	default:
		a.Set("threshold", kind.Threshold)
	}
	return a
}

// cut returns the type at the beginning of text and the rest. If one type is the
// beginning of another, the one that is followed by a parenthesis, a colon or the end
// is meant.
func (c Cells) cut(text string) (proviso.CellType, string, bool) {
	end := strings.IndexAny(text, "(:")
	if end < 0 {
		end = len(text)
	}
	if strings.HasPrefix(text, "trajectory:") {
		end = len(text)
		if i := strings.IndexAny(text[len("trajectory:"):], "(:"); i >= 0 {
			end = len("trajectory:") + i
		}
	}
	i, ok := c.find(text[:end])
	if !ok || c[i].Form == proviso.CellNone {
		return proviso.CellType{}, "", false
	}
	return c[i], text[end:], true
}

func (c Cells) find(name string) (int, bool) {
	return slices.BinarySearchFunc(c, name, func(t proviso.CellType, name string) int { return strings.Compare(t.Type, name) })
}

// cutThreshold reads a number in parentheses, such as "(0.5)", if there is one.
func cutThreshold(text string) (threshold *float64, rest string, ok bool) {
	if text == "" || text[0] != '(' {
		return nil, text, true
	}
	number, rest, closed := strings.Cut(text[1:], ")")
	whole, fraction, dotted := strings.Cut(number, ".")
	if !closed || !isDigits(whole) || (dotted && !isDigits(fraction)) {
		return nil, "", false
	}
	f, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return nil, rest, true
	}
	return &f, rest, true
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
		if list, ok := splitList(text); ok && text != "" {
			return list
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

// splitList splits a text on commas like the -all and -any assertions: members are
// trimmed and empty ones dropped. A member in double quotes keeps its commas and
// white space, with "", \" and \\ as escapes. It returns false if a quote is not
// closed, or not followed by a comma.
func splitList(text string) ([]any, bool) {
	list := []any{}
	for {
		text = strings.TrimLeftFunc(text, func(r rune) bool { return r == ',' || value.IsSpace(r) })
		if text == "" {
			return list, true
		}
		if text[0] != '"' {
			member, rest, _ := strings.Cut(text, ",")
			list = append(list, value.TrimSpace(member))
			text = rest
			continue
		}
		member, rest, ok := cutQuoted(text[1:])
		rest = strings.TrimLeftFunc(rest, value.IsSpace)
		if !ok || (rest != "" && rest[0] != ',') {
			return nil, false
		}
		list = append(list, member)
		text = rest
	}
}

// cutQuoted reads up to the closing quote and returns what follows it.
func cutQuoted(text string) (member, rest string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		c := text[i]
		next := byte(0)
		if i+1 < len(text) {
			next = text[i+1]
		}
		switch {
		case c == '\\' && (next == '"' || next == '\\'), c == '"' && next == '"':
			b.WriteByte(next)
			i++
		case c == '"':
			return b.String(), text[i+1:], true
		default:
			b.WriteByte(c)
		}
	}
	return "", "", false
}
