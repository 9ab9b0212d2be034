// Package duration reads times as people write them in flags and files: as
// [time.ParseDuration] does, and in days and weeks. Parse is all there is.
package duration

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// units are those that time.ParseDuration does not have. A day has 24 hours.
var units = []struct {
	suffix string
	length time.Duration
}{{"d", 24 * time.Hour}, {"w", 7 * 24 * time.Hour}}

// most bounds the number of days and weeks, so that no duration overflows.
const most = 10_000

var errForm = errors.New("expected a time with its unit, such as 90s, 5m, 2h, 7d or 2w")

// Parse reads a duration: a whole number of days (7d) or weeks (2w), or what
// time.ParseDuration reads. It may be negative only in the second form. The error says what
// was expected.
func Parse(text string) (time.Duration, error) {
	for _, u := range units {
		if digits, ok := strings.CutSuffix(text, u.suffix); ok {
			n, err := strconv.ParseUint(digits, 10, 32)
			if err != nil || n > most {
				return 0, errForm
			}
			return time.Duration(n) * u.length, nil
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, errForm
	}
	return d, nil
}
