package runs

import (
	"bytes"
	"math"
	"slices"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/gate"
	"github.com/proviso-eval/proviso/internal/rowscan"
	"github.com/proviso-eval/proviso/judge/record"
	"github.com/proviso-eval/proviso/value"
)

// assertion holds what a comparison needs to know about an assertion.
type assertion struct {
	name, criterion string
	set             bool // its members follow, each with its own verdict
}

// component is one verdict in a row.
type component struct {
	status    proviso.Status
	score     float64
	assertion []byte
	judge     string
	members   int
	waived    bool
}

// verdicts reads the same verdicts of a row as [record.Row.Verdicts]: with the members of
// assertion sets, without the parts of a single assertion.
func (d *reader) verdicts(s *rowscan.Scanner) []gate.Verdict {
	list := d.verdictsOfRow[:0]
	skip := 0
	s.Elements(func() {
		if skip > 0 {
			skip--
			s.Skip()
			return
		}
		c := d.component(s)
		if c.assertion == nil || s.Bad() {
			skip = c.members
			return
		}
		a := d.assertion(c.assertion)
		if a.set {
			return
		}
		skip = c.members
		list = append(list, gate.Verdict{Assertion: a.name, Status: c.status, Waived: c.waived, Criterion: a.criterion, Judge: c.judge,
			Score: scoreOf(c.status, c.score, math.IsNaN(c.score))})
	})
	d.verdictsOfRow = list
	return d.keep(list)
}

// blockSize is the number of verdicts allocated at once.
const blockSize = 4096

// keep copies the verdicts of a row to a block shared by many rows. This takes a third of
// the memory of a separate slice per row.
func (d *reader) keep(list []gate.Verdict) []gate.Verdict {
	if len(list) == 0 {
		return nil
	}
	if cap(d.block)-len(d.block) < len(list) {
		d.block = make([]gate.Verdict, 0, max(blockSize, len(list)))
	}
	start := len(d.block)
	d.block = append(d.block, list...)
	return d.block[start:len(d.block):len(d.block)]
}

func (d *reader) component(s *rowscan.Scanner) component {
	c := component{status: proviso.Errored, score: math.NaN()}
	s.Members(func(key []byte) {
		switch string(key) {
		case "status":
			c.status = rowscan.StatusOf(s.Skip())
		case "score":
			c.score = s.Number()
		case "assertion":
			if raw := s.Skip(); len(raw) > 0 && raw[0] == '{' {
				c.assertion = raw
			}
		case "members":
			c.members = s.Int()
		case "waived":
			c.waived = string(s.Skip()) == "true"
		case "judge":
			c.judge = d.judge(s.Skip())
		}
	})
	return c
}

// judge returns a judge's identity and records it.
func (d *reader) judge(raw []byte) string {
	text := d.shared(raw)
	if text != "" && !slices.Contains(d.judges, text) {
		d.judges = append(d.judges, text)
	}
	return text
}

// assertion reads an assertion. Most rows have the same assertions, so they are cached by
// their text.
func (d *reader) assertion(raw []byte) assertion {
	if a, ok := d.assertions[string(raw)]; ok {
		return a
	}
	v, err := value.ParseJSON(string(raw))
	o, ok := v.(*value.Object)
	if err != nil || !ok {
		return assertion{name: "unknown"}
	}
	a := assertion{name: rowscan.NameOf(o), criterion: record.HashOf(o), set: rowscan.IsSet(o)}
	if len(d.assertions) >= maxKept {
		clear(d.assertions)
	}
	d.assertions[string(bytes.Clone(raw))] = a
	return a
}
