package format

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/proviso-eval/proviso/internal/pattern"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/value"
)

// YAML writes values as YAML for people to edit: small values on one line, others as blocks.
type YAML struct {
	bytes.Buffer
}

// Comment writes one line after a #, and escapes what YAML does not allow.
func (y *YAML) Comment(indent, text string) {
	y.WriteString(strings.TrimRight(indent+"# "+quoted(report.Line(text, 400)), " ") + "\n")
}

// Item writes an object as a list item.
func (y *YAML) Item(indent string, o *value.Object) {
	lead := indent + "- "
	for key, v := range o.All() {
		y.Member(lead, indent+"  ", key, v)
		lead = indent + "  "
	}
}

// Member writes a key and its value; lead precedes the key, indent the following lines of the
// value.
func (y *YAML) Member(lead, indent, key string, v any) {
	y.WriteString(lead + scalar(key) + ":")
	if text, ok := v.(string); ok && isBlock(text) {
		y.block(indent+"  ", text)
		return
	}
	if flow, ok := flow(v); ok {
		y.WriteString(" " + flow + "\n")
		return
	}
	y.WriteByte('\n')
	switch v := v.(type) {
	case *value.Object:
		for k, m := range v.All() {
			y.Member(indent+"  ", indent+"  ", k, m)
		}
	case []any:
		for _, e := range v {
			if o, ok := e.(*value.Object); ok && o.Len() > 0 {
				y.Item(indent+"  ", o)
				continue
			}
			flow, _ := flow(e)
			if flow == "" { // a nested list: JSON is valid YAML
				flow = quoted(value.Stringify(e))
			}
			y.WriteString(indent + "  - " + flow + "\n")
		}
	}
}

// isBlock reports whether a multi-line text can be a literal block (YAML 1.2.2, section
// 8.1.2): its first line does not start with a space, it ends in at most one line break, and
// every character is printable.
func isBlock(text string) bool {
	body := strings.TrimSuffix(text, "\n")
	if !strings.Contains(body, "\n") || strings.ContainsAny(body[:1], " \t\n") || strings.HasSuffix(body, "\n") || !utf8.ValidString(body) {
		return false
	}
	return !strings.ContainsFunc(body, func(r rune) bool {
		return r != '\n' && r != '\t' && !unicode.IsPrint(r)
	})
}

// block writes a text as a literal block.
func (y *YAML) block(indent, text string) {
	y.WriteString(" |")
	if !strings.HasSuffix(text, "\n") {
		y.WriteByte('-')
	}
	y.WriteByte('\n')
	for line := range strings.Lines(strings.TrimSuffix(text, "\n")) {
		if line != "\n" {
			y.WriteString(indent)
		}
		y.WriteString(line)
	}
	y.WriteByte('\n')
}

// maxFlow is the maximum length of a list or an object on one line.
const maxFlow = 72

// flow returns a value on one line if it is a scalar, or short and flat.
func flow(v any) (string, bool) {
	switch v := v.(type) {
	case []any:
		parts := make([]string, len(v))
		for i, e := range v {
			if !isScalar(e) {
				return "", false
			}
			parts[i] = inline(e)
		}
		text := "[" + strings.Join(parts, ", ") + "]"
		return text, len(text) <= maxFlow
	case *value.Object:
		var parts []string
		for key, e := range v.All() {
			if !isScalar(e) {
				return "", false
			}
			parts = append(parts, scalar(key)+": "+inline(e))
		}
		text := "{" + strings.Join(parts, ", ") + "}"
		return text, len(text) <= maxFlow
	}
	return inline(v), true
}

func isScalar(v any) bool {
	switch v.(type) {
	case []any, *value.Object:
		return false
	}
	return true
}

func inline(v any) string {
	if s, ok := v.(string); ok {
		return scalar(s)
	}
	return value.Stringify(v)
}

// plain are texts that need no quotes, except words with another meaning in YAML.
var (
	plain    = pattern.Of(`^[A-Za-z_]([A-Za-z0-9 ._/()+-]*[A-Za-z0-9._/()+-])?$`)
	reserved = []string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}
)

func scalar(s string) string {
	if len(s) <= 400 && plain.Matches(s) && !slices.Contains(reserved, strings.ToLower(s)) {
		return s
	}
	return quoted(value.Stringify(s))
}

// quoted converts a JSON string to YAML. The two differ in the characters that need no escape
// (YAML 1.2.2, section 5.1). Characters that change the direction of text are also escaped, so
// that a person reads what the file contains.
func quoted(json string) string {
	var b strings.Builder
	for _, r := range json {
		switch {
		case r >= 0x7f && r < 0xa0, r == 0x2028, r == 0x2029, r == 0xfeff, r == 0xfffe, r == 0xffff, unicode.Is(unicode.Bidi_Control, r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
