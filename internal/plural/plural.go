// Package plural puts numbers before nouns.
package plural

import "strconv"

// Of returns a number with its noun, such as "1 case" or "2 cases".
func Of(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
