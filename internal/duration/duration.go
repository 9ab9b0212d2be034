// Package duration parses durations in flags and files: as [time.ParseDuration]
// does, and in days and weeks. Its only function is [Parse].
package duration

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// units are those that time.ParseDuration lacks. A day has 24 hours.
var units = []struct {
	suffix string
	length time.Duration
}{{"d", 24 * time.Hour}, {"w", 7 * 24 * time.Hour}}

// most bounds the number of days and weeks, so that no duration overflows.
const most = 10_000

var errForm = errors.New("expected a time with its unit, such as 90s, 5m, 2h, 7d or 2w")

// Parse parses a duration: a whole number of days (7d) or weeks (2w), or the syntax
// of time.ParseDuration. Only the latter may be negative. The error says what was
// expected.
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
