package secrets

import (
	"bytes"
	"encoding/binary"
	"slices"
)

const (
	window     = 4  // bytes that are checked together
	filterBits = 16 // bits of a window's hash
)

// index finds forms in a text. It searches every row of a run, and almost never
// finds any. So a filter checks only the four-byte window at every fourth position.
// The filter has the windows at the first four offsets of each form; one of them is
// at such a position wherever the form is.
type index struct {
	forms  [][]byte // longest first, each of at least 2*window-1 bytes
	filter [1 << filterBits / 64]uint64
}

func newIndex(forms [][]byte) *index {
	x := &index{forms: forms}
	slices.SortStableFunc(x.forms, func(a, b []byte) int { return len(b) - len(a) })
	for _, form := range x.forms {
		for at := range window {
			h := hash(form[at:])
			x.filter[h/64] |= 1 << (h % 64)
		}
	}
	return x
}

func hash(b []byte) uint32 {
	return binary.LittleEndian.Uint32(b) * 0x9e3779b1 >> (32 - filterBits)
}

// in reports whether one of the forms occurs in text.
func (x *index) in(text []byte) bool {
	for i := 0; i+window <= len(text); i += window {
		if h := hash(text[i:]); x.filter[h/64]&(1<<(h%64)) != 0 && x.around(text, i) {
			return true
		}
	}
	return false
}

// around reports whether a form begins at i, or up to three bytes before.
func (x *index) around(text []byte, i int) bool {
	for start := max(0, i-window+1); start <= i; start++ {
		for _, form := range x.forms {
			if bytes.HasPrefix(text[start:], form) {
				return true
			}
		}
	}
	return false
}
