package main

import (
	"context"
	"time"

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
		return w.add(shownOf(*k))
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
		return w.add(struct {
			Name      string    `json:"name"`
			Run       string    `json:"run,omitempty"`
			Blind     bool      `json:"blind"`
			People    int       `json:"people"`
			Size      int       `json:"size"`
			Done      int       `json:"done"`
			CreatedBy string    `json:"created_by,omitempty"`
			Created   time.Time `json:"created"`
		}{q.Name, q.Run, q.Blind, q.People, q.Size, q.Done, q.CreatedBy, q.Created})
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
			return w.add(struct {
				Queue      string `json:"queue"`
				Run        string `json:"run,omitempty"`
				Index      *int   `json:"index,omitempty"`
				Event      string `json:"event,omitempty"`
				Assertion  string `json:"assertion"`
				Stratum    string `json:"stratum"`
				Rank       int    `json:"rank"`
				Population int    `json:"population"`
				Why        string `json:"why"`
				People     int    `json:"people"`
			}{q.Name, q.Run, index, i.Event, i.Assertion, i.Stratum, i.Rank, i.Population, i.Why, i.People})
		})
	})
}
