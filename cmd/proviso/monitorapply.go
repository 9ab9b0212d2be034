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
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/client"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/judge/criteria"
	"github.com/proviso-eval/proviso/monitor"
	"github.com/proviso-eval/proviso/value"
)

// Limits of what monitor apply reads, in bytes.
const (
	maxApplied    = 8 << 20
	maxAnchorFile = 7 << 20
)

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

// plannedWatch is a watch that is to be stored.
type plannedWatch struct {
	name    string
	body    *value.Object
	setName string // "" if the server has the set
	set     *watchFileSet
}

// watchFileSet is an assertion set that is to be stored with a watch.
type watchFileSet struct {
	doc    *document.Document
	prefix string // of pointers into the set, which the document does not have
	body   *value.Object
}

// watchReader reads a file of watches with the files that it names.
type watchReader struct {
	a        *app
	ctx      context.Context
	dir      string
	doc      *document.Document
	mistakes proviso.Mistakes
}

// wrong adds a mistake in a document.
func (r *watchReader) wrong(doc *document.Document, pointer string, err error) {
	m := proviso.Mistake{Place: doc.Place(pointer), Code: proviso.Invalid, Message: err.Error()}
	var e *proviso.Error
	if errors.As(err, &e) {
		if aboutKey(e) {
			m.Place = doc.KeyPlace(pointer)
		}
		m.Code = e.Code
		if len(e.Valid) == 1 {
			m.Nearest = e.Valid[0]
		}
	}
	r.mistakes = append(r.mistakes, m)
}

// applyWatches checks a file as a whole, and stores its watches.
func (a *app) applyWatches(ctx context.Context, f *applyFlags, file string) error {
	r := &watchReader{a: a, ctx: ctx, dir: filepath.Dir(file)}
	plan, err := r.read(file)
	if err != nil {
		return err
	}
	wrong := a.mistakesSo(r.mistakes, "nothing was stored")
	base, err := f.address(a, "watches")
	if err != nil && wrong != nil {
		a.explain(err)
	}
	if err := cmp.Or(wrong, err); err != nil {
		return err
	}
	return a.storeWatches(ctx, f, base, r.doc, plan)
}

// read reads the file and everything that it names.
func (r *watchReader) read(file string) ([]plannedWatch, error) {
	data, err := r.a.readBounded(file, holdsWatches, maxApplied)
	if err != nil {
		return nil, err
	}
	if r.doc, err = document.ParseContext(r.ctx, file, data); err != nil {
		return nil, proviso.Errorf(proviso.Invalid, "%w", err)
	}
	root, ok := r.doc.Root.(*value.Object)
	if !ok {
		r.wrong(r.doc, "", errors.New("a file of watches is an object: name → watch"))
		return nil, nil
	}
	watches, mistakes := monitor.ReadWatches(root)
	for _, e := range mistakes {
		r.wrong(r.doc, e.Pointer, e)
	}
	var plan []plannedWatch
	for i := range watches {
		w := &watches[i]
		sent, ok := root.At(w.Name).(*value.Object)
		if !ok {
			continue
		}
		p := plannedWatch{name: w.Name, body: sent.Clone()}
		if rest, ok := strings.CutPrefix(w.Assertions, "file://"); ok {
			p.setName = "watch-" + w.Name
			p.set = r.set(rest, document.Join(document.Join("", w.Name), "assertions"))
			p.body.Set("assertions", "set:"+p.setName)
		}
		if w.Anchors.File != "" {
			about := sent.Object("anchors").Clone()
			about.Set("items", r.anchors(w.Anchors.File, document.Join(document.Join(document.Join("", w.Name), "anchors"), "file")))
			p.body.Set("anchors", about)
		}
		plan = append(plan, p)
	}
	return plan, nil
}

// path is the place of a file that is named in the file of watches.
func (r *watchReader) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(r.dir, name)
}

// set reads a file with an assertion set: a list of assertions, or an object as servers
// take it.
func (r *watchReader) set(name, at string) *watchFileSet {
	file := r.path(name)
	data, err := r.a.readBounded(file, holdsSet, maxApplied)
	if err != nil {
		r.wrong(r.doc, at, err)
		return nil
	}
	doc, err := document.ParseContext(r.ctx, file, data)
	if err != nil {
		r.wrong(r.doc, at, err)
		return nil
	}
	set, ok := doc.Root.(*value.Object)
	prefix := ""
	if list, is := doc.Root.([]any); is {
		set, ok, prefix = value.ObjectOf("assertions", list), true, "/assertions"
	}
	if !ok || !set.Has("assertions") {
		r.wrong(doc, "", errors.New("a set is a list of assertions, or an object with the key assertions"))
		return nil
	}
	set = set.Clone()
	set.Set("assertions", requestForm(set.At("assertions")))
	if err := document.OnlyKeys(set, "assertions", "prompt", "threshold", "templates", "context"); err != nil {
		r.wrong(doc, "", err)
	}
	var library *criteria.Library
	if templates, ok := set.At("templates").(*value.Object); ok && templates.Len() > 0 {
		var wrong []*proviso.Error
		library, wrong = criteria.ReadLibrary(templates, "/templates")
		for _, e := range wrong {
			r.wrong(doc, e.Pointer, e)
		}
	}
	request := value.ObjectOf("agent_input", "", "agent_output", "", "assertions", set.At("assertions"))
	_, err = judge.ReadRequestWith(r.ctx, value.AppendJSON(nil, request), library)
	var list judge.Mistakes
	if errors.As(err, &list) {
		for _, e := range list {
			r.wrong(doc, strings.TrimPrefix(e.Pointer, prefix), e)
		}
	} else if err != nil {
		r.wrong(doc, "", err)
	}
	return &watchFileSet{doc, prefix, set}
}

// anchors reads a file of anchors: JSON Lines.
func (r *watchReader) anchors(name, at string) []any {
	file := r.path(name)
	data, err := r.a.readBounded(file, holdsAnchors, maxAnchorFile)
	if err != nil {
		r.wrong(r.doc, at, err)
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
		r.wrong(r.doc, at, fmt.Errorf("%s has no anchors", name))
	}
	return items
}

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
