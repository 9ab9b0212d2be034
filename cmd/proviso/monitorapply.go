package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/client"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/monitor"
	"github.com/proviso-eval/proviso/value"
)

// maxAnchorFile bounds a file of anchors, in bytes.
const maxAnchorFile = 7 << 20

// applyFlags are the flags of monitor apply.
type applyFlags struct {
	serverFlags
	prune bool
}

func newMonitorApply(a *app) *cobra.Command {
	f := &applyFlags{}
	cmd := &cobra.Command{
		Use:   "apply FILE",
		Short: "Store the watches of a file on a server",
		Long: "apply checks a file of watches (YAML or JSON), then stores each watch on the server. A set that a watch\n" +
			"names as file:// is stored with it, under the name watch-NAME, and the anchors of its file are sent. A\n" +
			"mistake has its place, and nothing is stored then, whether this command or the server finds it. Applying\n" +
			"the same file again changes nothing.\n\n" +
			"--server or the environment variable " + serverVariable + " is the address of the server, and " + keyVariable + "\n" +
			"holds an API key with the scope evaluate, which pays for the evaluations of the watches; --prune needs\n" +
			"the scope read, too.",
		Args: someArgs("the file of watches is missing", 1, 1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.applyWatches(cmd.Context(), f, args[0]) },
	}
	f.register(cmd.Flags())
	cmd.Flags().BoolVar(&f.prune, "prune", false, "remove the watches of the server that are not in the file")
	return cmd
}

// plannedWatch is a watch to be stored.
type plannedWatch struct {
	name    string
	body    *value.Object
	setName string // "" if the server already has the set
	set     *watchSet
}

// applyWatches checks a file as a whole, and then stores its watches.
func (a *app) applyWatches(ctx context.Context, f *applyFlags, file string) error {
	const so = "nothing was stored"
	r := &watchReader{a: a, ctx: ctx}
	watches, doc, err := r.watches(file)
	if err != nil {
		return a.mistaken(err, so)
	}
	var plan []plannedWatch
	for i := range watches {
		if sent, ok := doc.Root.(*value.Object).At(watches[i].Name).(*value.Object); ok {
			plan = append(plan, r.planned(doc, file, &watches[i], sent.Clone()))
		}
	}
	wrong := a.mistakesSo(inOrder(r.mistakes), so)
	base, err := f.address(a, "watches")
	if err != nil && wrong != nil {
		a.explain(err)
	}
	if err := cmp.Or(wrong, err); err != nil {
		return err
	}
	return a.storeWatches(ctx, f, base, doc, plan)
}

// planned reads the files that a watch names.
func (r *watchReader) planned(doc *document.Document, file string, w *monitor.Watch, body *value.Object) plannedWatch {
	p := plannedWatch{name: w.Name, body: body}
	at := document.Join("", w.Name)
	if name, ok := strings.CutPrefix(w.Assertions, "file://"); ok {
		p.setName = "watch-" + w.Name
		p.set = r.setFile(doc, document.Join(at, "assertions"), file, name)
		p.body.Set("assertions", "set:"+p.setName)
	}
	if w.Anchors.File != "" {
		about := body.Object("anchors").Clone()
		about.Set("items", r.anchors(doc, document.Join(document.Join(at, "anchors"), "file"), besides(file, w.Anchors.File)))
		p.body.Set("anchors", about)
	}
	return p
}

// anchors reads a file of anchors (JSON Lines) that a file of watches names at a pointer.
func (r *watchReader) anchors(from *document.Document, at, file string) []any {
	data, err := r.a.readBounded(file, holdsAnchors, maxAnchorFile)
	if err != nil {
		r.wrong(from, at, err)
		return nil
	}
	var items []any
	for line, err := range document.Lines(bytes.NewReader(data)) {
		doc := document.Located(file, func(pointer string) proviso.Place {
			return document.JSONPlace(file, line, pointer, false)
		})
		if err != nil {
			r.wrong(doc, "", err)
			return nil
		}
		o, ok := line.Value.(*value.Object)
		if !ok {
			r.wrong(doc, "", errors.New("an anchor is an object with output, and usually with input"))
			continue
		}
		if err := document.OnlyKeys(o, "id", "input", "output", "context", "metadata"); err != nil {
			r.wrong(doc, "", err)
		}
		if _, ok := o.At("output").(string); !ok {
			r.wrong(doc, "/output", errors.New("output is missing, or not a text"))
		}
		items = append(items, o)
	}
	if len(items) == 0 {
		r.wrong(from, at, fmt.Errorf("%s has no anchors", file))
	}
	return items
}

// checkedWatch is the server's check of a watch that is not stored yet.
type checkedWatch struct {
	Version  int      `json:"version"` // version that is stored; 0 if there is none
	Change   string   `json:"change"`  // new, changed or unchanged
	Warnings []string `json:"warnings"`
}

// storeWatches lets the server check everything first, and then stores it: all or nothing.
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
	var others []string // watches that --prune removes
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

// checkWatch lets the server check a watch of the plan, together with its set if that is not stored
// yet. The mistakes have positions in the files.
func (a *app) checkWatch(ctx context.Context, base *url.URL, doc *document.Document, plan []plannedWatch, i int, to *checkedWatch) (proviso.Mistakes, error) {
	p := &plan[i]
	body := value.ObjectOf("watch", p.body)
	set := p.set
	if set == nil { // the set may belong to another watch of the file
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

// onlyOnce removes duplicate mistakes, which two watches with the same set have in common.
func onlyOnce(list proviso.Mistakes) proviso.Mistakes {
	var once proviso.Mistakes
	for _, m := range inOrder(list) {
		if !slices.ContainsFunc(once, func(b proviso.Mistake) bool { return b.String() == m.String() }) {
			once = append(once, m)
		}
	}
	return once
}

// storeWatch stores one watch, its set first, and prints the server's warnings.
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
		if checked.Change == "new" { // then its set is new, too
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

// storeSet stores an assertion set, and returns whether that changed it.
func (a *app) storeSet(ctx context.Context, u *url.URL, body *value.Object) (changed string, err error) {
	type version struct {
		Number int `json:"number"`
	}
	var before, after version
	_ = a.client().JSON(ctx, http.MethodGet, u, nil, &before) // fails for a key without the scope read
	if err := a.put(ctx, u, body, &after); err != nil {
		return "", err
	}
	if before.Number == 0 || before.Number == after.Number {
		return "", nil
	}
	return fmt.Sprintf(", set changed (version %d)", after.Number), nil
}

// put stores an object and reads the answer.
func (a *app) put(ctx context.Context, u *url.URL, body *value.Object, to any) error {
	return a.client().JSON(ctx, http.MethodPut, u, json.RawMessage(value.AppendJSON(nil, body)), to)
}
