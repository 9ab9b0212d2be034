package value

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Stringify returns v as compact JSON text; see [AppendJSON].
func Stringify(v any) string { return string(AppendJSON(nil, v)) }

// Text returns a string as it is, and any other value as [Stringify] does.
func Text(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return Stringify(v)
}

// maxWriteDepth is the maximum nesting of values that are written. It exceeds the reading
// limit because values that were read are written inside rows and reports.
const maxWriteDepth = 2 * MaxDepth

// AppendJSON appends v as JSON.stringify writes it, without white space: keys in order,
// undefined members left out, NaN and infinities as null. A value of another type is
// written as null. So is all of v if it nests too deeply, as a list that contains itself
// does.
func AppendJSON(dst []byte, v any) []byte {
	if out, ok := appendValue(dst, v, 0); ok {
		return out
	}
	return append(dst, "null"...)
}

// appendValue appends v; false if it nests too deeply.
func appendValue(dst []byte, v any, depth int) ([]byte, bool) {
	switch v := v.(type) {
	case string:
		return AppendQuoted(dst, v), true
	case bool:
		return strconv.AppendBool(dst, v), true
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return append(dst, "null"...), true
		}
		return AppendNumber(dst, v), true
	case []any:
		return appendArray(dst, v, depth+1)
	case *Object:
		return appendObject(dst, v, depth+1)
	}
	c := conversion{}
	if known, ok := fromGo(v, c.value); ok && !c.tooDeep {
		return appendValue(dst, known, depth)
	}
	return append(dst, "null"...), true
}

func appendArray(dst []byte, list []any, depth int) ([]byte, bool) {
	if depth > maxWriteDepth {
		return dst, false
	}
	ok := true
	dst = append(dst, '[')
	for i, e := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, ok = appendValue(dst, e, depth); !ok {
			return dst, false
		}
	}
	return append(dst, ']'), true
}

func appendObject(dst []byte, o *Object, depth int) ([]byte, bool) {
	if o == nil {
		return append(dst, "null"...), true
	}
	if depth > maxWriteDepth {
		return dst, false
	}
	ok := true
	dst = append(dst, '{')
	first := true
	keys, at := o.ordered()
	for i, k := range keys {
		if at != nil {
			i = at[i]
		}
		if _, undef := o.vals[i].(Undefined); undef {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = AppendQuoted(dst, k)
		dst = append(dst, ':')
		if dst, ok = appendValue(dst, o.vals[i], depth); !ok {
			return dst, false
		}
	}
	return append(dst, '}'), true
}

// AppendQuoted appends s as a JSON string. Lone surrogates become \uXXXX escapes and
// invalid UTF-8 bytes become U+FFFD, so the result is always valid.
func AppendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := special(s, 0, true); i < len(s); i = special(s, i, true) {
		if s[i] < utf8.RuneSelf {
			dst = append(dst, s[start:i]...)
			dst = appendEscape(dst, s[i])
			i++
			start = i
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r != utf8.RuneError || n > 1 {
			i += n
			continue
		}
		dst = append(dst, s[start:i]...)
		if u, ok := SurrogateAt(s, i); ok {
			dst = fmt.Appendf(dst, `\u%04x`, u)
			i += 3
		} else {
			dst = append(dst, "\uFFFD"...)
			i++
		}
		start = i
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

func appendEscape(dst []byte, c byte) []byte {
	if c == '"' || c == '\\' {
		return append(dst, '\\', c)
	}
	if at := strings.IndexByte("\b\f\n\r\t", c); at >= 0 {
		return append(dst, '\\', "bfnrt"[at])
	}
	const hex = "0123456789abcdef"
	return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}
