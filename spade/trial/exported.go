package trial

import (
	"bufio"
	"bytes"
	"io"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/spade/internal/exported"
)

// maxExported bounds a JSON file, which is read whole, in bytes.
const maxExported = 256 << 20

// beginsJSON reports whether a file starts like JSON. No header of a CSV file does.
func beginsJSON(in *bufio.Reader) bool {
	head, _ := in.Peek(1 << 10)
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n")
	return len(head) > 0 && (head[0] == '{' || head[0] == '[')
}

// json reads a JSON document, or JSON Lines under another name.
func (r *trialReader) json(in io.Reader) {
	data, err := io.ReadAll(io.LimitReader(in, maxExported+1))
	switch {
	case err != nil:
		r.Mistake(0, "", "%v", err)
		return
	case len(data) > maxExported:
		r.Mistake(0, "", "it is longer than the %d MiB that are read of JSON; JSON Lines may be longer", maxExported>>20)
		return
	}
	doc, err := document.ParseJSON(r.File, data)
	if err != nil {
		if isLines(data) {
			r.jsonLines(bytes.NewReader(data))
			return
		}
		r.Broken(err)
		return
	}
	list, at, isList := exported.Unwrap(doc.Root)
	if len(list) == 0 {
		return
	}
	entries := make([]exported.Entry, len(list))
	for i, e := range list {
		in := ""
		if isList {
			in = document.Join(at, i)
		}
		entries[i] = exported.Entry{Value: e, At: func() proviso.Place { return doc.Place(in) }, In: func(pointer string, key bool) proviso.Place {
			if key {
				return doc.KeyPlace(in + pointer)
			}
			return doc.Place(in + pointer)
		}}
	}
	if exported.Of(list[0]) != nil {
		r.exported(entries)
		return
	}
	if !isList {
		r.objects(doc, entries, func(int) string { return at })
		return
	}
	r.objects(doc, entries, func(entry int) string { return document.Join(at, entry) })
}

// objects reads the outputs of a document that comes from no other tool. pointer returns the
// pointer to an entry.
func (r *trialReader) objects(doc *document.Document, entries []exported.Entry, pointer func(entry int) string) {
	// Finding a place reads the document from its start, so only some mistakes get one.
	r.lineOf = func(entry int) int {
		if r.Mistakes.Full() {
			return 0
		}
		return entries[entry].At().Line
	}
	for i, e := range entries {
		in := pointer(i)
		place := func(pointer string, key bool) proviso.Place {
			switch {
			case r.Mistakes.Full():
				return proviso.Place{File: r.File}
			case key:
				return doc.KeyPlace(in + pointer)
			}
			return doc.Place(in + pointer)
		}
		if r.object(i, e.Value, place); r.ended {
			return
		}
	}
}

// isLines reports whether the first line is JSON by itself.
func isLines(data []byte) bool {
	line, _, more := bytes.Cut(bytes.TrimSpace(data), []byte("\n"))
	if !more {
		return false
	}
	_, err := document.ParseJSON("", line)
	return err == nil
}

// exported reads the outputs of another tool.
func (r *trialReader) exported(entries []exported.Entry) {
	list, notes, mistakes := exported.Of(entries[0].Value).Outputs(entries)
	if r.note != nil {
		for _, n := range notes {
			r.note(n)
		}
	}
	r.n += len(entries)
	r.Mistakes = append(r.Mistakes, mistakes...)
	for _, o := range list {
		t := Trial{ID: o.ID, Label: o.Label, Output: o.Value, Prompt: o.Prompt, HasPrompt: o.Prompt != "", Vars: o.Vars, CaseID: o.ID, Thumb: o.Thumb, Version: o.Version}
		if r.ended = !r.each(t); r.ended {
			return
		}
	}
}
