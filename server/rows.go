package server

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/turns"
	"github.com/proviso-eval/proviso/store"
)

// ResultList is a page of rows, each in the form of the JSON report.
type ResultList List[json.RawMessage]

// eachRow calls do for the stored rows of a run, or for some ranges of them, in the order of
// their index. A page of rows is done in one turn.
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

// resultsOf is the listing of the rows of a run.
func resultsOf(kept store.Runs, run string) listing[store.ResultFilter, store.Result] {
	return func(ctx context.Context, f store.ResultFilter, page store.Page) (store.List[store.Result], error) {
		return kept.ListResults(ctx, run, f, page)
	}
}

// listResults lists the rows of a run in the order of their index.
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

// rangesOf reads ranges of rows, such as 0-4,7,12-.
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

// indexOf reads the index of a row.
func indexOf(text, code string) (int, error) {
	index, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0, proviso.Errorf(code, "a row has a number from 0, not %q", shortened(text))
	}
	return int(index), nil
}

// getResult sends one row.
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
