package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/runfile"
	"github.com/proviso-eval/proviso/internal/turns"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/value"
)

// ResultList is a page of rows, each in the form of the JSON report.
type ResultList List[json.RawMessage]

// eachRow calls do for the stored rows of a run, or for some ranges of them, in the order of
// their index. Each page of rows takes one turn.
func eachRow(ctx context.Context, kept store.Runs, run string, do func(index int, row []byte) error, ranges ...store.RowRange) error {
	f := store.ResultFilter{Bare: true, Rows: ranges}
	page := store.Page{Limit: store.MaxPage}
	for {
		list, err := kept.ListResults(ctx, run, f, page)
		if err != nil {
			return err
		}
		if err := inTurn(ctx, list.Items, do); err != nil {
			return err
		}
		if list.Next == "" {
			return nil
		}
		page.After = list.Next
	}
}

func inTurn(ctx context.Context, list []store.Result, do func(index int, row []byte) error) error {
	_, done, err := turns.Enter(ctx)
	if err != nil {
		return err
	}
	defer done()
	for i := range list {
		if err := do(list[i].Index, list[i].JSON); err != nil {
			return err
		}
	}
	return nil
}

// resultsOf returns the listing of the rows of a run.
func resultsOf(kept store.Runs, run string) listing[store.ResultFilter, store.Result] {
	return func(ctx context.Context, f store.ResultFilter, page store.Page) (store.List[store.Result], error) {
		return kept.ListResults(ctx, run, f, page)
	}
}

func (s *Server) listResults(c *call) error {
	r, err := s.seenRun(c)
	if err != nil {
		return err
	}
	f := store.ResultFilter{Assertion: c.q.Get("assertion"), Status: c.q.status()}
	if f.Rows, err = rangesOf(c.q.Get("rows")); err != nil {
		return cmp.Or(c.q.err, err)
	}
	return sendList(c, resultsOf(c.kept, r.ID), f, func(r *store.Result) json.RawMessage { return r.JSON })
}

// rangesOf parses ranges of rows, such as 0-4,7,12-.
func rangesOf(text string) (list []store.RowRange, err error) {
	if text == "" {
		return nil, nil
	}
	parts := strings.Split(text, ",")
	if len(parts) > store.MaxRanges {
		return nil, proviso.Errorf(proviso.Limit, "rows has %d ranges, more than %d", len(parts), store.MaxRanges)
	}
	for _, part := range parts {
		first, last, ranged := strings.Cut(part, "-")
		from, err := strconv.ParseUint(first, 10, 31)
		to := from
		if err == nil && last != "" {
			to, err = strconv.ParseUint(last, 10, 31)
		}
		if err != nil || to < from {
			return nil, proviso.Errorf(proviso.Invalid, "rows are numbers and ranges with commas, such as 0-4,7,12-, not %q", shortened(part))
		}
		r := store.RowRange{From: int(from), To: int(to) + 1}
		if ranged && last == "" {
			r.To = 0
		}
		list = append(list, r)
	}
	return list, nil
}

// indexOf parses the index of a row.
func indexOf(text, code string) (int, error) {
	index, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0, proviso.Errorf(code, "a row has a number from 0, not %q", shortened(text))
	}
	return int(index), nil
}

func (s *Server) getResult(c *call) error {
	r, err := s.seenRun(c)
	if err != nil {
		return err
	}
	index, err := indexOf(c.r.PathValue("index"), proviso.NotFound)
	if err != nil {
		return err
	}
	row, err := c.kept.Result(c.r.Context(), r.ID, index)
	if err != nil {
		return err
	}
	return c.json(http.StatusOK, json.RawMessage(row.JSON))
}

// storedRun is a stored run as a [runfile.Run]. It holds one page of rows at a time, and a turn
// to compute while its caller processes a row.
type storedRun struct {
	ctx    context.Context
	kept   store.Runs
	run    store.Run
	header runfile.Header
	totals []byte
	err    error
}

var _ runfile.Run = (*storedRun)(nil)

// headRows is how many rows are read to find the columns of a run that was not pushed.
const headRows = 100

// openStored opens a stored run.
func openStored(ctx context.Context, kept store.ProjectStore, run store.Run) (*storedRun, error) {
	s := &storedRun{ctx: ctx, kept: kept, run: run}
	ends, err := kept.RunFile(ctx, run.ID)
	if proviso.CodeOf(err) == proviso.NotFound {
		return s, s.readHead(kept)
	}
	if err != nil {
		return nil, err
	}
	if s.header, err = runfile.ParseHeader(ends.Header); err != nil {
		return nil, err
	}
	s.totals, _ = runfile.ParseTrailer(ends.Trailer)
	return s, nil
}

// readHead makes the header of a run that this server executed, from the columns of its first
// rows and its suite.
func (s *storedRun) readHead(kept store.ProjectStore) error {
	meta := &report.Meta{Suite: runOf(s.run).TestSuite, Started: s.run.Started, Planned: s.run.Rows, Config: suiteConfig(s.ctx, kept, s.run)}
	list, err := s.kept.ListResults(s.ctx, s.run.ID, store.ResultFilter{}, store.Page{Limit: headRows})
	if err != nil {
		return err
	}
	for i := range list.Items {
		row, err := report.ReadRow(list.Items[i].JSON)
		if err != nil {
			return err
		}
		meta.SetColumn(row.Record)
	}
	s.header = meta.Header()
	s.header.ID, s.header.Hash = s.run.ID, s.run.Hash
	if s.run.Status == store.Done {
		s.totals = []byte("{}")
	}
	return nil
}

// suiteConfig returns the stored suite of a run; nil if it was removed or is not an object.
func suiteConfig(ctx context.Context, kept store.Documents, run store.Run) *value.Object {
	doc, err := kept.Document(ctx, store.SuiteKind, run.Suite, run.Version)
	if err != nil {
		return nil
	}
	var bundle Bundle
	if decode(ctx, doc.Content, &bundle) != nil {
		return nil
	}
	name, text, err := bundle.text()
	if err != nil {
		return nil
	}
	parsed, err := document.ParseContext(ctx, name, text)
	if err != nil {
		return nil
	}
	config, _ := parsed.Root.(*value.Object)
	return config
}

// Path returns the id of the run.
func (s *storedRun) Path() string { return s.run.ID }

// Header returns the header of the run.
func (s *storedRun) Header() runfile.Header { return s.header }

// Trailer returns the totals, or nil if the run is not done.
func (s *storedRun) Trailer() []byte { return s.totals }

// Len returns the number of rows when the run was read from the store.
func (s *storedRun) Len() int { return s.run.Totals.Rows() }

// Err returns the error that ended the last sequence of rows early.
func (s *storedRun) Err() error { return s.err }

// errEnough ends a sequence of rows when its reader needs no more.
var errEnough = errors.New("no more rows are needed")

// Rows yields the rows in the order of their index.
func (s *storedRun) Rows() iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		s.err = eachRow(s.ctx, s.kept, s.run.ID, func(index int, row []byte) error {
			if !yield(index, row) {
				return errEnough
			}
			return nil
		})
		if errors.Is(s.err, errEnough) {
			s.err = nil
		}
	}
}

// Row returns one row by its index.
func (s *storedRun) Row(index int) ([]byte, error) {
	r, err := s.kept.Result(s.ctx, s.run.ID, index)
	return r.JSON, err
}
