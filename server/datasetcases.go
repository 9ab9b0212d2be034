package server

import (
	"net/url"
	"slices"
	"strconv"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/server/dataset"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/value"
)

// NewCases are cases to add to a dataset, from exactly one of cases, run, evaluation, events
// and filter.
type NewCases struct {
	Cases      []*value.Object `json:"cases,omitempty" doc:"As under tests of a suite, with the keys id, description, vars, assert, threshold and metadata"`
	Run        string          `json:"run,omitempty" doc:"The id of a run whose rows become cases; rows of the same case become one"`
	Status     []string        `json:"status,omitempty" enum:"pass,fail,error,skip" doc:"With run: rows with one of these; fail and error if status and indexes are missing"`
	Indexes    []int           `json:"indexes,omitempty" doc:"With run: rows with these indexes"`
	Evaluation string          `json:"evaluation,omitempty" doc:"The id of an evaluation whose input and assertions become a case"`
	Expect     string          `json:"expect,omitempty" doc:"With evaluation: one more assertion, as in the column __expected of a CSV file; a text alone has to equal the output"`
	Events     []string        `json:"events,omitempty" doc:"The ids of events of traffic, at most 1000: input, context and output become variables"`
	Filter     string          `json:"filter,omitempty" doc:"Events of traffic, as the query of GET /v1/events, such as agent=support&status=fail; at most 1000, and only those whose texts are kept"`
}

// RemovedCases are cases to remove from a dataset.
type RemovedCases struct {
	Cases []string `json:"cases" doc:"Their ids"`
}

// maxTries limits how often a change is retried because of other writers.
const maxTries = 5

func (s *Server) addCases(c *call, in *NewCases) error {
	if _, err := versionNamed(c.r.Context(), c.kept, store.DatasetKind, c.r.PathValue("dataset"), ""); err != nil {
		return err
	}
	if err := in.check(c.doc); err != nil {
		return err
	}
	made, err := s.casesAsked(c, in)
	if err != nil {
		return err
	}
	return s.changeDataset(c, func(now store.Document, out *ChangedDataset) (*datasetBuilder, error) {
		b := newDatasetBuilder()
		if err := b.keep(now.Content); err != nil {
			return nil, err
		}
		for i, one := range in.Cases {
			if one.At("id") == nil && b.Has(b.ID(one)) {
				out.Known++
				continue
			}
			b.add("/cases/"+strconv.Itoa(i), one)
		}
		for _, one := range made {
			if b.Has(b.ID(one)) {
				out.Known++
				continue
			}
			out.LeftOut = append(out.LeftOut, b.addMade(one)...)
		}
		out.Added = b.added
		return b, b.problem(c.doc)
	})
}

// check rejects a request that names no source of cases, or several.
func (in *NewCases) check(doc *document.Document) error {
	d := decoder{}
	sources := 0
	for _, given := range []bool{in.Cases != nil, in.Run != "", in.Evaluation != "", in.Events != nil, in.Filter != ""} {
		if given {
			sources++
		}
	}
	if sources != 1 {
		d.mistake("", "one of cases, run, evaluation, events and filter is expected, not %d of them", sources)
	}
	if in.Run == "" && in.Status != nil {
		d.mistake("/status", "status selects rows of a run, and run is missing")
	}
	if in.Run == "" && in.Indexes != nil {
		d.mistake("/indexes", "indexes are those of rows of a run, and run is missing")
	}
	if in.Status != nil && in.Indexes != nil {
		d.mistake("/indexes", "rows are selected by status or by indexes, not by both")
	}
	if in.Evaluation == "" && in.Expect != "" {
		d.mistake("/expect", "expect is about an evaluation, and evaluation is missing")
	}
	for i, status := range in.Status {
		if !slices.Contains([]string{"pass", "fail", "error", "skip"}, status) {
			d.mistake("/status/"+strconv.Itoa(i), "%s is not a status of a row: expected pass, fail, error or skip", strconv.Quote(shortened(status)))
		}
	}
	if len(d.mistakes) > 0 {
		return d.problem(doc)
	}
	return nil
}

func (s *Server) removeCases(c *call) error {
	if _, err := versionNamed(c.r.Context(), c.kept, store.DatasetKind, c.r.PathValue("dataset"), ""); err != nil {
		return err
	}
	var in RemovedCases
	if err := c.read(&in); err != nil {
		return err
	}
	return s.changeDataset(c, func(now store.Document, out *ChangedDataset) (*datasetBuilder, error) {
		asked := map[string]bool{} // requested id → whether it was found
		for _, id := range in.Cases {
			asked[id] = false
		}
		b := newDatasetBuilder()
		for line := range dataset.Lines(now.Content) {
			id, err := dataset.ID(line)
			if err != nil {
				return nil, err
			}
			b.Keep(id)
			if _, is := asked[id]; !is {
				b.content = append(append(b.content, line...), '\n')
				b.cases++
				continue
			}
			asked[id] = true
			out.Removed++
		}
		d := decoder{}
		for i, id := range in.Cases {
			if !asked[id] {
				d.mistake("/cases/"+strconv.Itoa(i), "no case of version %d has the id %s", now.Number, strconv.Quote(shortened(id)))
			}
		}
		if len(d.mistakes) > 0 {
			return nil, d.problem(c.doc)
		}
		return b, nil
	})
}

// changeDataset applies change to the current version of the dataset in the address. If another
// request changed the dataset meanwhile, it calls change again, unless the client stated the
// version that it changes.
func (s *Server) changeDataset(c *call, change func(now store.Document, out *ChangedDataset) (*datasetBuilder, error)) error {
	name := c.r.PathValue("dataset")
	asked, err := s.precondition(c, name)
	if err != nil {
		return err
	}
	for try := 1; ; try++ {
		now, err := s.openDataset(c, "")
		if err != nil {
			return err
		}
		if asked != nil && *asked != now.Hash {
			return s.conflicting(c, name, problem(proviso.Conflict, ""))
		}
		var out ChangedDataset
		b, err := change(now, &out)
		if err != nil {
			return err
		}
		doc, created, err := s.putCases(c, name, b, &now.Hash)
		if asked == nil && try < maxTries && proviso.CodeOf(err) == proviso.Conflict {
			continue
		}
		if err != nil {
			return s.conflicting(c, name, err)
		}
		out.DatasetVersion = datasetOf(&doc)
		return s.kept(c, "/v1/datasets/"+url.PathEscape(doc.Name), created, out)
	}
}
