package server

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/server/dataset"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/suite"
	"github.com/proviso-eval/proviso/value"
)

// maxMadeCases limits the cases that one request makes of a run.
const maxMadeCases = 10_000

// casesAsked makes cases from the run, evaluation or events that a request names.
func (s *Server) casesAsked(c *call, in *NewCases) ([]*value.Object, error) {
	switch {
	case in.Run != "":
		return s.casesOfRun(c, in)
	case in.Evaluation != "":
		one, err := s.caseOfEvaluation(c, in)
		return []*value.Object{one}, err
	case in.Events != nil || in.Filter != "":
		return s.casesOfEvents(c, in)
	}
	return nil, nil
}

// filter selects the rows with a requested status.
func (in *NewCases) filter() (f store.ResultFilter) {
	if in.Status == nil {
		f.Status = []proviso.Status{proviso.Fail, proviso.Errored}
	}
	for _, name := range in.Status {
		f.Status = append(f.Status, proviso.StatusNamed(name))
	}
	return f
}

// casesOfRun makes cases from the rows of a run. All rows of a case make one case.
func (s *Server) casesOfRun(c *call, in *NewCases) ([]*value.Object, error) {
	r, err := s.seenRunOf(c, in.Run)
	if err != nil {
		return nil, err
	}
	stored, err := openStored(c.r.Context(), c.kept, r)
	if err != nil {
		return nil, err
	}
	defaults := dataset.DefaultsOf(stored.Header().Meta.Object("config"))
	var made []*value.Object
	seen := map[string]bool{}
	take := func(row *store.Result) error {
		v, err := value.ParseJSON(string(row.JSON))
		record, ok := v.(*value.Object)
		if err != nil || !ok {
			return fmt.Errorf("row %d of run %s is damaged", row.Index, r.ID)
		}
		one := dataset.OfRow(record, defaults)
		id := one.Text("id")
		if seen[id] {
			return nil
		}
		if seen[id] = id != ""; len(made) == maxMadeCases {
			return proviso.Errorf(proviso.Limit, "more than %d cases of one run: select rows by their indexes", maxMadeCases)
		}
		made = append(made, one)
		return nil
	}
	if in.Indexes != nil {
		for i, index := range in.Indexes {
			row, err := c.kept.Result(c.r.Context(), r.ID, index)
			if err != nil && isNotFound(err) {
				err = invalid([]Mistake{{Pointer: "/indexes/" + strconv.Itoa(i), Code: proviso.NotFound, Message: fmt.Sprintf("the run has no finished row %d", index)}})
			}
			if err == nil {
				err = take(&row)
			}
			if err != nil {
				return nil, err
			}
		}
		return made, nil
	}
	f := in.filter()
	if len(f.Status) == 0 {
		return nil, nil // an empty filter would select all
	}
	for row, err := range all(c.r.Context(), resultsOf(c.kept, r.ID), f) {
		if err == nil {
			err = take(row)
		}
		if err != nil {
			return nil, err
		}
	}
	return made, nil
}

// caseOfEvaluation makes a case from an evaluation.
func (s *Server) caseOfEvaluation(c *call, in *NewCases) (*value.Object, error) {
	e, err := c.kept.Evaluation(c.r.Context(), in.Evaluation)
	if err == nil && !seesAll(c.key) && e.CreatedBy != c.key.ID {
		err = proviso.Errorf(proviso.NotFound, "there is no evaluation %s", strconv.Quote(shortened(in.Evaluation)))
	}
	if err != nil {
		return nil, err
	}
	if e.Request == nil {
		return nil, problem(proviso.Unsupported, "this server did not keep the input of the evaluation; --keep-contents keeps it")
	}
	v, err := value.ParseJSON(string(e.Request))
	request, ok := v.(*value.Object)
	if err != nil || !ok {
		return nil, dataset.ErrDamaged
	}
	vars := value.ObjectOf("input", request.Text("agent_input"))
	for name, v := range request.Object("vars").All() {
		vars.Set(name, v)
	}
	one := value.ObjectOf("vars", vars)
	var list []any
	members, _ := request.At("assertions").([]any)
	for _, m := range members {
		a, _ := m.(*value.Object)
		if a = a.Clone(); a != nil && !a.Has("type") {
			a.Set("type", proviso.TypeJudge)
		}
		list = append(list, a)
	}
	if in.Expect != "" {
		row, err := suite.Cells(engine.Facts().Types).CaseFromRow(value.ObjectOf("__expected", in.Expect))
		if e, ok := errors.AsType[*proviso.Error](err); ok {
			return nil, invalid([]Mistake{{Pointer: "/expect", Code: e.Code, Message: e.Error()}})
		}
		more, _ := row.At("assert").([]any)
		list = append(list, more...)
	}
	if len(list) > 0 {
		one.Set("assert", list)
	}
	if metadata := request.Object("metadata"); metadata.Len() > 0 {
		one.Set("metadata", metadata)
	}
	return one, nil
}

// addMade adds a case that was made from a run or an evaluation. It leaves out assertions, or the
// whole case, that a dataset cannot hold, and returns what it left out.
func (b *datasetBuilder) addMade(one *value.Object) (leftOut []string) {
	note := func(e *proviso.Error) { leftOut = append(leftOut, "case "+b.ID(one)+": "+e.Error()) }
	list, _ := one.At("assert").([]any)
	wrong := map[int]bool{}
	mistakes := b.Check(one)
	for _, e := range mistakes {
		rest, ok := strings.CutPrefix(e.Pointer, "/assert/")
		first, _, _ := strings.Cut(strings.TrimSuffix(rest, document.KeyMark), "/")
		n, err := strconv.Atoi(first)
		if !ok || err != nil {
			note(e)
			return leftOut
		}
		if !wrong[n] {
			note(e)
		}
		wrong[n] = true
	}
	if len(wrong) > 0 {
		kept := []any{}
		for i, a := range list {
			if !wrong[i] {
				kept = append(kept, a)
			}
		}
		id := b.ID(one)
		one = one.Clone()
		one.Set("assert", kept)
		one.Set("id", id)
		if more := b.Check(one); len(more) > 0 {
			note(more[0])
			return leftOut
		}
	}
	b.add("", one)
	return slices.Clip(leftOut)
}

// datasetBuilder builds the content of a dataset: one JSON case per line, with its id first.
type datasetBuilder struct {
	*suite.DatasetCases
	content []byte
	cases   int
	added   []string // ids, at most store.MaxPage
	decoder          // collects the mistakes
	full    bool
}

func newDatasetBuilder() *datasetBuilder {
	return &datasetBuilder{DatasetCases: suite.NewDatasetCases(engine.Facts())}
}

// add checks a case and adds it. Pointers of mistakes start with at.
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
	var secrets inlineSecrets // every key of the project can read stored cases
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

// keep adds the lines of an existing version.
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

// problem returns the problem of the cases, or nil. doc is the body that contains them, or nil.
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
