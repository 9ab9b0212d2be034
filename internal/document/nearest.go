package document

import (
	"fmt"
	"strings"
)

// DidYouMean returns the end of a message about an unknown name: a question with the
// [Nearest] valid name, or "" if none is near.
func DidYouMean(name string, valid []string) string {
	if near := Nearest(name, valid); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

// Nearest returns the valid name of which name is probably a typo, or "" if none is
// near. It ignores case; of equally near names the first wins.
func Nearest(name string, valid []string) string {
	if name == "" || len(name) > maxName {
		return ""
	}
	name = strings.ToLower(name)
	best, bestDistance := "", 1+max(1, len(name)/3)
	for _, v := range valid {
		if len(v) > maxName {
			continue
		}
		if d := distance(name, strings.ToLower(v), bestDistance); d < bestDistance {
			best, bestDistance = v, d
		}
	}
	return best
}

// Suggest reduces the valid names to the one that was probably meant, if one is near.
func Suggest(name string, valid []string) []string {
	if near := Nearest(name, valid); near != "" {
		return []string{near}
	}
	return valid
}

// maxName bounds the length of compared names; longer texts are not names.
const maxName = 64

// distance is the optimal string alignment distance (Levenshtein with adjacent
// transpositions), or limit if it is not smaller. Damerau, "A technique for
// computer detection and correction of spelling errors", 1964.
func distance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	var rows [3][maxName + 1]int
	last2, last, row := &rows[0], &rows[1], &rows[2]
	for j := range len(b) + 1 {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], last2[j-2]+1)
			}
		}
		last2, last, row = last, row, last2
	}
	return min(last[len(b)], limit)
}
