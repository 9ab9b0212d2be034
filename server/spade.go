package server

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/server/proposal"
	"github.com/proviso-eval/proviso/spade/delta"
	"github.com/proviso-eval/proviso/store"
)

func spadeRoutes() []*route {
	return []*route{
		{Method: http.MethodPost, Path: "/v1/spade", ID: "spade", Scope: store.Read, Status: http.StatusOK, Handle: reads((*Server).spade),
			Summary: "Propose and select assertions for what a prompt asks, by rules", Request: typeOf[proposal.SpadeRequest](), Response: typeOf[proposal.SpadeAnswer](),
			Detail: "It does what `proviso spade run` does without a model. It asks no model and stores nothing."},
	}
}

// spadeMostLabels limits how many labels of a run are read.
const spadeMostLabels = 10_000

func (s *Server) spade(c *call, in *proposal.SpadeRequest) error {
	if err := in.Check(); err != nil {
		return err
	}
	job := proposal.Job{Request: in}
	var err error
	if in.Prompt != "" {
		if job.Versions, err = s.promptVersions(c, in); err != nil {
			return err
		}
	}
	if in.Run != "" {
		if err = s.readSpadeRun(c, &job); err != nil {
			return err
		}
	}
	m := matcher{s: s}
	defer m.close()
	if job.Compiler, err = m.compiler(c.r.Context()); err != nil {
		return err
	}
	return c.send(job.Answer(c.r.Context()))
}

// readSpadeRun opens the run that a request names.
func (s *Server) readSpadeRun(c *call, job *proposal.Job) error {
	run, err := s.seenRunOf(c, job.Request.Run)
	if isNotFound(err) {
		return pointed("/run", proviso.Invalid, err.Error())
	}
	if err != nil {
		return err
	}
	if job.Run, err = openStored(c.r.Context(), c.kept, run); err != nil {
		return err
	}
	job.Labels, err = wordsOn(c.r.Context(), c.kept, run.ID)
	return err
}

// promptVersions returns the versions of a prompt in the runs, oldest first.
func (s *Server) promptVersions(c *call, in *proposal.SpadeRequest) ([]delta.Version, error) {
	all, err := s.promptsOfRuns(c, query{Values: url.Values{"suite": {in.Suite}}})
	if err != nil {
		return nil, err
	}
	var found []*PromptHistory
	names := map[string]bool{}
	for i := range all {
		names[all[i].Name] = true
		if all[i].Name == in.Prompt {
			found = append(found, &all[i])
		}
	}
	switch {
	case len(found) == 0:
		message := fmt.Sprintf("the latest runs have no prompt %q", shortened(in.Prompt))
		return nil, proposal.NotAmong("/prompt", message, in.Prompt, slices.Sorted(maps.Keys(names)))
	case len(found) > 1:
		var suites []string
		for _, p := range found {
			suites = append(suites, p.Suite)
		}
		return nil, pointed("/suite", proviso.Invalid, fmt.Sprintf("%d suites have a prompt %q: suite says which", len(found), shortened(in.Prompt)), suites...)
	}
	var list []delta.Version
	for _, v := range slices.Backward(found[0].Versions) {
		list = append(list, delta.Version{Name: v.Hash, Time: v.FirstSeen, Text: v.Text})
	}
	return list[max(0, len(list)-proposal.MostVersions):], nil
}

// wordsOn returns the human labels on the outputs of a run, by row. A row on which people
// disagree has none.
func wordsOn(ctx context.Context, kept store.Labels, run string) (map[int]string, error) {
	whole, read := "", 0
	out := map[int]string{}
	for l, err := range all(ctx, kept.ListLabels, store.LabelFilter{Run: run, Assertion: &whole}) {
		if err != nil {
			return nil, err
		}
		if read++; read > spadeMostLabels {
			break
		}
		word := proposal.Words[string(l.Verdict)]
		if word == "" {
			continue
		}
		if before, ok := out[l.Index]; ok && before != word {
			word = ""
		}
		out[l.Index] = word
	}
	return out, nil
}
