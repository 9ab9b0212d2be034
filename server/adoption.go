package server

import (
	"context"
	"net/http"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/runfile"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/store"
)

// Adoption reports how far a project uses assertions. Each measure has its definition.
type Adoption struct {
	At           time.Time       `json:"at"`
	Measures     []Measure       `json:"measures"`
	Agents       []AgentAdoption `json:"agents" doc:"The agents whose traffic the server gets, by name"`
	PullRequests []PullRequest   `json:"pull_requests" doc:"Those of the last 90 days of which a run was pushed, the latest first"`
}

// Measure is one figure.
type Measure struct {
	Name       string   `json:"name"`
	Definition string   `json:"definition"`
	Value      *float64 `json:"value" doc:"A share, or null if there is nothing to count"`
	Of         int      `json:"of" doc:"How many it is a share of"`
}

// AgentAdoption is an agent and the assertions that check it.
type AgentAdoption struct {
	Agent         string           `json:"agent"`
	Events        int              `json:"events" doc:"Of the last 30 days"`
	Watches       []string         `json:"watches"`
	Assertions    int              `json:"assertions" doc:"In the sets of its watches"`
	Evaluated     *float64         `json:"evaluated" doc:"The share of its events of the last 30 days with a verdict; null if it had none"`
	LastEvaluated *time.Time       `json:"last_evaluated,omitempty" doc:"When a verdict on one of its events was stored last"`
	Prompts       []PromptAdoption `json:"prompts" doc:"Of the last 30 days, the latest first, at most 20"`
}

// PromptAdoption is a prompt of an agent and how much of the prompt assertions check.
type PromptAdoption struct {
	Hash         string    `json:"hash"`
	First        time.Time `json:"first"`
	Last         time.Time `json:"last"`
	Events       int       `json:"events"`
	Instructions *int      `json:"instructions" doc:"Sentences that tell the agent what to do; null if its text is not known"`
	Covered      *int      `json:"covered" doc:"Those of them that an assertion checks"`
}

// PullRequest is a pull request with a pushed run.
type PullRequest struct {
	Number  string    `json:"number"`
	Suite   string    `json:"suite"`
	Run     string    `json:"run" doc:"The latest"`
	At      time.Time `json:"at"`
	Changed *bool     `json:"changed" doc:"Whether its prompts or its suite differ from the run before it that is of no pull request; null if there is none"`
	Verdict bool      `json:"verdict" doc:"Whether every row of the run is finished and some are decided"`
}

const (
	adoptionSpan    = 30 * 24 * time.Hour
	pullRequestSpan = 90 * 24 * time.Hour
	adoptionPrompts = 20
	adoptionRuns    = 1000
	adoptionAgents  = 200
)

func (s *Server) adoption(c *call) error {
	now := s.o.Now().UTC()
	out := Adoption{At: now, Agents: []AgentAdoption{}, PullRequests: []PullRequest{}}
	m := &matcher{s: s}
	defer m.close()
	list, err := c.kept.ListAgents(c.r.Context(), store.Page{Limit: adoptionAgents})
	if err != nil {
		return err
	}
	watches, err := s.monitor.of(c.r.Context(), c.project)
	if err != nil {
		return err
	}
	for _, agent := range list.Items {
		one, err := s.agentAdoption(c, m, agent, watches, now)
		if err != nil {
			return err
		}
		out.Agents = append(out.Agents, one)
	}
	if out.PullRequests, err = pullRequests(c.r.Context(), c.kept, now); err != nil {
		return err
	}
	out.Measures = measuresOf(&out)
	return c.json(http.StatusOK, out)
}

