package convert

import (
	"bytes"
	"context"
	"errors"
	"path"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/kind"
	"github.com/proviso-eval/proviso/value"
)

// Limits of an export, far above what the platform allowed.
const (
	maxRows    = 200_000
	maxGraders = 1_000
	maxWrapped = 8 // how deeply lists and objects around evals nest
)

// found is an object of an export and its place.
type found struct {
	*value.Object
	place func(pointer string) proviso.Place // place of a part of it
}

// row is an item of an eval, and the sample that a run returned for it.
type row struct {
	found
	item   any
	sample *value.Object
	run    string // id of the run, "" if the row belongs to none
	eval   string // id of the eval
	id     string // its number in the data source, "" if there is none
}

// export collects the objects of the API in the files: evals, runs, output items, and
// items. See https://platform.openai.com/docs/api-reference/evals.
type export struct {
	ctx      context.Context
	evals    []found
	runs     []found
	rows     []row
	complete map[string]bool // by run id: the last page of the run's output items was read
	mistakes proviso.Mistakes
}

// mistake records a mistake at a place.
func (x *export) mistake(at proviso.Place, message string) {
	x.mistakes.Add(proviso.Mistake{Place: at, Code: proviso.Invalid, Message: message})
}

// Mistakes are everything that is wrong in the files; see [Importer].
type Mistakes struct{ List proviso.Mistakes }

// Error returns the first mistake, with its place.
func (m Mistakes) Error() string { return m.List[0].Place.String() + ": " + m.List[0].Message }

