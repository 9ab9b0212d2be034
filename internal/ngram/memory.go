package ngram

import (
	"slices"
	"sync"
)

// Memory is working memory that comparisons reuse. Otherwise a row with a text of
// its own would allocate several times the size of the text. The zero value is
// ready to use. It is safe for concurrent use.
type Memory struct{ spaces sync.Pool }

// maxKept is the number of words in a text from which its memory is not reused.
const maxKept = 1 << 14

// workspace is the memory of one comparison.
type workspace struct {
	ids       []uint32 // words of the candidate
	used      []uint32 // number of matches of each word or sequence
	index     index    // words of the reference
	sequences sequences
	tokens    []string
}

func (m *Memory) take() *workspace {
	if w, ok := m.spaces.Get().(*workspace); ok {
		return w
	}
	return new(workspace)
}

func (m *Memory) give(w *workspace) {
	w.index.vocab.words = nil // owned by the caller
	if max(cap(w.ids), cap(w.index.ids), cap(w.used)/MaxOrder, cap(w.sequences.times)/MaxOrder, cap(w.tokens)) <= maxKept {
		m.spaces.Put(w)
	}
}

// zeros returns n zeros, in the memory of list if it is large enough.
func zeros(list []uint32, n int) []uint32 {
	if cap(list) < n {
		return make([]uint32, n)
	}
	list = list[:n]
	clear(list)
	return list
}

// Treebank is the function [Treebank]. It returns fields if they are the tokens of
// text, as for most texts without punctuation.
func (m *Memory) Treebank(text string, fields []string) []string {
	if plain(text) && !slices.ContainsFunc(fields, contracted) {
		return fields
	}
	w := m.take()
	defer m.give(w)
	w.tokens = appendTreebank(w.tokens[:0], text)
	if slices.Equal(w.tokens, fields) {
		return fields
	}
	return slices.Clone(w.tokens)
}

// contracted reports whether a word of a plain text may be more or fewer than one
// token.
func contracted(word string) bool {
	return word == "" || begins[word[0]] != 0 && contractionAt(word, 0) >= 0
}
