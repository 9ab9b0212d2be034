package main

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/assertion"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/kind"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/monitor"
	"github.com/proviso-eval/proviso/value"
)

const (
	holdsEvents  = "events: JSON Lines, as POST /v1/events takes them"
	holdsWatches = "watches: an object in YAML or JSON, NAME: {match: …, assertions: …}"
	holdsSet     = "an assertion set in YAML or JSON: a list of assertions, or {assertions: […]}"
	holdsAnchors = "anchors: JSON Lines with output, and usually with input"
	holdsSets    = "assertion sets by name, in YAML or JSON: NAME: [assertions]"
)

// watchReader reads files of watches, and the files that they name, and collects the mistakes in
// them.
type watchReader struct {
	a         *app
	ctx       context.Context
	untrusted bool // files may name only files in their own folder, with links resolved
	mistakes  proviso.Mistakes
}

// wrong adds a mistake in a document.
func (r *watchReader) wrong(doc *document.Document, pointer string, err error) {
	var list proviso.Mistakes
	var e *proviso.Error
	switch {
	case errors.As(err, &list):
		r.mistakes = append(r.mistakes, list...)
	case errors.As(err, &e):
		r.mistakes = append(r.mistakes, mistakeIn(doc, pointer, e))
	default:
		r.mistakes = append(r.mistakes, proviso.Mistake{Place: doc.Place(pointer), Code: proviso.Invalid, Message: err.Error()})
	}
}

// open reads a file of watches or sets.
func (r *watchReader) open(name, holds string) (*document.Document, error) {
	data, err := r.a.readBounded(name, holds, judge.MaxBody)
	if err != nil {
		return nil, err
	}
	doc, err := document.ParseContext(r.ctx, name, data)
	var syntax *document.SyntaxError
	if errors.As(err, &syntax) {
		return nil, proviso.Mistakes{{Place: syntax.Place, Code: proviso.Invalid, Message: syntax.Message}}
	}
	if err != nil {
		return nil, proviso.Errorf(proviso.Invalid, "%w", err)
	}
	return doc, nil
}

// watches reads the watches of a file.
func (r *watchReader) watches(name string) ([]monitor.Watch, *document.Document, error) {
	doc, err := r.open(name, holdsWatches)
	if err != nil {
		return nil, nil, err
	}
	o, ok := doc.Root.(*value.Object)
	if !ok {
		r.wrong(doc, "", errors.New("expected watches by name, NAME: {match: …, assertions: …}, found "+kind.Of(doc.Root)))
		return nil, doc, nil
	}
	list, wrong := monitor.ReadWatches(o)
	for _, e := range wrong {
		r.wrong(doc, e.Pointer, e)
	}
	return list, doc, nil
}

// watchSet is an assertion set and its position.
type watchSet struct {
	doc     *document.Document
	prefix  string        // prefix of pointers into the set that the document does not have
	body    *value.Object // in the form that servers accept
	request judge.Request // without input and output
}

// setKeys are the keys of a set. Those that are not also keys of a request describe the set.
var setKeys = []string{"assertions", "threshold", "templates", "context", "prompt", "name"}

// set reads a set at a pointer of a document: a list of assertions, or an object in the form of PUT
// /v1/assertion-sets.
func (r *watchReader) set(doc *document.Document, at string, v any) *watchSet {
	s := &watchSet{doc: doc}
	switch v := v.(type) {
	case []any:
		s.body, s.prefix = value.ObjectOf("assertions", v), "/assertions"
	case *value.Object:
		s.body = v.Clone()
	default:
		r.wrong(doc, at, errors.New("expected an assertion set, a list of assertions or {assertions: […]}, found "+kind.Of(v)))
		return nil
	}
	if err := document.OnlyKeys(s.body, setKeys...); err != nil {
		r.wrong(doc, at, err)
	}
	request := value.ObjectOf("agent_input", "", "agent_output", "")
	if s.body.Has("assertions") {
		s.body.Set("assertions", requestForm(s.body.At("assertions")))
	}
	for _, key := range setKeys[:4] {
		if s.body.Has(key) {
			request.Set(key, s.body.At(key))
		}
	}
	s.body.Delete("name")
	req, err := judge.ReadRequestWith(r.ctx, value.AppendJSON(nil, request), nil)
	var list judge.Mistakes
	switch {
	case errors.As(err, &list):
		for _, e := range list {
			r.wrong(doc, at+strings.TrimPrefix(e.Pointer, s.prefix), e)
		}
	case err != nil:
		r.wrong(doc, at, err)
	default:
		s.request = *req
	}
	return s
}

// setFile reads the set in a file that another file names, at a pointer of that file's document.
func (r *watchReader) setFile(from *document.Document, at, file, name string) *watchSet {
	if r.untrusted && !belowFolder(filepath.Dir(file), name) {
		r.wrong(from, at, proviso.Errorf(proviso.Refused, "file://%s is outside of the folder of the file, which --untrusted does not allow", name))
		return nil
	}
	doc, err := r.open(besides(file, name), holdsSet)
	if err != nil {
		r.wrong(from, at, err)
		return nil
	}
	return r.set(doc, "", doc.Root)
}

