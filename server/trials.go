package server

import (
	"fmt"
	"net/http"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/value"
)

// NewTrial asks to judge a run's labelled outputs again, with a change of the assertion or of
// the judge.
type NewTrial struct {
	Run       string      `json:"run" doc:"The id of the run"`
	Assertion string      `json:"assertion" doc:"The name of the assertion"`
	Change    TrialChange `json:"change" doc:"Empty judges again as the assertion is, which shows how much the judge varies"`
	Limit     *int        `json:"limit,omitempty" doc:"How many labelled outputs at most, from 1 to 2000; 500 if it is missing"`
}

// TrialChange is the change that a trial tries. Missing members stay as they were in the run.
type TrialChange struct {
	Instruction  *string `json:"instruction,omitempty"`
	Criteria     []any   `json:"criteria,omitempty" doc:"As in a suite: texts, or templates with parameters"`
	Value        *string `json:"value,omitempty" doc:"The rubric, of types such as llm-rubric"`
	RubricPrompt *string `json:"rubric_prompt,omitempty" doc:"The prompt of the judge, of types that have one, such as llm-rubric"`
	Context      *string `json:"context,omitempty" doc:"What judged assertions may look at besides the input and the output, such as the sources of the output; {{name}} stands for a variable of the case"`
	Judge        string  `json:"judge,omitempty" doc:"The id of the provider that judges; missing: the judge of this server"`
}

// Trial is a trial of a changed judge.
type Trial struct {
	ID        string       `json:"id"`
	Run       string       `json:"run"`
	Assertion string       `json:"assertion"`
	Change    TrialChange  `json:"change"`
	Status    string       `json:"status" enum:"running,done,failed,cancelled"`
	CreatedAt time.Time    `json:"created_at"`
	Total     int          `json:"total" doc:"Labelled outputs"`
	Done      int          `json:"done"`
	Errors    int          `json:"errors" doc:"Outputs that the judge did not decide, so far"`
	Cost      float64      `json:"cost" doc:"US dollars"`
	Error     string       `json:"error,omitempty" doc:"Why it failed"`
	Result    *TrialResult `json:"result,omitempty" doc:"Once it is done"`
}

// StartedTrial is a running trial.
type StartedTrial struct {
	ID string `json:"id"`
}

// TrialResult compares the verdicts of the run with those of the trial, on all labelled outputs
// and on two halves of them. The split is by case, and never changes.
type TrialResult struct {
	TrialHalf
	Work        TrialHalf     `json:"work" doc:"The half to look at while the judge is changed"`
	HeldOut     TrialHalf     `json:"held_out" doc:"The half to decide on"`
	Flipped     []Flip        `json:"flipped" doc:"Outputs with another verdict than before, those that agree with people less first; up to 1000"`
	JudgeBefore []string      `json:"judge_before" doc:"Identities of the judges of the run"`
	JudgeAfter  []string      `json:"judge_after"`
	Failures    []string      `json:"failures" doc:"Why outputs were not decided: up to 5 different reasons"`
	Looks       int           `json:"looks" doc:"How many trials of this assertion of the run have shown the held-out half, with this one"`
	Definition  *value.Object `json:"definition" doc:"The changed assertion, in the form of a suite"`
	LeftOut     LeftOut       `json:"left_out"`
}

// LeftOut counts labelled outputs that a trial leaves out.
type LeftOut struct {
	Ties       int `json:"ties" doc:"As many people pass as fail"`
	Unsure     int `json:"unsure" doc:"Nobody says pass or fail"`
	OtherText  int `json:"other_text" doc:"The assertion has another text there"`
	NotApplied int `json:"not_applied" doc:"The assertion did not apply in the run"`
	Beyond     int `json:"beyond" doc:"More than the limit"`
}

