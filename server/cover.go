package server

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/internal/assertion"
	"github.com/proviso-eval/proviso/internal/turns"
	"github.com/proviso-eval/proviso/server/proposal"
	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/spade/coverage"
)

// matcher matches instructions with assertions. Its engine is opened when it is needed
// first, and serves all prompts of a request.
type matcher struct {
	s *Server
	e *engine.Engine // nil until then
}

// close frees the memory of the engine.
func (m *matcher) close() {
	if m.e != nil {
		m.e.Close()
	}
}

// of returns the instructions in a version, with the assertions of its last run that
// check them.
func (m *matcher) of(c *call, v *PromptVersion) ([]CoveredSentence, error) {
	return remembered(m.s.history.covers, keyOfRun(c, v.LastRun)+"\x00"+v.Hash, func() ([]CoveredSentence, error) { return m.read(c, v) })
}

func (m *matcher) read(c *call, v *PromptVersion) ([]CoveredSentence, error) {
	about, err := m.s.aboutOf(c, v.LastRun)
	if err != nil {
		return nil, err
	}
	var candidates []proviso.Candidate
	for name, x := range about {
		if a := assertion.Of(x.raw, ""); a != nil && a.Raw != nil {
			made := a.Raw.Object("config").Object(candidate.ProvenanceKey) // an assertion of spade names its sentence
			candidates = append(candidates, proviso.Candidate{Name: name, Assertion: a, Delta: proviso.Delta{Text: made.Text("text")}})
		}
	}
	slices.SortFunc(candidates, func(a, b proviso.Candidate) int { return strings.Compare(a.Name, b.Name) })
	return m.cover(c.r.Context(), c.key.ID, v.Text, candidates)
}

// coverTimeout bounds how long the sentences of one prompt may take.
const coverTimeout = 5 * time.Second

// cover matches sentences with assertions by rules. No model is asked, and no code runs.
func (m *matcher) cover(ctx context.Context, who, text string, list []proviso.Candidate) ([]CoveredSentence, error) {
	ctx, cancel := context.WithTimeout(ctx, coverTimeout)
	defer cancel()
	ctx, task := m.s.withTurns(ctx, who)
	defer task.End()
	ctx, done, err := turns.Enter(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	compiler, err := m.compiler(ctx)
	if err != nil {
		return nil, err
	}
	covered, err := coverage.Of(ctx, text, list, compiler)
	if err != nil {
		return []CoveredSentence{}, ctx.Err() // such as a prompt beyond the limits of package delta
	}
	out := []CoveredSentence{}
	proposal.EachPlaced(text, covered.Lines, func(l *coverage.Line, start, end int) {
		if l.Instruction {
			out = append(out, CoveredSentence{l.Text, start, end, append([]string{}, l.Assertions...)})
		}
	})
	return out, nil
}

// compiler returns a compiler of assertions that need no model.
func (m *matcher) compiler(ctx context.Context) (_ *check.Compiler, err error) {
	if m.e == nil {
		if m.e, err = engine.Open(ctx, nil, engine.Options{Judge: engine.Judge{Off: true}, Engines: engine.Engines{Env: proviso.EnvMap{}}}); err != nil {
			return nil, err
		}
	}
	return m.e.Compiler(func(o *check.Options) {
		*o = check.Options{Templates: o.Templates, Expand: o.Expand, Engines: o.Engines} // no code, files or network
	}), nil
}
