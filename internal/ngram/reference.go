package ngram

import (
	"hash/maphash"
	"sync"
)

// MaxOrder is the length of the longest word sequences that are counted.
const MaxOrder = 4

// Reference is a text to compare others with, its word sequences counted. It is
// safe for concurrent use.
type Reference struct {
	words []string
	ids   []uint32 // of words
	vocab vocabulary
	count []uint32 // of the words, by id

	long  sync.Once // the sequences of more than one word
	trie  trie
	times []uint32 // of the nodes of trie
}

// NewReference counts the words of a reference text. It keeps words.
func NewReference(words []string) *Reference {
	r := &Reference{words: words, ids: make([]uint32, len(words)), vocab: newVocabulary(len(words)), count: make([]uint32, 0, len(words))}
	for i, w := range words {
		id := r.vocab.add(w)
		if int(id) > len(r.count) {
			r.count = append(r.count, 0)
		}
		r.count[id-1]++
		r.ids[i] = id
	}
	return r
}

// Words returns the words the reference was made of. The caller must not change
// them.
func (r *Reference) Words() []string { return r.words }

// Overlap is how many sequences of 1 to [MaxOrder] words a candidate and a
// reference share, each counted no more often than it occurs in either.
type Overlap struct {
	Candidate, Reference int           // words in each text
	Matches              [MaxOrder]int // by length of the sequence, less 1
}

// total returns how many sequences of n words a text of the given length has.
func total(words, n int) int { return max(0, words-n+1) }

// Compare counts what candidate shares with the reference, in sequences of up to
// order words. It takes time linear in the length of candidate.
func (r *Reference) Compare(candidate []string, order int) Overlap {
	o := Overlap{Candidate: len(candidate), Reference: len(r.words)}
	ids := make([]uint32, len(candidate))
	used := make([]uint32, len(r.count))
	for i, w := range candidate {
		id := r.vocab.find(w)
		if id > 0 && used[id-1] < r.count[id-1] {
			used[id-1]++
			o.Matches[0]++
		}
		ids[i] = id
	}
	if order > 1 {
		r.compareLong(ids, min(order, MaxOrder), &o)
	}
	return o
}

// compareLong follows every sequence of candidate as far into the trie as the
// reference has it.
func (r *Reference) compareLong(candidate []uint32, order int, o *Overlap) {
	r.long.Do(r.countLong)
	used := make([]uint32, len(r.times))
	for i := range candidate {
		node := candidate[i]
		for n := 1; n < order && node > 0 && i+n < len(candidate); n++ {
			if node = r.trie.child(node, candidate[i+n]); node == 0 {
				break
			}
			if at := r.at(node); used[at] < r.times[at] {
				used[at]++
				o.Matches[n]++
			}
		}
	}
}

// at is the index of a node in times. The nodes of single words come first, and
// their counts are elsewhere.
func (r *Reference) at(node uint32) uint32 { return node - uint32(len(r.count)) - 1 }

func (r *Reference) countLong() {
	r.trie = newTrie(uint32(len(r.count)), (MaxOrder-1)*len(r.ids))
	r.times = make([]uint32, 0, (MaxOrder-1)*len(r.ids))
	for i, node := range r.ids {
		for n := 1; n < MaxOrder && i+n < len(r.ids); n++ {
			node = r.trie.add(node, r.ids[i+n])
			if at := r.at(node); int(at) == len(r.times) {
				r.times = append(r.times, 1)
			} else {
				r.times[at]++
			}
		}
	}
}

// vocabulary numbers words from 1. It is a hash table with open addressing; the
// seed keeps hostile texts from filling one place.
type vocabulary struct {
	seed  maphash.Seed
	slots []vocabularySlot
	words []string // by number, less 1
}

type vocabularySlot struct {
	hash uint32
	id   uint32 // 0 is an empty slot
}

func newVocabulary(words int) vocabulary {
	return vocabulary{seed: maphash.MakeSeed(), slots: make([]vocabularySlot, tableSize(words)), words: make([]string, 0, words)}
}

// slot returns the slot of word, or the empty one where it belongs.
func (v *vocabulary) slot(word string) (*vocabularySlot, uint32) {
	h := maphash.String(v.seed, word)
	short := uint32(h >> 32)
	for i := h; ; i++ {
		s := &v.slots[i&uint64(len(v.slots)-1)]
		if s.id == 0 || s.hash == short && v.words[s.id-1] == word {
			return s, short
		}
	}
}

func (v *vocabulary) add(word string) uint32 {
	s, hash := v.slot(word)
	if s.id == 0 {
		v.words = append(v.words, word)
		*s = vocabularySlot{hash: hash, id: uint32(len(v.words))}
	}
	return s.id
}

// find returns the number of word, 0 if it is not there.
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

func newTrie(words uint32, sequences int) trie {
	return trie{slots: make([]trieSlot, tableSize(sequences)), size: words}
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

// child returns the sequence that word makes of node, 0 if there is none.
func (t *trie) child(node, word uint32) uint32 { return t.slot(node, word).node }

// tableSize returns a power of two that n entries fill to less than two thirds.
func tableSize(n int) int {
	size := 8
	for size < n+n/2 {
		size *= 2
	}
	return size
}
