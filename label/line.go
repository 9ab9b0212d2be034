package label

import (
	"errors"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/value"
)

// FileName is the name of the label file beside kept runs.
const FileName = "labels.jsonl"

// IDKey is the member that identifies a line written by [AppendLine].
const IDKey = "label_id"

// AppendLine appends a label as one JSON line, including the line break. `proviso align`
// and `proviso spade label` also read such lines.
func AppendLine(dst []byte, l *Label) []byte {
	o := value.ObjectOf(IDKey, l.ID)
	if l.Run != "" {
		o.Set("run", l.Run)
		o.Set("row", float64(l.Index))
	}
	o.SetText("evaluation", l.Evaluation)
	o.SetText("event", l.Event)
	o.SetText("case", l.Case)
	o.Set("assertion", l.Assertion)
	o.Set("human", string(l.Verdict))
	o.SetText("note", l.Note)
	if len(l.Evidence) > 0 {
		var list []any
		for _, s := range l.Evidence {
			list = append(list, value.ObjectOf("start", float64(s.Start), "end", float64(s.End)))
		}
		o.Set("evidence", list)
	}
	o.Set("by", l.By)
	o.SetText("name", l.Name)
	o.Set("created", l.Created.UTC().Format(time.RFC3339Nano))
	o.SetText("output_id", l.OutputID)
	o.SetText("judge", l.Judged)
	o.SetText("judge_id", l.Judge)
	o.SetText("queue", l.Queue)
	if l.Stratum != "" {
		o.Set("stratum", l.Stratum)
		o.Set("rank", float64(l.Rank))
		o.Set("population", float64(l.Population))
	}
	return append(value.AppendJSON(dst, o), '\n')
}

// AppendRemoval appends the line that removes a label.
func AppendRemoval(dst []byte, id string) []byte {
	return append(value.AppendJSON(dst, value.ObjectOf(IDKey, id, "removed", true)), '\n')
}

// IsLine reports whether an object is a line written by [AppendLine] or [AppendRemoval].
func IsLine(o *value.Object) bool { return o.Text(IDKey) != "" }

// ReadLine reads an object written by [AppendLine] or [AppendRemoval]; a removed label
// has only its id. Unknown members are ignored.
func ReadLine(o *value.Object) (l Label, removed bool, err error) {
	l = Label{ID: o.Text(IDKey), Subject: Subject{Evaluation: o.Text("evaluation"), Event: o.Text("event"), Run: o.Text("run"), Assertion: o.Text("assertion")},
		Verdict: Verdict(o.Text("human")), Note: o.Text("note"), By: o.Text("by"), Name: o.Text("name"), Case: o.Text("case"), OutputID: o.Text("output_id"),
		Judge: o.Text("judge_id"), Judged: o.Text("judge"), Queue: o.Text("queue"), Stratum: o.Text("stratum")}
	if l.ID == "" {
		return l, false, proviso.Errorf(proviso.Invalid, "no %q in this label", IDKey)
	}
	if o.At("removed") == true {
		return Label{ID: l.ID}, true, nil
	}
	if l.Index, err = whole(o, "row"); err == nil {
		if l.Rank, err = whole(o, "rank"); err == nil {
			l.Population, err = whole(o, "population")
		}
	}
	if err != nil {
		return l, false, err
	}
	if text := o.Text("created"); text != "" {
		if l.Created, err = time.Parse(time.RFC3339, text); err != nil {
			return l, false, proviso.Errorf(proviso.Invalid, "created has to be a time such as 2026-01-31T09:00:00Z, not %s", quoted(text))
		}
		l.Created = l.Created.UTC()
	}
	list, _ := o.At("evidence").([]any)
	for _, e := range list {
		span, ok := e.(*value.Object)
		if !ok {
			return l, false, proviso.Errorf(proviso.Invalid, "evidence has to be a list of objects with start and end")
		}
		start, err := whole(span, "start")
		if err != nil {
			return l, false, err
		}
		end, err := whole(span, "end")
		if err != nil {
			return l, false, err
		}
		l.Evidence = append(l.Evidence, Span{start, end})
	}
	return l, false, l.Check()
}

// whole reads an integer of at least 0; a missing one is 0.
func whole(o *value.Object, key string) (int, error) {
	v := o.At(key)
	if v == nil {
		return 0, nil
	}
	if f, ok := v.(float64); ok && f >= 0 && f == math.Trunc(f) && f <= math.MaxInt32 {
		return int(f), nil
	}
	return 0, proviso.Errorf(proviso.Invalid, "%s has to be a whole number from 0, not %s", key, excerpt.Bytes(value.Stringify(v), 40))
}

func quoted(text string) string { return strconv.Quote(excerpt.Bytes(text, 40)) }

// Line is one line of a label file.
type Line struct {
	Number  int // from 1
	Label   Label
	Removed bool // the label is removed; only its id is known
}

// ReadLines reads a file of lines written by [AppendLine] and [AppendRemoval], and
// reports its mistakes. file is the name for messages. The error is a read error
// of r.
func ReadLines(file string, r io.Reader) (list []Line, mistakes proviso.Mistakes, err error) {
	for at, err := range document.Lines(r) {
		var broken *document.LineError
		if err != nil && !errors.As(err, &broken) {
			return nil, nil, proviso.Errorf(proviso.Unavailable, "read %s: %w", file, err)
		}
		line := Line{Number: at.Number}
		if err == nil {
			o, ok := at.Value.(*value.Object)
			if ok && IsLine(o) {
				line.Label, line.Removed, err = ReadLine(o)
			} else {
				err = proviso.Errorf(proviso.Invalid, "no label: expected an object with %q, as `proviso labels export` writes it", IDKey)
			}
		}
		if err == nil {
			list = append(list, line)
			continue
		}
		m := document.MistakeOf(file, err)
		if broken == nil {
			m.Place.Line, m.Place.Column = at.Number, 1
		}
		mistakes.Add(m)
	}
	return list, mistakes, nil
}
