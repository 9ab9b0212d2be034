package ngram

import (
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"
)

// MaxOrder is the length of the longest word sequences that are counted.
const MaxOrder = 4

// Reference is a text to compare others with. It is safe for concurrent use.
type Reference struct {
	words  []string
	memory *Memory

	compared  atomic.Bool
	once      sync.Once
	kept      index // from the second comparison on
	long      sync.Once
	sequences sequences // sequences in kept
}

// NewReference returns a reference with these words. It keeps words. Comparisons with the
// reference use memory from m.
func (m *Memory) NewReference(words []string) *Reference {
	return &Reference{words: words, memory: m}
}

// Words returns the words the reference was made of. The caller must not change
// them.
func (r *Reference) Words() []string { return r.words }

// Overlap is the number of sequences of 1 to [MaxOrder] words that a candidate and
// a reference share. Each is counted at most as often as it occurs in either.
type Overlap struct {
	Candidate, Reference int           // words in each text
	Matches              [MaxOrder]int // by length of the sequence, less 1
}

// total returns the number of sequences of n words in a text of the given length.
func total(words, n int) int { return max(0, words-n+1) }

// Compare counts the sequences of up to order words that candidate shares with the
// reference. It takes time linear in the length of candidate.
func (r *Reference) Compare(candidate []string, order int) Overlap {
	o := Overlap{Candidate: len(candidate), Reference: len(r.words)}
	w := r.memory.take()
	defer r.memory.give(w)
	x := r.index(w)
	w.ids, w.used = zeros(w.ids, len(candidate)), zeros(w.used, len(x.counts))
	for i, word := range candidate {
		id := x.vocab.find(word)
		if id > 0 && w.used[id-1] < x.counts[id-1] {
			w.used[id-1]++
			o.Matches[0]++
		}
		w.ids[i] = id
	}
	if order > 1 {
		r.compareLong(w, x, min(order, MaxOrder), &o)
	}
	return o
}

// compareLong follows every sequence of the candidate, w.ids, through the trie as
// far as the reference has it.
func (r *Reference) compareLong(w *workspace, x *index, order int, o *Overlap) {
	s, candidate := r.sequencesOf(w, x), w.ids
	used := zeros(w.used, len(s.times))
	for i := range candidate {
		node := candidate[i]
		for n := 1; n < order && node > 0 && i+n < len(candidate); n++ {
			if node = s.trie.child(node, candidate[i+n]); node == 0 {
				break
			}
			if at := x.at(node); used[at] < s.times[at] {
				used[at]++
				o.Matches[n]++
			}
		}
	}
	w.used = used
}

// index returns the counted words of the reference. Most references are compared
// once: the first comparison counts the words in w, and the second one keeps them.
func (r *Reference) index(w *workspace) *index {
	if !r.compared.Swap(true) {
		w.index.count(r.words)
		return &w.index
	}
	r.once.Do(func() { r.kept.count(r.words) })
	return &r.kept
}

// sequencesOf returns the sequences of several words in x, which [Reference.index]
// returned for w.
func (r *Reference) sequencesOf(w *workspace, x *index) *sequences {
	if x == &w.index {
		w.sequences.count(x)
		return &w.sequences
	}
	r.long.Do(func() { r.sequences.count(x) })
	return &r.sequences
}

// index are the words of a text, numbered and counted.
type index struct {
	ids    []uint32 // ids of the text's words
	vocab  vocabulary
	counts []uint32 // counts of the distinct words, by id less 1
}

// count makes x the index of words, reusing its memory.
func (x *index) count(words []string) {
	x.ids, x.counts = zeros(x.ids, len(words)), x.counts[:0]
	x.vocab.reset(words)
	for i := range words {
		id := x.vocab.add(i)
		if int(id) > len(x.counts) {
			x.counts = append(x.counts, 0)
		}
		x.counts[id-1]++
		x.ids[i] = id
	}
}

// at is the index of a node in the times of sequences. The nodes of single words
// come first; their counts are elsewhere.
func (x *index) at(node uint32) uint32 { return node - uint32(len(x.counts)) - 1 }

