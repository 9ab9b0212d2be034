package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/proviso-eval/proviso"
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
