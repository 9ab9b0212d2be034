package suite

import (
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// ParseShare reads the share of rows that must pass: a number from 0 to 1, as a
// number or as text, or a percentage such as "90%". 1 means all rows.
func ParseShare(v any) (float64, error) {
	const want = "a number from 0 to 1, or a percentage from 0% to 100%"
	text, isText := v.(string)
	if f, ok := v.(float64); ok {
		text, isText = value.FormatNumber(f), true
	}
	if !isText {
		return 0, proviso.Errorf(proviso.Invalid, "expected %s, found %s", want, value.Stringify(v))
	}
	text = strings.TrimSpace(text)
	digits, percent := strings.CutSuffix(text, "%")
	f, ok := decimal(strings.TrimSpace(digits), percent)
	switch {
	case ok && f >= 0 && f <= 1:
		return f, nil
	case ok && !percent && f > 1 && f <= 100:
		return 0, proviso.Errorf(proviso.Invalid, "expected %s, found %s (did you mean %s%%?)", want, text, text)
	}
	return 0, proviso.Errorf(proviso.Invalid, "expected %s, found %q", want, text)
}

// decimal reads digits with a decimal point, in hundredths if percent is set, so that
// 7% is the same number as 0.07.
func decimal(digits string, percent bool) (float64, bool) {
	if digits == "" || strings.Trim(digits, "0123456789.") != "" {
		return 0, false
	}
	if percent {
		digits += "e-2"
	}
	f, err := strconv.ParseFloat(digits, 64)
	return f, err == nil
}
