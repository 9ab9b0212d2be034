package trial

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/spade/internal/exported"
)

// maxExported bounds a file of JSON, which is read whole, in bytes.
const maxExported = 256 << 20

// beginsJSON reports whether a file begins as JSON does. No header of a CSV file does.
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
		var syntax *document.SyntaxError
		if errors.As(err, &syntax) {
			r.Mistakes = append(r.Mistakes, proviso.Mistake{Place: syntax.Place, Code: proviso.Invalid, Message: syntax.Message})
		} else {
			r.Mistake(0, "", "%v", err)
		}
		return
	}
	list, at, isList := exported.Unwrap(doc.Root)
	if len(list) == 0 {
		return
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
	if exported.Of(list[0]) != nil {
		r.exported(entries)
		return
	}
	for _, e := range entries {
		at := e.At()
		text, err := document.Text(r.File, []byte(at.Excerpt))
		if err != nil {
			text = ""
		}
		if r.object(document.Line{Number: at.Line, Text: text, Value: e.Value}); r.ended {
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
		t := Trial{ID: o.ID, Label: o.Label, Output: o.Value, Prompt: o.Prompt, HasPrompt: o.Prompt != "", Vars: o.Vars}
		if r.ended = !r.each(t); r.ended {
			return
		}
	}
}
