package report

import (
	"cmp"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"slices"
	"strings"
)

// promptNames returns the name of each column's prompt, in at most the given cells. Prompts
// with the same beginning are shown from where they differ.
func (m *Meta) promptNames(cells int) []string {
	names := make([]string, len(m.Columns))
	byText := make([]int, len(m.Columns))
	for i := range m.Columns {
		names[i] = cut(m.Columns[i].prompt(), cells)
		byText[i] = i
	}
	prompt := func(at int) string { return m.Columns[byText[at]].prompt() }
	slices.SortStableFunc(byText, func(a, b int) int { return cmp.Compare(m.Columns[a].prompt(), m.Columns[b].prompt()) })
	// In this order, neighbours have the longest common prefixes, except for equal prompts.
	shared := make([]int, len(byText))
	for first := 0; first < len(byText); {
		next := first + 1
		for next < len(byText) && prompt(next) == prompt(first) {
			next++
		}
		if next < len(byText) && names[byText[next]] == names[byText[first]] {
			n := commonPrefix(prompt(first), prompt(next))
			for at := first; at <= next; at++ {
				shared[at] = max(shared[at], n)
			}
		}
		for at := first; at < next; at++ {
			shared[at] = max(shared[at], shared[first])
			if shared[at] > 0 {
				names[byText[at]] = fromDifference(prompt(at), shared[at], cells)
			}
		}
		first = next
	}
	return names
}

// fromDifference returns the beginning of a prompt, and its text from n, where it differs
// from another prompt, after as many preceding words as fit.
func fromDifference(prompt string, n, cells int) string {
	const begin = 12 // cells
	from := excerpt.Start(prompt, min(n, max(0, len(prompt)-(cells-begin-2))))
	if blank := strings.IndexAny(prompt[from:n], " \n"); blank >= 0 {
		from += blank + 1
	} else if blank := strings.LastIndexAny(prompt[:n], " \n"); n-blank < begin {
		from = blank + 1
	}
	return cut(cut(prompt, begin)+" "+prompt[from:], cells)
}
