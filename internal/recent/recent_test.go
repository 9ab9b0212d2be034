package recent_test

import (
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/proviso-eval/proviso/internal/recent"
)

func TestTheLeastRecentGoes(t *testing.T) {
	t.Parallel()
	var gone []string
	c := recent.New[string](recent.Options[string]{Entries: 2, Evicted: func(v string) { gone = append(gone, v) }})
	c.Add("a", "A")
	c.Add("b", "B")
	if v, ok := c.Get("a"); !ok || v != "A" {
		t.Errorf("a: %q, %v", v, ok)
	}
	c.Add("a", "second") // does not replace
	c.Add("c", "C")
	if _, ok := c.Get("b"); ok {
		t.Error("b is still there")
	}
	if v, _ := c.Get("a"); v != "A" {
		t.Errorf("a: %q", v)
	}
	c.Clear()
	if _, ok := c.Get("c"); ok || !slices.Equal(gone, []string{"B", "C", "A"}) {
		t.Errorf("gone: %q", gone)
	}
}

func TestTheSumOfSizesIsBounded(t *testing.T) {
	t.Parallel()
	c := recent.New[int](recent.Options[int]{Entries: 100, Size: func(v int) int { return v }, Total: 10})
	for _, size := range []int{4, 5, 3} {
		c.Add(size, size)
	}
	if _, ok := c.Get(4); ok {
		t.Error("12 of 10 are kept")
	}
	if _, ok := c.Get(5); !ok {
		t.Error("more than necessary was dropped")
	}
	c.Add(50, 50) // too large, but the latest
	if _, ok := c.Get(50); !ok {
		t.Error("the latest was dropped")
	}
	c.Add(1, 1)
	if _, ok := c.Get(50); ok {
		t.Error("51 of 10 are kept")
	}
}

func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	c := recent.New[string](recent.Options[int]{Entries: 8})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range 1000 {
				key := strconv.Itoa(i % 16)
				c.Add(key, i%16)
				if v, ok := c.Get(key); ok && strconv.Itoa(v) != key {
					t.Errorf("%s has %d", key, v)
				}
			}
		})
	}
	all.Wait()
}

func BenchmarkGet(b *testing.B) {
	c := recent.New[[2]string](recent.Options[*int]{Entries: 512})
	keys := make([][2]string, 512)
	for i := range keys {
		keys[i] = [2]string{"pattern-" + strconv.Itoa(i), "i"}
		c.Add(keys[i], new(int))
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		c.Get(keys[i&511])
	}
}