// sequences are the sequences of 2 to [MaxOrder] words of a reference.
type sequences struct {
	trie  trie
	times []uint32 // counts of the trie's nodes
}

func (s *sequences) count(x *index) {
	s.trie.reset(uint32(len(x.counts)), (MaxOrder-1)*len(x.ids))
	s.times = slices.Grow(s.times[:0], (MaxOrder-1)*len(x.ids))
	for i, node := range x.ids {
		for n := 1; n < MaxOrder && i+n < len(x.ids); n++ {
			node = s.trie.add(node, x.ids[i+n])
			if at := x.at(node); int(at) == len(s.times) {
				s.times = append(s.times, 1)
			} else {
				s.times[at]++
			}
		}
	}
}

// vocabulary numbers words from 1. It is a hash table with open addressing; the
// seed prevents hostile texts from making all words collide.
type vocabulary struct {
	seed  maphash.Seed
	slots []vocabularySlot
	words []string
	first []uint32 // index of the first occurrence of each number in words, by number less 1
}

type vocabularySlot struct {
	hash uint32
	id   uint32 // 0 is an empty slot
}

// reset empties the vocabulary and makes room for words.
func (v *vocabulary) reset(words []string) {
	size := tableSize(len(words))
	if cap(v.slots) < size {
		v.seed, v.slots = maphash.MakeSeed(), make([]vocabularySlot, size)
	}
	v.slots, v.words, v.first = v.slots[:size], words, v.first[:0]
	clear(v.slots)
}

// slot returns the slot of word, or the empty one for it.
func (v *vocabulary) slot(word string) (*vocabularySlot, uint32) {
	h := maphash.String(v.seed, word)
	short := uint32(h >> 32)
	for i := h; ; i++ {
		s := &v.slots[i&uint64(len(v.slots)-1)]
		if s.id == 0 || s.hash == short && v.words[v.first[s.id-1]] == word {
			return s, short
		}
	}
}

// add assigns a number to the i-th word.
func (v *vocabulary) add(i int) uint32 {
	s, hash := v.slot(v.words[i])
	if s.id == 0 {
		v.first = append(v.first, uint32(i))
		*s = vocabularySlot{hash: hash, id: uint32(len(v.first))}
	}
	return s.id
}

// find returns the number of word, 0 if it has none.
func (v *vocabulary) find(word string) uint32 {
	s, _ := v.slot(word)
	return s.id
}

// trie numbers word sequences: those of one word by the word itself, longer ones
// by the pair of the sequence without its last word, and that word. The pairs are
// in a hash table with open addressing.
type trie struct {
	slots []trieSlot
	size  uint32
}

type trieSlot struct {
	key  uint64
	node uint32 // 0 is an empty slot
}

// reset empties the trie and makes room for this many sequences.
func (t *trie) reset(words uint32, sequences int) {
	size := tableSize(sequences)
	if cap(t.slots) < size {
		t.slots = make([]trieSlot, size)
	}
	t.slots, t.size = t.slots[:size], words
	clear(t.slots)
}

func (t *trie) slot(node, word uint32) *trieSlot {
	key := uint64(node)<<32 | uint64(word)
	// Fibonacci hashing: only the upper bits of the product depend on all of key.
	for i := key * 0x9e3779b97f4a7c15 >> 32; ; i++ {
		s := &t.slots[i&uint64(len(t.slots)-1)]
		if s.node == 0 || s.key == key {
			return s
		}
	}
}

func (t *trie) add(node, word uint32) uint32 {
	s := t.slot(node, word)
	if s.node == 0 {
		t.size++
		*s = trieSlot{key: uint64(node)<<32 | uint64(word), node: t.size}
	}
	return s.node
}

// child returns the sequence of node followed by word, 0 if there is none.
func (t *trie) child(node, word uint32) uint32 { return t.slot(node, word).node }

// tableSize returns a power of two of which n entries fill less than two thirds.
func tableSize(n int) int {
	size := 8
	for size < n+n/2 {
		size *= 2
	}
	return size
}
