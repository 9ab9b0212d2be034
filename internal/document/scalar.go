package document

import (
	"math"
	"strconv"
	"strings"
)

// plainScalar gives an unquoted YAML scalar its value as js-yaml does under the
// YAML 1.2 core schema: 012 is 12, 1_000, yes and dates are text.
func plainScalar(s string) any {
	switch s {
	case "", "~", "null", "Null", "NULL":
		return nil
	case "true", "True", "TRUE":
		return true
	case "false", "False", "FALSE":
		return false
	}
	if f, ok := plainNumber(s); ok {
		return f
	}
	return s
}

// plainNumber reads the numbers of the core schema: 0o14 and 0x10 without a
// sign, decimal integers, floats, .inf and .nan.
func plainNumber(s string) (float64, bool) {
	switch s {
	case ".nan", ".NaN", ".NAN":
		return math.NaN(), true
	case ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF":
		return math.Inf(1), true
	case "-.inf", "-.Inf", "-.INF":
		return math.Inf(-1), true
	}
	if len(s) > 2 && s[0] == '0' && (s[1] == 'o' || s[1] == 'x') {
		return basedNumber(s[2:], map[byte]float64{'o': 8, 'x': 16}[s[1]])
	}
	if !isDecimal(s) {
		return 0, false
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil && !math.IsInf(f, 0) {
		return 0, false
	}
	return f, true
}

func basedNumber(digits string, base float64) (float64, bool) {
	f := 0.0
	for _, c := range []byte(digits) {
		d := strings.IndexByte("0123456789abcdef", c)
		if c >= 'A' && c <= 'F' {
			d = int(c-'A') + 10
		}
		if d < 0 || float64(d) >= base {
			return 0, false
		}
		f = f*base + float64(d)
	}
	return f, true
}

// isDecimal reports whether s is [-+]? digits with an optional fraction and exponent;
// the digits on one side of the point may be missing.
func isDecimal(s string) bool {
	s = strings.TrimLeft(s[:min(1, len(s))], "+-") + s[min(1, len(s)):]
	whole := digits(s)
	s = s[whole:]
	fraction := 0
	if strings.HasPrefix(s, ".") {
		fraction = digits(s[1:])
		s = s[1+fraction:]
	}
	if whole+fraction == 0 {
		return false
	}
	if s == "" {
		return true
	}
	if s[0] != 'e' && s[0] != 'E' {
		return false
	}
	s = s[1:]
	if s != "" && (s[0] == '+' || s[0] == '-') {
		s = s[1:]
	}
	return s != "" && digits(s) == len(s)
}

func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}
