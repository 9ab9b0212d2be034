package subsume

import (
	"hash/fnv"
	"math/bits"
	"slices"
	"strings"
	"unicode"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/spade/ask"
	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/spade/internal/format"
	"github.com/proviso-eval/proviso/value"
)

// checks shows candidates to the judge, one per line.
func (q *questions) checks(of []int) string {
	list := make([]*value.Object, len(of))
	for k, i := range of {
		list[k] = shownCheck(&q.list[i])
	}
	return ask.JSONLines(list)
}

// shownCheck is a candidate in the form that the judge sees.
func shownCheck(c *proviso.Candidate) *value.Object {
	o := value.ObjectOf("name", c.Name)
	if c.Description != "" {
		o.Set("says", format.MiddleOut(c.Description, maxSays))
	}
	check := candidate.Object(c, false)
	for _, key := range []string{"id", "description", "metric", "severity", "weight"} {
		check.Delete(key)
	}
	if text := value.Stringify(check); len(text) > maxShown {
		o.Set("check", format.MiddleOut(text, maxShown))
	} else {
		o.Set("check", check)
	}
	return o
}

// windows distributes the candidates that are worth comparing over questions.
func (q *questions) windows() []*question {
	var of []int
	for i := range q.list {
		if !q.filter.unfair[i] {
			of = append(of, i)
		}
	}
	if len(of) < 2 {
		return nil
	}
	sizes := map[int]int{}
	total := 0
	for _, i := range of {
		sizes[i] = len(value.Stringify(shownCheck(&q.list[i])))
		total += sizes[i]
	}
	if len(of) <= window && total <= windowBytes {
		return []*question{{of: of}}
	}
	of = chain(of, q.list)
	var list []*question
	for from := 0; from < len(of); {
		end, size := from, 0
		for end < len(of) && end-from < window && (end-from < 2 || size+sizes[of[end]] <= windowBytes) {
			size += sizes[of[end]]
			end++
		}
		list = append(list, &question{of: slices.Sorted(slices.Values(of[from:end]))})
		if end == len(of) {
			break
		}
		from += max(1, min(windowStep, (end-from)/2))
	}
	return list
}

// chain orders candidates so that each is followed by the remaining candidate that shares most
// words with it.
func chain(of []int, list []proviso.Candidate) []int {
	marks := make(map[int]wordMarks, len(of))
	for _, i := range of {
		marks[i] = wordMarksOf(list[i].Name + " " + list[i].Description + " " + value.Stringify(list[i].Assertion.Raw))
	}
	left := slices.Clone(of)
	out := []int{left[0]}
	left = left[1:]
	for len(left) > 0 {
		last, best, score := marks[out[len(out)-1]], 0, -1.0
		for k, i := range left {
			if s := last.alike(marks[i]); s > score {
				best, score = k, s
			}
		}
		out = append(out, left[best])
		left = slices.Delete(left, best, best+1)
	}
	return out
}

// wordMarks is a set of words, stored as hash bits.
type wordMarks [8]uint64

func wordMarksOf(text string) wordMarks {
	var f wordMarks
	for _, word := range strings.FieldsFunc(strings.ToLower(excerpt.Head(text, maxShown)), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		h := fnv.New32a()
		_, _ = h.Write([]byte(word)) // a hash never fails
		bit := h.Sum32() % (8 * 64)
		f[bit/64] |= 1 << (bit % 64)
	}
	return f
}

// alike returns the share of common words (Jaccard).
func (f wordMarks) alike(g wordMarks) float64 {
	both, either := 0, 0
	for i := range f {
		both += bits.OnesCount64(f[i] & g[i])
		either += bits.OnesCount64(f[i] | g[i])
	}
	return float64(both) / float64(max(1, either))
}
