package show

import (
	"bufio"
	"io"
	"math"

	"github.com/proviso-eval/proviso/gate"
	"github.com/proviso-eval/proviso/stats"
)

// JSON writes a comparison as one JSON object, or, with a decision, an object that
// contains both. The format is stable: members are added and never renamed. An unknown
// number is null. Lists are never null.
func JSON(w io.Writer, c *gate.Comparison, d *gate.Decision) error {
	s := stream{w: bufio.NewWriter(w)}
	if d == nil {
		s.comparison(c)
		return s.end()
	}
	s.block("{}", func() {
		s.member("decision", d.Outcome)
		s.key("reasons")
		s.block("[]", func() {
			for _, r := range d.Reasons {
				s.item(r)
			}
		})
		s.member("needed", neededOf(d))
		if s.key("compare"); c != nil {
			s.comparison(c)
		} else {
			s.value(nil)
		}
	})
	return s.end()
}

// DecidedJSON writes a comparison in the form that [JSON] writes without a decision, with
// the decision as its last member, for a page that shows both.
func DecidedJSON(w io.Writer, c *gate.Comparison, d *gate.Decision) error {
	s := stream{w: bufio.NewWriter(w)}
	s.block("{}", func() {
		s.members(c)
		if d == nil {
			return
		}
		s.member("decision", decided(d))
	})
	return s.end()
}

// ColumnsJSON writes the comparisons of one column of a run with each other column. by is
// what the columns differ in: provider or prompt.
func ColumnsJSON(w io.Writer, by string, list []*gate.Comparison) error {
	s := stream{w: bufio.NewWriter(w)}
	s.block("{}", func() {
		s.member("by", by)
		s.key("comparisons")
		s.block("[]", func() {
			for _, c := range list {
				s.next()
				s.comparison(c)
			}
		})
	})
	return s.end()
}

// number is nil, or null in JSON, if it is not finite.
type number = *float64

func finite(f *float64) number {
	if math.IsNaN(*f) || math.IsInf(*f, 0) {
		return nil
	}
	return f
}

type (
	estimateJSON struct {
		Value number `json:"value"`
		Low   number `json:"low"`
		High  number `json:"high"`
	}
	figureJSON struct {
		estimateJSON
		N int `json:"n"`
	}
	effectJSON struct {
		Base       figureJSON   `json:"base"`
		Head       figureJSON   `json:"head"`
		Difference estimateJSON `json:"difference"`
	}
	suiteJSON struct {
		effectJSON
		Corrected *effectJSON `json:"corrected"`
	}
	assertionJSON struct {
		Assertion string `json:"assertion"`
		effectJSON
		Pairs     int         `json:"pairs"`
		Broke     int         `json:"broke"`
		Fixed     int         `json:"fixed"`
		P         number      `json:"p"`
		PAdjusted number      `json:"p_adjusted"`
		Judged    bool        `json:"judged"`
		Corrected *effectJSON `json:"corrected"`
		OnlyBase  int         `json:"only_base"`
		OnlyHead  int         `json:"only_head"`
		LeftOut   int         `json:"left_out"`
	}
	changeJSON struct {
		Case   string   `json:"case"`
		Column int      `json:"column"`
		Change number   `json:"change"`
		Broke  []string `json:"broke"`
		Fixed  []string `json:"fixed"`
		Base   []int    `json:"base_rows"`
		Head   []int    `json:"head_rows"`
	}
	sideJSON struct {
		Name string `json:"run"`
		*gate.Identity
	}
)

// comparison writes a comparison as an object.
func (s *stream) comparison(c *gate.Comparison) { s.block("{}", func() { s.members(c) }) }

