package run

import (
	"crypto/sha256"
	"hash"
	"maps"
	"slices"
	"sync"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
)

// hashedFiles reads files, and adds their content to a hash while a plan is made, so that a run
// whose scripts or schemas have changed has another hash.
type hashedFiles struct {
	files proviso.Files

	mu   sync.Mutex
	into hash.Hash
	seen map[string]bool
	done bool // the plan is made; later reads are not hashed
}

func newHashedFiles(files proviso.Files, into hash.Hash) *hashedFiles {
	return &hashedFiles{files: files, into: into, seen: map[string]bool{}}
}

// ReadFile reads a file of the suite.
func (h *hashedFiles) ReadFile(name string) ([]byte, error) {
	data, err := h.files.ReadFile(name)
	h.mu.Lock()
	defer h.mu.Unlock()
	if err == nil && !h.done && !h.seen[name] {
		h.seen[name] = true
		sum := sha256.Sum256(data)
		h.into.Write(append([]byte(name+"\x00"), sum[:]...))
	}
	return data, err
}

// Show returns the name of a file for messages.
func (h *hashedFiles) Show(name string) string { return check.Shown(h.files, name) }

// close stops adding files to the hash.
func (h *hashedFiles) close() {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.done = true
}

var _ proviso.Files = (*hashedFiles)(nil)

// Included reads the files that prompts include and keeps their hashes: a run must not mix
// answers to two versions of a file. It is safe for concurrent use.
type Included struct {
	read func(name string) (string, error)

	mu     sync.Mutex
	hashes map[string][sha256.Size]byte // by name
}

// NewIncluded returns an Included that reads files with read.
func NewIncluded(read func(name string) (string, error)) *Included {
	return &Included{read: read, hashes: map[string][sha256.Size]byte{}}
}

// Read returns the text of a file.
func (n *Included) Read(name string) (string, error) {
	text, err := n.read(name)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.hashes[name] = sha256.Sum256([]byte(text)) // a missing file counts as empty
	return text, err
}

// sum returns a hash of all files that were read, or nil if there are none.
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
