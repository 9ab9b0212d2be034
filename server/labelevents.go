package server

import (
	"cmp"
	"context"
	"crypto/sha256"
	"slices"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/label"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/store"
)

// itemsOfEvents makes items of events of traffic. Those drawn at random come first; they are
// a random sample only if the filter does not look at outcomes.
func (s *Server) itemsOfEvents(c *call, in *NewLabelQueue) ([]label.Item, error) {
	if (in.Events == nil) == (in.Filter == "") {
		return nil, pointed("/run", proviso.Invalid, "a queue is made of a run, of events, or of a filter: one of them")
	}
	list, err := s.eventsAsked(c, in.Events, in.Filter, maxMadeEvents)
	if err != nil {
		return nil, err
	}
	draw := drawn(in, len(list))
	if in.Events != nil {
		draw = 0
	} else if f, err := s.filterOf(c, in.Filter); err != nil || f.Assertion != "" || len(f.Status) > 0 || f.Text != "" || f.Feedback != 0 || f.Failed != nil {
		draw = 0
	}
	population := len(list)
	shuffled := slices.Clone(list)
	slices.SortFunc(shuffled, func(a, b store.Event) int { return cmp.Compare(orderOf(c, a.ID), orderOf(c, b.ID)) })
	first := map[string]bool{}
	for i := range shuffled[:draw] {
		first[shuffled[i].ID] = true
	}
	ordered := append(shuffled[:draw:draw], slices.DeleteFunc(list, func(e store.Event) bool { return first[e.ID] })...)
	names := in.Assertions
	if names == nil {
		names = []string{""}
	}
	var items []label.Item
	for i := range ordered {
		for _, name := range names {
			item := label.Item{Event: ordered[i].ID, Assertion: name, Stratum: label.Informative, Rank: i, Population: population, Why: "newest first"}
			if i < draw {
				item.Stratum, item.Why = label.Random, "drawn at random"
			}
			if in.Size > 0 && len(items) == in.Size {
				return items, nil
			}
			items = append(items, item)
		}
	}
	return items, nil
}

// drawn is how many of n events are drawn at random.
func drawn(in *NewLabelQueue, n int) int {
	switch {
	case in.Random == nil:
		return min(n, defaultRandom)
	case *in.Random < 1:
		return int(*in.Random * float64(n))
	}
	return min(n, int(*in.Random))
}

// orderOf is the place of an event in a random order, which is another for each queue.
func orderOf(c *call, event string) string {
	sum := sha256.Sum256([]byte(c.r.PathValue("queue") + "\x00" + event))
	return string(sum[:])
}

// itemOfEvent is [itemOf] for an event.
func itemOfEvent(ctx context.Context, kept store.ProjectStore, q *store.LabelQueue, l *store.Lease) (*LabelItem, error) {
	e, err := kept.Event(ctx, l.Item.Event)
	if err != nil {
		return nil, err
	}
	if !e.Kept {
		return nil, proviso.Errorf(proviso.Conflict, "the texts of the event %s are no longer kept", quotedShort(e.ID))
	}
	out := &LabelItem{Event: e.ID, Assertion: l.Item.Assertion, Case: e.ID, Title: e.Agent, Input: e.Input, Output: cmp.Or(e.Output, e.Error), Question: l.Item.Assertion, Criteria: []string{}, Vars: [][2]string{{"input", e.Input}}}
	if e.Context != "" {
		out.Vars = append(out.Vars, [2]string{"context", e.Context})
	}
	if q.Blind || l.Item.Assertion == "" {
		return out, nil
	}
	list, err := kept.ListVerdicts(ctx, store.VerdictFilter{Events: []string{e.ID}, Assertion: l.Item.Assertion}, store.Page{Limit: 1})
	for _, v := range list.Items {
		out.Judge = &report.DetailAssertion{Name: v.Assertion, Type: proviso.TypeJudge, Status: v.Status.String(), Reason: v.Reason, Judge: v.Judge}
	}
	return out, err
}
