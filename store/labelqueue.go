package store

import (
	"errors"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/label"
)

// Limits of queues and leases.
const (
	MaxPeople = 100            // people who label an item
	MaxLease  = 24 * time.Hour // longest lease on an item
	MaxSkip   = 1000           // skipped items of a request
	MaxLeases = 20             // leases of one person in a queue; one more ends the oldest
)

// NewLabelQueue is a queue to be stored, with rows of one run or with events as items.
type NewLabelQueue struct {
	Name      string
	Run       string // id, "" if the items are events
	Blind     bool   // people do not see the judge's verdict
	People    int    // number of people who label each item; 0 means 1
	CreatedBy string // id of the API key
	Items     []label.Item
}

// LabelQueue is a stored queue.
type LabelQueue struct {
	NewLabelQueue     // without Items
	Size          int // items
	Done          int // items that enough people have labelled
	Created       time.Time
}

// LabelItem is an item of a stored queue.
type LabelItem struct {
	label.Item
	People int // who labelled it
}

// Check returns why a queue is invalid, or nil.
func (q *NewLabelQueue) Check() error {
	if err := errors.Join(checkText("name", q.Name, MaxName), optionalText("run", q.Run)); err != nil {
		return err
	}
	for i := range q.Items {
		if event := q.Items[i].Event; (event == "") == (q.Run == "") {
			return proviso.Errorf(proviso.Invalid, "the items of a queue are rows of its run or, without a run, events")
		} else if event != "" && q.Items[i].Index != 0 {
			return proviso.Errorf(proviso.Invalid, "an event has no rows, so it has no row %d", q.Items[i].Index)
		}
	}
	switch {
	case q.People < 0 || q.People > MaxPeople:
		return proviso.Errorf(proviso.Invalid, "an item is labelled by 1 to %d people, not %d", MaxPeople, q.People)
	case len(q.Items) == 0:
		return proviso.Errorf(proviso.Invalid, "the queue has no items")
	case len(q.Items) > label.MaxItems:
		return proviso.Errorf(proviso.Limit, "%d items, more than %d", len(q.Items), label.MaxItems)
	}
	return nil
}

// LeaseRequest asks for an item of a queue.
type LeaseRequest struct {
	Queue  string
	By     string        // the person
	For    time.Duration // length of the lease
	Lease  string        // lease to renew, "" for another item
	Resume bool          // return the item that the person already holds, if there is one
	Skip   []Skipped     // items to leave out, unless Lease or Resume select them
}

// Skipped is an item that a person puts off.
type Skipped struct {
	Index     int    // row index, or
	Event     string // event id
	Assertion string // "" for the whole output
}

// Check returns why a request is invalid, or nil.
func (r *LeaseRequest) Check() error {
	if r.For < time.Second || r.For > MaxLease {
		return proviso.Errorf(proviso.Invalid, "a lease lasts from 1 second to %v, not %v", MaxLease, r.For)
	}
	if len(r.Skip) > MaxSkip {
		return proviso.Errorf(proviso.Limit, "%d items to skip, more than %d", len(r.Skip), MaxSkip)
	}
	return checkText("person", r.By, MaxName)
}

// Lease is an item that one person holds for labelling.
type Lease struct {
	ID      string
	Expires time.Time
	Item    label.Item
	Left    int // items that the person may still label, including this one
	Mine    int // items that the person has labelled
}
