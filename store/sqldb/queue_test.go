package sqldb

import (
	"fmt"
	"testing"
	"time"
)

// TestChangeQueue: a writer gets all waiting changes except those of projects that another
// writer is changing. Those wait together for the next free writer.
func TestChangeQueue(t *testing.T) {
	t.Parallel()
	q := newChangeQueue(2)
	closing := make(chan struct{})
	add := func(projects ...string) (list []*change) {
		for _, p := range projects {
			c := &change{project: p}
			q.add(c)
			list = append(list, c)
		}
		return list
	}
	names := func(batch []*change) (text string) {
		for _, c := range batch {
			text += c.project
		}
		return text
	}
	add("a", "b", "a")
	first := q.take(closing)
	late := add("a", "c", "b", "a", "c")
	second := q.take(closing)
	if got := names(first) + " " + names(second); got != "aba cc" {
		t.Errorf("two writers have %q", got)
	}
	if !q.remove(late[2]) || q.remove(late[2]) || q.remove(late[1]) {
		t.Error("what waits can be taken back once, and what a writer has cannot")
	}
	third := make(chan []*change)
	go func() { third <- q.take(closing) }()
	select {
	case batch := <-third:
		t.Fatalf("a third writer has %q", names(batch))
	case <-time.After(10 * time.Millisecond):
	}
	q.done(first)
	if got := names(<-third); got != "aa" {
		t.Errorf("after the first writer: %q", got)
	}
	close(closing)
	add("d")
	if batch := q.take(closing); batch != nil {
		t.Errorf("after the end: %q", names(batch))
	}
}

// TestChangeQueueBatch: a batch is bounded; further changes of its projects wait for it.
func TestChangeQueueBatch(t *testing.T) {
	t.Parallel()
	q := newChangeQueue(1)
	for i := range maxBatch + 10 {
		q.add(&change{project: fmt.Sprint(i % 3)})
	}
	first := q.take(nil)
	if len(first) != maxBatch || len(q.ready()) != 0 {
		t.Errorf("%d changes in a batch", len(first))
	}
	q.done(first)
	if n := len(q.take(nil)); n != 10 {
		t.Errorf("%d changes are left", n)
	}
}
