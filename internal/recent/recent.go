// Package recent caches the most recently used values, so that reusing compiled
// values takes bounded memory. Start at [New].
package recent

import (
	"container/list"
	"sync"
)

// Options bound a cache.
type Options[V any] struct {
	// Entries is the maximum number of values.
	Entries int
	// Size and Total also bound the sum of the sizes of the values; the latest value is
	// kept regardless of its size. Without Size only Entries counts.
	Size  func(V) int
	Total int
	// Evicted is called with each value that leaves the cache. It must not use the
	// cache.
	Evicted func(V)
}

// Cache holds values by key. It is safe for concurrent use.
type Cache[K comparable, V any] struct {
	options Options[V]

	mu    sync.Mutex
	order *list.List // of entry[K, V], the latest first
	byKey map[K]*list.Element
	total int
}

type entry[K comparable, V any] struct {
	key   K
	value V
}

// New returns an empty cache.
func New[K comparable, V any](o Options[V]) *Cache[K, V] {
	return &Cache[K, V]{options: o, order: list.New(), byKey: map[K]*list.Element{}}
}

// Get returns the value of a key and whether there is one. The value becomes the
// most recently used.
func (c *Cache[K, V]) Get(key K) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byKey[key]
	if !ok {
		var none V
		return none, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*entry[K, V]).value, true
}

// Add stores a value unless its key has one, and evicts the least recently used
// values beyond the bounds.
func (c *Cache[K, V]) Add(key K, value V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.byKey[key]; ok {
		return
	}
	c.byKey[key] = c.order.PushFront(&entry[K, V]{key, value})
	c.total += c.size(value)
	for c.order.Len() > 1 && (c.order.Len() > c.options.Entries || c.options.Size != nil && c.total > c.options.Total) {
		c.dropLast()
	}
}

// Clear removes every value.
func (c *Cache[K, V]) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.order.Len() > 0 {
		c.dropLast()
	}
}

func (c *Cache[K, V]) size(v V) int {
	if c.options.Size == nil {
		return 0
	}
	return c.options.Size(v)
}

func (c *Cache[K, V]) dropLast() {
	e := c.order.Remove(c.order.Back()).(*entry[K, V])
	delete(c.byKey, e.key)
	c.total -= c.size(e.value)
	if c.options.Evicted != nil {
		c.options.Evicted(e.value)
	}
}
