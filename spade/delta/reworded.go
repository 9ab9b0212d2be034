package delta

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/proviso-eval/proviso"
)

// What makes an added text a new wording of a removed one: the share of their words that
// both have (Dice's coefficient), of texts up to a length.
const (
	leastAlike    = 0.6
	maxAlikeWords = 400     // of a text
	maxAlikePairs = 250_000 // of a version; beyond them nothing is linked
)

// linkReworded links each added text to the removed text that it rewords, the most alike
// first, and each removed text at most once.
func linkReworded(list []proviso.Delta) {
	var added, removed []wordBag
	for i := range list {
		switch b := bagOf(list[i].Text, i); {
		case list[i].Moved || b.size == 0:
		case list[i].Added:
			added = append(added, b)
		default:
			removed = append(removed, b)
		}
	}
	if len(added)*len(removed) > maxAlikePairs {
		return
	}
	type pair struct {
		alike    float64
		new, old int
	}
	var pairs []pair
	for i := range added {
		for j := range removed {
			if alike := added[i].alike(&removed[j]); alike >= leastAlike {
				pairs = append(pairs, pair{alike, added[i].index, removed[j].index})
			}
		}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int {
		return cmp.Or(cmp.Compare(b.alike, a.alike), cmp.Compare(max(a.new-a.old, a.old-a.new), max(b.new-b.old, b.old-b.new)))
	})
	taken := map[int]bool{}
	for _, p := range pairs {
		if !taken[p.new] && !taken[p.old] {
			taken[p.new], taken[p.old] = true, true
			list[p.new].Former, list[p.new].From = list[p.old].Text, list[p.old].Line
		}
	}
}

// wordBag counts the words of a text.
type wordBag struct {
	index int // of its delta
	words map[string]int
	size  int
}

func bagOf(text string, index int) wordBag {
	b := wordBag{index: index, words: map[string]int{}}
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && r != '\'' && r != '’'
	}) {
		if b.size++; b.size > maxAlikeWords {
			return wordBag{}
		}
		b.words[w]++
	}
	return b
}

// alike is the share of the words of two texts that both have. Without a word of four
// letters among them it is 0: "Be brief" does not reword "Be kind".
func (b *wordBag) alike(other *wordBag) float64 {
	if 2*float64(min(b.size, other.size)) < leastAlike*float64(b.size+other.size) {
		return 0
	}
	common, telling := 0, false
	for w, n := range b.words {
		if m := min(n, other.words[w]); m > 0 {
			common += m
			telling = telling || len(w) >= 4
		}
	}
	if !telling {
		return 0
	}
	return 2 * float64(common) / float64(b.size+other.size)
}
