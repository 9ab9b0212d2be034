package server

import (
	"bytes"
	"context"
	"net/http"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/rowscan"
	"github.com/proviso-eval/proviso/internal/turns"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/store"
)

// Limits of the texts of rows in pages.
const (
	maxPreviews  = 400
	previewBytes = 4 << 10   // bytes of an output, before it is shortened to a line
	detailBytes  = 256 << 10 // bytes of an output, a prompt or a variable
)

// listPreviews sends short texts of some rows, for the cells of a matrix.
func (s *Server) listPreviews(c *call) error {
	r, err := s.seenRun(c)
	if err != nil {
		return err
	}
	texts := strings.Split(c.q.Get("index"), ",")
	if len(texts) > maxPreviews {
		return proviso.Errorf(proviso.Limit, "index has %d rows, more than %d", len(texts), maxPreviews)
	}
	out := []report.Preview{}
	err = s.timed(c, func(ctx context.Context) error {
		meta := metaOfCells()
		for _, text := range texts {
			index, err := indexOf(text, proviso.Invalid)
			if err != nil {
				return err
			}
			d, err := detailOf(ctx, c.kept, meta, r.ID, index, previewBytes)
			if proviso.CodeOf(err) == proviso.NotFound {
				continue // not finished
			}
			if err != nil {
				return err
			}
			out = append(out, d.Preview())
		}
		return nil
	})
	if err != nil {
		return err
	}
	return c.json(http.StatusOK, out)
}

func (s *Server) getDetail(c *call) error {
	r, err := s.seenRun(c)
	if err != nil {
		return err
	}
	index, err := indexOf(c.r.PathValue("index"), proviso.NotFound)
	if err != nil {
		return err
	}
	var d *report.Detail
	err = s.timed(c, func(ctx context.Context) (err error) {
		ctx, done, err := turns.Enter(ctx) // one turn for all rows
		if err != nil {
			return err
		}
		defer done()
		if d, err = detailOf(ctx, c.kept, metaOfCells(), r.ID, index, detailBytes); err != nil {
			return err
		}
		d.Forgiven, err = forgiven(ctx, c.kept, r.ID, d)
		return err
	})
	if err != nil {
		return err
	}
	return c.json(http.StatusOK, d)
}

// timed runs f within the CPU budget of a request.
func (s *Server) timed(c *call, f func(context.Context) error) error {
	ctx, task := s.turns.Begin(c.r.Context(), c.key.ID, s.o.CPUBudget, s.over)
	defer task.End()
	err := f(ctx)
	if over := task.Err(); err != nil && over != nil {
		return over
	}
	return err
}

// metaOfCells returns the metadata needed to show rows.
func metaOfCells() *report.Meta { return &report.Meta{Types: check.Facts()} }

// detailOf reads a row, which may be large. It takes its turn first, so that memory holds no
// more rows than there are turns.
func detailOf(ctx context.Context, kept store.Runs, meta *report.Meta, run string, index, limit int) (*report.Detail, error) {
	ctx, done, err := turns.Enter(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	row, err := kept.Result(ctx, run, index)
	if err != nil {
		return nil, err
	}
	return report.NewDetail(meta, row.JSON, limit)
}

// maxAround is the number of rows before and after a row in which its repeats are searched.
// Repeats are stored near each other.
const maxAround = 200

// forgiven reports whether a row failed although enough repeats of its case passed.
func forgiven(ctx context.Context, kept store.Runs, run string, d *report.Detail) (bool, error) {
	if d.Status != proviso.Fail.String() {
		return false, nil
	}
	own, err := kept.Result(ctx, run, d.Index)
	if err != nil {
		return false, err
	}
	this := repeatOf(own.JSON)
	passed, seen := 0, 1
	for distance := 1; distance <= maxAround && seen < this.of && passed < this.pass; distance++ {
		for _, index := range [...]int{d.Index - distance, d.Index + distance} {
			other, err := kept.Result(ctx, run, index)
			if proviso.CodeOf(err) == proviso.NotFound {
				continue
			}
			if err != nil {
				return false, err
			}
			if r := repeatOf(other.JSON); r.column == this.column && bytes.Equal(r.caseID, this.caseID) {
				seen++
				if other.Status == proviso.Pass {
					passed++
				}
			}
		}
	}
	return this.of > 1 && passed >= this.pass, nil
}

// repeated identifies the repeats of a case, and how many must pass.
type repeated struct {
	caseID           []byte
	column, of, pass int
}

func repeatOf(record []byte) (r repeated) {
	s := rowscan.New(record)
	s.Members(func(key []byte) {
		switch string(key) {
		case "caseId":
			r.caseID = s.Skip()
		case "promptIdx":
			r.column = s.Int()
		case "repeat":
			s.Members(func(key []byte) {
				switch string(key) {
				case "of":
					r.of = s.Int()
				case "pass":
					r.pass = s.Int()
				}
			})
		}
	})
	return r
}
