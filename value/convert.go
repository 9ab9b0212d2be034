package value

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Undefined is the JavaScript value undefined, which differs from nil (null).
type Undefined struct{}

// Opaque is a result without a data form, such as a function.
type Opaque struct {
	Kind string // type name: JavaScript's typeof, or Python's type
}

// ToString converts v as JavaScript's String(v) does: null is "null", arrays are
// joined by commas, objects are "[object Object]".
func ToString(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case Undefined:
		return "undefined"
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return FormatNumber(v)
	case []any:
		return joinArray(v)
	default:
		if f, ok := number(v); ok {
			return FormatNumber(f)
		}
		return "[object Object]"
	}
}

func joinArray(list []any) string {
	var b strings.Builder
	for i, e := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		if _, undef := e.(Undefined); e != nil && !undef {
			b.WriteString(ToString(e))
		}
	}
	return b.String()
}

// ToNumber converts v as JavaScript's Number(v) does; anything that is not a number
// is NaN.
func ToNumber(v any) float64 {
	switch v := v.(type) {
	case nil:
		return 0
	case bool:
		if v {
			return 1
		}
		return 0
	case float64:
		return v
	case string:
		return stringToNumber(v)
	case []any:
		return stringToNumber(joinArray(v))
	default:
		if f, ok := number(v); ok {
			return f
		}
		return math.NaN()
	}
}

// stringToNumber implements ECMA-262 StringToNumber: the text is trimmed, empty is 0, the
// prefixes 0x, 0o and 0b are valid, "Infinity" is valid, "inf" and "1_000" are not.
func stringToNumber(s string) float64 {
	s = TrimSpace(s)
	if s == "" {
		return 0
	}
	if len(s) > 2 && s[0] == '0' {
		switch s[1] | 0x20 {
		case 'x':
			return digitsToNumber(s[2:], 4)
		case 'o':
			return digitsToNumber(s[2:], 3)
		case 'b':
			return digitsToNumber(s[2:], 1)
		}
	}
	switch s {
	case "Infinity", "+Infinity":
		return math.Inf(1)
	case "-Infinity":
		return math.Inf(-1)
	}
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && c != '+' && c != '-' && c != '.' && c != 'e' && c != 'E' {
			return math.NaN()
		}
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil && !math.IsInf(f, 0) {
		return math.NaN()
	}
	return f
}

// leading matches the number at the beginning of a text.
var leading = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?`)
})

// LeadingNumber reads the number at the beginning of s as JavaScript's parseFloat does. It
// returns false if there is none. It does not read the word Infinity.
func LeadingNumber(s string) (float64, bool) {
	number := leading().FindString(strings.TrimLeftFunc(s, IsSpace))
	return stringToNumber(number), number != ""
}

// digitsToNumber reads digits in base 1 << bits and rounds once, to nearest, ties to even.
func digitsToNumber(s string, bits int) float64 {
	const enough = 1 << 56 // more bits than a float64 has, plus one for rounding
	var mantissa, rest uint64
	exponent := 0
	for _, c := range []byte(s) {
		d := strings.IndexByte("0123456789abcdef", c|0x20)
		if c >= '0' && c <= '9' {
			d = int(c - '0')
		}
		switch {
		case d < 0 || d >= 1<<bits:
			return math.NaN()
		case mantissa < enough:
			mantissa = mantissa<<bits | uint64(d)
		default:
			exponent += bits
			if d != 0 {
				rest = 1
			}
		}
	}
	return math.Ldexp(float64(mantissa<<1|rest), exponent-1)
}

// Truthy reports whether v counts as true in a JavaScript condition.
func Truthy(v any) bool {
	switch v := v.(type) {
	case nil, Undefined:
		return false
	case bool:
		return v
	case float64:
		return v != 0 && !math.IsNaN(v)
	case string:
		return v != ""
	default:
		if f, ok := number(v); ok {
			return Truthy(f)
		}
		return true
	}
}

// FormatNumber writes f as JavaScript's Number.prototype.toString does
// (ECMA-262, Number::toString): 1.0 is "1", 1e21 is "1e+21", -0 is "0".
func FormatNumber(f float64) string { return string(AppendNumber(nil, f)) }

// AppendNumber appends what [FormatNumber] returns to dst.
func AppendNumber(dst []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, "NaN"...)
	case math.IsInf(f, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(f, -1):
		return append(dst, "-Infinity"...)
	case f == 0:
		return append(dst, '0')
	case f == math.Trunc(f) && math.Abs(f) < 1e15:
		return strconv.AppendInt(dst, int64(f), 10)
	}
	if a := math.Abs(f); a >= 1e-6 && a < 1e21 {
		return strconv.AppendFloat(dst, f, 'f', -1, 64)
	}
	start := len(dst)
	dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
	// Go pads the exponent to two digits, JavaScript does not.
	if n := len(dst); n-start > 3 && dst[n-2] == '0' && (dst[n-3] == '-' || dst[n-3] == '+') {
		dst[n-2] = dst[n-1]
		dst = dst[:n-1]
	}
	return dst
}

// IsSpace reports whether r is white space or a line terminator in JavaScript, as for
// String.prototype.trim and \s.
func IsSpace(r rune) bool {
	switch r {
	case ' ', '\t', '\n', '\v', '\f', '\r', 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000, 0xfeff:
		return true
	}
	return r >= 0x2000 && r <= 0x200a
}

// TrimSpace trims s as JavaScript's String.prototype.trim does.
func TrimSpace(s string) string { return strings.TrimFunc(s, IsSpace) }
