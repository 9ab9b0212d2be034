package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/judge/criteria"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/value"
)

func (s *Server) evaluate(c *call) error {
	return s.evaluateBody(c, c.body, "", nil)
}

// evaluateSet decides the assertions of a stored set for the output in a
// request.
func (s *Server) evaluateSet(c *call) error {
	doc, err := s.versionAsked(c, store.AssertionSetKind, c.r.PathValue("set"))
	if err != nil {
		return err
	}
	var request []byte
	var templates *criteria.Library
	if err := c.compute(func() (err error) {
		request, templates, err = withSet(c.r.Context(), doc.Content, c.body)
		return err
	}); err != nil {
		return err
	}
	return s.evaluateBody(c, request, doc.Hash, templates)
}

// withSet adds to a request the assertions of a set, and the set's other settings where the
// request has none. It also returns the set's templates.
func withSet(ctx context.Context, content, data []byte) ([]byte, *criteria.Library, error) {
	set, err := readSet(ctx, content)
	if err != nil {
		return nil, nil, err
	}
	body, o, err := decodeObject(ctx, data)
	if err != nil {
		return nil, nil, err
	}
	for _, key := range []string{"assertions", "templates"} {
		if o.Has(key) {
			at := body.Place("/" + key)
			return nil, nil, invalid([]Mistake{{Pointer: "/" + key, Code: proviso.Invalid, Message: "the " + key + " are those of the set", Line: at.Line, Column: at.Column}})
		}
	}
	if set.threshold != nil && o.At("threshold") == nil {
		o.Set("threshold", *set.threshold)
	}
	if set.context != "" && o.At("context") == nil {
		o.Set("context", set.context)
	}
	request := value.AppendJSON(nil, o)
	if o.Len() > 0 {
		request[len(request)-1] = ','
	} else {
		request = []byte("{")
	}
	return append(append(append(request, `"assertions":`...), set.assertions...), '}'), set.library, nil
}