// members writes the members of a comparison one by one, to limit memory: a suite may
// have an assertion for each of its cases.
func (s *stream) members(c *gate.Comparison) {
	s.member("suite", suiteJSON{effectOf(&c.Suite), effectOrNil(c.SuiteCorrected)})
	s.key("assertions")
	s.block("[]", func() {
		for i := range c.Assertions {
			s.item(assertionOf(&c.Assertions[i]))
		}
	})
	s.key("cases")
	s.block("{}", func() { s.cases(&c.Cases) })
	s.member("titles", titles(&c.Cases))
	s.member("warnings", append([]string{}, c.Warnings...))
	s.member("base", sideJSON{c.Base.Name, &c.Base.Identity})
	s.member("head", sideJSON{c.Head.Name, &c.Head.Identity})
	s.member("pairs", c.Pairs)
	s.member("left_out", c.LeftOut)
	s.key("columns")
	s.block("[]", func() {
		for _, p := range c.Columns {
			s.item(p)
		}
	})
	s.member("cost", effectOrNil(c.Cost))
	s.member("tokens", effectOrNil(c.Tokens))
	s.member("latency_ms", effectOrNil(c.Latency))
	s.key("changes")
	s.block("[]", func() {
		for _, list := range [][]gate.CasePair{c.Cases.Broke, c.Cases.Fixed, c.Cases.Flaky, c.Cases.StillFailing} {
			for i := range list {
				s.item(changeOf(&list[i]))
			}
		}
	})
}

// cases writes the names of the cases.
func (s *stream) cases(c *gate.Cases) {
	for _, k := range [...]struct {
		key  string
		list []gate.CasePair
	}{{"broke", c.Broke}, {"fixed", c.Fixed}, {"still_failing", c.StillFailing}, {"flaky", c.Flaky}, {"same", nil},
		{"only_base", c.OnlyBase}, {"only_head", c.OnlyHead}, {"undecided", c.Undecided}} {
		if k.key == "same" {
			s.member(k.key, c.Same)
			continue
		}
		s.key(k.key)
		s.block("[]", func() {
			for i := range k.list {
				s.item(k.list[i].Name)
			}
		})
	}
}

// titles returns the titles of the listed cases without an id, by the names used in the
// lists.
func titles(c *gate.Cases) map[string]string {
	list := map[string]string{}
	for _, pairs := range [][]gate.CasePair{c.Broke, c.Fixed, c.Flaky, c.StillFailing, c.OnlyBase, c.OnlyHead, c.Undecided} {
		for i := range pairs {
			if pairs[i].Title != "" {
				list[pairs[i].Name] = pairs[i].Title
			}
		}
	}
	return list
}

func assertionOf(a *gate.AssertionEffect) assertionJSON {
	return assertionJSON{Assertion: a.Assertion, effectJSON: effectOf(&a.Effect), Pairs: a.Pairs,
		Broke: a.Broke, Fixed: a.Fixed, P: finite(&a.P), PAdjusted: finite(&a.PAdjusted), Judged: a.Judged,
		Corrected: effectOrNil(a.Corrected), OnlyBase: a.OnlyBase, OnlyHead: a.OnlyHead, LeftOut: a.LeftOut}
}

func changeOf(p *gate.CasePair) changeJSON {
	return changeJSON{Case: p.Name, Column: p.Column, Change: finite(&p.Change),
		Broke: append([]string{}, p.Broke...), Fixed: append([]string{}, p.Fixed...),
		Base: append([]int{}, p.Base...), Head: append([]int{}, p.Head...)}
}

func estimateOf(e *stats.Estimate) estimateJSON {
	return estimateJSON{finite(&e.Value), finite(&e.Low), finite(&e.High)}
}

func effectOf(e *gate.Effect) effectJSON {
	return effectJSON{figureJSON{estimateOf(&e.Base.Estimate), e.Base.N}, figureJSON{estimateOf(&e.Head.Estimate), e.Head.N}, estimateOf(&e.Difference)}
}

func effectOrNil(e *gate.Effect) *effectJSON {
	if e == nil {
		return nil
	}
	out := effectOf(e)
	return &out
}
