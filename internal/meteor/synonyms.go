package meteor

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"io"
	"strings"
	"sync"
)

// packed holds the synonyms of WordNet 3.1 (Princeton University; its licence is
// in THIRD_PARTY_NOTICES), written by internal/generate: lines sorted by lemma,
// each the lemma, a tab and its synonyms separated by spaces, compressed with
// gzip.
//
//go:embed synonyms.txt.gz
var packed []byte

// unpacked is the text of packed: two megabytes that are allocated only when a
// score first needs them.
var unpacked = sync.OnceValues(func() (string, error) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return "", fmt.Errorf("synonyms: %w", err)
	}
	var b strings.Builder
	b.Grow(3 * len(packed))
	if _, err := io.Copy(&b, z); err != nil {
		return "", fmt.Errorf("synonyms: %w", err)
	}
	return b.String(), nil
})

// synonyms returns the synonyms of lemma in text, separated by spaces; "" if it has
// none. It uses binary search over the lines.
func synonyms(text, lemma string) string {
	lo, hi := 0, len(text) // both at the beginning of a line
	for lo < hi {
		start := strings.LastIndexByte(text[lo:lo+(hi-lo)/2], '\n') + 1 + lo
		line := text[start:]
		end := strings.IndexByte(line, '\n')
		if end < 0 {
			end = len(line)
		}
		key, members, _ := strings.Cut(line[:end], "\t")
		switch {
		case key == lemma:
			return members
		case key < lemma:
			lo = min(start+end+1, hi)
		default:
			hi = start
		}
	}
	return ""
}
