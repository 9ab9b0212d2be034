// Package tokens counts the tokens of a text as OpenAI's tiktoken does, in its encodings
// o200k_base and cl100k_base. Start at [Encoding.Count].
//
// A text is split into pieces by the pattern of the encoding ([split.go]), and each piece
// into tokens by byte pair encoding with its vocabulary ([vocabulary.go]). Sennrich, Haddow
// and Birch, "Neural Machine Translation of Rare Words with Subword Units" (2016), describe
// the method.
package tokens

import (
	"math"
	"unicode/utf8"
)

// Encoding splits text into tokens. It is safe for concurrent use. The first call
// takes about 50 ms; from then on the vocabulary occupies megabytes of memory.
type Encoding struct {
	vocabulary func() map[string]uint32 // the rank of each token
	next       func(text string) int    // the length of the first piece of a text that is not empty
}

// O200k returns the encoding o200k_base, of GPT-4o and later.
func O200k() *Encoding { return &o200k }

// Cl100k returns the encoding cl100k_base, of GPT-3.5 and GPT-4.
func Cl100k() *Encoding { return &cl100k }

var (
	o200k  = Encoding{o200kVocabulary, o200kPiece}
	cl100k = Encoding{cl100kVocabulary, cl100kPiece}
)

// Count returns the number of tokens in a text. A byte that is not UTF-8 counts as
// U+FFFD, and special tokens count as plain text. Its time is quadratic in the
// length of a piece: 8 KiB without a boundary take less than a tenth of a second.
func (e *Encoding) Count(text string) int {
	if !utf8.ValidString(text) {
		text = string([]rune(text))
	}
	ranks, n := e.vocabulary(), 0
	var parts []part
	for text != "" {
		end := e.next(text)
		piece := text[:end]
		text = text[end:]
		if _, ok := ranks[piece]; ok {
			n++
			continue
		}
		parts = merged(parts[:0], ranks, piece)
		n += len(parts) - 1
	}
	return n
}

// part is a possible start of a token, and the rank of the token that it forms with
// the next part.
type part struct {
	offset int
	rank   uint32
}

const noRank = math.MaxUint32

// merged joins the neighbours with the lowest rank, the first of equal ones, until
// no two form a token. The result has the start of each token, and the end of the
// piece.
func merged(parts []part, ranks map[string]uint32, piece string) []part {
	rank := func(from, to int) uint32 {
		if r, ok := ranks[piece[from:to]]; ok {
			return r
		}
		return noRank
	}
	for i := range len(piece) {
		r := uint32(noRank)
		if i+2 <= len(piece) {
			r = rank(i, i+2)
		}
		parts = append(parts, part{i, r})
	}
	parts = append(parts, part{len(piece), noRank})
	for {
		lowest, at := uint32(noRank), -1
		for i := range parts {
			if parts[i].rank < lowest {
				lowest, at = parts[i].rank, i
			}
		}
		if at < 0 {
			return parts
		}
		parts = append(parts[:at+1], parts[at+2:]...)
		for i := max(at-1, 0); i <= at; i++ {
			parts[i].rank = noRank
			if i+2 < len(parts) {
				parts[i].rank = rank(parts[i].offset, parts[i+2].offset)
			}
		}
	}
}
