// Package usd formats amounts of US dollars for people: from the cost of a token to
// the spending of a team, never with an exponent. Start at [Text].
package usd

import (
	"math"
	"strconv"
	"strings"
)

// Text formats an amount with four significant digits, and at least whole cents,
// such as $0.000009, $0.5 and $12345.68.
func Text(amount float64) string { return sign(amount) + "$" + digits(math.Abs(amount)) }

// Cents is Text with at least two digits after the point, for columns, such as
// $5.00.
func Cents(amount float64) string {
	text := digits(math.Abs(amount))
	_, behind, _ := strings.Cut(text, ".")
	switch len(behind) {
	case 0:
		text += ".00"
	case 1:
		text += "0"
	}
	return sign(amount) + "$" + text
}

func sign(amount float64) string {
	if amount < 0 {
		return "-"
	}
	return ""
}

// digits formats an amount of at least 0.
func digits(amount float64) string {
	if amount >= 100 {
		return strings.TrimSuffix(strconv.FormatFloat(amount, 'f', 2, 64), ".00")
	}
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(amount, 'e', 3, 64), 64)
	if err != nil { // not reached for a number
		rounded = amount
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}
