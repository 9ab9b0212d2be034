package report

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/rowscan"
)

// mark is the data of a row that a report needs to choose, order or count rows. It takes as
// much memory per row as the index of the run file.
type mark struct {
	index    int
	test     uint32
	column   uint16
	status   proviso.Status
	forgiven bool // failed, but enough repeats of its case passed
	score    float32
}

// shown returns the status that counts for the run.
func (m mark) shown() proviso.Status {
	if m.forgiven {
		return proviso.Pass
	}
	return m.status
}

// survey reads every row once without decoding it fully, and returns the marks in index
// order.
func survey(ctx context.Context, rows Rows) ([]mark, error) {
	var marks []mark
	groups := map[group]*repeated{}
	for index, row := range rows.Rows() {
		if len(marks)&0xff == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		m, need, caseID := markOf(index, row)
		if need >= 0 {
			key := group{string(caseID), int(m.column)}
			if groups[key] == nil {
				groups[key] = &repeated{need: need}
			}
			groups[key].add(len(marks), m.status)
		}
		marks = append(marks, m)
	}
	for _, g := range groups {
		for _, at := range g.failed {
			marks[at].forgiven = g.passed >= g.need
		}
	}
	return marks, rows.Err()
}

// repeated counts the repeats of a case in a column.
type repeated struct {
	need, passed int
	failed       []int // positions of their marks
}

func (g *repeated) add(at int, s proviso.Status) {
	switch s {
	case proviso.Pass:
		g.passed++
	case proviso.Fail:
		g.failed = append(g.failed, at)
	}
}

// markOf returns a row's mark, the id of its case, and how many of the case's repeats must
// pass; -1 if the row is not repeated.
func markOf(index int, row []byte) (m mark, need int, caseID []byte) {
	m.index, m.status, need = index, proviso.Errored, -1
	s := rowscan.New(row)
	s.Members(func(key []byte) {
		switch string(key) {
		case "caseId":
			caseID = s.Skip()
		case "testIdx":
			m.test = uint32(s.Int())
		case "promptIdx":
			if column := s.Int(); column < maxColumns {
				m.column = uint16(column)
			}
		case "verdict":
			m.status = rowscan.StatusOf(s.Skip())
		case "score":
			if f := s.Number(); !math.IsNaN(f) {
				m.score = float32(f)
			}
		case "repeat":
			need = 0
			s.Members(func(key []byte) {
				if string(key) == "pass" {
					need = s.Int()
				}
			})
		}
	})
	return m, need, caseID
}

// worstFirst orders marks by urgency: failures by score, then undecided rows, then the
// rest. Equal marks keep index order.
func worstFirst(a, b mark) int {
	return cmp.Or(cmp.Compare(urgency(a), urgency(b)), cmp.Compare(a.score, b.score), cmp.Compare(a.index, b.index))
}

func urgency(m mark) int {
	switch m.shown() {
	case proviso.Fail:
		return 0
	case proviso.Errored:
		return 1
	}
	return 2
}

// worst returns at most n failed or undecided rows, worst first.
func worst(marks []mark, n int) []mark {
	var list []mark
	for _, m := range marks {
		if urgency(m) < 2 {
			list = append(list, m)
		}
	}
	slices.SortFunc(list, worstFirst)
	return list[:min(len(list), n)]
}
