package baseline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/gate"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/kind"
	"github.com/proviso-eval/proviso/value"
)

// Limits of a file.
const (
	maxBytes   = 256 << 20
	maxRows    = 1_000_000
	maxColumns = 10_000
)

// Is reports whether the first line of a file is the header of a baseline.
func Is(line string) bool {
	v, err := value.ParseJSON(strings.TrimSpace(line))
	o, ok := v.(*value.Object)
	return err == nil && ok && o.At("proviso") == "baseline"
}

// Read reads a baseline. name is the file name for messages. The error is a
// [proviso.Mistakes], or an error from in or ctx.
func Read(ctx context.Context, name string, in io.Reader) (*gate.Run, error) {
	limited := &io.LimitedReader{R: in, N: maxBytes + 1}
	r := &reader{file: name, run: &gate.Run{Name: name}}
	for line, err := range document.Lines(limited) {
		var broken *document.LineError
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case limited.N == 0:
			return nil, proviso.Errorf(proviso.Limit, "%s is larger than %d MiB", name, maxBytes>>20)
		case errors.As(err, &broken):
			r.mistakes.Add(proviso.Mistake{
				Place: proviso.Place{File: name, Line: broken.Line, Column: broken.Column, Excerpt: broken.Excerpt},
				Code:  broken.Code, Message: broken.Message,
			})
			if !r.begun { // a file that is not a baseline has no further useful mistakes
				r.mistakes[0].Message = noBaseline + ": " + broken.Message
				r.over = true
			}
		case err != nil:
			return nil, err
		default:
			r.line = line
			r.next()
		}
		if r.over {
			break
		}
	}
	if !r.begun && len(r.mistakes) == 0 {
		r.mistakes.Add(proviso.Mistake{Place: proviso.Place{File: name}, Code: proviso.Invalid, Message: "the file is empty; `proviso baseline save` writes a baseline"})
	}
	if err := r.mistakes.Err(); err != nil {
		return nil, err
	}
	return r.run, nil
}

const noBaseline = "this is not a baseline: its first line is not {\"proviso\":\"baseline\",…}, which `proviso baseline save` writes"

// reader reads one line at a time.
type reader struct {
	file     string
	line     document.Line
	run      *gate.Run
	usual    defaults
	begun    bool // the header was read
	over     bool // stop reading
	mistakes proviso.Mistakes
}

// add records a mistake at a value of the current line, or at its key.
func (r *reader) add(pointer string, key bool, m proviso.Mistake) {
	r.mistakes.AddAt(func() proviso.Place { return document.JSONPlace(r.file, r.line, pointer, key) }, m)
}

// wrong records a mistake in a value of the current line.
func (r *reader) wrong(pointer, format string, args ...any) {
	r.add(pointer, false, proviso.Mistake{Code: proviso.Invalid, Message: fmt.Sprintf(format, args...)})
}

// keys reports unknown keys.
func (r *reader) keys(o *value.Object, pointer string, known ...string) {
	for key := range o.All() {
		if !slices.Contains(known, key) {
			r.add(document.Join(pointer, key), true, proviso.Mistake{
				Code: proviso.Invalid, Message: fmt.Sprintf("unknown key %q", document.Excerpt(key)), Nearest: document.Nearest(key, known),
			})
		}
	}
}

// next reads the header or a row.
func (r *reader) next() {
	o, ok := r.line.Value.(*value.Object)
	switch {
	case !ok:
		r.wrong("", "expected an object, found %s", kind.Shown(r.line.Value))
		r.over = r.over || !r.begun
	case !r.begun:
		r.begun = true
		r.header(o)
	case len(r.run.Rows) == maxRows:
		r.wrong("", "a baseline has at most %d rows", maxRows)
		r.over = true
	default:
		r.row(o)
	}
}

func (r *reader) header(o *value.Object) {
	if o.At("proviso") != "baseline" {
		r.wrong("", noBaseline)
		r.over = true
		return
	}
	if n, ok := o.At("format").(float64); !ok || n > format {
		r.wrong("/format", "the baseline has format %s; this version of proviso reads up to %d", document.Excerpt(value.ToString(o.At("format"))), format)
		r.over = true
		return
	}
	r.keys(o, "", "proviso", "format", "run", "suite", "prompts", "judge", "cases", "repeats", "columns", "criteria", "judges")
	r.text(o, "run", new(string))
	for _, h := range hashes(&r.run.Identity) {
		r.text(o, h.key, h.to)
	}
	r.whole(o, "repeats", maxRows, &r.run.Identity.Repeats)
	columns, ok := o.At("columns").([]any)
	if !ok || len(columns) == 0 || len(columns) > maxColumns {
		r.wrong("/columns", "columns is a list of 1 to %d objects", maxColumns)
	}
	for i, v := range columns[:min(len(columns), maxColumns)] {
		c, ok := v.(*value.Object)
		if !ok {
			r.wrong(document.Join("/columns", i), "a column is {prompt, provider}, not %s", kind.Shown(v))
			continue
		}
		r.keys(c, document.Join("/columns", i), "prompt", "provider")
		r.run.Columns = append(r.run.Columns, gate.Column{Prompt: c.Text("prompt"), Provider: c.Text("provider")})
	}
	r.usual = defaults{r.texts(o, "criteria"), r.texts(o, "judges")}
}

