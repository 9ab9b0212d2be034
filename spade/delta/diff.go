package delta

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/proviso-eval/proviso"
)

// maxCells bounds the table for one gap between units that occur once on both sides; a larger
// gap counts as completely replaced.
const maxCells = 1 << 22

// Diff compares two versions unit by unit and returns the removed, added and moved units in
// the order of the new version, removed ones first. It first matches the longest sequence of
// units that occur once in both versions and in the same order (patience sorting, as in Bram
// Cohen's patience diff). It matches the gaps between them by longest common subsequence.
func Diff(before, after []Unit) []proviso.Delta {
	d := &differ{a: before, b: after, kept: make([]bool, len(before)), partner: make([]int, len(after))}
	for j := range d.partner {
		d.partner[j] = -1
	}
	d.gap(0, len(before), 0, len(after), true)
	return d.deltas()
}

type differ struct {
	a, b    []Unit
	kept    []bool // by old unit: it still exists
	partner []int  // by new unit: the matching old one, or -1
}

func (d *differ) match(i, j int) { d.kept[i], d.partner[j] = true, i }

// gap matches units i to iEnd of the old version with units j to jEnd of the new one.
func (d *differ) gap(i, iEnd, j, jEnd int, anchors bool) {
	for i < iEnd && j < jEnd && d.a[i].Key == d.b[j].Key {
		d.match(i, j)
		i, j = i+1, j+1
	}
	for i < iEnd && j < jEnd && d.a[iEnd-1].Key == d.b[jEnd-1].Key {
		iEnd, jEnd = iEnd-1, jEnd-1
		d.match(iEnd, jEnd)
	}
	if i == iEnd || j == jEnd {
		return
	}
	if anchors {
		if list := d.anchors(i, iEnd, j, jEnd); len(list) > 0 {
			for _, p := range list {
				d.gap(i, p[0], j, p[1], false)
				d.match(p[0], p[1])
				i, j = p[0]+1, p[1]+1
			}
			d.gap(i, iEnd, j, jEnd, false)
			return
		}
	}
	if (iEnd-i+1)*(jEnd-j+1) <= maxCells {
		d.longest(i, iEnd, j, jEnd)
	}
}

// anchors returns the longest sequence of pairs of units that occur once on each side, in the
// same order.
func (d *differ) anchors(i, iEnd, j, jEnd int) [][2]int {
	type seen struct{ inA, inB, a, b int }
	count := map[string]*seen{}
	for k := i; k < iEnd; k++ {
		s := count[d.a[k].Key]
		if s == nil {
			s = &seen{}
			count[d.a[k].Key] = s
		}
		s.inA, s.a = s.inA+1, k
	}
	for k := j; k < jEnd; k++ {
		if s := count[d.b[k].Key]; s != nil {
			s.inB, s.b = s.inB+1, k
		}
	}
	var pairs [][2]int
	for k := i; k < iEnd; k++ {
		if s := count[d.a[k].Key]; s.inA == 1 && s.inB == 1 {
			pairs = append(pairs, [2]int{s.a, s.b})
		}
	}
	return ascending(pairs)
}

// ascending returns the longest subsequence of pairs whose second numbers ascend.
func ascending(pairs [][2]int) [][2]int {
	var piles []int // the pair on top of each pile
	back := make([]int, len(pairs))
	for k, p := range pairs {
		at, _ := slices.BinarySearchFunc(piles, p[1], func(top, want int) int { return cmp.Compare(pairs[top][1], want) })
		back[k] = -1
		if at > 0 {
			back[k] = piles[at-1]
		}
		if at == len(piles) {
			piles = append(piles, k)
		} else {
			piles[at] = k
		}
	}
	out := make([][2]int, len(piles))
	for n, k := len(piles)-1, last(piles); n >= 0; n, k = n-1, back[k] {
		out[n] = pairs[k]
	}
	return out
}

func last(list []int) int {
	if len(list) == 0 {
		return -1
	}
	return list[len(list)-1]
}

// longest matches the longest common subsequence.
func (d *differ) longest(i, iEnd, j, jEnd int) {
	width := jEnd - j + 1
	table := make([]int32, (iEnd-i+1)*width)
	for x := iEnd - 1; x >= i; x-- {
		for y := jEnd - 1; y >= j; y-- {
			at := (x-i)*width + y - j
			if d.a[x].Key == d.b[y].Key {
				table[at] = table[at+width+1] + 1
			} else {
				table[at] = max(table[at+width], table[at+1])
			}
		}
	}
	for x, y := i, j; x < iEnd && y < jEnd; {
		at := (x-i)*width + y - j
		switch {
		case d.a[x].Key == d.b[y].Key:
			d.match(x, y)
			x, y = x+1, y+1
		case table[at+width] >= table[at+1]:
			x++
		default:
			y++
		}
	}
}

// deltas lists the unmatched units. An added unit with the same text as a removed one has
// moved. Removed units come before units that were added between the same neighbours.
func (d *differ) deltas() []proviso.Delta {
	moved := d.moves()
	until := make([]int, len(d.b)) // old units before a new one or in its place
	for j, next := len(d.b)-1, len(d.a); j >= 0; j-- {
		if d.partner[j] >= 0 {
			next = d.partner[j]
		}
		until[j] = next
	}
	var list []proviso.Delta
	i := 0
	removed := func(end int) {
		for ; i < end; i++ {
			if !d.kept[i] {
				list = append(list, deltaOf(&d.a[i], false))
			}
		}
	}
	for j, u := range d.b {
		removed(until[j])
		switch {
		case moved[j] >= 0:
			one := deltaOf(&u, true)
			one.Moved, one.From = true, d.a[moved[j]].Line
			list = append(list, one)
		case d.partner[j] < 0:
			list = append(list, deltaOf(&u, true))
		}
	}
	removed(len(d.a))
	linkReworded(list)
	return list
}

func deltaOf(u *Unit, added bool) proviso.Delta {
	return proviso.Delta{Added: added, Text: u.Text, Part: string(u.Part), Line: u.Line, Condition: u.Condition, When: u.When}
}

// moves pairs removed and added units that have the same text. It returns the old position of
// each new unit, or -1 if it has not moved.
func (d *differ) moves() []int {
	gone := map[string][]int{}
	for i, u := range d.a {
		if !d.kept[i] {
			gone[u.Key] = append(gone[u.Key], i)
		}
	}
	from := make([]int, len(d.b))
	for j, u := range d.b {
		from[j] = -1
		if at := gone[u.Key]; d.partner[j] < 0 && len(at) > 0 {
			from[j], gone[u.Key] = at[0], at[1:]
			d.kept[at[0]] = true
		}
	}
	return from
}

// Limits for treating an added text as a rewording of a removed one: the minimum share of
// common words (Dice's coefficient), and bounds on what is compared.
const (
	leastAlike    = 0.6
	maxAlikeWords = 400     // words in a text
	maxAlikePairs = 250_000 // pairs in a version; beyond them nothing is linked
)

// linkReworded links each added text to the removed text that it rewords, the most similar
// pairs first, and each removed text at most once.
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
	index int // index of its delta
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

// alike is the share of common words of two texts. Without a common word of four letters it is
// 0: "Be brief" does not reword "Be kind".
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
