package excerpt

import "strconv"

// Plural returns a number with its noun: 1 case, 2 cases.
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
