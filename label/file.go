package label

import (
	"errors"
	"io"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/value"
)

// Line is a line of a file of labels.
type Line struct {
	Number  int // from 1
	Label   Label
	Removed bool // the label is removed; only its id is known
}

// maxMistakes bounds how many mistakes of a file are kept.
const maxMistakes = 100

// ReadLines reads a file with lines of [AppendLine] and [AppendRemoval], and every mistake
// in it. file is the name for messages. The error is that of r.
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
		m := proviso.Mistake{Place: proviso.Place{File: file, Line: at.Number, Column: 1}, Code: proviso.Invalid, Message: err.Error()}
		if broken != nil {
			m.Place = proviso.Place{File: file, Line: broken.Line, Column: broken.Column, Excerpt: broken.Excerpt}
			m.Message = broken.Message
		}
		if len(mistakes) < maxMistakes {
			mistakes = append(mistakes, m)
		}
	}
	return list, mistakes, nil
}
