package report

import (
	"fmt"
	"math"
	"strconv"

	"github.com/proviso-eval/proviso/internal/excerpt"
)

// Plural returns a number with its noun in the right form.
func Plural(n int, noun string) string { return excerpt.Plural(n, noun) }

// Percent formats a share. It shows 100 % and 0 % only if the share is exactly 1 or 0.
func Percent(share float64) string {
	text := fmt.Sprintf("%.0f %%", 100*share)
	switch {
	case math.IsNaN(share):
		return "–"
	case share < 1 && text == "100 %":
		return "> 99 %"
	case share > 0 && text == "0 %":
		return "< 1 %"
	}
	return text
}

// PercentRange formats a share with its interval.
func PercentRange(share, low, high float64) string {
	return fmt.Sprintf("%s (%.0f–%.0f %%)", Percent(share), 100*low, 100*high)
}

// RoughCost formats an amount in US dollars that is an estimate, rounded to two digits.
func RoughCost(usd float64) string {
	digits := 0
	if usd > 0 && usd < 10 {
		digits = 1 - int(math.Floor(math.Log10(usd)))
	}
	return "$" + strconv.FormatFloat(usd, 'f', digits, 64)
}
