package server

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/gate"
	"github.com/proviso-eval/proviso/gate/runs"
	"github.com/proviso-eval/proviso/gate/show"
	"github.com/proviso-eval/proviso/internal/turns"
	"github.com/proviso-eval/proviso/stats"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/suite"
)

// Limits of comparisons.
const (
	maxComparisons  = 2         // at a time, each of a different key
	maxComparedRows = 1_000_000 // rows of both runs together

	// A comparison may compute as long as a request, plus that time again for every
	// rowsOfBudget rows.
	rowsOfBudget = 50_000
)

// JudgeErrors returns the measured error rates of the judges of some runs, by assertion, for
// [gate.Options]. folder is the folder of the head run's suite.
type JudgeErrors func(folder string, list ...*gate.Run) map[string]stats.Confusion

func (s *Server) compareRuns(c *call) error {
	var sides [2]store.Run
	for i, name := range [...]string{"base", "head"} {
		r, err := s.sideRun(c, name, c.q.Get(name))
		if err != nil {
			return err
		}
		sides[i] = r
	}
	base, head := sides[0], sides[1]
	rows := base.Totals.Rows() + head.Totals.Rows()
	switch {
	case base.ID == head.ID:
		return proviso.Errorf(proviso.Invalid, "base and head are the same run, %s: name two runs", base.ID)
	case rows > maxComparedRows:
		return proviso.Errorf(proviso.Limit, "the runs have %d rows together, more than the %d that a server compares; `proviso compare` has no such limit", rows, maxComparedRows)
	}
	budget := s.o.CPUBudget * time.Duration(1+rows/rowsOfBudget)
	ctx, task := s.turns.Begin(c.r.Context(), c.key.ID, budget, overBudget(budget))
	defer task.End()
	key := fmt.Sprintf("compare\n%s\n%s\n%d\n%s\n%d\n%d", c.project, base.ID, base.Totals.Rows(), head.ID, head.Totals.Rows(), s.alignedAt())
	packed, err := s.comparison(ctx, c, key, func() ([]byte, error) { return s.compared(ctx, c.kept, base, head) })
	if over := task.Err(); err != nil && over != nil {
		return over
	}
	if errors.Is(err, gate.ErrNothing) {
		return proviso.Errorf(proviso.Invalid, "the runs cannot be compared: %w", err)
	}
	if err != nil {
		return err
	}
	return c.sendPacked(packed)
}

// alignedAt is when the alignment was last changed, which changes corrected comparisons; 0 if
// there is none.
func (s *Server) alignedAt() int64 {
	if info, err := os.Stat(s.o.Alignment); err == nil {
		return info.ModTime().UnixNano()
	}
	return 0
}

// comparison returns a cached comparison, or makes one when it is the key's turn. The key waits
// for its turn before the work, because others may wait for that work.
func (s *Server) comparison(ctx context.Context, c *call, key string, make func() ([]byte, error)) ([]byte, error) {
	if packed, ok := s.made.bodies.Get(key); ok {
		return packed, nil
	}
	leave, err := s.compare.enter(ctx, c.key.ID, "comparisons")
	if err != nil {
		return nil, err
	}
	defer leave()
	return s.made.get(ctx, key, make)
}

// sideRun returns one of the two runs.
func (s *Server) sideRun(c *call, side, id string) (store.Run, error) {
	if id == "" {
		return store.Run{}, proviso.Errorf(proviso.Invalid, "%s is missing: it has to be the id of a run", side)
	}
	r, err := s.seenRunOf(c, id)
	if proviso.CodeOf(err) == proviso.NotFound {
		return r, proviso.Errorf(proviso.NotFound, "%s: there is no run %q", side, shortened(id))
	}
	if err == nil && !r.Status.Ended() {
		err = proviso.Errorf(proviso.Conflict, "%s: the run %s is not finished, it is %s; compare it when it has ended", side, r.ID, r.Status)
	}
	return r, err
}

// compared compares two runs and decides by the rules of the head run. It returns gzipped JSON.
func (s *Server) compared(ctx context.Context, kept store.ProjectStore, base, head store.Run) ([]byte, error) {
	var read [2]*gate.Run
	var opened [2]*storedRun
	var notes []string
	for i, r := range [...]store.Run{base, head} {
		run, err := openStored(ctx, kept, r)
		if err != nil {
			return nil, err
		}
		opened[i] = run
		if read[i], err = runs.Read(run, r.ID); err != nil {
			return nil, errors.Join(run.Err(), err)
		}
		if run.Trailer() == nil || r.Status == store.Cancelled {
			notes = append(notes, fmt.Sprintf("%s is %s: it has %d of %d rows.", r.ID, r.Status, r.Totals.Rows(), r.Rows))
		}
	}
	_, done, err := turns.Enter(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	o := gate.Options{}
	meta := opened[1].Header().Meta
	if s.o.JudgeErrors != nil {
		o.Judges = s.o.JudgeErrors(meta.Text("folder"), read[0], read[1])
	}
	c, err := gate.Compare(read[0], read[1], o)
	if err != nil {
		return nil, err
	}
	c.Warnings = slices.Concat(runs.DifferentSuites(opened[0].Header().Suite, opened[1].Header().Suite), notes, c.Warnings)
	rules, mistakes := suite.RulesOf(head.ID, meta.Object("config"))
	d, err := gate.Decide(c, rules, o)
	shown := &d
	if err = errors.Join(mistakes.Err(), err); err != nil {
		shown = nil
		c.Warnings = append(c.Warnings, "There is no decision, because the rules under gate are wrong: "+err.Error())
	}
	return packed(gzip.BestSpeed, func(w io.Writer) error { return show.DecidedJSON(w, c, shown) })
}
