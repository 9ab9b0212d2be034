package main

import (
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
	// maxWatchFile bounds the files of watches and of sets.
	maxWatchFile = judge.MaxBody
)

// watchSet is an assertion set with its place.
type watchSet struct {
	doc     *document.Document
	request judge.Request // without input and output
}

// watchFile reads a file of watches or sets. Mistakes of its syntax are printed.
func (a *app) watchFile(ctx context.Context, name, holds string) (*document.Document, error) {
	data, err := a.readBounded(name, holds, maxWatchFile)
	if err != nil {
		return nil, err
	}
	doc, err := document.ParseContext(ctx, name, data)
	var syntax *document.SyntaxError
	if errors.As(err, &syntax) {
		return nil, a.mistakes(proviso.Mistakes{{Place: syntax.Place, Code: proviso.Invalid, Message: syntax.Message}})
	}
	if err != nil {
		return nil, proviso.Errorf(proviso.Invalid, "%w", err)
	}
	return doc, nil
}

// watchesOf reads the watches of a file.
func (a *app) watchesOf(ctx context.Context, name string) ([]monitor.Watch, *document.Document, error) {
	doc, err := a.watchFile(ctx, name, holdsWatches)
	if err != nil {
		return nil, nil, err
	}
	o, ok := doc.Root.(*value.Object)
	if !ok {
		return nil, nil, a.mistakes(proviso.Mistakes{{Place: doc.Place(""), Code: proviso.Invalid, Message: "expected watches by name, NAME: {match: …, assertions: …}, found " + kind.Of(doc.Root)}})
	}
	list, wrong := monitor.ReadWatches(o)
	if len(wrong) > 0 {
		return nil, nil, a.requestMistakes(doc, judge.Mistakes(wrong))
	}
	return list, doc, nil
}

// replayedWatches reads the watches of a replay with their sets, and the file of watches.
func (a *app) replayedWatches(ctx context.Context, f *monitorReplay) ([]replayed, *document.Document, error) {
	watches, doc, err := a.watchesOf(ctx, f.watch)
	if err != nil {
		return nil, nil, err
	}
	sets, named, err := a.setsNamed(ctx, f.sets, f.trust.untrusted)
	if err != nil {
		return nil, nil, err
	}
	var list []replayed
	var wrong judge.Mistakes
	for _, w := range watches {
		at := document.Join(document.Join("", w.Name), "assertions")
		r := replayed{watch: w}
		if file, ok := strings.CutPrefix(w.Assertions, "file://"); ok {
			r.set, err = a.setBeside(ctx, f.watch, file, f.trust.untrusted)
		} else {
			name, _, _ := strings.Cut(strings.TrimPrefix(w.Assertions, "set:"), "@")
			if r.set = sets[name]; r.set == nil {
				wrong = append(wrong, unknownSet(at, name, named, f.sets))
			}
		}
		if err != nil {
			return nil, nil, err
		}
		if r.set != nil {
			wrong = append(wrong, unknownObjectives(document.Join("", w.Name), &w, r.set)...)
		}
		list = append(list, r)
	}
	if len(wrong) > 0 {
		return nil, nil, a.requestMistakes(doc, wrong)
	}
	return list, doc, nil
}

// unknownSet is the mistake of a watch whose set is not there.
func unknownSet(at, name string, named []string, file string) *proviso.Error {
	e := proviso.Errorf(proviso.NotFound, "there is no assertion set %q in %s", name, file)
	if file == "" {
		e = proviso.Errorf(proviso.NotFound, "the assertion set %q is on a server; name a file that has it with --sets FILE, or write file://PATH", name)
	}
	e.Pointer, e.Valid = at, named
	return e
}

// unknownObjectives are objectives for assertions that a set does not have.
func unknownObjectives(at string, w *monitor.Watch, s *watchSet) judge.Mistakes {
	var ids []string
	for _, one := range s.request.Assertions {
		ids = append(ids, one.ID)
	}
	var wrong judge.Mistakes
	for id := range w.Objectives {
		if !slices.Contains(ids, id) {
			e := proviso.Errorf(proviso.Invalid, "the assertion set has no %q", id)
			e.Pointer, e.Valid = document.Join(document.Join(at, "objectives"), id), ids
			wrong = append(wrong, e)
		}
	}
	return wrong
}

