// Package glob matches texts, such as names, against patterns. Start at [Match].
package glob

// Match reports whether a pattern matches a whole text: * stands for any text and ? for any
// character. It takes time at most proportional to the product of their lengths.
func Match(pattern, text string) bool {
	p, t := []rune(pattern), []rune(text)
	i, j := 0, 0
	star, from := -1, 0 // for backtracking: the last *, and the end of the text that it matches
	for j < len(t) {
		switch {
		case i < len(p) && p[i] == '*':
			star, from = i, j
			i++
		case i < len(p) && (p[i] == '?' || p[i] == t[j]):
			i++
			j++
		case star >= 0:
			from++
			i, j = star+1, from
		default:
			return false
		}
	}
	for i < len(p) && p[i] == '*' {
		i++
	}
	return i == len(p)
}
