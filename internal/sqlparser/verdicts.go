package sqlparser

import "sync"

const (
	generation = 1024    // verdicts per generation
	keptLength = 4 << 10 // maximum bytes of a statement whose verdict is cached
)

// key is a statement of a dialect.
type key struct{ dialect, sql string }

// verdicts caches the parser's results for the latest statements: when the younger
// of two generations is full, the older one is dropped.
type verdicts struct {
	mu         sync.Mutex
	young, old map[key]string // the parser's message, "" if it accepted the statement
}

func (v *verdicts) get(k key) (refusal string, ok bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if refusal, ok = v.young[k]; ok {
		return refusal, true
	}
	if refusal, ok = v.old[k]; ok {
		v.put(k, refusal)
	}
	return refusal, ok
}

func (v *verdicts) add(k key, refusal string) {
	if len(k.sql) > keptLength {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.put(k, refusal)
}

func (v *verdicts) put(k key, refusal string) {
	if v.young == nil || len(v.young) >= generation {
		v.old, v.young = v.young, make(map[key]string)
	}
	v.young[k] = refusal
}
