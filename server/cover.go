package server

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/internal/assertion"
	"github.com/proviso-eval/proviso/internal/turns"
	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/spade/coverage"
)

// coverageOf returns the instructions in a version, with the assertions of its last run
// that check them.
func (s *Server) coverageOf(c *call, v *PromptVersion) ([]CoveredSentence, error) {
	key := string(c.project) + "\x00" + v.LastRun + "\x00" + v.Hash
	if list, ok := s.history.covers.Get(key); ok {
		return list, nil
	}
	about, err := s.aboutOf(c, v.LastRun)
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
	list, err := s.cover(c.r.Context(), c.key.ID, v.Text, candidates)
	if err == nil {
		s.history.covers.Add(key, list)
	}
	return list, err
}

// coverTimeout bounds how long the sentences of one prompt may take.
const coverTimeout = 5 * time.Second

// cover matches sentences with assertions by rules. No model is asked, and no code runs.
func (s *Server) cover(ctx context.Context, who, text string, list []proviso.Candidate) ([]CoveredSentence, error) {
	ctx, cancel := context.WithTimeout(ctx, coverTimeout)
	defer cancel()
	ctx, task := s.withTurns(ctx, who)
	defer task.End()
	ctx, done, err := turns.Enter(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	e, err := engine.Open(ctx, nil, engine.Options{Judge: engine.Judge{Off: true}, Engines: engine.Engines{Env: proviso.EnvMap{}}})
	if err != nil {
		return nil, err
	}
	defer e.Close() // it frees memory
	covered, err := coverage.Of(ctx, text, list, e.Compiler(func(o *check.Options) {
		*o = check.Options{Templates: o.Templates, Expand: o.Expand, Engines: o.Engines} // no code, files or network
	}))
	if err != nil {
		return []CoveredSentence{}, ctx.Err() // such as a prompt beyond the limits of package delta
	}
	out := []CoveredSentence{}
	at, units := 0, 0 // in bytes, and in UTF-16
	for _, l := range covered.Lines {
		skip := strings.Index(text[at:], l.Text)
		if skip < 0 {
			continue
		}
		start := units + unitsOf(text[at:at+skip])
		at += skip + len(l.Text)
		units = start + unitsOf(l.Text)
		if l.Instruction {
			out = append(out, CoveredSentence{l.Text, start, units, append([]string{}, l.Assertions...)})
		}
	}
	return out, nil
}

// unitsOf is the length of a text in JavaScript.
func unitsOf(text string) int {
	n := 0
	for _, r := range text {
		n += utf16.RuneLen(r)
	}
	return n
}
