package jsonschema

import (
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/value"
)

// Error is one mistake in a value, with the fields of an Ajv error.
type Error struct {
	InstancePath string        // RFC 6901 pointer to the value
	SchemaPath   string        // URI fragment of the keyword
	Keyword      string        // the keyword that was not satisfied
	Params       *value.Object // the values in the message
	Message      string        // such as "must be number"
	PropertyName string        // the name that propertyNames rejected
	Named        bool          // whether PropertyName is set

	segments []string // segments of InstancePath, innermost first
}

// finish writes InstancePath from the segments that were collected on the way out
// of the value.
func (e *Error) finish() {
	var b strings.Builder
	for i := len(e.segments) - 1; i >= 0; i-- {
		b.WriteString(document.Join("", e.segments[i]))
	}
	e.InstancePath, e.segments = b.String(), nil
}

// Object returns the mistake in the form of Ajv's JSON.
func (e Error) Object() *value.Object {
	o := value.ObjectOf("instancePath", e.InstancePath, "schemaPath", e.SchemaPath,
		"keyword", e.Keyword, "params", e.Params, "message", e.Message)
	if e.Named {
		o.Set("propertyName", e.PropertyName)
	}
	return o
}

// ErrorsText formats mistakes like Ajv's errorsText: "data/a must be number",
// joined by commas.
func ErrorsText(list []Error) string {
	var b strings.Builder
	for i, e := range list {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString("data")
		b.WriteString(e.InstancePath)
		b.WriteByte(' ')
		b.WriteString(e.Message)
	}
	return b.String()
}

// KeywordError is the error of [Compile] for a schema with a keyword that is not in
// draft-07; Options.Lax ignores such keywords.
type KeywordError struct{ Keyword string }

// Error names the keyword.
func (e *KeywordError) Error() string {
	return "strict mode: unknown keyword: " + strconv.Quote(e.Keyword)
}

// escapeFragment escapes a segment of a pointer that is part of a URI, as
// ECMAScript's encodeURIComponent does.
func escapeFragment(s string) string {
	s = document.Join("", s)[1:]
	plain := func(c byte) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-_.!~*'()", c) >= 0
	}
	var b []byte
	for i := range len(s) {
		if plain(s[i]) {
			b = append(b, s[i])
			continue
		}
		b = append(b, '%', "0123456789ABCDEF"[s[i]>>4], "0123456789ABCDEF"[s[i]&15])
	}
	return string(b)
}

// unescapeFragment reads a segment of a pointer that is part of a URI.
func unescapeFragment(s string) string {
	if strings.IndexByte(s, '%') >= 0 {
		b := make([]byte, 0, len(s))
		for i := 0; i < len(s); i++ {
			if s[i] == '%' && i+2 < len(s) {
				if n, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
					b = append(b, byte(n))
					i += 2
					continue
				}
			}
			b = append(b, s[i])
		}
		s = string(b)
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, "~1", "/"), "~0", "~")
}
