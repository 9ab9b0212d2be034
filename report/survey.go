package report

import (
	"bytes"
	"cmp"
	"context"
	"iter"
	"math"
	"slices"
	"strconv"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// mark is the data of a row that a report needs to choose, order or count rows. It
// takes as much memory per row as the index of the run file.
type mark struct {
	index    int
	test     uint32
	column   uint16
	status   proviso.Status
	forgiven bool // failed, but its case passed often enough
	score    float32
}

// shown returns the status that counts for the run.
func (m mark) shown() proviso.Status {
	if m.forgiven {
		return proviso.Pass
	}
	return m.status
}

// survey reads every row once, without decoding it, and returns the marks in index
// order.
func survey(ctx context.Context, rows Rows) ([]mark, error) {
	var marks []mark
	groups := map[group]*repeated{}
	for index, row := range rows.Rows() {
		if len(marks)&0xff == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		m, repeat, caseID := markOf(index, row)
		if repeat != nil {
			key := group{string(caseID), int(m.column)}
			g := groups[key]
			if g == nil {
				o, _ := value.ParseJSON(string(repeat))
				object, _ := o.(*value.Object)
				g = &repeated{need: integer(object, "pass")}
				groups[key] = g
			}
			g.add(len(marks), m.status)
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

// markOf returns a row's mark, and the members that identify its repeats.
func markOf(index int, row []byte) (m mark, repeat, caseID []byte) {
	m.index = index
	for key, value := range membersOf(row) {
		switch string(key) {
		case "caseId":
			caseID = value
		case "testIdx":
			m.test = uint32(number(value, math.MaxUint32))
		case "promptIdx":
			m.column = uint16(number(value, maxColumns-1))
		case "verdict":
			m.status = proviso.StatusNamed(string(bytes.Trim(value, `"`)))
		case "score":
			if f, err := strconv.ParseFloat(string(value), 32); err == nil {
				m.score = float32(f)
			}
		case "repeat":
			repeat = value
		}
	}
	return m, repeat, caseID
}

// number returns a whole number from 0 to limit; 0 for anything else.
func number(value []byte, limit uint64) uint64 {
	n, err := strconv.ParseUint(string(value), 10, 64)
	if err != nil || n > limit {
		return 0
	}
	return n
}

// worstFirst orders marks by urgency: failures by score, then undecided rows, then
// the rest; equal ones in index order.
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

// worst returns at most n rows that failed or were not decided, worst first.
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

// membersOf yields the members of a JSON object without decoding them: key without
// its quotes, value unchanged. It stops at invalid JSON.
func membersOf(text []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		i := blank(text, 0)
		if i >= len(text) || text[i] != '{' {
			return
		}
		for {
			i = blank(text, i+1)
			end := stringEnd(text, i)
			colon := blank(text, end)
			if end == i || colon >= len(text) || text[colon] != ':' {
				return
			}
			start := blank(text, colon+1)
			stop := valueEnd(text, start)
			if stop == start || !yield(text[i+1:end-1], text[start:stop]) {
				return
			}
			if i = blank(text, stop); i >= len(text) || text[i] != ',' {
				return
			}
		}
	}
}

// blank returns the offset of the first byte from i on that is not white space.
func blank(text []byte, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\t' || text[i] == '\n' || text[i] == '\r') {
		i++
	}
	return i
}

// stringEnd returns the offset after the string at i; i if there is none.
func stringEnd(text []byte, i int) int {
	if i >= len(text) || text[i] != '"' {
		return i
	}
	for at := i + 1; ; {
		n := bytes.IndexByte(text[at:], '"')
		if n < 0 {
			return i
		}
		at += n
		escapes := 0
		for text[at-1-escapes] == '\\' { // stops at the opening quote at the latest
			escapes++
		}
		if at++; escapes%2 == 0 {
			return at
		}
	}
}

// valueEnd returns the offset after the value at i; i if there is none.
func valueEnd(text []byte, i int) int {
	depth := 0
	for at := i; at < len(text); {
		switch text[at] {
		case '"':
			end := stringEnd(text, at)
			if end == at {
				return i
			}
			if at = end; depth == 0 {
				return at
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return at
			}
			if depth--; depth == 0 {
				return at + 1
			}
		case ',':
			if depth == 0 {
				return at
			}
		}
		at++
	}
	if depth > 0 {
		return i
	}
	return len(text)
}
