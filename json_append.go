package proviso

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Stringify returns v as compact JSON text; see [AppendJSON].
func Stringify(v any) string { return string(AppendJSON(nil, v)) }

// AppendJSON appends v as JSON.stringify writes it, without white space: keys in
// order, undefined members left out, NaN and infinities as null. What is no
// value of this package is null.
func AppendJSON(dst []byte, v any) []byte {
	switch v := v.(type) {
	case string:
		return AppendQuoted(dst, v)
	case bool:
		return strconv.AppendBool(dst, v)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return append(dst, "null"...)
		}
		return AppendNumber(dst, v)
	case []any:
		dst = append(dst, '[')
		for i, e := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = AppendJSON(dst, e)
		}
		return append(dst, ']')
	case *Object:
		return appendObject(dst, v)
	}
	c := conversion{}
	if known, ok := fromGo(v, c.value); ok && !c.tooDeep {
		return AppendJSON(dst, known)
	}
	return append(dst, "null"...)
}

func appendObject(dst []byte, o *Object) []byte {
	if o == nil {
		return append(dst, "null"...)
	}
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
		dst = AppendJSON(dst, o.vals[i])
	}
	return append(dst, '}')
}

// AppendQuoted appends s as a JSON string. Lone surrogates become \uXXXX escapes
// and bytes that are no UTF-8 become U+FFFD, so the result is always valid.
func AppendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c < utf8.RuneSelf {
			dst = append(dst, s[start:i]...)
			dst = appendEscape(dst, c)
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
		if u, ok := surrogateAt(s, i); ok {
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
	if at := strings.IndexByte("\"\\\b\f\n\r\t", c); at >= 0 {
		return append(dst, '\\', `"\bfnrt`[at])
	}
	const hex = "0123456789abcdef"
	return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}
