package storetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/label"
	"github.com/proviso-eval/proviso/store"
)

// queueOf returns a queue of rows of run_1 for a number of people.
func queueOf(rows, people int) store.NewLabelQueue {
	q := store.NewLabelQueue{Name: "q", Run: "run_1", Blind: true, People: people, CreatedBy: "key_1"}
	for i := range rows {
		q.Items = append(q.Items, label.Item{Index: i, Assertion: "a", Stratum: label.Informative, Rank: rows - i, Population: rows, Why: fmt.Sprint("why ", i)})
	}
	return q
}

// lease leases the next item for a person, and also returns it in a short form.
func (b *bench) lease(by string) (*store.Lease, string) {
	b.Helper()
	return b.leaseOf(store.LeaseRequest{Queue: "q", By: by, For: time.Minute})
}

func (b *bench) leaseOf(r store.LeaseRequest) (*store.Lease, string) {
	b.Helper()
	l := must(b.LeaseLabel(b.Context(), r))(b)
	if l == nil {
		return nil, "none"
	}
	return l, fmt.Sprintf("%d, %d left, %d mine", l.Item.Index, l.Left, l.Mine)
}

// answer labels a leased item.
func (b *bench) answer(by string, l *store.Lease) store.Label {
	b.Helper()
	n := said(by, l.Item.Index, l.Item.Assertion, label.Pass)
	n.Queue, n.Lease = "q", l.ID
	return must(b.AddLabel(b.Context(), n))(b)
}

