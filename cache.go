package proviso

import (
	"time"

	"github.com/proviso-eval/proviso/value"
)

// Cache keeps entries by key: the answers of models, or the verdicts of judges. Package
// engine has one in a folder; a program may bring its own. Implementations are safe for
// concurrent use.
type Cache interface {
	// Get returns the entry of a key and the time when it was written, or nil if there
	// is none. A key has 64 hexadecimal digits.
	Get(key string) (entry *value.Object, written time.Time, err error)
	// Put makes entry the entry of key. It must not change entry later.
	Put(key string, entry *value.Object) error
}