// setsNamed reads the file of --sets, an object of sets by name. Each is a set or a file name.
func (r *watchReader) setsNamed(file string) (sets map[string]*watchSet, names []string, err error) {
	sets = map[string]*watchSet{}
	if file == "" {
		return sets, nil, nil
	}
	doc, err := r.open(file, holdsSets)
	if err != nil {
		return nil, nil, err
	}
	o, ok := doc.Root.(*value.Object)
	if !ok {
		r.wrong(doc, "", errors.New("expected assertion sets by name, NAME: [assertions], found "+kind.Of(doc.Root)))
		return sets, nil, nil
	}
	for name, v := range o.All() {
		at := document.Join("", name)
		if path, _ := v.(string); strings.HasPrefix(path, "file://") {
			sets[name] = r.setFile(doc, at, file, strings.TrimPrefix(path, "file://"))
		} else {
			sets[name] = r.set(doc, at, v)
		}
		names = append(names, name)
	}
	return sets, names, nil
}

// replayedWatches reads the watches of a replay with their sets. It also returns the file of
// watches.
func (a *app) replayedWatches(ctx context.Context, f *monitorReplay) ([]replayed, *document.Document, error) {
	r := &watchReader{a: a, ctx: ctx, untrusted: f.trust.untrusted}
	watches, doc, err := r.watches(f.watch)
	if err != nil || len(r.mistakes) > 0 {
		return nil, nil, cmp.Or(a.mistaken(err, nothingRun), a.mistakes(inOrder(r.mistakes)))
	}
	sets, named, err := r.setsNamed(f.sets)
	if err != nil || len(r.mistakes) > 0 {
		return nil, nil, cmp.Or(a.mistaken(err, nothingRun), a.mistakes(inOrder(r.mistakes)))
	}
	var list []replayed
	for _, w := range watches {
		at := document.Join(document.Join("", w.Name), "assertions")
		one := replayed{watch: w}
		if file, ok := strings.CutPrefix(w.Assertions, "file://"); ok {
			one.set = r.setFile(doc, at, f.watch, file)
		} else {
			name, _, _ := strings.Cut(strings.TrimPrefix(w.Assertions, "set:"), "@")
			if one.set = sets[name]; one.set == nil {
				r.wrong(doc, at, unknownSet(name, named, f.sets))
			}
		}
		if one.set != nil && len(one.set.request.Assertions) > 0 {
			r.unknownObjectives(doc, &w, one.set)
		}
		list = append(list, one)
	}
	return list, doc, a.mistakes(inOrder(r.mistakes))
}

// unknownSet is the mistake of a watch whose set does not exist.
func unknownSet(name string, named []string, file string) error {
	e := proviso.Errorf(proviso.NotFound, "there is no assertion set %q in %s", name, file)
	if file == "" {
		e = proviso.Errorf(proviso.NotFound, "the assertion set %q is on a server; name a file that has it with --sets FILE, or write file://PATH", name)
	}
	e.Valid = named
	return e
}

// unknownObjectives finds objectives for assertions that the set does not have.
func (r *watchReader) unknownObjectives(doc *document.Document, w *monitor.Watch, s *watchSet) {
	var ids []string
	for _, one := range s.request.Assertions {
		ids = append(ids, one.ID)
	}
	for id := range w.Objectives {
		if !slices.Contains(ids, id) {
			e := proviso.Errorf(proviso.Invalid, "the assertion set has no %q", id)
			e.Valid = ids
			r.wrong(doc, document.Join(document.Join(document.Join("", w.Name), "objectives"), id), e)
		}
	}
}

// besides returns a path relative to the folder of a file.
func besides(file, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(filepath.Dir(file), filepath.FromSlash(name))
}

// belowFolder reports whether a name is that of a file in a folder, with links resolved. For a file
// that does not exist, only the name counts.
func belowFolder(dir, name string) bool {
	name = filepath.FromSlash(name)
	if !filepath.IsLocal(name) {
		return false
	}
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return false
	}
	full, err := filepath.EvalSymlinks(filepath.Join(root, name))
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	rel, relErr := filepath.Rel(root, full)
	return err == nil && relErr == nil && filepath.IsLocal(rel)
}

// requestForm converts assertions of a suite, as `proviso spade run` writes them, to the form of
// assertion sets: the type and its settings are below check, and the description is the
// instruction. Assertions that already have this form are unchanged.
func requestForm(v any) any {
	list, ok := v.([]any)
	if !ok {
		return v
	}
	out := make([]any, len(list))
	for i, v := range list {
		if out[i] = v; v == nil {
			continue
		}
		if o, ok := v.(*value.Object); ok {
			out[i] = requestFormOf(o)
		}
	}
	return out
}

func requestFormOf(o *value.Object) *value.Object {
	name, ok := o.At("type").(string)
	if !ok || o.Has("check") || o.Has("instruction") {
		return o
	}
	judged := strings.TrimPrefix(name, "not-") == proviso.TypeJudge
	out, check := value.NewObject(o.Len()), value.NewObject(o.Len())
	for key, v := range o.All() {
		k := assertion.KeyOf(key)
		switch {
		case key == "description":
			out.Set("instruction", v)
		case judged, key != "type" && k != nil && k.Field != 0:
			out.Set(key, v)
		default:
			check.Set(key, v)
		}
	}
	if !judged {
		out.Set("check", check)
	}
	return out
}
