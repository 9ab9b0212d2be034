package files

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/label"
	"github.com/proviso-eval/proviso/store"
)

// queue is a label queue. Queues are in memory and end with the process. The labels stay, so a
// queue that is made again continues where it was.
type queue struct {
	store.LabelQueue
	items  []label.Item
	people []int            // number of people who labelled each item
	at     map[item]int     // position of each item
	leases map[string]*held // by id
	on     map[int][]*held  // by position
	from   map[string]int   // position before which a person has labelled all open items
	mine   map[string]int   // number of items that a person labelled
}

// item is the subject of a queue item.
type item struct {
	index     int
	assertion string
}

// held is an item that a person has leased.
type held struct {
	id, by   string
	position int
	expires  time.Time
}

// open reports whether an item needs further labels.
func (q *queue) open(position int) bool { return q.people[position] < q.People }

// count adds add to the number of people who labelled a subject.
func (q *queue) count(of subject, add int) {
	i, ok := q.at[item{of.Index, of.Assertion}]
	if !ok || of.Run != q.Run {
		return
	}
	q.mine[of.by] += add
	was := q.open(i)
	q.people[i] += add
	switch now := q.open(i); {
	case was && !now:
		q.Done++
	case !was && now:
		q.Done--
	}
	if add < 0 {
		for by, from := range q.from {
			q.from[by] = min(from, i)
		}
	}
}

// end ends a lease.
func (q *queue) end(h *held) {
	delete(q.leases, h.id)
	q.on[h.position] = slices.DeleteFunc(q.on[h.position], func(x *held) bool { return x == h })
	if len(q.on[h.position]) == 0 {
		delete(q.on, h.position)
	}
}

// makeRoom ends the oldest lease of a person who has the maximum number of leases.
func (q *queue) makeRoom(by string) {
	var first *held
	n := 0
	for _, h := range q.leases {
		if h.by != by {
			continue
		}
		if n++; first == nil || h.id < first.id {
			first = h
		}
	}
	if n >= store.MaxLeases {
		q.end(first)
	}
}

// expire ends expired leases.
func (q *queue) expire(now time.Time) {
	for _, h := range q.leases {
		if !h.expires.After(now) {
			q.end(h)
		}
	}
}

// countPerson adds add to a subject's number of people in all queues; s.mu must be held.
func (s *labels) countPerson(of subject, add int) {
	for _, q := range s.queues {
		q.count(of, add)
	}
}

// endLease ends the person's leases on the labelled subject, and adds to the label how its
// queue chose the item; s.mu must be held.
func (s *labels) endLease(n *store.NewLabel) error {
	for _, q := range s.queues {
		if h := q.leases[n.Lease]; h != nil && h.by == n.By {
			if x := q.items[h.position]; n.Run != q.Run || n.Index != x.Index || n.Assertion != x.Assertion {
				return proviso.Errorf(proviso.Conflict, "the lease is on row %d and assertion %q, not on the labelled item", x.Index, x.Assertion)
			}
		}
	}
	for _, q := range s.queues {
		i, ok := q.at[item{n.Index, n.Assertion}]
		if !ok || q.Run != n.Run {
			continue
		}
		if q.Name == n.Queue && n.Stratum == "" {
			n.Stratum, n.Rank, n.Population = q.items[i].Stratum, q.items[i].Rank, q.items[i].Population
		}
		for _, h := range slices.Clone(q.on[i]) {
			if h.by == n.By {
				q.end(h)
			}
		}
	}
	return nil
}

// PutLabelQueue implements [store.LabelQueues].
func (p project) PutLabelQueue(ctx context.Context, n store.NewLabelQueue) (out store.LabelQueue, created bool, err error) {
	if err := n.Check(); err != nil {
		return out, false, err
	}
	if !p.here || p.s.readOnly || n.Run == "" {
		return out, false, refused()
	}
	err = p.useLabels(ctx, func(s *labels) error {
		q := &queue{items: n.Items, people: make([]int, len(n.Items)), at: make(map[item]int, len(n.Items)), leases: map[string]*held{}, on: map[int][]*held{}, from: map[string]int{}, mine: map[string]int{}}
		n.Items, n.People = nil, max(n.People, 1)
		q.LabelQueue = store.LabelQueue{NewLabelQueue: n, Size: len(q.items), Created: s.now().UTC().Truncate(time.Microsecond)}
		for i, x := range q.items {
			q.at[item{x.Index, x.Assertion}] = i
		}
		for of := range s.said {
			q.count(of, 1)
		}
		created = s.queues[n.Name] == nil
		s.queues[n.Name] = q
		out = q.LabelQueue
		return nil
	})
	return out, created, err
}

// queueNamed calls do with a queue.
func (p project) queueNamed(ctx context.Context, name string, do func(*labels, *queue) error) error {
	return p.useLabels(ctx, func(s *labels) error {
		q := s.queues[name]
		if q == nil || !p.here {
			return proviso.Errorf(proviso.NotFound, "there is no queue of labels %q", name[:min(len(name), 80)])
		}
		return do(s, q)
	})
}

// LabelQueue implements [store.LabelQueues].
func (p project) LabelQueue(ctx context.Context, name string) (out store.LabelQueue, err error) {
	err = p.queueNamed(ctx, name, func(_ *labels, q *queue) error {
		out = q.LabelQueue
		return nil
	})
	return out, err
}

