package server

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/suite"
	"github.com/proviso-eval/proviso/value"
)

// datasetBuilder makes the content of a dataset: a case a line as JSON, with its id first.
type datasetBuilder struct {
	*suite.DatasetCases
	content  []byte
	cases    int
	added    []string // ids, at most store.MaxPage
	mistakes []Mistake
	more     int // mistakes that are not in the list
	full     bool
}

func newDatasetBuilder() *datasetBuilder {
	return &datasetBuilder{DatasetCases: suite.NewDatasetCases(engine.Facts())}
}

// add checks a case and adds it. Pointers of mistakes begin with at.
func (b *datasetBuilder) add(at string, one *value.Object) {
	kept, mistakes := b.Add(at, one)
	for _, e := range mistakes {
		if len(b.mistakes) >= maxMistakes {
			b.more++
			continue
		}
		m := mistakeOf(e)
		if near := document.Nearest(document.Last(e.Pointer), e.Valid); m.Nearest == "" && near != "" {
			m.Nearest = near
		}
		b.mistakes = append(b.mistakes, m)
	}
	if kept == nil || b.full {
		return
	}
	var secrets inlineSecrets // every key of the project reads what is stored
	if secrets.below(at+"/assert", kept.At("assert")); len(secrets.list) > 0 {
		b.mistakes = append(b.mistakes, secrets.list...)
		b.more += secrets.more
		return
	}
	b.content = append(value.AppendJSON(b.content, kept), '\n')
	b.full = len(b.content) > store.MaxContent
	b.cases++
	if len(b.added) < store.MaxPage {
		b.added = append(b.added, kept.Text("id"))
	}
}

// keep adds the lines of a version that is there.
func (b *datasetBuilder) keep(content []byte) error {
	for rest := content; len(rest) > 0; {
		var line []byte
		line, rest = lineOf(rest)
		id, err := idOf(line)
		if err != nil {
			return err
		}
		b.Keep(id)
		b.cases++
	}
	b.content = slices.Grow(b.content, len(content)+4096)
	b.content = append(b.content, content...)
	return nil
}

// problem is the problem of the cases, nil if there is none. doc is the body that they
// are in; nil if they are not in one.
func (b *datasetBuilder) problem(doc *document.Document) error {
	if len(b.mistakes) > 0 {
		d := decoder{mistakes: b.mistakes, more: b.more}
		for i := range d.mistakes {
			d.mistakes[i].Pointer = strings.TrimSuffix(d.mistakes[i].Pointer, document.KeyMark)
		}
		if doc == nil {
			return invalid(d.mistakes, d.more)
		}
		return d.problem(doc)
	}
	if b.full {
		return proviso.Errorf(proviso.Limit, "the dataset has more than %d bytes (64 MiB); divide it into several", store.MaxContent)
	}
	return nil
}

// lineOf cuts the first line off a stored dataset.
func lineOf(content []byte) (line, rest []byte) {
	line, rest, _ = bytes.Cut(content, []byte{'\n'})
	return line, rest
}

// errDataset says that a stored dataset is not what was stored.
var errDataset = errors.New("a stored dataset is damaged")

// idOf returns the id of a stored case without reading the rest.
func idOf(line []byte) (string, error) {
	text, ok := bytes.CutPrefix(line, []byte(`{"id":"`))
	end := bytes.IndexByte(text, '"')
	if !ok || end < 0 {
		return "", errDataset
	}
	if !bytes.Contains(text[:end], []byte{'\\'}) {
		return string(text[:end]), nil
	}
	one, err := caseOf(line)
	if err != nil {
		return "", err
	}
	return one.Text("id"), nil
}

// caseOf reads a stored case.
func caseOf(line []byte) (*value.Object, error) {
	v, err := value.ParseJSON(string(line))
	one, ok := v.(*value.Object)
	if err != nil || !ok {
		return nil, errDataset
	}
	return one, nil
}
