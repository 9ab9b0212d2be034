package store

import (
	"errors"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/label"
)

// Id prefixes of labels and of leases on queue items.
const (
	LabelID = "label_"
	LeaseID = "lease_"
)

// NewLabel is a label to be stored.
type NewLabel struct {
	label.Label        // ID from NewID, or "" to have one made; Created zero for now
	CreatedBy   string // id of the API key
	Lease       string // lease on the item, which this label ends; "" if there is none
	Reply       *Reply // stored in the same transaction, nil if there is none
}

// Check returns why a label is invalid, or nil.
func (n *NewLabel) Check() error {
	return errors.Join(n.Label.Check(), optionalText("lease", n.Lease))
}

func optionalText(what, text string) error {
	if text == "" {
		return nil
	}
	return checkText(what, text, MaxName)
}

// Label is a stored label.
type Label struct {
	label.Label
	CreatedBy string // id of the API key
	InForce   bool   // no later label of the same person on the same subject replaced it
}

// LabelFilter selects labels; zero fields select all.
type LabelFilter struct {
	Run        string
	Index      *int // row index
	Evaluation string
	Event      string
	Events     bool    // only labels on events, of any kind of agent
	Assertion  *string // "" means the whole output
	By         string
	Queue      string
	Since      time.Time // created then or later
	History    bool      // include replaced labels
}

// Matches reports whether the filter selects a label.
func (f *LabelFilter) Matches(l *Label) bool {
	return (f.Run == "" || f.Run == l.Run) && (f.Index == nil || l.Run != "" && *f.Index == l.Index) &&
		(f.Evaluation == "" || f.Evaluation == l.Evaluation) && (f.Event == "" || f.Event == l.Event) && (!f.Events || l.Event != "") && (f.Assertion == nil || *f.Assertion == l.Assertion) &&
		(f.By == "" || f.By == l.By) && (f.Queue == "" || f.Queue == l.Queue) && (f.Since.IsZero() || !l.Created.Before(f.Since)) &&
		(f.History || l.InForce)
}

// ErrNotOwn is the cause of Refused when somebody removes another person's label.
var ErrNotOwn = errors.New("the label belongs to somebody else")

// NotOwn returns the error for removing another person's label.
func NotOwn() error { return proviso.Errorf(proviso.Refused, "%w", ErrNotOwn) }
