package document

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/proviso-eval/proviso/value"
)

// plainScalar converts an unquoted YAML scalar as js-yaml does under the YAML 1.2
// core schema: 012 is 12; 1_000, yes and dates are text.
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
		f := value.ToNumber(s)
		return f, f == f && value.TrimSpace(s) == s
	}
	if s == "" || strings.IndexByte("+-.0123456789", s[0]) < 0 || !decimal().MatchString(s) {
		return 0, false
	}
	f, _ := strconv.ParseFloat(s, 64) // out of range is an infinity
	return f, true
}

// decimal matches digits with an optional sign, fraction and exponent; the digits on one
// side of the point may be missing.
var decimal = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?$`)
})
