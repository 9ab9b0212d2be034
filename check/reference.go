package check

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/proviso-eval/proviso/internal/ngram"
)

// reference is a text that outputs are compared with. Its words are computed once, at
// their first use.
type reference struct {
	words   func() *ngram.Reference // separated by white space
	trimmed func() *ngram.Reference // the same without full stops at their ends
	tokens  func() *ngram.Reference // tokens of the Penn Treebank

	// sequences is set if a metric compares sequences of several words. The others
	// share that comparison if they compare the same words.
	sequences atomic.Bool
}

// order is the length of the longest sequences that metrics compare with part, which
// is one of the three.
func (r *reference) order(part *ngram.Reference) int {
	if r.sequences.Load() && part == r.words() {
		return ngram.MaxOrder
	}
	return 1
}

// newReference prepares text, which must be in lower case. If two ways to split it
// give the same words, they are counted once.
func newReference(m *ngram.Memory, text string) *reference {
	r := &reference{words: sync.OnceValue(func() *ngram.Reference { return m.NewReference(ngram.Fields(text)) })}
	same := func(words []string) *ngram.Reference {
		base := r.words().Words()
		if len(words) > 0 && &words[0] == &base[0] || slices.Equal(words, base) {
			return r.words()
		}
		return m.NewReference(words)
	}
	r.trimmed = sync.OnceValue(func() *ngram.Reference { return same(ngram.TrimPeriods(r.words().Words())) })
	r.tokens = sync.OnceValue(func() *ngram.Reference { return same(m.Treebank(text, r.words().Words())) })
	return r
}

// Bounds of the references that are kept.
const (
	maxReferences     = 16
	maxReferenceBytes = 64 << 10 // texts longer than this are not kept
)

// reference returns the reference for a text.
func (c *Compiler) reference(text string) *reference {
	r, ok := c.refs.Get(text)
	if !ok {
		r = newReference(&c.words, lower(text))
		if len(text) <= maxReferenceBytes {
			c.refs.Add(text, r)
		}
	}
	return r
}

// references returns the references in the value of an assertion.
func (c *Compiler) references(s *Spec) ([]*reference, error) {
	texts, err := s.references()
	if err != nil {
		return nil, err
	}
	refs := make([]*reference, len(texts))
	for i, text := range texts {
		refs[i] = c.reference(text)
	}
	return refs, nil
}

// sequenceReferences is references for a metric that compares sequences of words.
func (c *Compiler) sequenceReferences(s *Spec) ([]*reference, error) {
	refs, err := c.references(s)
	for _, ref := range refs {
		ref.sequences.Store(true)
	}
	return refs, err
}

// textWords are the words of an output in lower case, split in the ways that the
// metrics need. They are computed once per row.
type textWords struct {
	text            string
	fields, trimmed []string
	treebank        []string
}

type wordsKey string

func (s *Subject) words() *textWords {
	text := s.folded(true)
	return memo(s, wordsKey(text), func() *textWords { return &textWords{text: text} })
}

func (w *textWords) separated(trimmed bool) []string {
	if w.fields == nil {
		w.fields = ngram.Fields(w.text)
		w.trimmed = ngram.TrimPeriods(w.fields)
	}
	if trimmed {
		return w.trimmed
	}
	return w.fields
}

func (w *textWords) tokens(m *ngram.Memory) []string {
	if w.treebank == nil {
		w.treebank = m.Treebank(w.text, w.separated(false))
	}
	return w.treebank
}

type overlapKey struct {
	words *string // points to the first word of the output; identifies the list
	ref   *ngram.Reference
	order int
}

// overlap compares words of the output with a reference, once per row for the same
// words.
func (s *Subject) overlap(ref *ngram.Reference, words []string, order int) ngram.Overlap {
	if len(words) == 0 {
		return ref.Compare(words, order)
	}
	return memo(s, overlapKey{&words[0], ref, order}, func() ngram.Overlap { return ref.Compare(words, order) })
}
