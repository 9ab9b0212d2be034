package run

import (
	"crypto/sha256"
	"maps"
	"slices"
	"sync"
)

// Included reads the files that prompts include, and keeps their hashes: the answers to
// two texts of a file must not be in one run. It is safe for concurrent use.
type Included struct {
	read func(name string) (string, error)

	mu     sync.Mutex
	hashes map[string][sha256.Size]byte // by name
}

// NewIncluded returns files that read returns the text of.
func NewIncluded(read func(name string) (string, error)) *Included {
	return &Included{read: read, hashes: map[string][sha256.Size]byte{}}
}

// Read returns the text of a file.
func (n *Included) Read(name string) (string, error) {
	text, err := n.read(name)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.hashes[name] = sha256.Sum256([]byte(text)) // of a file that is missing, that of no text
	return text, err
}

// sum identifies the texts of all files that were read; it is nil if none was.
func (n *Included) sum() []byte {
	if n == nil {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	var all []byte
	for _, name := range slices.Sorted(maps.Keys(n.hashes)) {
		hash := n.hashes[name]
		all = append(append(append(all, name...), 0), hash[:]...)
	}
	return all
}
