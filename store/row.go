package store

import (
	"bytes"
	"sync"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/rowscan"
	"github.com/proviso-eval/proviso/value"
)

// readers holds idle row readers.
var readers sync.Pool

// ReadRow reads what stores keep of a row besides its JSON, without decoding its texts: a
// result without JSON, and what the row adds to the [Tally] of its run. ok is false if the row
// is damaged.
func ReadRow(index int, row []byte) (r Result, use RowUse, ok bool) {
	n, _ := readers.Get().(*rowReader)
	if n == nil {
		n = &rowReader{}
	}
	defer readers.Put(n)
	r, use, ok = n.read(row)
	r.Index = index
	return r, use, ok
}

// rowReader caches assertion names by their raw text: most rows have the same ones.
type rowReader struct {
	of    map[string]named
	bytes int
}

type named struct {
	name string
	set  bool // the verdicts of its members follow
}

// maxNames limits the bytes that a reader caches.
const maxNames = 1 << 20

func (n *rowReader) name(raw []byte) named {
	if a, ok := n.of[string(raw)]; ok {
		return a
	}
	v, _ := value.ParseJSON(string(raw))
	o, ok := v.(*value.Object)
	if !ok {
		return named{name: "unknown"}
	}
	a := named{rowscan.NameOf(o), rowscan.IsSet(o)}
	size := len(raw) + len(a.name)
	if n.of == nil || n.bytes+size > maxNames {
		n.of, n.bytes = map[string]named{}, 0
	}
	n.of[string(bytes.Clone(raw))] = a
	n.bytes += size
	return a
}

func (n *rowReader) read(row []byte) (r Result, use RowUse, ok bool) {
	s := rowscan.New(row)
	r.Status = proviso.Errored
	s.Members(func(key []byte) {
		switch string(key) {
		case "verdict":
			r.Status = rowscan.StatusOf(s.Skip())
		case "promptId":
			use.Prompt = s.Text()
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
					r.Assertions = n.verdicts(&s, &use)
				}
			})
		}
	})
	return r, use, s.Whole()
}

// verdicts reads the verdicts on assertions and on the members of sets, but not those on the
// parts of one assertion. It counts the judge questions of all of them.
func (n *rowReader) verdicts(s *rowscan.Scanner, use *RowUse) (list []AssertionStatus) {
	skip := 0
	s.Elements(func() {
		status, members, assertion := proviso.Errored, 0, []byte(nil)
		var judge JudgeCount
		cached := false
		s.Members(func(key []byte) {
			switch string(key) {
			case "status":
				status = rowscan.StatusOf(s.Skip())
			case "assertion":
				assertion = s.Skip()
			case "members":
				members = s.Int()
			case "judge":
				judge.Judge = s.Text()
			case "cached":
				cached = string(s.Skip()) == "true"
			case "cost":
				judge.Cost = amount(s)
			}
		})
		if judge.Judge != "" {
			judge.count(status, cached)
			use.Judges = append(use.Judges, judge)
		}
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
		list = append(list, AssertionStatus{ID: a.name, Status: status})
	})
	return list
}

// amount reads a number of dollars. Anything that is not a valid amount is 0.
func amount(s *rowscan.Scanner) float64 {
	if f := s.Number(); f > 0 && f <= 1<<53 { // the amounts of all rows have a sum
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
