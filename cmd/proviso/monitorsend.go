package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/client"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/value"
)

// checkedWatch is what a server says of a watch that is not stored yet.
type checkedWatch struct {
	Version  int      `json:"version"` // that is stored, 0 if there is none
	Change   string   `json:"change"`  // new, changed or unchanged
	Warnings []string `json:"warnings"`
}

// storeWatches lets the server check everything, and then stores it: all or nothing.
func (a *app) storeWatches(ctx context.Context, f *applyFlags, base *url.URL, doc *document.Document, plan []plannedWatch) error {
	checked := make([]checkedWatch, len(plan))
	var wrong proviso.Mistakes
	for i := range plan {
		mistakes, err := a.checkWatch(ctx, base, doc, plan, i, &checked[i])
		if err != nil {
			return fmt.Errorf("%s: %w; nothing was stored", plan[i].name, err)
		}
		wrong = append(wrong, mistakes...)
	}
	if err := a.mistakesSo(onlyOnce(wrong), "nothing was stored"); err != nil {
		return err
	}
	var others []string // that --prune removes
	if f.prune {
		list, err := a.watchesOnServer(ctx, base)
		if err != nil {
			return fmt.Errorf("%w; nothing was stored", err)
		}
		for _, w := range list {
			if !slices.ContainsFunc(plan, func(p plannedWatch) bool { return p.name == w.Name }) {
				others = append(others, w.Name)
			}
		}
	}
	for i := range plan {
		if err := a.storeWatch(ctx, f, base, &plan[i], &checked[i]); err != nil {
			return fmt.Errorf("%w; %d of the watches of the file were stored before it, so apply the file again", err, i)
		}
	}
	for _, name := range others {
		if _, err := a.client().Read(ctx, http.MethodDelete, base.JoinPath(name), nil); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(a.out, "%s: removed\n", printable(name)); err != nil {
			return err
		}
	}
	return nil
}

// checkWatch lets the server check a watch of the plan, with its set if that is not stored
// yet. The mistakes have their places in the files.
func (a *app) checkWatch(ctx context.Context, base *url.URL, doc *document.Document, plan []plannedWatch, i int, to *checkedWatch) (proviso.Mistakes, error) {
	p := &plan[i]
	body := value.ObjectOf("watch", p.body)
	set := p.set
	if set == nil { // it may be that of another watch of the file
		at := slices.IndexFunc(plan, func(b plannedWatch) bool { return b.set != nil && "set:"+b.setName == p.body.Text("assertions") })
		if at >= 0 {
			set = plan[at].set
		}
	}
	if set != nil {
		body.Set("set", set.body)
	}
	u := base.JoinPath(p.name, "check")
	err := a.client().JSON(ctx, http.MethodPost, u, json.RawMessage(value.AppendJSON(nil, body)), to)
	var refused *client.Refusal
	switch {
	case errors.As(err, &refused) && refused.Status == http.StatusUnprocessableEntity && len(refused.Errors) > 0:
	case err == nil && to.Change == "":
		return nil, client.NotOfServer(u)
	default:
		return nil, err
	}
	var wrong proviso.Mistakes
	for _, e := range refused.Errors {
		m := proviso.Mistake{Place: doc.Place(document.Join("", p.name) + strings.TrimPrefix(e.Pointer, "/watch")), Code: proviso.Invalid, Message: e.Message}
		if rest, ok := strings.CutPrefix(e.Pointer, "/set"); ok && set != nil {
			m.Place = set.doc.Place(strings.TrimPrefix(rest, set.prefix))
		}
		if !strings.Contains(e.Message, "did you mean") {
			m.Nearest = e.Nearest
		}
		wrong = append(wrong, m)
	}
	return wrong, nil
}

// onlyOnce leaves out mistakes that two watches with one set have in common.
func onlyOnce(list proviso.Mistakes) proviso.Mistakes {
	var once proviso.Mistakes
	for _, m := range inOrder(list) {
		if !slices.ContainsFunc(once, func(b proviso.Mistake) bool { return b.String() == m.String() }) {
			once = append(once, m)
		}
	}
	return once
}

// storeWatch stores one watch, its set first, and prints what the server warns of.
func (a *app) storeWatch(ctx context.Context, f *applyFlags, base *url.URL, p *plannedWatch, checked *checkedWatch) error {
	set := ""
	if p.set != nil {
		u, err := f.address(a, "assertion-sets", p.setName)
		if err != nil {
			return err
		}
		if set, err = a.storeSet(ctx, u, p.set.body); err != nil {
			return fmt.Errorf("the set of %s: %w", p.name, err)
		}
		if checked.Change == "new" { // so is its set
			set = ""
		}
	}
	u := base.JoinPath(p.name)
	var w watchOnServer
	if err := a.put(ctx, u, p.body, &w); err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	if w.Version == 0 {
		return client.NotOfServer(u)
	}
	for _, text := range checked.Warnings {
		a.warn(p.name + ": " + text)
	}
	_, err := fmt.Fprintf(a.out, "%s version %d: %s%s\n", printable(w.Name), w.Version, printable(checked.Change), set)
	return err
}

// storeSet stores an assertion set, and says whether that changed it.
func (a *app) storeSet(ctx context.Context, u *url.URL, body *value.Object) (changed string, err error) {
	type version struct {
		Number int `json:"number"`
	}
	var before, after version
	_ = a.client().JSON(ctx, http.MethodGet, u, nil, &before) // a key without the scope read is not told
	if err := a.put(ctx, u, body, &after); err != nil {
		return "", err
	}
	if before.Number == 0 || before.Number == after.Number {
		return "", nil
	}
	return fmt.Sprintf(", set changed (version %d)", after.Number), nil
}

// put stores an object, and reads the answer.
func (a *app) put(ctx context.Context, u *url.URL, body *value.Object, to any) error {
	return a.client().JSON(ctx, http.MethodPut, u, json.RawMessage(value.AppendJSON(nil, body)), to)
}
