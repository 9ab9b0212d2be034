package template

import (
	"container/list"
	"sync"
)

// cache keeps the compiled templates that were used last.
type cache struct {
	mu    sync.Mutex
	max   int
	order list.List // of *entry, the most recently used first
	byKey map[string]*list.Element
}

type entry struct {
	text     string
	template *Template
}

func newCache(n int) *cache { return &cache{max: n, byKey: map[string]*list.Element{}} }

// get returns the template, or nil.
func (c *cache) get(text string) *Template {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, ok := c.byKey[text]
	if !ok {
		return nil
	}
	c.order.MoveToFront(at)
	return at.Value.(*entry).template
}

func (c *cache) add(text string, t *Template) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.byKey[text]; ok {
		return
	}
	c.byKey[text] = c.order.PushFront(&entry{text, t})
	if c.order.Len() > c.max {
		last := c.order.Back()
		c.order.Remove(last)
		delete(c.byKey, last.Value.(*entry).text)
	}
}
