package delta

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/spade/internal/exported"
	"github.com/proviso-eval/proviso/value"
)

// versionReader collects the versions of a file.
type versionReader struct {
	file     string
	part     string // name of a prompt; "" for the only one
	list     []exported.Version
	notes    []string
	mistakes proviso.Mistakes
}

func (r *versionReader) lines(data []byte) {
	var entries []exported.Entry
	for line, err := range document.Lines(bytes.NewReader(data)) {
		if err != nil {
			r.mistakes.Add(document.MistakeOf(r.file, err))
			continue
		}
		place := proviso.Place{File: r.file, Line: line.Number}
		entries = append(entries, exported.Entry{Value: line.Value, At: func() proviso.Place { return place }})
	}
	r.entries(entries)
}

func (r *versionReader) json(data []byte) {
	doc, err := document.ParseJSON(r.file, data)
	if err != nil {
		r.mistakes.Add(document.MistakeOf(r.file, err))
		return
	}
	list, at, isList := exported.Unwrap(doc.Root)
	if isList && at == "" && exported.IsChat(list) {
		list, isList = []any{doc.Root}, false
	}
	entries := make([]exported.Entry, len(list))
	for i, e := range list {
		entries[i] = exported.Entry{Value: e, At: func() proviso.Place {
			if !isList {
				return doc.Place("")
			}
			return doc.Place(document.Join(at, i))
		}}
	}
	r.entries(entries)
}

// entries reads versions in a tool's form or in the general form.
func (r *versionReader) entries(entries []exported.Entry) {
	if len(entries) == 0 || r.mistakes.Err() != nil {
		return
	}
	kind := exported.Of(entries[0].Value)
	if kind == nil {
		if r.part != "" {
			r.mistakes.Add(proviso.Mistake{Place: entries[0].At(), Code: proviso.Unsupported, Message: "the name of a prompt is for files of " + exported.Tools})
		}
		for _, e := range entries {
			r.entry(e.Value, e.At)
		}
		return
	}
	list, notes, mistakes := kind.Versions(entries, r.part)
	r.notes = append(r.notes, notes...)
	for _, m := range mistakes {
		r.mistakes.Add(m)
	}
	r.list = append(r.list, list...)
}

// entry reads one version.
func (r *versionReader) entry(v any, at func() proviso.Place) {
	text, ok := exported.PromptText(v)
	if !ok {
		r.mistakes.AddAt(at, proviso.Mistake{Code: proviso.Invalid, Message: "there is no prompt: expected an object with template, prompt, text, messages or manifest, or what " + exported.Tools + " exports"})
		return
	}
	n := exported.Version{Name: fmt.Sprintf("entry %d", len(r.list)+1), Text: text}
	if o, ok := v.(*value.Object); ok {
		describe(&n, o)
	}
	r.list = append(r.list, n)
}

// describe reads the name, number and time of a version.
func describe(n *exported.Version, o *value.Object) {
	for _, key := range []string{"commit_hash", "commit", "name", "id", "version"} {
		switch v := o.At(key).(type) {
		case string:
			if v != "" {
				n.Name = v
			}
		case float64:
			n.Name = key + " " + value.FormatNumber(v)
		default:
			continue
		}
		break
	}
	switch v := o.At("version").(type) {
	case float64:
		n.Number, n.Numbered = v, true
	case string:
		f, err := strconv.ParseFloat(strings.TrimPrefix(v, "v"), 64)
		n.Number, n.Numbered = f, err == nil
	}
	n.Time = exported.TimeOf(o, "time", "timestamp", "created_at")
}

// inOrder returns the versions, oldest first.
func (r *versionReader) inOrder() []Version {
	if !slices.ContainsFunc(r.list, func(v exported.Version) bool { return !v.Numbered }) {
		slices.SortStableFunc(r.list, func(a, b exported.Version) int { return cmp.Compare(a.Number, b.Number) })
	} else if !slices.ContainsFunc(r.list, func(v exported.Version) bool { return v.Time.IsZero() }) {
		slices.SortStableFunc(r.list, func(a, b exported.Version) int { return a.Time.Compare(b.Time) })
	}
	out := make([]Version, len(r.list))
	for i, v := range r.list {
		out[i] = Version{Name: v.Name, Time: v.Time, Text: v.Text}
	}
	return out
}
