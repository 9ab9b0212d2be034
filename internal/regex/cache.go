package regex

import (
	"container/list"
	"sync"
)

type cacheKey struct{ pattern, flags string }

// cache keeps the patterns that were used last.
type cache struct {
	mu    sync.Mutex
	limit int
	order *list.List // of *Regexp, the latest first
	byKey map[cacheKey]*list.Element
}

func newCache(limit int) *cache {
	return &cache{limit: limit, order: list.New(), byKey: map[cacheKey]*list.Element{}}
}

func (c *cache) get(key cacheKey) *Regexp {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.byKey[key]
	if e == nil {
		return nil
	}
	c.order.MoveToFront(e)
	return e.Value.(*Regexp)
}

func (c *cache) put(key cacheKey, r *Regexp) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byKey[key] != nil {
		return
	}
	c.byKey[key] = c.order.PushFront(r)
	if c.order.Len() > c.limit {
		last := c.order.Remove(c.order.Back()).(*Regexp)
		delete(c.byKey, cacheKey{last.pattern, last.flags})
	}
}