var labelQueueTests = []test{
	{name: "remember", reopens: true, run: func(b *bench) {
		q, _, err := b.PutLabelQueue(b.Context(), queueOf(3, 0))
		b.ok(err)
		b.lease("ana")
		b.reopen()
		b.equal("the queue", must(b.LabelQueue(b.Context(), "q"))(b), q)
		_, got := b.lease("ben")
		b.equal("its leases", got, "1, 3 left, 0 mine")
	}},
	{name: "put", run: func(b *bench) {
		q, created, err := b.PutLabelQueue(b.Context(), queueOf(3, 0))
		b.ok(err)
		want := store.LabelQueue{NewLabelQueue: store.NewLabelQueue{Name: "q", Run: "run_1", Blind: true, People: 1, CreatedBy: "key_1"}, Size: 3, Created: start}
		b.equal("returned", fmt.Sprint(created, q), fmt.Sprint(true, want))
		b.equal("read back", must(b.LabelQueue(b.Context(), "q"))(b), want)
		b.labels(said("ana", 1, "a", label.Pass), said("ben", 1, "a", label.Pass), said("ana", 4, "a", label.Pass))
		again := queueOf(5, 2)
		q, created, err = b.PutLabelQueue(b.Context(), again)
		b.ok(err)
		b.equal("in its place, with labels from before", fmt.Sprint(created, q.Size, q.Done, q.People), "false 5 1 2")
		var items []string
		for _, i := range all(b, 2, pagesOf(b.ListLabelItems, "q")) {
			items = append(items, fmt.Sprint(i.Index, " ", i.Assertion, " ", i.Stratum, " ", i.Rank, " of ", i.Population, " ", i.Why, " ", i.People))
		}
		b.equal("items", items, []string{"0 a informative 5 of 5 why 0 0", "1 a informative 4 of 5 why 1 2", "2 a informative 3 of 5 why 2 0", "3 a informative 2 of 5 why 3 0", "4 a informative 1 of 5 why 4 1"})
		other := queueOf(1, 1)
		other.Name = "other"
		b.ok(errorOf(b.PutLabelQueue(b.Context(), other)))
		var names []string
		for _, x := range all(b, 1, b.ListLabelQueues) {
			names = append(names, fmt.Sprint(x.Name, " ", x.Size, " ", x.Done))
		}
		b.equal("listed", names, []string{"other 1 0", "q 5 1"})
		b.ok(b.DeleteLabelQueue(b.Context(), "other"))
		b.wants(proviso.NotFound, b.DeleteLabelQueue(b.Context(), "other"))
		b.wants(proviso.NotFound, errorOf(b.LabelQueue(b.Context(), "other")))
		b.wants(proviso.NotFound, errorOf(b.LeaseLabel(b.Context(), store.LeaseRequest{Queue: "other", By: "ana", For: time.Minute})))
		b.equal("labels stay", len(all(b, 5, pagesOf(b.ListLabels, store.LabelFilter{}))), 3)
	}},
	{name: "mistakes", run: func(b *bench) {
		for what, change := range map[string]func(*store.NewLabelQueue){
			"name": func(q *store.NewLabelQueue) { q.Name = "a\x1b" }, "no run": func(q *store.NewLabelQueue) { q.Run = "" }, "people": func(q *store.NewLabelQueue) { q.People = -1 },
			"many people": func(q *store.NewLabelQueue) { q.People = 1000 }, "no items": func(q *store.NewLabelQueue) { q.Items = nil },
		} {
			q := queueOf(2, 1)
			change(&q)
			if _, _, err := b.PutLabelQueue(b.Context(), q); err == nil {
				b.Errorf("%s: it is kept", what)
			} else {
				b.wants(proviso.Invalid, err)
			}
		}
		b.ok(errorOf(b.PutLabelQueue(b.Context(), queueOf(2, 1))))
		for _, r := range []store.LeaseRequest{{Queue: "q", By: "ana"}, {Queue: "q", By: "ana", For: 25 * time.Hour}, {Queue: "q", For: time.Minute}} {
			b.wants(proviso.Invalid, errorOf(b.LeaseLabel(b.Context(), r)))
		}
		for _, p := range []store.Page{{After: "x"}, {After: store.Cursor("labels", "1")}} {
			b.wants(proviso.Invalid, errorOf(b.ListLabelQueues(b.Context(), p)))
		}
	}},
	{name: "many leases", run: func(b *bench) {
		b.ok(errorOf(b.PutLabelQueue(b.Context(), queueOf(store.MaxLeases+5, 1))))
		var first *store.Lease
		for i := range store.MaxLeases + 3 { // the last two get the items of the first two again
			l, _ := b.leaseOf(store.LeaseRequest{Queue: "q", By: "ana", For: store.MaxLease})
			if i == 0 {
				first = l
			}
			b.clock.add(time.Millisecond)
		}
		_, got := b.lease("ben")
		b.equal("an item of a lease that ended", got, fmt.Sprintf("2, %d left, 0 mine", store.MaxLeases+5))
		b.wants(proviso.NotFound, b.ReturnLabel(b.Context(), "q", first.ID, "ana"))
	}},
	{name: "skip", run: func(b *bench) {
		b.ok(errorOf(b.PutLabelQueue(b.Context(), queueOf(3, 1))))
		next := func(by string, skip ...int) string {
			r := store.LeaseRequest{Queue: "q", By: by, For: time.Minute}
			for _, index := range skip {
				r.Skip = append(r.Skip, store.Skipped{Index: index, Assertion: "a"})
			}
			_, got := b.leaseOf(r)
			return got
		}
		one, _ := b.lease("ana")
		b.ok(b.ReturnLabel(b.Context(), "q", one.ID, "ana"))
		b.equal("another item", next("ana", 0, 1<<20), "1, 3 left, 0 mine")
		b.equal("what was skipped, for another person", next("ben"), "0, 3 left, 0 mine")
		b.equal("nothing else", next("ana", 0, 2), "none")
		b.wants(proviso.Limit, errorOf(b.LeaseLabel(b.Context(), store.LeaseRequest{Queue: "q", By: "ana", For: time.Minute, Skip: make([]store.Skipped, store.MaxSkip+1)})))
	}},
	{name: "leases", run: func(b *bench) {
		b.ok(errorOf(b.PutLabelQueue(b.Context(), queueOf(4, 1))))
		one, got := b.lease("ana")
		b.equal("first", got, "0, 4 left, 0 mine")
		b.equal("its item", one.Item, label.Item{Index: 0, Assertion: "a", Stratum: label.Informative, Rank: 4, Population: 4, Why: "why 0"})
		two, got := b.lease("ben")
		b.equal("of another person", got, "1, 4 left, 0 mine")
		three, got := b.lease("ana")
		b.equal("of the same in another tab", got, "2, 4 left, 0 mine")
		same, _ := b.leaseOf(store.LeaseRequest{Queue: "q", By: "ana", For: time.Minute, Resume: true})
		b.equal("resumed", fmt.Sprint(same.ID, same.Item.Index), fmt.Sprint(one.ID, 0))
		l := b.answer("ana", one)
		b.equal("how it was chosen", fmt.Sprint(l.Stratum, l.Rank, l.Population), "informative4 4")
		n := said("ben", 3, "a", label.Fail)
		n.Lease = two.ID
		b.wants(proviso.Conflict, errorOf(b.AddLabel(b.Context(), n)))
		b.wants(proviso.NotFound, b.ReturnLabel(b.Context(), "q", two.ID, "ana"))
		b.ok(b.ReturnLabel(b.Context(), "q", two.ID, "ben"))
		b.wants(proviso.NotFound, b.ReturnLabel(b.Context(), "q", two.ID, "ben"))
		back, got := b.lease("ana")
		b.equal("what was given back", got, "1, 3 left, 1 mine")
		b.clock.add(30 * time.Second)
		renewed, _ := b.leaseOf(store.LeaseRequest{Queue: "q", By: "ana", For: time.Minute, Lease: back.ID})
		b.equal("renewed", fmt.Sprint(renewed.ID == back.ID, renewed.Expires.Sub(back.Expires)), "true 30s")
		b.wants(proviso.NotFound, errorOf(b.LeaseLabel(b.Context(), store.LeaseRequest{Queue: "q", By: "ben", For: time.Minute, Lease: back.ID})))
		b.clock.add(31 * time.Second) // the lease of row 2 has expired
		_, got = b.lease("ben")
		b.equal("what has expired", got, "2, 3 left, 0 mine")
		b.wants(proviso.NotFound, errorOf(b.LeaseLabel(b.Context(), store.LeaseRequest{Queue: "q", By: "ana", For: time.Minute, Lease: three.ID})))
		b.answer("ana", three) // the label is stored all the same
		_, got = b.lease("ben")
		b.equal("the last", got, "3, 2 left, 0 mine")
		_, got = b.lease("ben")
		b.equal("when all are leased", got, "none")
		b.equal("done", must(b.LabelQueue(b.Context(), "q"))(b).Done, 2)
	}},
	{name: "several people", run: func(b *bench) {
		b.ok(errorOf(b.PutLabelQueue(b.Context(), queueOf(3, 2))))
		var given []string
		for range 4 {
			for _, by := range []string{"ana", "ben", "cleo"} {
				l, got := b.lease(by)
				given = append(given, by+" "+got)
				if l != nil {
					b.answer(by, l)
				}
			}
		}
		b.equal("given", strings.Join(given, "; "), "ana 0, 3 left, 0 mine; ben 0, 3 left, 0 mine; cleo 1, 2 left, 0 mine; ana 1, 2 left, 1 mine; ben 2, 1 left, 1 mine; cleo 2, 1 left, 1 mine; "+
			"ana none; ben none; cleo none; ana none; ben none; cleo none")
	}},
	{name: "undo", run: func(b *bench) {
		for _, people := range []int{1, 2} {
			q := queueOf(3, people)
			b.ok(errorOf(b.PutLabelQueue(b.Context(), q)))
			var labels []store.Label
			for {
				l, _ := b.lease("ana")
				if l == nil {
					break
				}
				labels = append(labels, b.answer("ana", l))
			}
			b.equal("labelled", len(labels), 3)
			b.labels(said("ana", 1, "a", label.Fail)) // again, outside the queue
			b.ok(b.DeleteLabel(b.Context(), labels[0].ID, "ana"))
			_, got := b.lease("ana")
			b.equal("after an undo", got, "0, 1 left, 2 mine")
			for _, l := range all(b, 10, pagesOf(b.ListLabels, store.LabelFilter{History: true})) {
				b.ok(b.DeleteLabel(b.Context(), l.ID, ""))
			}
			b.equal("after all", must(b.LabelQueue(b.Context(), "q"))(b).Done, 0)
		}
	}},
	{name: "all at once", run: func(b *bench) {
		b.ok(errorOf(b.PutLabelQueue(b.Context(), queueOf(40, 2))))
		var mu sync.Mutex
		given := map[string]int{}
		atOnce(8, func(g int) {
			by := fmt.Sprint("p", g%4) // each person in two tabs
			for {
				l, err := b.LeaseLabel(b.Context(), store.LeaseRequest{Queue: "q", By: by, For: time.Minute})
				if err != nil {
					b.Error(err)
					return
				}
				if l == nil {
					return
				}
				mu.Lock()
				given[fmt.Sprint(by, " ", l.Item.Index)]++
				mu.Unlock()
				n := said(by, l.Item.Index, "a", label.Pass)
				n.Lease = l.ID
				b.works(errorOf(b.AddLabel(b.Context(), n)))
			}
		})
		for what, n := range given {
			if n != 1 {
				b.Errorf("%s was given %d times", what, n)
			}
		}
		b.equal("labels", len(all(b, 1000, pagesOf(b.ListLabels, store.LabelFilter{}))), 80)
		b.equal("done", must(b.LabelQueue(b.Context(), "q"))(b).Done, 40)
	}},
	{name: "cancelled", run: func(b *bench) {
		ctx, cancel := context.WithCancel(b.Context())
		cancel()
		_, _, err := b.PutLabelQueue(ctx, queueOf(3, 1))
		if !errors.Is(err, context.Canceled) {
			b.Errorf("the error is %v", err)
		}
		b.wants(proviso.NotFound, errorOf(b.LabelQueue(b.Context(), "q")))
	}},
}
