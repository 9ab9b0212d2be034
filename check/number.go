package check

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso/value"
)

// toFixed is JavaScript's Number.prototype.toFixed: the exact binary value is
// rounded, halves away from zero.
func toFixed(f float64, digits int) string {
	if math.IsNaN(f) || math.IsInf(f, 0) || math.Abs(f) >= 1e21 {
		return value.FormatNumber(f)
	}
	// Go rounds exact halves to even, JavaScript picks the larger.
	shifted := new(big.Float).SetPrec(200).SetFloat64(math.Abs(f))
	shifted.Mul(shifted, new(big.Float).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil)))
	n, _ := shifted.Add(shifted, big.NewFloat(0.5)).Int(nil)
	s := n.String()
	if len(s) <= digits {
		s = strings.Repeat("0", digits-len(s)+1) + s
	}
	if digits > 0 {
		s = s[:len(s)-digits] + "." + s[len(s)-digits:]
	}
	if f < 0 {
		s = "-" + s
	}
	return s
}

// toPrecision is JavaScript's Number.prototype.toPrecision.
func toPrecision(f float64, digits int) string {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return value.FormatNumber(f)
	}
	e := 0
	if f != 0 {
		s := strconv.FormatFloat(math.Abs(f), 'e', digits-1, 64)
		e, _ = strconv.Atoi(s[strings.IndexByte(s, 'e')+1:])
	}
	if e < -6 || e >= digits {
		s := strconv.FormatFloat(f, 'e', digits-1, 64)
		mantissa, exponent, _ := strings.Cut(s, "e")
		n, _ := strconv.Atoi(exponent)
		if n >= 0 {
			return mantissa + "e+" + strconv.Itoa(n)
		}
		return mantissa + "e" + strconv.Itoa(n)
	}
	return strconv.FormatFloat(f, 'f', digits-1-e, 64)
}
