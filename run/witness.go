package run

import (
	"crypto/sha256"
	"hash"
	"sync"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
)

// witness reads files and remembers what they held while a plan was made, so that
// a run whose scripts or schemas have changed is another run.
type witness struct {
	files proviso.Files

	mu   sync.Mutex
	into hash.Hash
	seen map[string]bool
	done bool // the plan is made; what is read now does not count
}

func newWitness(files proviso.Files, into hash.Hash) *witness {
	return &witness{files: files, into: into, seen: map[string]bool{}}
}

// ReadFile reads a file of the suite.
func (w *witness) ReadFile(name string) ([]byte, error) {
	data, err := w.files.ReadFile(name)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil && !w.done && !w.seen[name] {
		w.seen[name] = true
		sum := sha256.Sum256(data)
		w.into.Write(append([]byte(name+"\x00"), sum[:]...))
	}
	return data, err
}

// Show is the name of a file for messages.
func (w *witness) Show(name string) string { return check.Shown(w.files, name) }

// close ends the remembering.
func (w *witness) close() {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done = true
}

var _ proviso.Files = (*witness)(nil)