// TrialHalf compares a judge before and after its change. All rates use only outputs that both
// decided.
type TrialHalf struct {
	Labels     int             `json:"labels" doc:"Outputs that people pass or fail"`
	Cases      int             `json:"cases" doc:"That they are of"`
	Pairs      int             `json:"pairs" doc:"Outputs that were decided before and after"`
	Before     TrialSide       `json:"before"`
	After      TrialSide       `json:"after"`
	Difference TrialDifference `json:"difference" doc:"After − before, with 95 % intervals that count the outputs of a case together"`
	Finding    string          `json:"finding" enum:"better,worse,unclear,unknown" doc:"Of the difference of kappa; unknown: kappa is undefined, or there are fewer than ten labels of good or of bad outputs"`
}

// TrialSide is the agreement of a judge with people.
type TrialSide struct {
	TruePass  int          `json:"true_pass"`
	FalsePass int          `json:"false_pass" doc:"The judge passed what people failed"`
	TrueFail  int          `json:"true_fail"`
	FalseFail int          `json:"false_fail" doc:"The judge failed what people passed"`
	Errors    int          `json:"errors" doc:"Outputs that it did not decide, which are in no rate"`
	Agreement *float64     `json:"agreement"`
	Kappa     EstimateJSON `json:"kappa"`
	TPR       EstimateJSON `json:"tpr" doc:"Share of the good outputs that pass"`
	TNR       EstimateJSON `json:"tnr" doc:"Share of the bad outputs that fail"`
}

// TrialDifference is a difference of agreement.
type TrialDifference struct {
	Kappa EstimateJSON `json:"kappa"`
	TPR   EstimateJSON `json:"tpr"`
	TNR   EstimateJSON `json:"tnr"`
}

// Flip is an output with a different verdict after the change.
type Flip struct {
	Index   int    `json:"index" doc:"Of the row"`
	Case    string `json:"case"`
	HeldOut bool   `json:"held_out"`
	Label   string `json:"label" enum:"pass,fail" doc:"What people say"`
	Before  Judged `json:"before"`
	After   Judged `json:"after"`
	Agrees  bool   `json:"agrees" doc:"The new verdict is that of people"`
}

// Judged is a verdict of a judge.
type Judged struct {
	Status string `json:"status" enum:"pass,fail,error,skip"`
	Reason string `json:"reason" doc:"Up to 1000 characters"`
}

// TrialBase is the starting point for trials of an assertion.
type TrialBase struct {
	Run        string         `json:"run"`
	Assertion  string         `json:"assertion"`
	Assertions []LabelledName `json:"assertions" doc:"Assertions of the run that have labels"`
	Definition *value.Object  `json:"definition" doc:"As it was in the run; null without labels that decide"`
	Judges     []string       `json:"judges" doc:"Identities of the judges of the labelled outputs"`
	Labels     int            `json:"labels" doc:"Outputs that people pass or fail"`
	Good       int            `json:"good"`
	WorkLabels int            `json:"work_labels"`
	HeldOut    int            `json:"held_out_labels"`
	LeftOut    LeftOut        `json:"left_out"`
	Looks      int            `json:"looks" doc:"How many trials have shown the held-out half"`
}

// LabelledName is an assertion with labels.
type LabelledName struct {
	Assertion string `json:"assertion"`
	Labels    int    `json:"labels" doc:"Outputs that people pass or fail"`
}

