package run

import (
	"crypto/sha256"
	"hash"
	"sync"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
)

// hashedFiles reads files and adds their content to a hash while a plan is
// made, so that a run whose scripts or schemas have changed has another hash.
type hashedFiles struct {
	files proviso.Files

	mu   sync.Mutex
	into hash.Hash
	seen map[string]bool
	done bool // the plan is made; later reads do not count
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

// Show is the name of a file in messages.
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
