package tokens

import (
	"bytes"
	"compress/gzip"
	_ "embed" // for the vocabularies
	"encoding/binary"
	"io"
	"sync"
	"unsafe"
)

// The vocabularies of tiktoken: the tokens by rank, each preceded by its length.
// They are data and not Go literals, because the linker would read hundreds of
// thousands of symbols for every program that can count tokens. `go test
// ./internal/tokens -update` writes them.

//go:embed o200k.gz
var o200kData []byte

//go:embed cl100k.gz
var cl100kData []byte

var (
	o200kVocabulary  = sync.OnceValue(func() map[string]uint32 { return read(o200kData) })
	cl100kVocabulary = sync.OnceValue(func() map[string]uint32 { return read(cl100kData) })
)

// read returns the ranks of a vocabulary. The data is embedded: tests would find a
// mistake in it.
func read(packed []byte) map[string]uint32 {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil
	}
	data, err := io.ReadAll(z)
	if err != nil || len(data) == 0 {
		return nil
	}
	all := unsafe.String(&data[0], len(data)) // nothing writes to data from here on
	ranks := make(map[string]uint32, 200_000)
	for at := 0; at < len(data); {
		n, width := binary.Uvarint(data[at:])
		from := at + width
		at = from + int(n)
		ranks[all[from:at]] = uint32(len(ranks))
	}
	return ranks
}
