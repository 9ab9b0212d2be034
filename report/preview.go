package report

import (
	"strings"

	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/value"
)

// Preview is what a matrix cell shows of a row.
type Preview struct {
	Index     int    `json:"index"`
	Input     string `json:"input" doc:"Variables in short"`
	Output    string `json:"output" doc:"Its beginning, or the part that a failure is about"`
	Why       string `json:"why" doc:"Reason of the first assertion that did not pass"`
	Assertion string `json:"assertion" doc:"Its name, \"\" if there is none"`
	Score     string `json:"score" doc:"As people read it, with what it was compared with"`
}

// previewRunes is the maximum number of characters of a preview text.
const previewRunes = 200

// Preview returns what a matrix cell shows of a row.
func (d *Detail) Preview() Preview {
	p := Preview{Index: d.Index, Why: excerpt.Line(d.Why, previewRunes), Score: d.Score}
	var input []string
	for _, v := range d.Vars {
		input = append(input, v[0]+"="+excerpt.Line(v[1], 60))
	}
	p.Input = excerpt.Line(strings.Join(input, "  "), previewRunes)
	first := d.broken()
	if first != nil {
		p.Assertion, p.Why = first.Name, excerpt.Line(first.Reason, previewRunes)
	}
	if d.Output != nil {
		p.Output = excerpt.Line((*d.Output)[partOf(*d.Output, first):], previewRunes)
	}
	return p
}

// broken returns the first assertion with the row's status, if the row failed or is
// undecided.
func (d *Detail) broken() *DetailAssertion {
	for _, status := range [...]string{"fail", "error"} {
		for i := range d.Assertions {
			if d.Assertions[i].Status == status && d.Status == status {
				return &d.Assertions[i]
			}
		}
	}
	return nil
}

// partOf returns where to begin the shown part of an output: a few words before the
// assertion's first evidence, unless the beginning of the output already shows it.
func partOf(output string, a *DetailAssertion) int {
	const before = 40 // bytes
	if a == nil {
		return 0
	}
	for _, e := range a.Evidence {
		if e.Start == nil {
			continue
		}
		at := strings.Index(output, e.Quote)
		if at < 0 || value.UTF16Len(output[:at]) < previewRunes/2 {
			return 0
		}
		from := excerpt.Start(output, max(0, at-before))
		if blank := strings.IndexByte(output[from:at], ' '); blank >= 0 {
			from += blank + 1
		}
		return from
	}
	return 0
}
