package proviso

import (
	"time"

	"github.com/proviso-eval/proviso/value"
)

// Cache stores entries by key: model answers or judge verdicts. Package engine implements
// it in a folder; a program may supply its own. Implementations are safe for concurrent
// use.
type Cache interface {
	// Get returns the entry for key and the time it was written, or nil if there is none.
	// A key has 64 hexadecimal digits.
	Get(key string) (entry *value.Object, written time.Time, err error)
	// Put stores entry under key. It must not change entry later.
	Put(key string, entry *value.Object) error
}
