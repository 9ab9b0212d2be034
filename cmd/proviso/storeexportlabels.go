package main

import (
	"context"

	"github.com/proviso-eval/proviso/label"
	"github.com/proviso-eval/proviso/store"
)

// keys writes the keys of the project as `proviso key list --format json` shows them. No hash
// of a secret is among them: an export would then be as much worth as the keys.
func (x *exporting) keys(w *lines) error {
	return eachPage(x.ctx, x.of.ListKeys, func(k *store.Key) error {
		if string(k.Project) != x.project {
			return nil
		}
		line, err := compactJSON(shownOf(*k))
		if err != nil {
			return coded(err)
		}
		return w.raw(append(line, '\n'))
	})
}

// labels writes the labels in force.
func (x *exporting) labels(w *lines) error {
	return eachPage(x.ctx, pagesBy(x.in.ListLabels, store.LabelFilter{}), func(l *store.Label) error {
		return w.raw(label.AppendLine(nil, &l.Label))
	})
}

// replacedLabels writes the labels that later ones of the same person replaced, in the form of
// labels. They have a file of their own, so that the labels in force can be imported.
func (x *exporting) replacedLabels(w *lines) error {
	return eachPage(x.ctx, pagesBy(x.in.ListLabels, store.LabelFilter{History: true}), func(l *store.Label) error {
		if l.InForce {
			return nil
		}
		return w.raw(label.AppendLine(nil, &l.Label))
	})
}

func (x *exporting) labelQueues(w *lines) error {
	return eachPage(x.ctx, x.in.ListLabelQueues, func(q *store.LabelQueue) error {
		return w.add(
			"name", q.Name, "run,omitempty", q.Run, "blind", q.Blind, "people", q.People, "size", q.Size, "done", q.Done,
			"created_by,omitempty", q.CreatedBy, "created", q.Created,
		)
	})
}

// labelItems writes the items of all queues, with how each was chosen: an estimate from the
// labels needs that. Who has leased one is not written, a lease takes minutes.
func (x *exporting) labelItems(w *lines) error {
	return eachPage(x.ctx, x.in.ListLabelQueues, func(q *store.LabelQueue) error {
		items := func(ctx context.Context, p store.Page) (store.List[store.LabelItem], error) {
			return x.in.ListLabelItems(ctx, q.Name, p)
		}
		return eachPage(x.ctx, items, func(i *store.LabelItem) error {
			var index *int
			if i.Event == "" {
				index = &i.Index
			}
			return w.add(
				"queue", q.Name, "run,omitempty", q.Run, "index,omitempty", index, "event,omitempty", i.Event,
				"assertion", i.Assertion, "stratum", i.Stratum, "rank", i.Rank, "population", i.Population, "why", i.Why,
				"people", i.People,
			)
		})
	})
}
