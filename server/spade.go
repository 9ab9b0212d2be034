package server

import (
	"context"
	"errors"
	"net/http"

	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/spade"
	"github.com/proviso-eval/proviso/spade/coverage"
	"github.com/proviso-eval/proviso/spade/delta"
	"github.com/proviso-eval/proviso/spade/matrix"
	"github.com/proviso-eval/proviso/spade/propose"
	"github.com/proviso-eval/proviso/spade/selection"
	"github.com/proviso-eval/proviso/spade/trial"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/value"
)

// SpadeRequest is a prompt with its versions, and outputs to try assertions on.
type SpadeRequest struct {
	Versions []SpadeVersion    `json:"versions,omitempty" doc:"Of the prompt, oldest first, up to 200, together up to 1 MiB; or else prompt"`
	Prompt   string            `json:"prompt,omitempty" doc:"The name of a prompt of the latest runs, whose versions are taken"`
	Suite    string            `json:"suite,omitempty" doc:"Its suite, if several suites have a prompt of this name"`
	Examples []SpadeExample    `json:"examples,omitempty" doc:"Outputs, up to 1000; or else run"`
	Run      string            `json:"run,omitempty" doc:"The id of a run, whose first 1000 outputs are taken, with the labels of people on them"`
	Labels   map[string]string `json:"labels,omitempty" doc:"pass, fail or unsure by the id of an output, in place of its other label"`
	Reject   []string          `json:"reject,omitempty" doc:"Names of candidates that are not selected"`
	Keep     []string          `json:"keep,omitempty" doc:"Names of candidates that are selected in any case"`
	Alpha    *float64          `json:"alpha,omitempty" doc:"The smallest share of the bad outputs that has to be caught; 0.6 if it is missing"`
	Cases    bool              `json:"cases,omitempty" doc:"Answer with a whole suite: the newest version, the selected candidates, and the outputs as cases"`
	Tau      *float64          `json:"tau,omitempty" doc:"The largest share of the good outputs that may fail; 0.25 if it is missing"`
}

// SpadeVersion is a wording of a prompt.
type SpadeVersion struct {
	Name string `json:"name,omitempty" doc:"Such as its file or commit"`
	Text string `json:"text" doc:"Up to 64 KiB"`
}

// SpadeExample is an output of the prompt.
type SpadeExample struct {
	ID     string        `json:"id"`
	Output string        `json:"output" doc:"Up to 256 KiB; all outputs together up to 8 MiB"`
	Label  string        `json:"label,omitempty" enum:"pass,fail,unsure"`
	Vars   *value.Object `json:"vars,omitempty"`
}

func spadeRoutes() []*route {
	return []*route{
		{Method: http.MethodPost, Path: "/v1/spade", ID: "spade", Scope: store.Read, Status: http.StatusOK, Handle: reads((*Server).spade),
			Summary: "Propose and select assertions for what a prompt asks, by rules", Request: typeOf[SpadeRequest](), Response: typeOf[SpadeAnswer](),
			Detail: "It does what `proviso spade run` does without a model. It asks no model and stores nothing."},
	}
}

// The thresholds of `proviso spade run`, and the limit of the search, which takes at most
// about a second.
const (
	usualAlpha = 0.6
	usualTau   = 0.25
	spadeWork  = 100_000_000
)

// spade proposes and selects assertions.
func (s *Server) spade(c *call, in *SpadeRequest) error {
	w := spadeJob{s: s, c: c, in: *in}
	if err := w.check(); err != nil {
		return err
	}
	return c.send(w.answer(c.r.Context()))
}

// spadeJob is the work for one request.
type spadeJob struct {
	s        *Server
	c        *call
	in       SpadeRequest
	compiler *check.Compiler
	history  *delta.History
	trials   []trial.Trial
	more     bool // the run has more outputs
	// providers are those of the run that a suite may name without running code.
	providers []string
	result    *spade.Result
}

// answer runs the pipeline.
func (w *spadeJob) answer(ctx context.Context) (*SpadeAnswer, error) {
	if err := w.readHistory(); err != nil {
		return nil, err
	}
	if err := w.readTrials(); err != nil {
		return nil, err
	}
	m := matcher{s: w.s}
	defer m.close()
	var err error
	if w.compiler, err = m.compiler(ctx); err != nil {
		return nil, err
	}
	err = w.run(ctx)
	if errors.Is(err, spade.ErrNoCandidates) || errors.Is(err, spade.ErrAllRejected) {
		err = nil
	}
	if err == nil {
		err = w.named()
	}
	if err != nil {
		return nil, err
	}
	if w.result.Cover == nil { // nothing is selected
		last := w.history.Changes[len(w.history.Changes)-1].Text
		if w.result.Cover, err = coverage.Of(ctx, last, nil, w.compiler); err != nil {
			return nil, err
		}
	}
	return w.describe(), nil
}

// run takes the steps. The names that a person chose are checked against the candidates
// before they are used.
func (w *spadeJob) run(ctx context.Context) (err error) {
	w.result, err = spade.Run(ctx, spade.Steps{
		History: w.history, Compiler: w.compiler, Trials: trial.List(w.trials), Reject: w.in.Reject,
		Propose: propose.Options{Dropped: true},
		Try:     matrix.Options{Concurrency: 1}, // the request has one turn
		Select:  selection.Options{Alpha: share(w.in.Alpha, usualAlpha), Tau: share(w.in.Tau, usualTau), Keep: w.in.Keep, Work: spadeWork},
		Done: func(_ context.Context, step spade.Step, r *spade.Result) error {
			if step == spade.Propose {
				w.result = r
				return w.named()
			}
			return nil
		},
	})
	return err
}

func share(given *float64, usual float64) float64 {
	if given == nil {
		return usual
	}
	return *given
}
