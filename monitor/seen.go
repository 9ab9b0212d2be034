package monitor

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
)

const (
	seenBits   = 1 << 14 // bits in each half
	seenHashes = 7
	seenMost   = seenBits / 10 // entries per half; about 1 % of new ones are then taken for known
)

// seen records the conversations with an evaluation in a chart: at least the last
// seenMost of them, in two Bloom filters. When the newer filter is full, the older one is
// emptied. A conversation that is mistaken for a known one is omitted regardless of its
// verdict, which introduces no bias.
type seen struct {
	halves [2][]byte // nil while empty
	n      int       // entries of the first half
}

// add records a conversation, and reports whether it is new.
func (s *seen) add(conversation string) bool {
	sum := sha256.Sum256([]byte(conversation))
	step, at := binary.LittleEndian.Uint64(sum[:])|1, binary.LittleEndian.Uint64(sum[8:])
	known := [2]bool{s.halves[0] != nil, s.halves[1] != nil}
	for i := range uint64(seenHashes) {
		bit := (at + i*step) % seenBits
		for h, half := range s.halves {
			known[h] = known[h] && half[bit/8]&(1<<(bit%8)) != 0
		}
	}
	if known[0] || known[1] {
		return false
	}
	if s.halves[0] == nil || s.n >= seenMost {
		s.halves[0], s.halves[1], s.n = make([]byte, seenBits/8), s.halves[0], 0
	}
	for i := range uint64(seenHashes) {
		bit := (at + i*step) % seenBits
		s.halves[0][bit/8] |= 1 << (bit % 8)
	}
	s.n++
	return true
}

// seenJSON is the saved form of [seen].
type seenJSON struct {
	N      int      `json:"n"`
	Halves []string `json:"halves,omitempty"`
}

// MarshalJSON encodes the filters as base64.
func (s *seen) MarshalJSON() ([]byte, error) {
	out := seenJSON{N: s.n}
	for _, h := range s.halves {
		if h != nil {
			out.Halves = append(out.Halves, base64.StdEncoding.EncodeToString(h))
		}
	}
	return json.Marshal(out)
}

// UnmarshalJSON decodes the output of MarshalJSON.
func (s *seen) UnmarshalJSON(data []byte) error {
	var in seenJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	*s = seen{n: in.N}
	for i, text := range in.Halves[:min(2, len(in.Halves))] {
		half, err := base64.StdEncoding.DecodeString(text)
		if err != nil || len(half) != seenBits/8 {
			return errDamaged
		}
		s.halves[i] = half
	}
	return nil
}