// texts reads an object of names and texts.
func (r *reader) texts(o *value.Object, key string) map[string]string {
	out := map[string]string{}
	v, ok := o.At(key).(*value.Object)
	if !ok && o.Has(key) {
		r.wrong("/"+key, "%s is an object, not %s", key, kind.Shown(o.At(key)))
	}
	for name, e := range v.All() {
		if text, ok := e.(string); ok {
			out[name] = text
		} else {
			r.wrong(document.Join("/"+key, name), "expected a text, found %s", kind.Shown(e))
		}
	}
	return out
}

func (r *reader) text(o *value.Object, key string, to *string) {
	text, ok := o.At(key).(string)
	if *to = text; !ok && o.Has(key) {
		r.wrong("/"+key, "%s is a text, not %s", key, kind.Shown(o.At(key)))
	}
}

// whole reads an integer from 0 to most.
func (r *reader) whole(o *value.Object, key string, most int, to *int) {
	v, has := o.Get(key)
	f, ok := v.(float64)
	switch {
	case !has:
	case !ok || f != math.Trunc(f) || f < 0 || f > float64(most):
		r.wrong("/"+key, "%s is a whole number from 0 to %d", key, most)
	default:
		*to = int(f)
	}
}

// share reads a number from 0 to 1.
func (r *reader) share(at string, v any) float64 {
	f, ok := v.(float64)
	if !ok || !(f >= 0 && f <= 1) {
		r.wrong(at, "a score is a number from 0 to 1, not %s", kind.Shown(v))
	}
	return f
}

func (r *reader) row(o *value.Object) {
	r.keys(o, "", "case", "vars", "cluster", "repeat", "column", "status", "score", "assertions", "criteria", "judges", "cost", "tokens")
	row := gate.Row{Index: len(r.run.Rows), LatencyMS: math.NaN()}
	r.text(o, "case", &row.Case.Name)
	if row.Case.Name == "" {
		r.wrong("/case", "a row needs the name of its case")
	}
	if !o.Has("vars") {
		row.Case.ID = row.Case.Name
	}
	r.text(o, "vars", &row.Case.Vars)
	r.text(o, "cluster", &row.Case.Cluster)
	r.whole(o, "repeat", maxRows, &row.Case.Repeat)
	r.whole(o, "tokens", math.MaxInt32, &row.Tokens)
	if r.whole(o, "column", max(0, len(r.run.Columns)-1), &row.Column); !o.Has("column") {
		r.wrong("", "a row needs the number of its column")
	}
	if cost, ok := o.At("cost").(float64); ok && cost >= 0 && !math.IsInf(cost, 0) {
		row.Cost = cost
	} else if o.Has("cost") {
		r.wrong("/cost", "cost is a number of US dollars, not %s", kind.Shown(o.At("cost")))
	}
	if row.Status = r.status("/status", o.At("status")); row.Status != proviso.Errored {
		row.Score = r.share("/score", o.At("score"))
	}
	list, ok := o.At("assertions").(*value.Object)
	if !ok {
		r.wrong("/assertions", "a row needs its assertions, an object such as {\"tone\":1}")
	}
	for name, v := range list.All() {
		r.verdicts(o, &row, name, v)
	}
	r.run.Rows = append(r.run.Rows, row)
}

var statuses = []string{"error", "pass", "fail", "skip"}

func (r *reader) status(at string, v any) proviso.Status {
	name, _ := v.(string)
	i := slices.Index(statuses, name)
	if i < 0 {
		r.wrong(at, "a status is %s, not %s", strings.Join(statuses, ", "), kind.Shown(v))
		return proviso.Errored
	}
	return proviso.Status(i)
}

// verdicts reads the verdicts on the assertions with one name.
func (r *reader) verdicts(o *value.Object, row *gate.Row, name string, v any) {
	at := document.Join("/assertions", name)
	list, several := v.([]any)
	if !several {
		list = []any{v}
	}
	criterion, judge := o.Object("criteria"), o.Object("judges")
	for i, e := range list {
		at := at
		if several {
			at = document.Join(at, i)
		}
		out := gate.Verdict{Assertion: name, Criterion: exception(criterion, r.usual.criteria, name, i), Judge: exception(judge, r.usual.judges, name, i)}
		switch e := e.(type) {
		case float64:
			if out.Status, out.Score = proviso.Pass, e; e == 0 {
				out.Status = proviso.Fail
			}
			if e != 0 && e != 1 {
				r.wrong(at, "a verdict is 1 or 0, \"skip\" or \"error\", or {status, score}; not %s", value.FormatNumber(e))
			}
		case string:
			if out.Status = r.status(at, e); out.Status != proviso.Skip && e != "error" {
				r.wrong(at, "a verdict is 1 or 0, \"skip\" or \"error\", or {status, score}")
			}
		case *value.Object:
			r.keys(e, at, "status", "score")
			out.Status = r.status(at+"/status", e.At("status"))
			out.Score = r.share(at+"/score", e.At("score"))
		default:
			r.wrong(at, "a verdict is 1 or 0, \"skip\" or \"error\", or {status, score}; not %s", kind.Shown(e))
		}
		row.Verdicts = append(row.Verdicts, out)
	}
}

// exception returns the row's own text for a verdict, or otherwise the most frequent one.
func exception(own *value.Object, usual map[string]string, name string, i int) string {
	switch v := own.At(name).(type) {
	case string:
		return v
	case []any:
		if i < len(v) {
			text, _ := v[i].(string)
			return text
		}
	}
	return usual[name]
}
