package files

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
)

// Result implements [store.Runs].
func (p project) Result(ctx context.Context, id string, index int) (r store.Result, err error) {
	err = p.use(ctx, id, func(rec *record) error {
		if !rec.reader.Has(index) {
			return proviso.Errorf(proviso.NotFound, "the run %s has no finished row %d", id, index)
		}
		data, err := rec.row(index)
		if err != nil {
			return err
		}
		var ok bool
		if r, _, ok = store.ReadRow(index, data); !ok || !json.Valid(data) {
			return proviso.Errorf(proviso.Invalid, "row %d of the run %s is damaged", index, id)
		}
		r.JSON = data
		return nil
	})
	return r, err
}

const resultList = "results"

// ListResults implements [store.Runs]. Damaged rows are left out.
func (p project) ListResults(ctx context.Context, id string, f store.ResultFilter, page store.Page) (out store.List[store.Result], err error) {
	after, ok, err := page.Number(resultList)
	if err != nil {
		return out, err
	}
	if !ok {
		after = -1
	}
	info, err := p.run(ctx, id)
	if err != nil {
		return out, err
	}
	st, err := p.s.stateOf(ctx, info, false)
	if err != nil || st.unread {
		return out, err // the state explains why there are no rows
	}
	err = p.use(ctx, id, func(rec *record) error {
		out = store.List[store.Result]{}
		if f.Assertion == "" && len(f.Status) == 0 && len(f.Rows) == 0 {
			return rec.page(ctx, int(after), page.Size(), &out)
		}
		return rec.selected(ctx, &f, int(after), page.Size(), &out)
	})
	return out, err
}

// page reads the rows after the given one.
func (rec *record) page(ctx context.Context, after, size int, out *store.List[store.Result]) error {
	left := 0
	err := rec.rows(after, func(index int, data []byte) bool {
		r, _, ok := store.ReadRow(index, data)
		if !ok || !json.Valid(data) { // one such row would make the whole page invalid JSON
			return ctx.Err() == nil
		}
		if r.JSON = data; !fits(out, &r, size, &left) {
			return false
		}
		out.Items[len(out.Items)-1].JSON = bytes.Clone(data)
		return ctx.Err() == nil
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// fits adds a row to a page, or, if the page is full, sets the cursor of the next page.
func fits(out *store.List[store.Result], r *store.Result, size int, bytes *int) bool {
	n := len(out.Items)
	if *bytes += len(r.JSON); n > 0 && (n == size || *bytes > store.MaxPageBytes) {
		out.Next = store.Cursor(resultList, strconv.Itoa(out.Items[n-1].Index))
		return false
	}
	out.Items = append(out.Items, *r)
	return true
}

// selected reads the rows after the given one that a filter selects.
func (rec *record) selected(ctx context.Context, f *store.ResultFilter, after, size int, out *store.List[store.Result]) error {
	all, err := rec.allFacts(ctx)
	if err != nil {
		return err
	}
	var rows []int
	for index, row := range all.rows {
		if index > after && inRanges(f.Rows, index) && selects(f, row) {
			rows = append(rows, index)
		}
	}
	slices.Sort(rows)
	taken := 0
	for _, index := range rows {
		data, err := rec.row(index)
		if err != nil {
			return err
		}
		r, _, _ := store.ReadRow(index, data)
		if !all.strict && !json.Valid(data) {
			continue
		}
		if r.JSON = data; !fits(out, &r, size, &taken) {
			return nil
		}
	}
	return nil
}

func inRanges(list []store.RowRange, index int) bool {
	return len(list) == 0 || slices.ContainsFunc(list, func(r store.RowRange) bool { return r.Has(index) })
}

func selects(f *store.ResultFilter, row fact) bool {
	wanted := func(s proviso.Status) bool { return len(f.Status) == 0 || slices.Contains(f.Status, s) }
	if f.Assertion == "" {
		return wanted(row.status)
	}
	return slices.ContainsFunc(row.verdicts, func(a store.AssertionStatus) bool { return a.ID == f.Assertion && wanted(a.Status) })
}

// FinishedRows implements [store.Runs].
func (p project) FinishedRows(ctx context.Context, id string) (rows []int, err error) {
	err = p.use(ctx, id, func(rec *record) error {
		all, err := rec.allFacts(ctx)
		if err == nil {
			rows = slices.Sorted(maps.Keys(all.rows))
		}
		return err
	})
	return rows, err
}

// CountAssertions implements [store.Runs].
func (p project) CountAssertions(ctx context.Context, id string) (list []store.AssertionCount, err error) {
	err = p.use(ctx, id, func(rec *record) error {
		all, err := rec.allFacts(ctx)
		if err != nil {
			return err
		}
		counts := map[string]*store.AssertionCount{}
		for _, row := range all.rows {
			for _, a := range row.verdicts {
				c := counts[a.ID]
				if c == nil {
					c = &store.AssertionCount{ID: a.ID}
					counts[a.ID] = c
				}
				c.Add(a.Status)
			}
		}
		list = nil
		for _, c := range counts {
			list = append(list, *c)
		}
		slices.SortFunc(list, func(a, b store.AssertionCount) int { return strings.Compare(a.ID, b.ID) })
		return nil
	})
	return list, err
}

// Tally implements [store.Runs].
func (p project) Tally(ctx context.Context, id string) (t store.Tally, err error) {
	err = p.use(ctx, id, func(rec *record) error {
		all, err := rec.allFacts(ctx)
		if err == nil {
			t = store.Tally{Prompts: slices.Clone(all.tally.Prompts), Judges: slices.Clone(all.tally.Judges)}
		}
		return err
	})
	return t, err
}
