package server

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/value"
)

// NewRun is a request to start a run.
type NewRun struct {
	Version string `json:"version,omitempty" doc:"The version of the suite; the current one if it is missing"`
	RunOptions
}

// StartedRun is the address of an accepted run.
type StartedRun struct {
	ID      string          `json:"id"`
	Suite   string          `json:"suite"`
	Version string          `json:"version"`
	Status  store.RunStatus `json:"status"`
	Rows    int             `json:"rows" doc:"How many it will have"`
}

// Run is one execution of a suite. Once it has ended it is also the batch
// result of the suite: agent_id, test_suite and results.
type Run struct {
	ID        string           `json:"id"`
	Suite     string           `json:"suite"`
	Version   string           `json:"version" doc:"Of the suite"`
	Hash      string           `json:"hash,omitempty" doc:"Of suite, prompts and judge: runs of equal hash can be compared row by row"`
	JudgedBy  []string         `json:"judged_by,omitempty" doc:"The identities of its judges: model, prompt and settings"`
	Status    store.RunStatus  `json:"status" enum:"queued,waiting,running,done,failed,cancelled" doc:"waiting is queued, and no living worker can execute it"`
	Replayed  bool             `json:"replayed,omitempty" doc:"Whether its answers are recorded ones, and no model is asked: the server that accepted it replays"`
	Waits     string           `json:"waits,omitempty" doc:"Why it is waiting, such as: waits for a worker with OPENAI_API_KEY"`
	Error     string           `json:"error,omitempty" doc:"Why it failed, or why it is tried again"`
	CreatedAt time.Time        `json:"created_at"`
	CreatedBy string           `json:"created_by,omitempty" doc:"The id of the API key"`
	StartedAt *time.Time       `json:"started_at,omitempty"`
	EndedAt   *time.Time       `json:"ended_at,omitempty"`
	Progress  Progress         `json:"progress"`
	Pushed    bool             `json:"pushed,omitempty" doc:"Whether it was made elsewhere; ended_at is when it was pushed then"`
	Revision  *report.Revision `json:"revision,omitempty" doc:"Of the repository that a pushed run was made from"`
	Datasets  []RunDataset     `json:"datasets,omitempty" doc:"The versions of the datasets that its cases come from, as they were when it was accepted"`

	AgentID   string               `json:"agent_id"`
	TestSuite string               `json:"test_suite"`
	Results   *report.BatchResults `json:"results,omitempty" doc:"Missing until the run has ended"`
	Judges    []report.BatchJudge  `json:"judges,omitempty" doc:"What each judge did; missing until the run has ended"`
	Cost      float64              `json:"cost" doc:"US dollars, of answers and of deciding"`
}

// Progress counts the rows of a run.
type Progress struct {
	Rows     int `json:"rows" doc:"How many it will have, 0 if that is not known yet"`
	Finished int `json:"finished"`
	Passed   int `json:"passed"`
	Failed   int `json:"failed"`
	Errors   int `json:"errors"`
	Skipped  int `json:"skipped"`
}

// RunList is a page of runs.
type RunList List[Run]

// execution is the stored data needed to execute a run.
type execution struct {
	RunOptions
	AgentID   string `json:"agent_id,omitempty"`
	TestSuite string `json:"test_suite,omitempty"`

	Datasets []RunDataset `json:"datasets,omitempty"`
	Version  string       `json:"version,omitempty"` // version of proviso that accepted the run

	Pushed   bool            `json:"pushed,omitempty"`
	Revision report.Revision `json:"revision,omitzero"`
}

func progressOf(r store.Run) Progress {
	t := r.Totals
	return Progress{Rows: r.Rows, Finished: t.Rows(), Passed: t.Passed, Failed: t.Failed, Errors: t.Errors, Skipped: t.Skipped}
}

// runOf converts a run for clients, without its results.
func runOf(r store.Run) Run {
	var e execution
	_ = json.Unmarshal(r.Options, &e) // written by this server; missing fields stay empty
	out := Run{
		ID: r.ID, Suite: r.Suite, Version: r.Version, Hash: r.Hash, JudgedBy: r.Judges, Status: r.Status, Replayed: slices.Contains(r.Needs, needsReplay), Waits: r.Waits, Error: r.Error, CreatedAt: r.Created.UTC(),
		CreatedBy: r.CreatedBy, Progress: progressOf(r), AgentID: e.AgentID, TestSuite: e.TestSuite, Pushed: e.Pushed, Datasets: e.Datasets, Cost: r.Totals.Cost,
		StartedAt: timeShown(r.Started), EndedAt: timeShown(r.Ended),
	}
	if e.Revision != (report.Revision{}) {
		out.Revision = &e.Revision
	}
	return out
}

