package server

import (
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/server/dataset"
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
	for line := range dataset.Lines(content) {
		id, err := dataset.ID(line)
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
