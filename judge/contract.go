package judge

import (
	"encoding/hex"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/judge/criteria"
	"github.com/proviso-eval/proviso/suite"
	"github.com/proviso-eval/proviso/value"
)

// Limits of a [Request]. Exceeding one of them is a mistake.
const (
	MaxBody        = 8 << 20 // bytes of the whole request
	MaxText        = 2 << 20 // bytes each of agent_input, agent_output and context
	maxAssertions  = 1000
	maxCriteria    = 100    // per assertion
	maxAllCriteria = 5000   // in all assertions together
	maxInstruction = 10_000 // bytes
	maxCriterion   = 4_000  // bytes
	maxID          = 200    // bytes
)

// Request is the input for evaluating one output: the body of POST /v1/evaluate and the
// input of proviso judge. [ReadRequest] reads one from JSON.
type Request struct {
	Input      string      `json:"agent_input"`
	Output     string      `json:"agent_output"`
	Assertions []Assertion `json:"assertions"`

	// Threshold is the share of the assertions that must pass, from 0 to 1; nil uses
	// the threshold of the judge.
	Threshold *float64 `json:"threshold,omitempty"`
	// AllowErrors computes the score from the decided assertions only.
	AllowErrors bool `json:"allow_errors,omitempty"`

	// Vars and Metadata are the values for conditions (when).
	Vars     *value.Object `json:"vars,omitempty"`
	Metadata *value.Object `json:"metadata,omitempty"`

	// Context is what judged assertions may consult besides input and output, such as the
	// output's sources.
	Context string `json:"context,omitempty"`

	// TraceID names the output's trace, for checks of its spans: 32 hexadecimal digits,
	// or a traceparent.
	TraceID string `json:"trace_id,omitempty"`
	// Spans provides the spans of the trace; nil if traces are not collected.
	Spans proviso.Spans `json:"-"`

	// Templates are the templates that criteria can name; nil means only the shipped
	// ones.
	Templates *criteria.Library `json:"templates,omitempty"`

	// Repeat distinguishes samples of the same request. A sample never uses cached
	// answers to another one.
	Repeat int `json:"-"`
	// Compiled, if not nil, is called after the assertions are compiled and before the
	// first one is decided. It is not called for a request that cannot be evaluated.
	Compiled func() `json:"-"`
	// Decided, if not nil, is called for each assertion as soon as it is decided.
	// Assertions that need no model, or whose answers are stored, come first. The calls
	// come one at a time, from any goroutine, and block the evaluation.
	Decided func(Decision) `json:"-"`
}

// Assertion is one requirement on an output: criteria for a model, a deterministic check,
// or both. All of them must be met.
type Assertion struct {
	ID          string      `json:"id"`
	Instruction string      `json:"instruction,omitempty"`
	Criteria    []Criterion `json:"criteria,omitempty"`

	// Check is an assertion of a deterministic type, as in a suite. It is never sent to
	// a model.
	Check *value.Object `json:"check,omitempty"`

	Description string `json:"description,omitempty"` // for people; not sent to the judge

	Type     string        `json:"type,omitempty"` // "judge" (default) or "not-judge"
	When     string        `json:"when,omitempty"` // condition (CEL) over vars and metadata
	Weight   *float64      `json:"weight,omitempty"`
	Severity string        `json:"severity,omitempty"` // must, should or info
	Scope    *value.Object `json:"scope,omitempty"`    // part of the output to evaluate
}

// Criterion is a yes-or-no question: a text, or a shipped template with parameters. In
// JSON, a text is a plain string.
type Criterion struct {
	Text     string        `json:"text,omitempty"`
	Template string        `json:"template,omitempty"`
	Params   *value.Object `json:"params,omitempty"`
}

// Response is the evaluation of one output.
type Response struct {
	// Score is passed / total. It is nil if an assertion is undecided, or if none
	// applied. With allow_errors it is passed / (passed + failed).
	Score  *float64 `json:"score"`
	Passed int      `json:"passed"`
	Failed int      `json:"failed"`
	// Total counts the assertions that applied: passed, failed and undecided.
	Total   int      `json:"total"`
	Results []Result `json:"results"`

	// Status is pass, fail, error or skip. It is fail as soon as the threshold is out of
	// reach, even if assertions are undecided and there is no score.
	Status          string   `json:"status"`
	Errors          []Failed `json:"errors,omitempty"`
	Skipped         int      `json:"skipped,omitempty"`
	Threshold       float64  `json:"threshold"`
	PassedThreshold bool     `json:"passed_threshold"`
	// WeightedScore is set if a weight is not 1, and is then compared with the threshold.
	WeightedScore *float64 `json:"weighted_score,omitempty"`
}

// Failed is the reason why an assertion is undecided.
type Failed struct {
	ID      string `json:"id"`
	Message string `json:"message"`
}

// Result is the result of one assertion. Pass is true only if Status is pass.
type Result struct {
	ID        string `json:"id"`
	Pass      bool   `json:"pass"`
	Reasoning string `json:"reasoning"`

	Status string `json:"status"` // pass, fail, error or skip
	// Score is the share of criteria that are met, including the check; nil unless the
	// status is pass or fail.
	Score    *float64          `json:"score,omitempty"`
	Criteria []CriterionResult `json:"criteria,omitempty"`
	Evidence []string          `json:"evidence,omitempty"` // quotes that occur in the output
	Judge    string            `json:"judge,omitempty"`    // identity, "" if no model was called
	Cached   bool              `json:"cached,omitempty"`   // the verdict comes from a cache
	Usage    *Usage            `json:"usage,omitempty"`
	Cost     *float64          `json:"cost,omitempty"` // US dollars
}

// CriterionResult is the result of one criterion. Pass is true only if Status is pass.
type CriterionResult struct {
	Criterion string `json:"criterion"`
	Pass      bool   `json:"pass"`
	Reasoning string `json:"reasoning"`
	Status    string `json:"status"`
	// CannotTell is true if the judge answered that it cannot tell. The status is then
	// error, and Reasoning explains why.
	CannotTell bool     `json:"cannot_tell,omitempty"`
	Evidence   []string `json:"evidence,omitempty"`
	Note       string   `json:"note,omitempty"` // such as a note about a dropped quote
	Votes      *Votes   `json:"votes,omitempty"`
}

// Votes counts the votes on a criterion with more than one vote.
type Votes = proviso.Votes

// Usage counts tokens. Assertions that share a call also share its usage.
type Usage = proviso.Usage

// Mistakes holds all mistakes of a request. Each has a JSON pointer and, if there is a
// fixed list, the valid names.
type Mistakes []*proviso.Error

// Error returns one line per mistake, with pointer and message.
func (m Mistakes) Error() string {
	var lines []string
	for _, e := range m {
		line := e.Error()
		if e.Pointer != "" {
			line = e.Pointer + ": " + line
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the mistakes, so that errors.As finds the first one.
func (m Mistakes) Unwrap() []error {
	all := make([]error, len(m))
	for i, e := range m {
		all[i] = e
	}
	return all
}

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
		e := r.wrong(proviso.Invalid, at+"/type", "an assertion of a request is a judge or a not-judge, not %q; other types belong under check", a.Type)
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