// agentAdoption computes the adoption of one agent.
func (s *Server) agentAdoption(c *call, m *matcher, agent store.Agent, watches []*liveWatch, now time.Time) (AgentAdoption, error) {
	ctx := c.r.Context()
	out := AgentAdoption{Agent: agent.Name, Watches: []string{}, Prompts: []PromptAdoption{}}
	traffic, err := counted(ctx, c.kept, agent.Name, store.ByAll, now.Add(-adoptionSpan).Truncate(time.Hour), now.Truncate(time.Hour).Add(time.Hour))
	if err != nil {
		return out, err
	}
	out.Events = traffic[""].Events
	var candidates []proviso.Candidate
	evaluated := 0
	for _, live := range watches {
		if live.conf.Match.Agent != agent.Name {
			continue
		}
		out.Watches = append(out.Watches, live.Name)
		health, err := c.kept.WatchHealth(ctx, live.Name, now)
		if err != nil {
			return out, err
		}
		if at := health.LastVerdict; !at.IsZero() && (out.LastEvaluated == nil || at.After(*out.LastEvaluated)) {
			out.LastEvaluated = &at
		}
		n, err := evaluatedEvents(ctx, c.kept, live.Name, now)
		if err != nil {
			return out, err
		}
		evaluated = max(evaluated, n) // watches of one agent may sample the same events
		set, err := s.monitor.setOf(ctx, live)
		if err != nil {
			continue // the watch's page reports the error
		}
		candidates = append(candidates, candidatesOf(set)...)
	}
	out.Assertions = len(candidates)
	out.Evaluated = portion(evaluated, out.Events)
	prompts, err := c.kept.ListPrompts(ctx, agent.Name, store.Page{Limit: adoptionPrompts})
	if err != nil {
		return out, err
	}
	for _, p := range prompts.Items {
		if p.Last.Before(now.Add(-adoptionSpan)) {
			continue
		}
		one, err := m.adoptionOf(ctx, c.key.ID, p, candidates)
		if err != nil {
			return out, err
		}
		out.Prompts = append(out.Prompts, one)
	}
	return out, nil
}

// adoptionOf returns how much of a prompt the assertions check.
func (m *matcher) adoptionOf(ctx context.Context, key string, p store.AgentPrompt, candidates []proviso.Candidate) (PromptAdoption, error) {
	one := PromptAdoption{Hash: p.Hash, First: p.First, Last: p.Last, Events: p.Events}
	if p.Text == "" {
		return one, nil
	}
	covered, err := m.cover(ctx, key, p.Text, candidates)
	if err != nil {
		return one, err
	}
	all, checked := len(covered), 0
	for _, sentence := range covered {
		if len(sentence.Assertions) > 0 {
			checked++
		}
	}
	one.Instructions, one.Covered = &all, &checked
	return one, nil
}

// evaluatedEvents counts the events of the last days that have a verdict on the assertion with
// the most verdicts.
func evaluatedEvents(ctx context.Context, in store.ProjectStore, watch string, now time.Time) (most int, err error) {
	list, err := in.Series(ctx, store.SeriesFilter{Watch: watch, From: now.Add(-adoptionSpan), To: now, Step: adoptionSpan})
	sum := map[string]int{}
	for _, b := range list {
		sum[b.Assertion] += b.Pass + b.Fail + b.Errors + b.Skipped
		most = max(most, sum[b.Assertion])
	}
	return most, err
}

// candidatesOf returns the assertions of a set, to match with the sentences of a prompt.
func candidatesOf(set *watchedSet) []proviso.Candidate {
	list, mistakes := set.request.Decode()
	if len(mistakes) > 0 {
		return nil
	}
	var out []proviso.Candidate
	for _, a := range list {
		out = append(out, proviso.Candidate{Name: a.ID, Assertion: a})
	}
	return out
}