// evaluateBody decides a request and stores the result. set is the version of the assertion
// set, "" if the assertions are in the request; templates are the set's own.
func (s *Server) evaluateBody(c *call, body []byte, set string, templates *criteria.Library) error {
	var req *judge.Request
	if err := c.compute(func() (err error) {
		if req, err = judge.ReadRequestWith(c.r.Context(), body, templates); err != nil {
			err = requestProblem(c.r.Context(), body, err)
		}
		return err
	}); err != nil {
		return err
	}
	spans, done := s.traceAsked(c.r.Context(), c, req.TraceID)
	defer done()
	req.Spans = spans
	account := s.budgets.open(c.key)
	if err := account.check(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(withAccount(c.r.Context(), account), s.o.EvaluateLimit)
	defer cancel()
	started := time.Now()
	resp, err := s.o.Judge.Evaluate(ctx, req)
	cost, usage := account.total()
	s.metrics.spent(c.project, cost, usage)
	if err != nil || c.r.Context().Err() != nil { // the client disconnected, or the CPU budget is spent
		if failed := s.settle(ctx, account); failed != nil {
			s.o.Log.Error("charge a key", "request_id", c.id, "error", failed)
		}
		if err == nil {
			err = c.r.Context().Err()
		}
		return requestProblem(c.r.Context(), body, err)
	}
	return s.answerEvaluation(c, body, resp, store.NewEvaluation{Set: set, Cost: cost, Usage: usage, Elapsed: time.Since(started)})
}

// answerEvaluation stores an evaluation and sends it as the response. If storing fails, it
// sends no evaluation.
func (s *Server) answerEvaluation(c *call, body []byte, resp *judge.Response, n store.NewEvaluation) error {
	data, err := encode(resp)
	if err != nil {
		return err
	}
	n.ID = store.NewID(store.EvaluationID, time.Now())
	answer := store.Response{Status: http.StatusOK, MediaType: mediaJSON, Location: "/v1/evaluations/" + n.ID, Body: data}
	n.Reply = c.reply(s, answer)
	if err := s.storeEvaluation(c.r.Context(), c, body, data, resp, n); err != nil {
		return err
	}
	c.claim = nil // the reply is stored
	return c.sendResponse(answer)
}

// storeEvaluation stores the result of an evaluation, even if ctx has ended, and counts it.
// data is resp in JSON.
func (s *Server) storeEvaluation(ctx context.Context, c *call, body, data []byte, resp *judge.Response, n store.NewEvaluation) error {
	n.CreatedBy, n.Judge = c.key.ID, s.o.Judge.Identity()
	n.Score, n.Passed, n.Failed, n.Errors, n.Skipped = resp.Score, resp.Passed, resp.Failed, len(resp.Errors), resp.Skipped
	n.Status = proviso.StatusNamed(resp.Status)
	if s.o.KeepContents {
		n.Request, n.Response = body, data
	}
	done := s.budgets.charging(n.CreatedBy, n.Cost)
	_, err := c.kept.AddEvaluation(context.WithoutCancel(ctx), n)
	done(err == nil)
	if err != nil {
		return err
	}
	byStatus := map[string]int{"pass": resp.Passed, "fail": resp.Failed, "error": len(resp.Errors), "skip": resp.Skipped}
	s.metrics.evaluated(c.project, n.Status.String(), byStatus)
	return nil
}

// SetRequest asks for an evaluation against a stored assertion set.
type SetRequest struct {
	OutputRequest
	Context string `json:"context,omitempty" doc:"What judged assertions may look at besides the input and the output, such as the sources of the output; that of the set if it is missing"`
}

// OutputRequest is the part that all evaluation requests share.
type OutputRequest struct {
	Input       string        `json:"agent_input"`
	Output      string        `json:"agent_output"`
	Threshold   *float64      `json:"threshold,omitempty" doc:"The share of the assertions that has to pass, from 0 to 1"`
	AllowErrors bool          `json:"allow_errors,omitempty" doc:"Compute the score over what was decided"`
	Vars        *value.Object `json:"vars,omitempty" doc:"What the conditions under when are about"`
	Metadata    *value.Object `json:"metadata,omitempty" doc:"What the conditions under when are about"`
	TraceID     string        `json:"trace_id,omitempty" doc:"The trace that the output belongs to, for checks of its spans; POST /v1/traces takes them"`
}

// Evaluation is the stored evaluation of one output.
type Evaluation struct {
	ID          string    `json:"id"`
	CreatedAt   time.Time `json:"created_at"`
	CreatedBy   string    `json:"created_by,omitempty" doc:"The id of the API key"`
	Set         string    `json:"assertion_set_version,omitempty" doc:"The version of the assertion set, if it was evaluated against one"`
	Status      string    `json:"status" enum:"pass,fail,error,skip,running"`
	Score       *float64  `json:"score"`
	Passed      int       `json:"passed"`
	Failed      int       `json:"failed"`
	Errors      int       `json:"errors"`
	Skipped     int       `json:"skipped"`
	Judge       string    `json:"judge,omitempty"`
	Cost        float64   `json:"cost" doc:"US dollars"`
	DurationMS  float64   `json:"duration_ms"`
	AgentOutput *string   `json:"agent_output,omitempty" doc:"Of a streamed evaluation, as long as it can be streamed"`
	Request     any       `json:"request,omitempty" doc:"What was sent, if the server keeps contents"`
	Response    any       `json:"response,omitempty" doc:"What was answered, if the server keeps contents"`
}

// EvaluationList is a page of evaluations.
type EvaluationList List[Evaluation]

func evaluationOf(e *store.Evaluation) Evaluation {
	out := Evaluation{
		ID: e.ID, CreatedAt: e.Created.UTC(), CreatedBy: e.CreatedBy, Set: e.Set, Status: e.Status.String(), Score: e.Score, Passed: e.Passed,
		Failed: e.Failed, Errors: e.Errors, Skipped: e.Skipped, Judge: e.Judge, Cost: e.Cost, DurationMS: milliseconds(e.Elapsed),
	}
	if e.Request != nil {
		out.Request = json.RawMessage(e.Request)
	}
	if e.Response != nil {
		out.Response = json.RawMessage(e.Response)
	}
	return out
}

// listEvaluations lists the evaluations that the key may see, newest first.
func (s *Server) listEvaluations(c *call) error {
	f := store.EvaluationFilter{Status: c.q.status(), Since: c.q.time("since"), Until: c.q.time("until")}
	if !seesAll(c.key) {
		f.CreatedBy = c.key.ID
	}
	return sendList(c, c.kept.ListEvaluations, f, evaluationOf)
}

func (s *Server) getEvaluation(c *call) error {
	held, err := s.heldEvaluation(c)
	if err == nil && held != nil {
		err = s.readOutput(c.r.Context(), held)
	}
	if err != nil {
		return err
	}
	if held != nil && !held.lost {
		if ended, _ := s.evaluations.stateOf(held); ended.IsZero() {
			return c.json(http.StatusOK, held.unfinished("running"))
		}
	}
	e, err := s.seenEvaluation(c)
	if held != nil && held.lost && isNotFound(err) {
		return c.json(http.StatusOK, held.unfinished(proviso.Errored.String()))
	}
	if err != nil {
		return err
	}
	out := evaluationOf(&e)
	if held != nil {
		out.AgentOutput = &held.output
	}
	return c.json(http.StatusOK, out)
}

// unfinished describes an evaluation without a result.
func (e *heldEvaluation) unfinished(status string) Evaluation {
	return Evaluation{ID: e.id, CreatedAt: e.created.UTC(), CreatedBy: e.key.ID, Status: status, AgentOutput: &e.output}
}

// seenEvaluation returns the stored evaluation that the address names, if the key may see it.
func (s *Server) seenEvaluation(c *call) (store.Evaluation, error) {
	return s.visibleEvaluation(c, c.r.PathValue("evaluation"))
}

// visibleEvaluation returns a stored evaluation if the key may see it.
func (s *Server) visibleEvaluation(c *call, id string) (store.Evaluation, error) {
	e, err := c.kept.Evaluation(c.r.Context(), id)
	if err == nil && !seesAll(c.key) && !c.key.Can(store.Labelling) && e.CreatedBy != c.key.ID {
		err = proviso.Errorf(proviso.NotFound, "there is no evaluation %s", strconv.Quote(shortened(id)))
	}
	return e, err
}

// requestProblem converts the mistakes of an evaluation request into a problem.
func requestProblem(ctx context.Context, body []byte, err error) error {
	var list judge.Mistakes
	if !errors.As(err, &list) || len(list) == 0 {
		return err
	}
	if list[0].Code == proviso.Unavailable { // there is no judge, or its key is missing
		return list[0]
	}
	doc, syntax := document.ParseRequest(ctx, "body", body)
	var mistakes []Mistake
	for i, e := range list {
		m := mistakeOf(e)
		if syntax == nil && i < maxMistakes && ctx.Err() == nil { // finding the position parses the body
			at := doc.Place(m.Pointer)
			m.Line, m.Column = at.Line, at.Column
		}
		mistakes = append(mistakes, m)
	}
	return invalid(mistakes)
}
