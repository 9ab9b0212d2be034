package ngram

import (
	"errors"
	"math/bits"
)

// maxLCS bounds the product of the word counts of two texts whose longest common
// subsequence is computed: about a second of work.
const maxLCS = 1 << 36

// errTooLong is the error for texts that are too long to compare.
var errTooLong = errors.New("the texts are too long to find their longest common subsequence")

// ROUGEL is the F1 of the longest common subsequence of words (C.-Y. Lin, "ROUGE:
// A Package for Automatic Evaluation of Summaries", 2004, section 3.1, with beta
// 1). Memory grows with the length of the texts, time with the product of their
// word counts over 64; beyond a bound the error is [errTooLong].
func (r *Reference) ROUGEL(candidate []string) (float64, error) {
	if len(candidate)*len(r.words) > maxLCS {
		return 0, errTooLong
	}
	return F1(r.lcs(candidate), len(candidate), len(r.words)), nil
}

// lcs returns the length of the longest common subsequence, 64 words of the
// reference at a time (H. Hyyrö, "Bit-Parallel LCS-length Computation Revisited",
// 2004). A zero bit of row means that the length increases at that word; carry
// passes the sums of one block to the next, for each word of candidate.
func (r *Reference) lcs(candidate []string) int {
	w := r.memory.take()
	defer r.memory.give(w)
	x := r.index(w)
	ids := make([]uint32, 0, len(candidate))
	for _, word := range candidate {
		if id := x.vocab.find(word); id > 0 {
			ids = append(ids, id-1)
		}
	}
	places := make([]uint64, len(x.counts)) // positions of each word in the block
	carry := make([]uint64, len(ids))
	length := 0
	for start := 0; start < len(x.ids); start += 64 {
		block := x.ids[start:min(start+64, len(x.ids))]
		for i, id := range block {
			places[id-1] |= 1 << i
		}
		row := ^uint64(0)
		for j, id := range ids {
			u := row & places[id]
			var sum uint64
			sum, carry[j] = bits.Add64(row, u, carry[j])
			row = sum | (row - u)
		}
		length += bits.OnesCount64(^row << (64 - len(block)))
		for _, id := range block {
			places[id-1] = 0
		}
	}
	return length
}
