// Package label asks people which outputs are good: it keeps their labels in a file and finds
// the most useful output to label next. Start at [Start].
package label

import (
	"cmp"
	"slices"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/spade/matrix"
	"github.com/proviso-eval/proviso/spade/trial"
	"github.com/proviso-eval/proviso/value"
)

// Session is a labelling session: the next output, the answers so far, and how to undo them.
// Start at [Start].
type Session struct {
	trials []trial.Trial
	log    *Log
	order  *order
	queue  []int // with a fixed order: the remaining trials, the next one first
	fixed  bool
	past   []past
	put    []bool // skipped in this session
	at     int    // the current trial, -1 at the end
	why    string
}

// past is an answer of this session.
type past struct {
	entry   int
	skipped bool
}

// Options configure a labelling session.
type Options struct {
	// Grid holds the results of candidates on the outputs, matched by id; nil if none were
	// tried.
	Grid *matrix.Grid
	// Review goes through labelled outputs (good, bad or all) instead of unlabelled ones.
	Review string
	// Only are the indices of the trials to label; nil means all.
	Only []int
}

// Asked is the output to label.
type Asked struct {
	Trial *trial.Trial
	Index int    // among all trials
	Why   string // reason why it comes next; "" in a review
	Label string // its current label, usually ""
	Note  string
}

// Start starts a session over trials; log holds the labels so far.
//
// With a grid, the next output is the one that best separates candidates that the labelled
// outputs do not separate yet. Candidates that agree on all labelled outputs form a class. The
// worth of an output is the sum over all classes of the number of candidates that pass it
// times the number that fail it. Ties are broken by the same product over all candidates, then
// by how many candidates fail it (more, while fewer bad than good outputs are labelled, else
// fewer), then by the order of the trials.
//
// Without a grid, or when candidates separate nothing, the next output is the one least
// similar to those seen so far (farthest-first traversal: Gonzalez, "Clustering to minimize
// the maximum intercluster distance", 1985). Half of the distance is the share of words that
// the two outputs do not have in common (Jaccard, estimated by MinHash), the other half comes
// from the ratio of their lengths. The first output is the one of median length.
func Start(trials []trial.Trial, log *Log, o Options) (*Session, error) {
	l := &Session{trials: trials, log: log, put: make([]bool, len(trials))}
	switch o.Review {
	case "":
		l.order = newOrder(trials, o.Grid)
		if o.Only != nil {
			l.order.only(o.Only)
		}
		for i := range trials {
			if label, _ := log.Label(i); label != "" {
				l.order.see(i, true)
			}
		}
	case "good", "bad", "all":
		l.fixed = true
		l.queue = reviewed(log, o)
	default:
		return nil, &proviso.Error{Code: proviso.Invalid, Message: "labels cannot be reviewed by " + value.Stringify(o.Review), Valid: []string{"all", "good", "bad"}}
	}
	l.next()
	return l, nil
}

// reviewed lists the labelled trials. With a grid, trials whose label most candidates
// contradict come first: good ones that many fail, bad ones that many pass.
func reviewed(log *Log, o Options) []int {
	against := map[int]int{}
	var list []int
	for i := range log.now {
		label, _ := log.Label(i)
		if label == "" || o.Review == "good" && label != "1" || o.Review == "bad" && label != "0" {
			continue
		}
		if o.Only != nil && !slices.Contains(o.Only, i) {
			continue
		}
		list = append(list, i)
	}
	if o.Grid == nil {
		return list
	}
	at := o.Grid.ByID()
	for _, i := range list {
		label, _ := log.Label(i)
		if row, ok := at[log.entries[i].ID]; ok {
			passed, failed := tallyCells(o.Grid.Cells[row])
			against[i] = failed
			if label == "0" {
				against[i] = passed
			}
		}
	}
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(against[b], against[a]) })
	return list
}

// next finds the next trial.
func (l *Session) next() {
	l.at, l.why = -1, ""
	if l.fixed {
		if len(l.queue) > 0 {
			l.at, l.queue = l.queue[0], l.queue[1:]
		}
		return
	}
	l.at, l.why = l.order.next(func(i int) bool {
		label, _ := l.log.Label(i)
		return label == "" && !l.put[i]
	}, l.log.Labels())
}

// Current returns the output to label; ok is false at the end.
func (l *Session) Current() (a Asked, ok bool) {
	if l.at < 0 {
		return Asked{}, false
	}
	a = Asked{Trial: &l.trials[l.at], Index: l.at, Why: l.why}
	a.Label, a.Note = l.log.Label(l.at)
	return a, true
}

// Answer labels the current output 1 or 0 and moves on to the next.
func (l *Session) Answer(label string) error {
	_, note := l.log.Label(l.at)
	if err := l.log.Set(l.at, label, note); err != nil {
		return err
	}
	l.leave(false)
	return nil
}

// Note keeps a note on the current output, labelled or not.
func (l *Session) Note(text string) error {
	label, _ := l.log.Label(l.at)
	if err := l.log.Set(l.at, label, text); err != nil {
		return err
	}
	l.past = append(l.past, past{entry: l.at})
	return nil
}

// Skip leaves the current output unchanged and moves on to the next; the skipped output does
// not return in this session.
func (l *Session) Skip() {
	l.put[l.at] = true
	l.leave(true)
}

func (l *Session) leave(skipped bool) {
	l.past = append(l.past, past{l.at, skipped})
	if !l.fixed {
		l.order.see(l.at, !skipped)
	}
	l.next()
}

// Undo reverts the last answer and returns to its output. After the answers of this session it
// continues with labels of earlier ones. It returns false if there is nothing to undo.
func (l *Session) Undo() (bool, error) {
	n := len(l.past)
	if n > 0 && l.past[n-1].skipped {
		entry := l.past[n-1].entry
		l.past, l.put[entry] = l.past[:n-1], false
		l.again(entry)
		return true, nil
	}
	entry, ok, err := l.log.Undo()
	if err != nil || !ok {
		return false, err
	}
	if n > 0 {
		l.past = l.past[:n-1]
	}
	l.again(entry)
	return true, nil
}

// again returns to a trial; the current trial comes after it.
func (l *Session) again(entry int) {
	if l.fixed {
		if l.at >= 0 && l.at != entry {
			l.queue = slices.Insert(l.queue, 0, l.at)
		}
	} else {
		l.order.forget(entry)
	}
	l.at, l.why = entry, ""
}

// Skipped returns how many outputs were skipped.
func (l *Session) Skipped() int {
	n := 0
	for _, p := range l.put {
		if p {
			n++
		}
	}
	return n
}

// Left returns how many outputs remain, including the current one.
func (l *Session) Left() int {
	if l.fixed {
		n := len(l.queue)
		if l.at >= 0 {
			n++
		}
		return n
	}
	n := 0
	for i := range l.trials {
		if label, _ := l.log.Label(i); label == "" && !l.put[i] && !l.order.out[i] {
			n++
		}
	}
	return n
}