// readOpenAI converts exported evals of OpenAI's platform. The error is [Mistakes] if
// the files are wrong.
func readOpenAI(ctx context.Context, files []File, o Options) (*Result, error) {
	x := &export{ctx: ctx, complete: map[string]bool{}}
	for _, f := range files {
		x.file(f)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	eval := x.choose(files, o.Eval)
	if len(x.mistakes) > 0 {
		return nil, Mistakes{x.mistakes}
	}
	c := &openAISuite{export: x, eval: eval, slugs: map[string]bool{}}
	return c.convert()
}

// file reads one file: JSON, or JSON Lines.
func (x *export) file(f File) {
	if ext := strings.ToLower(path.Ext(f.Name)); ext != ".jsonl" && ext != ".ndjson" {
		doc, err := document.ParseJSONContext(x.ctx, f.Name, f.Data)
		if err == nil {
			x.value(found{nil, doc.Place}, "", doc.Root, 0, true)
			return
		}
		first, _, _ := bytes.Cut(bytes.TrimSpace(f.Data), []byte("\n"))
		if _, lineErr := value.ParseJSONContext(x.ctx, string(first)); lineErr != nil || !bytes.Contains(bytes.TrimSpace(f.Data), []byte("\n")) {
			x.syntax(f.Name, err)
			return
		}
	}
	for line, err := range document.Lines(bytes.NewReader(f.Data)) {
		if x.ctx.Err() != nil {
			return
		}
		if err != nil {
			x.syntax(f.Name, err)
			continue
		}
		place := func(pointer string) proviso.Place { return document.JSONPlace(f.Name, line, pointer, false) }
		x.value(found{nil, place}, "", line.Value, maxWrapped, true)
	}
}

// syntax records what is wrong in the text of a file.
func (x *export) syntax(name string, err error) {
	var s *document.SyntaxError
	var l *document.LineError
	switch {
	case errors.As(err, &s):
		x.mistake(s.Place, s.Message)
	case errors.As(err, &l):
		x.mistake(proviso.Place{File: name, Line: l.Line, Column: l.Column}, l.Message)
	default:
		x.mistake(proviso.Place{File: name}, err.Error())
	}
}

// containers are the keys under which saved files hold objects of the API: pages of
// a list, and files that combine several answers.
var containers = [...]string{"data", "eval", "evals", "run", "runs", "output_items", "items"}

// value finds the objects of the API in a value at a pointer. With bare, an object
// without a known key is an item.
func (x *export) value(in found, pointer string, v any, depth int, bare bool) {
	if list, ok := v.([]any); ok && depth < maxWrapped {
		for i, e := range list {
			x.value(in, document.Join(pointer, i), e, depth+1, true)
		}
		return
	}
	o, ok := v.(*value.Object)
	if !ok {
		x.mistake(in.place(pointer), "expected an eval, a run or an item, got "+kind.Shown(v))
		return
	}
	f := found{o, func(below string) proviso.Place { return in.place(pointer + below) }}
	if refused, ok := o.At("error").(*value.Object); ok && o.Len() == 1 && refused.Text("message") != "" {
		x.mistake(f.place(""), "the API has answered with an error instead of what was asked for: "+oneLine(refused.Text("message")))
		return
	}
	x.page(o)
	if x.known(f) {
		depth++ // an eval may hold its runs
		bare = false
	}
	wraps := false
	for _, key := range containers {
		inner := o.At(key)
		_, isList := inner.([]any)
		_, isObject := inner.(*value.Object)
		if depth < maxWrapped && (isList || isObject) && !o.Has("item") && !o.Has("datasource_item") {
			x.value(in, document.Join(pointer, key), inner, depth+1, false)
			wraps = true
		}
	}
	if bare && !wraps {
		x.add(row{found: f, item: o})
	}
}

// page records for each run whether one of the pages with its output items is the
// last.
func (x *export) page(o *value.Object) {
	data, _ := o.At("data").([]any)
	if more, ok := o.At("has_more").(bool); ok && len(data) > 0 {
		if first, _ := data[0].(*value.Object); first.Has("datasource_item") {
			run := first.Text("run_id")
			x.complete[run] = x.complete[run] || !more
		}
	}
}

// known records an object by the keys that only its kind has.
func (x *export) known(f found) bool {
	switch {
	case f.Has("testing_criteria"):
		x.evals = append(x.evals, f)
	case f.Object.Object("data_source") != nil:
		x.runs = append(x.runs, f)
	case f.Has("datasource_item"):
		id := ""
		switch n := f.At("datasource_item_id").(type) {
		case string, float64:
			id = oneLine(value.ToString(n))
		}
		x.add(row{found: f, item: f.At("datasource_item"), sample: f.Object.Object("sample"), run: f.Text("run_id"), eval: f.Text("eval_id"), id: id})
	case f.Has("item"):
		x.add(row{found: f, item: f.At("item"), sample: f.Object.Object("sample")})
	default:
		return f.Text("object") == "list"
	}
	return true
}

// add records a row. An item that is not an object is a mistake.
func (x *export) add(r row) {
	if _, ok := r.item.(*value.Object); !ok { // a text would be a template or the name of a file
		x.mistake(r.place(""), "an item is an object, not "+kind.Shown(r.item))
		return
	}
	switch {
	case len(x.rows) == maxRows:
		x.mistake(r.place(""), "more than 200000 items; convert them in parts")
	case len(x.rows) < maxRows:
		x.rows = append(x.rows, r)
		return
	}
	x.rows = append(x.rows[:maxRows], r) // report it once
}

// choose returns the eval to convert.
func (x *export) choose(files []File, name string) found {
	var names []string
	var chosen []found
	for _, e := range x.evals {
		names = append(names, e.Text("id"))
		if name == "" || e.Text("id") == name || e.Text("name") == name {
			chosen = append(chosen, e)
		}
	}
	at := proviso.Place{}
	if len(files) > 0 {
		at.File = files[0].Name
	}
	switch {
	case len(x.mistakes) > 0:
	case len(x.evals) == 0:
		x.mistake(at, "no eval is in the files; expected an object with testing_criteria, as GET /v1/evals/{eval_id} answers")
	case len(chosen) == 0:
		x.mistakes = append(x.mistakes, proviso.Mistake{Place: at, Code: proviso.NotFound, Message: "no eval has the id or the name " + oneLine(name) + "; the files hold " + oneLine(strings.Join(names, ", ")), Nearest: document.Nearest(name, names)})
	case len(chosen) > 1:
		x.mistake(chosen[1].place(""), "the files hold several evals ("+oneLine(strings.Join(names, ", "))+"); choose one with --eval ID")
	}
	if len(chosen) == 0 {
		return found{}
	}
	list, ok := chosen[0].At("testing_criteria").([]any)
	if !ok {
		x.mistake(chosen[0].place("/testing_criteria"), "testing_criteria is a list of graders, not "+kind.Shown(chosen[0].At("testing_criteria")))
	}
	if len(list) > maxGraders {
		x.mistake(chosen[0].place("/testing_criteria"), "more than 1000 graders")
	}
	return chosen[0]
}