// besides is a path relative to the folder of a file.
func besides(file, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(filepath.Dir(file), filepath.FromSlash(name))
}

// setBeside reads the file of a set that another file names. If that one is untrusted, it
// can name only files of its own folder, with links resolved.
func (a *app) setBeside(ctx context.Context, file, name string, untrusted bool) (*watchSet, error) {
	if untrusted && !belowFolder(filepath.Dir(file), name) {
		return nil, proviso.Errorf(proviso.Refused, "%s: file://%s is outside of the folder of the file, which --untrusted does not allow", file, name)
	}
	return a.setOfFile(ctx, besides(file, name))
}

// belowFolder reports whether a name is that of a file in a folder, wherever links lead. A
// file that does not exist is in its folder by its name.
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

// setOfFile reads a file with one set.
func (a *app) setOfFile(ctx context.Context, name string) (*watchSet, error) {
	doc, err := a.watchFile(ctx, name, holdsSet)
	if err != nil {
		return nil, err
	}
	return a.readWatchSet(ctx, doc, "", doc.Root)
}

// setsNamed reads the file of --sets: sets by name, each a set or the file of one.
func (a *app) setsNamed(ctx context.Context, file string, untrusted bool) (sets map[string]*watchSet, names []string, err error) {
	sets = map[string]*watchSet{}
	if file == "" {
		return sets, nil, nil
	}
	doc, err := a.watchFile(ctx, file, holdsSets)
	if err != nil {
		return nil, nil, err
	}
	o, ok := doc.Root.(*value.Object)
	if !ok {
		return nil, nil, a.mistakes(proviso.Mistakes{{Place: doc.Place(""), Code: proviso.Invalid, Message: "expected assertion sets by name, NAME: [assertions], found " + kind.Of(doc.Root)}})
	}
	for name, v := range o.All() {
		var set *watchSet
		if path, ok := v.(string); ok && strings.HasPrefix(path, "file://") {
			set, err = a.setBeside(ctx, file, strings.TrimPrefix(path, "file://"), untrusted)
		} else {
			set, err = a.readWatchSet(ctx, doc, document.Join("", name), v)
		}
		if err != nil {
			return nil, nil, err
		}
		sets[name] = set
		names = append(names, name)
	}
	return sets, names, nil
}

// readWatchSet reads a set at a pointer of a document: a list of assertions, or an object as
// PUT /v1/assertion-sets takes it. Its mistakes are printed with their places.
func (a *app) readWatchSet(ctx context.Context, doc *document.Document, at string, v any) (*watchSet, error) {
	request := value.ObjectOf("agent_input", "", "agent_output", "")
	below := at // where the members of the request stand
	switch v := v.(type) {
	case []any:
		request.Set("assertions", requestForm(v))
	case *value.Object:
		for key, member := range v.All() {
			switch key {
			case "name", "prompt": // say what the set is about
			case "assertions":
				request.Set(key, requestForm(member))
			default:
				request.Set(key, member)
			}
		}
	default:
		return nil, a.mistakes(proviso.Mistakes{{Place: doc.Place(at), Code: proviso.Invalid, Message: "expected an assertion set, a list of assertions or {assertions: […]}, found " + kind.Of(v)}})
	}
	req, err := judge.ReadRequestContext(ctx, value.AppendJSON(nil, request))
	var wrong judge.Mistakes
	if errors.As(err, &wrong) {
		_, list := v.([]any)
		for _, e := range wrong {
			pointer := e.Pointer
			if list {
				pointer = strings.TrimPrefix(pointer, "/assertions")
			}
			e.Pointer = below + pointer
		}
		return nil, a.requestMistakes(doc, wrong)
	}
	if err != nil {
		return nil, coded(err)
	}
	return &watchSet{doc: doc, request: *req}, nil
}

// requestForm gives assertions of a suite, as `proviso spade run` writes them, the form that
// assertion sets of watches have: the type and what belongs to it stand under check, and the
// description is the instruction. Those that have this form already stay as they are.
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
