package meteor

import (
	"context"
	"strings"
)

// Params weigh the parts of a score; see [DefaultParams].
type Params struct {
	Alpha float64 // weight of recall against precision, 0 to 1
	Beta  float64 // how steeply the penalty for gaps rises
	Gamma float64 // maximum penalty
}

// DefaultParams are the parameters of most implementations.
var DefaultParams = Params{Alpha: 0.9, Beta: 3, Gamma: 0.5}

// Candidate is a text to score, its words and their stems. It is not safe for
// concurrent use.
type Candidate struct {
	words []string
	stems []string // computed when first needed
}

// NewCandidate prepares words for [Reference.Score]. It keeps words.
func NewCandidate(words []string) *Candidate { return &Candidate{words: words} }

func (c *Candidate) stem(i int32) string {
	if c.stems == nil {
		c.stems = make([]string, len(c.words))
	}
	if c.stems[i] == "" {
		c.stems[i] = Stem(c.words[i])
	}
	return c.stems[i]
}

// Reference is a text to compare others with. It is safe for concurrent use.
type Reference struct {
	words []string
	index index
}

// index numbers the distinct words of a text.
type index struct {
	ids    map[string]int32
	places []int32 // number of each word of the text, in order
}

// newIndex returns an index for a text with this many positions, for this many of
// which set is called.
func newIndex(places, words int) index {
	return index{ids: make(map[string]int32, words), places: make([]int32, places)}
}

func (x *index) set(place int, word string) {
	id, ok := x.ids[word]
	if !ok {
		id = int32(len(x.ids))
		x.ids[word] = id
	}
	x.places[place] = id
}

// NewReference prepares the words of a reference text. It keeps words.
func NewReference(words []string) *Reference {
	r := &Reference{words: words, index: newIndex(len(words), len(words))}
	for i, w := range words {
		r.index.set(i, w)
	}
	return r
}

// stems numbers the stems of the unmatched words. The stems are not cached: between
// similar texts, few words are left.
func (r *Reference) stems(a *alignment) index {
	x := newIndex(len(r.words), len(r.words)-len(a.matches))
	for i, w := range r.words {
		if !a.taken[i] {
			x.set(i, Stem(w))
		}
	}
	return x
}

// Score is METEOR (S. Banerjee and A. Lavie, "METEOR: An Automatic Metric for MT
// Evaluation with Improved Correlation with Human Judgments", 2005): words match if
// they are equal, then if their stems are equal, then if in WordNet the stem of the
// reference's word is a synonym of the stem of the candidate's. Each pass starts at
// the end of both texts. The score is the weighted mean of precision and recall,
// less a penalty for the number of chunks of adjacent matches. The error is that of
// ctx, or from unpacking the synonyms, which happens at their first use.
func (r *Reference) Score(ctx context.Context, c *Candidate, p Params) (float64, error) {
	a := newAlignment(len(c.words), len(r.words))
	err := a.align(ctx, r.index, func(i int32, q *queue) int32 {
		return q.last(r.index.ids, c.words[i])
	})
	if err != nil {
		return 0, err
	}
	if !a.open() {
		return a.score(p), nil
	}
	stems := r.stems(a)
	err = a.align(ctx, stems, func(i int32, q *queue) int32 {
		return q.last(stems.ids, c.stem(i))
	})
	if err == nil && a.open() {
		var text string
		if text, err = unpacked(); err != nil {
			return 0, err
		}
		err = a.align(ctx, stems, func(i int32, q *queue) int32 {
			at := int32(-1)
			for s := range strings.FieldsSeq(synonyms(text, c.stem(i))) {
				at = max(at, q.last(stems.ids, s))
			}
			return at
		})
	}
	if err != nil {
		return 0, err
	}
	return a.score(p), nil
}
