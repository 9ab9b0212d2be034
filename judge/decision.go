package judge

import (
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
)

// Decision is the result of one assertion of a request, as [Request.Decided] gets it.
type Decision struct {
	Result
	Index int    `json:"index"`           // of the assertion in the request, from 0
	Marks []Mark `json:"marks,omitempty"` // where the evidence is, in the order of the output
}

// Mark is a passage of the output. Start and End are offsets in UTF-16 code units, as
// JavaScript counts, so that a page can mark the passage.
type Mark struct {
	Quote string `json:"quote"`
	Start int    `json:"start"`
	End   int    `json:"end"`
}

// decisionOf returns the decision of a verdict on an output.
func decisionOf(i int, v *proviso.Verdict, output string) Decision {
	return Decision{Result: resultOf(v), Index: i, Marks: marksOf(output, v.Evidence)}
}

// NewDecision returns the decision of a result, with the first occurrence of each quote in
// the output.
func NewDecision(i int, r Result, output string) Decision {
	evidence := make([]proviso.Evidence, len(r.Evidence))
	for k, quote := range r.Evidence {
		evidence[k] = proviso.Evidence{Quote: quote, Start: -1}
	}
	return Decision{Result: r, Index: i, Marks: marksOf(output, evidence)}
}

// marksOf returns where quotes are in an output. A quote that does not occur has no mark:
// with a transform or a scope, offsets are those of another text.
func marksOf(output string, evidence []proviso.Evidence) []Mark {
	type span struct{ start, end int } // bytes
	var spans []span
	for _, e := range evidence {
		at := e.Start
		if at < 0 || at > len(output) || !strings.HasPrefix(output[at:], e.Quote) {
			at = strings.Index(output, e.Quote)
		}
		if found := (span{at, at + len(e.Quote)}); e.Quote != "" && at >= 0 && !slices.Contains(spans, found) {
			spans = append(spans, found)
		}
	}
	slices.SortFunc(spans, func(a, b span) int { return a.start - b.start })
	var marks []Mark
	at, units := 0, 0 // of the beginning of the last span
	for _, s := range spans {
		units += unitsIn(output[at:s.start])
		at = s.start
		marks = append(marks, Mark{Quote: output[s.start:s.end], Start: units, End: units + unitsIn(output[s.start:s.end])})
	}
	return marks
}

// unitsIn returns the length of a text in UTF-16 code units.
func unitsIn(text string) int {
	n := 0
	for _, r := range text {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}