func trialRoutes() []*route {
	trial := in("trial", "Its id")
	return []*route{
		{Method: http.MethodPost, Path: "/v1/judge-trials", ID: "start-trial", Scope: store.Evaluate, Status: http.StatusAccepted, Asks: true, Handle: reads((*Server).startTrial),
			Summary: "Judge the labelled outputs of a run again with a changed assertion or judge", Request: typeOf[NewTrial](), Response: typeOf[StartedTrial](),
			Detail: "It continues in the background; the key pays. Trials are held for an hour after their end."},
		{Method: http.MethodGet, Path: "/v1/judge-trials", ID: "get-trial-base", Scope: store.Read, Status: http.StatusOK, Handle: (*Server).trialBase,
			Summary: "What a trial of an assertion starts from: its text, and how many labels there are", Response: typeOf[TrialBase](),
			Params: []param{{Name: "run", Kind: "string", Doc: "The id of the run"}, {Name: "assertion", Kind: "string", Doc: "The name of the assertion; missing: only the names of those that have labels"}}},
		{Method: http.MethodGet, Path: "/v1/judge-trials/{trial}", ID: "get-trial", Scope: store.Read, Status: http.StatusOK, Handle: (*Server).getTrial,
			Summary: "A trial, with its result once it is done", Params: []param{trial}, Response: typeOf[Trial]()},
		{Method: http.MethodGet, Path: "/v1/judge-trials/{trial}/events", ID: "trial-events", Scope: store.Read, Status: http.StatusOK, MediaType: "text/event-stream", Stream: true,
			Handle: (*Server).trialEvents, Summary: "Follow a trial by server-sent events", Params: []param{trial},
			Detail: "Events are named progress, and the last one end. Their data is a Trial. A client that sends Last-Event-ID gets only later events."},
		{Method: http.MethodDelete, Path: "/v1/judge-trials/{trial}", ID: "cancel-trial", Scope: store.Evaluate, Status: http.StatusNoContent, Handle: (*Server).cancelTrial,
			Summary: "Cancel a trial", Params: []param{trial}},
	}
}

const (
	usualTrial = 500  // labelled outputs of a trial, by default
	maxTrial   = 2000 // labelled outputs of a trial, at most

	maxTrialChange = 64 << 10 // bytes of a change as JSON
)

func (s *Server) startTrial(c *call, in *NewTrial) error {
	limit := usualTrial
	if in.Limit != nil {
		limit = *in.Limit
	}
	switch {
	case s.o.Judges == nil:
		return problem(proviso.Unsupported, "this server asks no judges")
	case limit < 1 || limit > maxTrial:
		return pointed("/limit", proviso.Invalid, "the limit is a number from 1 to 2000")
	case in.Change.Judge != "" && !c.key.MayAsk(in.Change.Judge):
		return problem(codeForbidden, "the key may not ask "+shortened(in.Change.Judge))
	}
	// The trial stores the change, and sends it with each of its events.
	if change, err := encode(in.Change); err != nil {
		return err
	} else if len(change) > maxTrialChange {
		return pointed("/change", proviso.Limit, fmt.Sprintf("the change has %d bytes, more than %d (64 KiB)", len(change), maxTrialChange))
	}
	if err := s.o.Store.Texts(c.r.Context()); err != nil { // other servers must be able to read the change
		return err
	}
	t, err := s.prepareTrial(c, in, limit)
	if err != nil {
		return err
	}
	data, err := encode(StartedTrial{ID: t.held.id})
	if err != nil {
		return err
	}
	return c.sendResponse(store.Response{Status: http.StatusAccepted, MediaType: mediaJSON, Location: "/v1/judge-trials/" + t.held.id, Body: data})
}

func (s *Server) trialBase(c *call) error {
	if _, err := s.seenRunOf(c, c.q.Get("run")); err != nil {
		return err
	}
	all, err := labelsOfRun(c.r.Context(), c.kept, c.q.Get("run"))
	if err != nil {
		return err
	}
	out := TrialBase{Run: c.q.Get("run"), Assertion: c.q.Get("assertion"), Assertions: all.names(), Judges: []string{}}
	if out.Assertion == "" {
		return c.json(http.StatusOK, out)
	}
	items, left := all.items(out.Assertion)
	out.LeftOut, out.Labels = left, len(items)
	if out.Looks, err = c.kept.CountLooks(c.r.Context(), out.Run, out.Assertion); err != nil {
		return err
	}
	for _, item := range items {
		if item.human == proviso.Pass {
			out.Good++
		}
		if item.heldOut {
			out.HeldOut++
		} else {
			out.WorkLabels++
		}
		out.Judges = withName(out.Judges, item.judge)
	}
	if len(items) > 0 {
		if out.Definition, err = definitionIn(c.r.Context(), c.kept, out.Run, items[0].index, out.Assertion); err != nil {
			return err
		}
	}
	return c.json(http.StatusOK, out)
}