func (s *Server) startRun(c *call, in *NewRun) error {
	if s.o.Runner == nil {
		return problem(proviso.Unsupported, "this server serves no suites")
	}
	if err := in.check(); err != nil {
		return err
	}
	ctx := c.r.Context()
	doc, err := c.kept.Document(ctx, store.SuiteKind, c.r.PathValue("suite"), in.Version)
	if err != nil {
		return err
	}
	var bundle Bundle
	if err := decode(c.r.Context(), doc.Content, &bundle); err != nil {
		return err
	}
	bundle.Datasets = storedDatasets{kept: c.kept}
	plan, mistakes := s.o.Runner.Check(ctx, &bundle, in.RunOptions)
	if outOfRoom(mistakes) {
		return noRoomForFiles()
	}
	if mistakes.Err() != nil {
		return suiteProblem(mistakes, 0)
	}
	if i := slices.IndexFunc(plan.Providers, func(id string) bool { return !c.key.MayAsk(id) }); i >= 0 {
		return problem(codeForbidden, "the key may not ask "+plan.Providers[i])
	}
	if err := s.budgets.open(c.key).check(); err != nil {
		return err
	}
	name := plan.Name
	if name == "" {
		name = doc.Name
	}
	options, err := json.Marshal(execution{RunOptions: in.RunOptions, AgentID: plan.AgentID, TestSuite: name, Datasets: runDatasets(plan.Datasets), Version: s.o.Version})
	if err != nil {
		return err
	}
	n := store.NewRun{ID: store.NewID(store.RunID, time.Now()), Suite: doc.Name, Version: doc.Hash, CreatedBy: c.key.ID, Options: options, Rows: plan.Rows, Hash: plan.Hash, Judges: plan.Judges, Division: plan.Division, Needs: plan.Needs}
	body, err := encode(StartedRun{ID: n.ID, Suite: n.Suite, Version: n.Version, Status: store.Queued, Rows: n.Rows})
	if err != nil {
		return err
	}
	answer := store.Response{Status: http.StatusAccepted, MediaType: mediaJSON, Location: "/v1/runs/" + n.ID, Body: body}
	n.Reply = c.reply(s, answer)
	if _, err := c.kept.CreateRun(ctx, n); err != nil {
		return err
	}
	c.claim = nil // the reply is stored
	return c.sendResponse(answer)
}

// seenRun returns the run in the address, if the key may see it.
func (s *Server) seenRun(c *call) (store.Run, error) { return s.seenRunOf(c, c.r.PathValue("run")) }

// seenRunOf returns a run, if the key may see it.
func (s *Server) seenRunOf(c *call, id string) (store.Run, error) {
	r, err := c.kept.Run(c.r.Context(), id)
	if err != nil {
		return r, err
	}
	if !seesAll(c.key) && r.CreatedBy != c.key.ID {
		return r, proviso.Errorf(proviso.NotFound, "there is no run %q", shortened(id))
	}
	return r, nil
}

// listRuns lists the runs that the key may see, newest first.
func (s *Server) listRuns(c *call) error {
	f := store.RunFilter{
		Suite: c.q.Get("suite"), Version: c.q.Get("version"), Status: chosen(&c.q, "status", store.Queued, store.Unmet, store.Running, store.Done, store.Failed, store.Cancelled),
		Since: c.q.time("since"), Until: c.q.time("until"),
	}
	if !seesAll(c.key) {
		f.CreatedBy = c.key.ID
	}
	return sendList(c, c.kept.ListRuns, f, func(r *store.Run) Run { return runOf(*r) })
}

// getRun sends a run. An ended run includes its results, unless the client declines them: they
// require reading every row.
func (s *Server) getRun(c *call) error {
	r, err := s.seenRun(c)
	if err != nil {
		return err
	}
	results := choice(&c.q, "results", "no")
	if c.q.err != nil {
		return c.q.err
	}
	out := runOf(r)
	if r.Status.Ended() && results != "no" {
		b, err := s.batch(c, r, out)
		if err != nil {
			return err
		}
		out.Results, out.Judges = &b.Results, b.Judges
	}
	return c.json(http.StatusOK, out)
}

// batch makes the batch result of an ended run. Its rows are read once, however many clients
// request it.
func (s *Server) batch(c *call, r store.Run, shown Run) (*report.Batch, error) {
	if b, ok := s.batches.kept.Get(batchOf(&r)); ok {
		return b, nil
	}
	leave, err := s.batches.enter(c.r.Context(), string(c.project)+"\n"+r.ID)
	if err != nil {
		return nil, err
	}
	defer leave()
	if b, ok := s.batches.kept.Get(batchOf(&r)); ok {
		return b, nil
	}
	sum := report.NewSummary(0)
	ctx, task := s.withTurns(c.r.Context(), c.key.ID)
	defer task.End()
	if err := eachRow(ctx, c.kept, r.ID, func(_ int, row []byte) error { return sum.AddRow(row) }); err != nil {
		return nil, err
	}
	meta := &report.Meta{RunID: r.ID, Suite: shown.TestSuite}
	if shown.AgentID != "" {
		meta.Config = value.ObjectOf("id", shown.AgentID)
	}
	b := report.NewBatch(meta, sum)
	if r.Status != store.Cancelled || shown.Pushed { // rows in flight may still arrive
		s.batches.kept.Add(batchOf(&r), b)
	}
	return b, nil
}

// cancelRun cancels a run. A cancelled run stays cancelled.
func (s *Server) cancelRun(c *call) error {
	r, err := s.seenRun(c)
	if err != nil {
		return err
	}
	if !c.key.Can(store.Admin) && r.CreatedBy != c.key.ID {
		return problem(codeForbidden, "only its own key, and those with the scope admin, can cancel a run")
	}
	if r.Status != store.Cancelled {
		cancelled, err := c.kept.CancelRun(c.r.Context(), r.ID)
		if proviso.CodeOf(err) == proviso.Conflict {
			if now, again := c.kept.Run(c.r.Context(), r.ID); again == nil && now.Status == store.Cancelled {
				cancelled, err = now, nil // another request has just cancelled it
			}
		}
		if err != nil {
			return err
		}
		r = cancelled
		s.hub.changed(r.ID)
	}
	return c.json(http.StatusOK, runOf(r))
}