// pullRequests finds the pull requests of pushed runs.
func pullRequests(ctx context.Context, in store.ProjectStore, now time.Time) ([]PullRequest, error) {
	var found []*PullRequest
	at := map[[2]string]bool{}                 // by suite and number
	waiting := map[string][]*PullRequest{}     // by suite: pull requests whose base is not found yet
	hashes := map[*PullRequest]report.Hashes{} // hashes of the latest run
	seen := 0
	for run, err := range all(ctx, in.ListRuns, store.RunFilter{Since: now.Add(-pullRequestSpan)}) { // newest first
		if err != nil {
			return nil, err
		}
		if seen++; seen > adoptionRuns {
			break
		}
		revision, of, ok := originOf(ctx, in, run.ID)
		if !ok {
			continue
		}
		if revision.PullRequest == "" || revision.Base {
			for _, pr := range waiting[run.Suite] {
				changed := hashes[pr].Prompts != of.Prompts || hashes[pr].Suite != of.Suite
				pr.Changed = &changed
			}
			delete(waiting, run.Suite)
			continue
		}
		key := [2]string{run.Suite, revision.PullRequest}
		if at[key] {
			continue
		}
		at[key] = true
		t := run.Totals
		pr := &PullRequest{Number: revision.PullRequest, Suite: run.Suite, Run: run.ID, At: run.Started, Verdict: run.Status == store.Done && t.Passed+t.Failed > 0}
		found = append(found, pr)
		waiting[run.Suite], hashes[pr] = append(waiting[run.Suite], pr), of
	}
	out := []PullRequest{}
	for _, pr := range found {
		out = append(out, *pr)
	}
	return out, nil
}

// originOf reads the origin of a pushed run.
func originOf(ctx context.Context, in store.ProjectStore, run string) (report.Revision, report.Hashes, bool) {
	file, err := in.RunFile(ctx, run)
	if err != nil {
		return report.Revision{}, report.Hashes{}, false // it was not pushed
	}
	header, err := runfile.ParseHeader(file.Header)
	if err != nil {
		return report.Revision{}, report.Hashes{}, false
	}
	revision, hashes := report.OriginOf(header.Meta)
	return revision, hashes, true
}

// portion returns n / all, or nil if all is 0. It is at most 1, because the two are counted at
// different times.
func portion(n, all int) *float64 {
	if all == 0 {
		return nil
	}
	f := min(1, float64(n)/float64(all))
	return &f
}

// measuresOf sums up the measures.
func measuresOf(a *Adoption) []Measure {
	agents, watched, fresh, prompts, checked, instructions, covered := 0, 0, 0, 0, 0, 0, 0
	for _, agent := range a.Agents {
		if agent.Events == 0 {
			continue
		}
		agents++
		if agent.Assertions > 0 {
			watched++
		}
		if agent.LastEvaluated != nil && a.At.Sub(*agent.LastEvaluated) <= 7*24*time.Hour {
			fresh++
		}
		for _, p := range agent.Prompts {
			if p.Instructions == nil {
				continue
			}
			prompts++
			instructions, covered = instructions+*p.Instructions, covered+*p.Covered
			if *p.Covered > 0 {
				checked++
			}
		}
	}
	changed, verdicts := 0, 0
	for _, pr := range a.PullRequests {
		if pr.Changed == nil || *pr.Changed {
			changed++
			if pr.Verdict {
				verdicts++
			}
		}
	}
	return []Measure{
		{"agents with assertions", "Of the agents that sent an event in the last 30 days, the share with a watch whose set has an assertion.", portion(watched, agents), agents},
		{"agents evaluated", "Of these agents, the share with a verdict in the last 7 days.", portion(fresh, agents), agents},
		{"prompts with assertions", "Of the prompts of these agents that were used in the last 30 days and whose text is known, the share with an instruction that an assertion checks.", portion(checked, prompts), prompts},
		{"instructions covered", "Of the instructions in these prompts, the share that an assertion checks. Rules, not a model, tell instructions from the rest and match them with assertions.", portion(covered, instructions), instructions},
		{"pull requests with a verdict", "The share of pull requests of the last 90 days whose latest run is finished. Only pull requests with a pushed run count, and only if they changed the prompts or the suite, or if that is not known.", portion(verdicts, changed), changed},
	}
}
