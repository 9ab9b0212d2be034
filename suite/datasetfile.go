package suite

import (
	"context"
	"io"
	"path/filepath"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/value"
)

// WriteDataset reads a file of cases (CSV, JSON Lines, JSON or YAML, as under
// `tests` of a suite) and writes them in the form of a dataset: one JSON object per
// line, with ids. It returns the number of cases, and the mistakes with their
// places in the file: at most 100, and how many more there are. If any mistake is
// not a warning, do not use the written cases.
func WriteDataset(ctx context.Context, to io.Writer, name string, o Options) (int, proviso.Mistakes) {
	r := newReading(ctx, o)
	r.openFolder(name)
	doc := document.Virtual(filepath.ToSlash(name), filepath.Base(name))
	all := NewDatasetCases(o.Facts)
	p := r.recorder(r.newCaseSource(), doc)
	n := 0
	var failed error
	for _, from := range r.fileStreams(doc, "", filepath.Base(name), nil, false) {
		from.each(p, func(w written) bool {
			switch {
			case w.err != nil:
				p.Report(w.err)
				return ctx.Err() == nil
			case w.generator != nil:
				r.mistake(doc, "", proviso.Invalid, nil, "a dataset is data: run the code, and push the file of cases that it writes")
				return false
			}
			kept, mistakes := all.Add(w.at, withoutEmpty(w.object))
			for _, e := range mistakes {
				r.caseMistake(e)
			}
			if kept != nil {
				n++
				_, failed = to.Write(append(value.AppendJSON(nil, kept), '\n'))
			}
			return failed == nil && ctx.Err() == nil
		})
	}
	if failed == nil {
		failed = ctx.Err()
	}
	if failed != nil {
		r.append(mistakeOf(failed))
	}
	return n, r.all()
}

// caseMistake records a mistake of a case at its place.
func (r *reading) caseMistake(e *proviso.Error) {
	if m := CaseMistake(r.places, e); !r.full(m) {
		r.append(m)
	}
}

// withoutEmpty removes empty settings, which every row of a CSV file has.
func withoutEmpty(o *value.Object) *value.Object {
	out := o
	for _, key := range []string{"options", "assert"} {
		v, ok := o.Get(key)
		list, isList := v.([]any)
		object, isObject := v.(*value.Object)
		if ok && (isList && len(list) == 0 || isObject && object.Len() == 0) {
			if out == o {
				out = o.Clone()
			}
			out.Delete(key)
		}
	}
	return out
}
