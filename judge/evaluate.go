package judge

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/template"
	"github.com/proviso-eval/proviso/internal/turns"
	"github.com/proviso-eval/proviso/value"
)

// Evaluate decides every assertion of a request. The error is [Mistakes] if the request
// is invalid; undecided assertions are part of the response.
func (j *Judge) Evaluate(ctx context.Context, r *Request) (*Response, error) {
	set, row, closer, err := j.prepared(ctx, r)
	if err != nil {
		return nil, err
	}
	defer closer.Close()
	if r.Compiled != nil {
		r.Compiled()
	}
	var verdicts []proviso.Verdict
	if r.Decided == nil {
		verdicts = set.Eval(ctx, row)
	} else {
		verdicts = set.EvalEach(ctx, row, func(i int, v *proviso.Verdict) { r.Decided(decisionOf(i, v, r.Output)) })
	}
	return NewResponse(verdicts, j.threshold(r), r.AllowErrors), nil
}

// Check compiles every assertion of a request without calling a model. It returns the
// error that Evaluate would return: [Mistakes] with the place of each assertion that
// cannot be evaluated.
func (j *Judge) Check(ctx context.Context, r *Request) error {
	_, _, closer, err := j.prepared(ctx, r)
	if err != nil {
		return err
	}
	return closer.Close()
}

// prepared compiles the assertions of a request, without calling a model.
func (j *Judge) prepared(ctx context.Context, r *Request) (*check.Set, *check.Row, io.Closer, error) {
	_, done, err := turns.Enter(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	defer done()
	list, mistakes := r.Decode()
	if len(mistakes) > 0 {
		return nil, nil, nil, mistakes
	}
	// Requests share nothing but the engines.
	o := j.o.Check
	o.Grader, o.Templates = j, names{}
	if j.o.Grader != nil {
		o.Grader = j.o.Grader
	}
	if r.Spans != nil {
		o.Spans = r.Spans
	}
	if o.Expand == nil || r.Templates != nil {
		o.Expand = r.Templates.Expand
	}
	compiler := check.New(o)
	set, wrong := compiler.CompileContext(ctx, list)
	c := &proviso.Case{Vars: r.Vars, Metadata: r.Metadata, Repeat: r.Repeat}
	if ctx.Err() != nil {
		_ = compiler.Close() // it only frees memory
		return nil, nil, nil, context.Cause(ctx)
	}
	wrong = append(wrong, errorsOf(set.Prepare(c, false))...)
	if len(wrong) > 0 {
		_ = compiler.Close() // it only frees memory
		return nil, nil, nil, Mistakes(wrong)
	}
	row := &check.Row{Output: &proviso.Output{Value: r.Output, TraceID: r.TraceID}, Prompt: r.Input, HasPrompt: true, Background: r.Context, Vars: r.Vars, Case: c}
	return set, row, compiler, nil
}

// names implements the templates of a request: only variable names in instructions and
// criteria. All other text is literal, including braces.
type names struct{}

func (names) Render(_ context.Context, text string, _ *value.Object) (string, error) {
	return text, nil
}

func (names) Check(string) error { return nil }

func (names) Mark(_ context.Context, text string, vars *value.Object) (string, *value.Object, error) {
	return template.MarkNames(text, vars)
}

func (names) Needs(text string) ([]string, error) { return template.Names(text) }

// errorsOf leaves out warnings.
func errorsOf(list []*proviso.Error) Mistakes {
	var wrong Mistakes
	for _, e := range list {
		if !e.Warning {
			wrong = append(wrong, e)
		}
	}
	return wrong
}

func (j *Judge) threshold(r *Request) float64 {
	return *cmp.Or(r.Threshold, j.o.Threshold, new(1.0))
}

// NewResponse converts the verdicts on an assertion set to a response.
func NewResponse(set []proviso.Verdict, threshold float64, allowErrors bool) *Response {
	e := check.Evaluate(set, threshold, allowErrors)
	out := &Response{
		Score: e.Score, Passed: e.Passed, Failed: e.Failed, Total: e.Total, Skipped: e.Skipped,
		Threshold: threshold, PassedThreshold: e.PassedThreshold, WeightedScore: e.WeightedScore,
		Status: e.Status.String(), Results: make([]Result, len(set)),
	}
	for i := range set {
		v := &set[i]
		out.Results[i] = resultOf(v)
		if v.Status == proviso.Errored {
			out.Errors = append(out.Errors, Failed{ID: v.Assertion.ID, Message: v.Reason})
		}
	}
	return out
}

func resultOf(v *proviso.Verdict) Result {
	r := Result{
		ID: v.Assertion.ID, Pass: v.Status == proviso.Pass, Status: v.Status.String(), Reasoning: v.Reason,
		Evidence: quotesOf(v.Evidence), Judge: v.Judge, Cached: v.Cached,
	}
	if (v.Status == proviso.Pass || v.Status == proviso.Fail) && !v.Unscored {
		r.Score = new(v.Score)
	}
	for i := range v.Criteria {
		r.Criteria = append(r.Criteria, criterionOf(&v.Criteria[i]))
	}
	if v.Usage != (proviso.Usage{}) {
		r.Usage = new(v.Usage)
	}
	if v.Judge != "" {
		r.Cost = new(v.Cost)
	}
	return r
}

func criterionOf(c *proviso.CriterionVerdict) CriterionResult {
	r := CriterionResult{
		Criterion: c.Criterion.Text, Pass: c.Status == proviso.Pass, Status: c.Status.String(),
		Reasoning: c.Reasoning, CannotTell: c.CannotTell, Evidence: quotesOf(c.Evidence), Note: c.Note,
	}
	if c.Votes.Total() > 1 {
		r.Votes = new(c.Votes)
	}
	return r
}

func quotesOf(list []proviso.Evidence) []string {
	var quotes []string
	for _, e := range list {
		if e.Quote != "" {
			quotes = append(quotes, e.Quote)
		}
	}
	return quotes
}

// Decision is the result of one assertion of a request, as passed to [Request.Decided].
type Decision struct {
	Result
	Index int    `json:"index"`           // index of the assertion in the request, from 0
	Marks []Mark `json:"marks,omitempty"` // positions of the evidence, in the order of the output
}

// Mark is a passage of the output. Start and End are offsets in UTF-16 code units, as in
// JavaScript, so that a page can highlight the passage.
type Mark struct {
	Quote string `json:"quote"`
	Start int    `json:"start"`
	End   int    `json:"end"`
}

// decisionOf returns the decision for a verdict on an output.
func decisionOf(i int, v *proviso.Verdict, output string) Decision {
	return Decision{Result: resultOf(v), Index: i, Marks: marksOf(output, v.Evidence)}
}

// NewDecision returns the decision for a result, with a mark at the first occurrence of
// each quote in the output.
func NewDecision(i int, r Result, output string) Decision {
	evidence := make([]proviso.Evidence, len(r.Evidence))
	for k, quote := range r.Evidence {
		evidence[k] = proviso.Evidence{Quote: quote, Start: -1}
	}
	return Decision{Result: r, Index: i, Marks: marksOf(output, evidence)}
}

// marksOf returns the positions of quotes in an output. A quote that does not occur has
// no mark: with a transform or a scope, offsets refer to another text.
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
	at, units := 0, 0 // start of the last span
	for _, s := range spans {
		units += value.UTF16Len(output[at:s.start])
		at = s.start
		marks = append(marks, Mark{Quote: output[s.start:s.end], Start: units, End: units + value.UTF16Len(output[s.start:s.end])})
	}
	return marks
}