// ListLabelQueues implements [store.LabelQueues].
func (p project) ListLabelQueues(ctx context.Context, page store.Page) (out store.List[store.LabelQueue], err error) {
	const kind = "label queues"
	after, ok, err := page.Position(kind)
	if err != nil || !p.here {
		return out, err
	}
	err = p.useLabels(ctx, func(s *labels) error {
		var all []store.LabelQueue
		for _, q := range s.queues {
			if !ok || q.Name > after {
				all = append(all, q.LabelQueue)
			}
		}
		slices.SortFunc(all, func(a, b store.LabelQueue) int { return strings.Compare(a.Name, b.Name) })
		if size := page.Size(); len(all) > size {
			out.Next = store.Cursor(kind, all[size-1].Name)
			all = all[:size]
		}
		out.Items = all
		return nil
	})
	return out, err
}

// DeleteLabelQueue implements [store.LabelQueues].
func (p project) DeleteLabelQueue(ctx context.Context, name string) error {
	return p.queueNamed(ctx, name, func(s *labels, _ *queue) error {
		delete(s.queues, name)
		return nil
	})
}

// LeaseLabel implements [store.LabelQueues].
func (p project) LeaseLabel(ctx context.Context, r store.LeaseRequest) (out *store.Lease, err error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	err = p.queueNamed(ctx, r.Queue, func(s *labels, q *queue) error {
		now := s.now().UTC().Truncate(time.Microsecond)
		q.expire(now)
		h, err := s.choose(q, &r)
		if err != nil || h == nil {
			return err
		}
		if h.id == "" {
			q.makeRoom(r.By)
			h.id = store.NewID(store.LeaseID, now)
			q.leases[h.id], q.on[h.position] = h, append(q.on[h.position], h)
		}
		h.expires = now.Add(r.For)
		out = &store.Lease{ID: h.id, Expires: h.expires, Item: q.items[h.position], Left: q.Size - q.Done, Mine: q.mine[r.By]}
		for i := 0; q.People > 1 && i < len(q.items); i++ {
			if q.people[i] > 0 && q.open(i) && s.has(q, q.items[i], r.By) {
				out.Left--
			}
		}
		return nil
	})
	return out, err
}

// has reports whether a person has labelled an item.
func (s *labels) has(q *queue, x label.Item, by string) bool {
	_, ok := s.said[subject{label.Subject{Run: q.Run, Index: x.Index, Assertion: x.Assertion}, by}]
	return ok
}

// choose returns the requested lease, or a new one without an id; nil if there is nothing to
// label.
func (s *labels) choose(q *queue, r *store.LeaseRequest) (*held, error) {
	if r.Lease != "" {
		if h := q.leases[r.Lease]; h != nil && h.by == r.By {
			return h, nil
		}
		return nil, proviso.Errorf(proviso.NotFound, "the lease %q has ended; a label without it is kept anyway", r.Lease[:min(len(r.Lease), 80)])
	}
	if r.Resume {
		var first *held
		for _, h := range q.leases {
			if h.by == r.By && (first == nil || h.position < first.position) {
				first = h
			}
		}
		if first != nil {
			return first, nil
		}
	}
	off := map[int]bool{}
	for _, x := range r.Skip {
		if i, ok := q.at[item{x.Index, x.Assertion}]; ok {
			off[i] = true
		}
	}
	reached := false
	for i := q.from[r.By]; i < len(q.items); i++ {
		if !q.open(i) || s.has(q, q.items[i], r.By) {
			continue
		}
		if !reached {
			q.from[r.By], reached = i, true
		}
		mine := slices.ContainsFunc(q.on[i], func(h *held) bool { return h.by == r.By })
		if !mine && !off[i] && q.people[i]+len(q.on[i]) < q.People {
			return &held{by: r.By, position: i}, nil
		}
	}
	return nil, nil
}

// ReturnLabel implements [store.LabelQueues].
func (p project) ReturnLabel(ctx context.Context, name, lease, by string) error {
	return p.queueNamed(ctx, name, func(s *labels, q *queue) error {
		q.expire(s.now())
		h := q.leases[lease]
		if h == nil || h.by != by {
			return proviso.Errorf(proviso.NotFound, "there is no lease %q", lease[:min(len(lease), 80)])
		}
		q.end(h)
		return nil
	})
}

// ListLabelItems implements [store.LabelQueues].
func (p project) ListLabelItems(ctx context.Context, name string, page store.Page) (out store.List[store.LabelItem], err error) {
	const kind = "label items"
	after, ok, err := page.Number(kind)
	if err != nil {
		return out, err
	}
	err = p.queueNamed(ctx, name, func(_ *labels, q *queue) error {
		from := 0
		if ok {
			from = int(min(max(after, -1), int64(len(q.items)))) + 1
		}
		for i := from; i < len(q.items); i++ {
			if len(out.Items) == page.Size() {
				out.Next = store.Cursor(kind, strconv.Itoa(i-1))
				break
			}
			out.Items = append(out.Items, store.LabelItem{Item: q.items[i], People: q.people[i]})
		}
		return nil
	})
	return out, err
}
