package files

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/rowscan"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/value"
)

// facts are what filters and counts need of the rows of a run.
type facts struct {
	strict  bool // the text of every row is checked, too
	rows    map[int]fact
	totals  proviso.Totals
	damaged string // what cannot be read; "" if that is nothing
	bad     int    // rows
}

type fact struct {
	status   proviso.Status
	verdicts []store.AssertionStatus
}

// allFacts looks at every row of a run, unless that is done.
func (rec *record) allFacts(ctx context.Context) (*facts, error) {
	if rec.facts != nil {
		return rec.facts, nil
	}
	f := &facts{strict: rec.reader.Size() <= maxChecked, rows: make(map[int]fact, rec.reader.Len())}
	err := rec.rows(-1, func(index int, data []byte) bool {
		f.add(&rec.names, index, data)
		return ctx.Err() == nil
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	f.describe(rec)
	rec.facts = f
	return f, nil
}

// add brings the facts up to date with rows that were appended.
func (rec *record) add(rows []int) error {
	for _, index := range rows {
		if rec.facts == nil {
			return nil
		}
		if _, again := rec.facts.rows[index]; again { // a resumed run tried it again
			rec.facts = nil
			return nil
		}
		data, err := rec.row(index)
		if err != nil {
			return err
		}
		rec.facts.add(&rec.names, index, data)
	}
	if rec.facts != nil {
		rec.facts.describe(rec)
	}
	return nil
}

// describe says what is damaged.
func (f *facts) describe(rec *record) {
	lines, _ := rec.reader.Damage()
	if lines += f.bad; lines > 0 {
		f.damaged = fmt.Sprintf("the file is damaged: %s cannot be read, and left out here", report.Plural(lines, "line"))
	}
}

func (f *facts) add(n *names, index int, data []byte) {
	r, ok := n.result(index, data)
	if !ok || f.strict && !json.Valid(data) {
		f.bad++
		return
	}
	f.rows[index] = fact{r.Status, r.Assertions}
	switch r.Status {
	case proviso.Pass:
		f.totals.Passed++
	case proviso.Fail:
		f.totals.Failed++
	case proviso.Skip:
		f.totals.Skipped++
	default:
		f.totals.Errors++
	}
	f.totals.Usage.Add(r.Usage)
	f.totals.Cost += r.Cost
}

// names keeps the names of assertions by their text in a row: most rows have the same.
type names struct{ of map[string]named }

type named struct {
	name string
	set  bool // its members follow, each with a verdict of its own
}

// maxNames limits how many are kept.
const maxNames = 10_000

func (n *names) name(raw []byte) named {
	if a, ok := n.of[string(raw)]; ok {
		return a
	}
	v, _ := value.ParseJSON(string(raw))
	o, ok := v.(*value.Object)
	if !ok {
		return named{name: "unknown"}
	}
	if n.of == nil || len(n.of) >= maxNames {
		n.of = map[string]named{}
	}
	a := named{rowscan.NameOf(o), rowscan.IsSet(o)}
	n.of[string(bytes.Clone(raw))] = a
	return a
}

// result reads a row without its texts; ok is false if it is damaged.
func (n *names) result(index int, data []byte) (r store.Result, ok bool) {
	s := rowscan.New(data)
	r = store.Result{Index: index, Status: proviso.Errored}
	s.Members(func(key []byte) {
		switch string(key) {
		case "verdict":
			r.Status = rowscan.StatusOf(s.Skip())
		case "cost":
			r.Cost += amount(&s)
		case "response":
			s.Members(func(key []byte) {
				if string(key) == "tokenUsage" {
					addUsage(&s, &r.Usage)
				}
			})
		case "gradingResult":
			s.Members(func(key []byte) {
				switch string(key) {
				case "cost":
					r.Cost += amount(&s)
				case "tokensUsed":
					addUsage(&s, &r.Usage)
				case "componentResults":
					r.Assertions = n.verdicts(&s)
				}
			})
		}
	})
	return r, s.Whole()
}

// verdicts reads the verdicts of a row: of assertions and of the members of sets, without
// those of the parts of one assertion.
func (n *names) verdicts(s *rowscan.Scanner) (list []store.AssertionStatus) {
	skip := 0
	s.Elements(func() {
		status, members, assertion := proviso.Errored, 0, []byte(nil)
		s.Members(func(key []byte) {
			switch string(key) {
			case "status":
				status = rowscan.StatusOf(s.Skip())
			case "assertion":
				assertion = s.Skip()
			case "members":
				members = s.Int()
			}
		})
		switch {
		case skip > 0:
			skip--
			return
		case len(assertion) == 0 || assertion[0] != '{':
			skip = members
			return
		}
		a := n.name(assertion)
		if !a.set {
			skip = members
		}
		list = append(list, store.AssertionStatus{ID: a.name, Status: status})
	})
	return list
}

// amount reads a number of dollars. What is none costs nothing.
func amount(s *rowscan.Scanner) float64 {
	if f := s.Number(); f > 0 && !math.IsInf(f, 0) {
		return f
	}
	return 0
}

func addUsage(s *rowscan.Scanner, u *proviso.Usage) {
	var add proviso.Usage
	s.Members(func(key []byte) {
		switch string(key) {
		case "total":
			add.Total = int64(s.Int())
		case "prompt":
			add.Prompt = int64(s.Int())
		case "completion":
			add.Completion = int64(s.Int())
		case "cached":
			add.Cached = int64(s.Int())
		case "numRequests":
			add.Requests = int64(s.Int())
		}
	})
	u.Add(add)
}
