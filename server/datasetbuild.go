package server

import (
	"bytes"
	"errors"
	"iter"
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
	content []byte
	cases   int
	added   []string // ids, at most store.MaxPage
	decoder          // for the mistakes
	full    bool
}

func newDatasetBuilder() *datasetBuilder {
	return &datasetBuilder{DatasetCases: suite.NewDatasetCases(engine.Facts())}
}

// add checks a case and adds it. Pointers of mistakes begin with at.
func (b *datasetBuilder) add(at string, one *value.Object) {
	kept, mistakes := b.Add(at, one)
	for _, e := range mistakes {
		m := mistakeOf(e)
		if near := document.Nearest(document.Last(e.Pointer), e.Valid); m.Nearest == "" && near != "" {
			m.Nearest = near
		}
		b.decoder.add(m)
	}
	if kept == nil || b.full {
		return
	}
	var secrets inlineSecrets // every key of the project reads what is stored
	if secrets.below(at+"/assert", kept.At("assert")); len(secrets.mistakes) > 0 {
		b.mistakes = append(b.mistakes, secrets.mistakes...)
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
	for line := range linesOf(content) {
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
		for i := range b.mistakes {
			b.mistakes[i].Pointer = strings.TrimSuffix(b.mistakes[i].Pointer, document.KeyMark)
		}
		if doc == nil {
			return invalid(b.mistakes, b.more)
		}
		return b.decoder.problem(doc)
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

// linesOf yields the lines of a stored dataset.
func linesOf(content []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for line := range bytes.Lines(content) {
			if !yield(bytes.TrimSuffix(line, []byte{'\n'})) {
				return
			}
		}
	}
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
