package judge

import (
	"encoding/hex"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/suite"
	"github.com/proviso-eval/proviso/value"
)

// Decode checks the request as a whole and returns its assertions in the form that
// package check compiles.
func (r *Request) Decode() ([]*proviso.Assertion, Mistakes) {
	w := requestReader{}
	w.bounds(r)
	switch n := len(r.Assertions); {
	case n == 0:
		w.wrong(proviso.Invalid, "/assertions", "there are no assertions to evaluate")
	case n > maxAssertions:
		w.wrong(proviso.Limit, "/assertions", "%d assertions, and at most %d are allowed", n, maxAssertions)
		return nil, w.mistakes
	}
	list := make([]any, len(r.Assertions))
	all := 0
	for i := range r.Assertions {
		a := &r.Assertions[i]
		list[i] = a.object()
		all += len(a.Criteria)
		w.limits(document.Join("/assertions", i), a)
	}
	if all > maxAllCriteria {
		w.wrong(proviso.Limit, "/assertions", "%d criteria in all, and at most %d are allowed", all, maxAllCriteria)
	}
	decoded, wrong := suite.DecodeSet(check.Facts(), list, "/assertions")
	w.mistakes = append(w.mistakes, wrong...)
	return decoded, w.mistakes
}

// bounds checks the limits of a request, except those of its assertions.
func (r *requestReader) bounds(req *Request) {
	for _, t := range [...]struct{ key, text string }{{"agent_input", req.Input}, {"agent_output", req.Output}, {"context", req.Context}} {
		if len(t.text) > MaxText {
			r.wrong(proviso.Limit, document.Join("", t.key), "%s has %d bytes, and at most %d (2 MiB) are allowed", t.key, len(t.text), MaxText)
		}
	}
	if t := req.Threshold; t != nil && !(*t >= 0 && *t <= 1) {
		r.wrong(proviso.Invalid, "/threshold", "the threshold must be a number from 0 to 1, not %s", value.FormatNumber(*t))
	}
	if req.TraceID != "" && !isTraceID(req.TraceID) {
		r.wrong(proviso.Invalid, "/trace_id", "a trace has an id of 32 hexadecimal digits, not %q", document.Excerpt(req.TraceID))
	}
}

// isTraceID reports whether a text is a trace id or a traceparent (W3C Trace Context,
// section 3.2.2).
func isTraceID(text string) bool {
	if parts := strings.Split(text, "-"); len(parts) == 4 {
		text = parts[1]
	}
	id, err := hex.DecodeString(text)
	return err == nil && len(id) == 16 && slices.ContainsFunc(id, func(b byte) bool { return b != 0 })
}

// limits checks the limits of one assertion.
func (r *requestReader) limits(at string, a *Assertion) {
	if a.Type != "" && a.Type != judged && a.Type != "not-"+judged {
		e := r.wrong(proviso.Invalid, at+"/type", "an assertion of a request is a judge or a not-judge, not %q; other types stand under check", a.Type)
		e.Valid = []string{judged, "not-" + judged}
	}
	over := func(pointer, what string, is, most int) {
		if is > most {
			r.wrong(proviso.Limit, at+pointer, "%s: %d, and at most %d are allowed", what, is, most)
		}
	}
	over("/id", "bytes of an id", len(a.ID), maxID)
	over("/instruction", "bytes of an instruction", len(a.Instruction), maxInstruction)
	over("/criteria", "criteria of an assertion", len(a.Criteria), maxCriteria)
	for i := range a.Criteria {
		over(document.Join("/criteria", i), "bytes of a criterion", len(a.Criteria[i].Text), maxCriterion)
	}
	if len(a.Criteria) == 0 && a.Check == nil {
		r.wrong(proviso.Invalid, at, "the assertion %q has no criteria and no check", a.ID)
	}
}
