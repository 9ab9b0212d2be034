package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/internal/assertion"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/internal/runfile"
	"github.com/proviso-eval/proviso/internal/turns"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/server/proposal"
	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/spade/coverage"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/value"
)

// PromptHistory is a prompt of the latest runs, with its versions.
type PromptHistory struct {
	Name     string            `json:"name"`
	Suite    string            `json:"suite"`
	Versions []PromptVersion   `json:"versions" doc:"Newest first"`
	Coverage []CoveredSentence `json:"coverage" doc:"The instructions in the newest version"`
}

// PromptVersion is a text of a prompt, with the rows of the runs that used it.
type PromptVersion struct {
	Hash      string    `json:"hash"`
	Text      string    `json:"text" doc:"At most 64 KiB"`
	FirstRun  string    `json:"first_run"`
	LastRun   string    `json:"last_run"`
	FirstSeen time.Time `json:"first_seen"`
	LastSeen  time.Time `json:"last_seen"`
	Runs      int       `json:"runs"`
	Passed    int       `json:"passed"`
	Failed    int       `json:"failed"`
	Errors    int       `json:"errors"`
}

// CoveredSentence is an instruction in a prompt with the assertions that check it.
type CoveredSentence struct {
	Text       string   `json:"text"`
	Start      int      `json:"start" doc:"In the text of the version, in UTF-16 units"`
	End        int      `json:"end"`
	Assertions []string `json:"assertions"`
}

// PromptList is a page of prompts.
type PromptList List[PromptHistory]

// Limits for the prompts of one run.
const (
	maxPromptText  = 64 << 10 // bytes of a prompt
	maxPromptTexts = 2 << 20  // bytes of all prompts, approximately
	maxPrompts     = 1000
)

// promptCount counts the rows of one prompt in one run.
type promptCount struct {
	id                     string // id in the rows
	name, hash, text       string
	passed, failed, errors int
}

// countedPrompt is a prompt before its rows are counted.
func countedPrompt(id, label, raw string, n int) promptCount {
	if label == "" || label == raw || strings.ContainsAny(label, "\r\n") || len(label) > store.MaxName {
		label = fmt.Sprintf("prompt %d", n)
	}
	sum := sha256.Sum256([]byte(raw))
	text := strings.ReplaceAll(raw, "\r\n", "\n")
	return promptCount{id: id, name: label, hash: hex.EncodeToString(sum[:8]), text: strings.Clone(excerpt.Head(text, maxPromptText))}
}

func (s *Server) listPrompts(c *call) error {
	defer s.unlimited(c)()
	list, err := s.promptsOfRuns(c, c.q)
	if err != nil {
		return err
	}
	position := func(p *PromptHistory) string { return p.Suite + "\x00" + p.Name }
	slices.SortFunc(list, func(a, b PromptHistory) int { return strings.Compare(position(&a), position(&b)) })
	part, next, err := pageOfList(c.q, "prompts", list, position)
	if err != nil {
		return err
	}
	m := matcher{s: s}
	defer m.close()
	for i := range part {
		if part[i].Coverage, err = m.of(c, &part[i].Versions[0]); err != nil {
			return err
		}
	}
	return c.json(http.StatusOK, PromptList{Items: part, Next: next})
}

// promptsOfRuns returns the prompts of the latest runs that a query selects, without their
// coverage.
func (s *Server) promptsOfRuns(c *call, q query) ([]PromptHistory, error) {
	runs, err := s.latestRuns(c, q)
	if err != nil {
		return nil, err
	}
	all := promptHistories{list: []PromptHistory{}}
	for _, r := range s.counted(c, runs) { // newest first
		counts, err := s.promptsOf(c, r)
		if err != nil {
			return nil, err
		}
		for i := range counts {
			all.add(r, &counts[i])
		}
	}
	return all.list, nil
}

// promptHistories are the prompts of several runs. Maps find them by name, because a run may
// have any number of prompts.
type promptHistories struct {
	list     []PromptHistory
	at       map[[2]string]int // index in list, by suite and name
	versions map[[3]string]int // index in the versions, by suite, name and hash
}

// add adds a prompt of a run. Runs must be added newest first.
func (all *promptHistories) add(r store.Run, p *promptCount) {
	if all.at == nil {
		all.at, all.versions = map[[2]string]int{}, map[[3]string]int{}
	}
	i, ok := all.at[[2]string{r.Suite, p.name}]
	if !ok {
		i = len(all.list)
		all.at[[2]string{r.Suite, p.name}] = i
		all.list = append(all.list, PromptHistory{Name: p.name, Suite: r.Suite})
	}
	h := &all.list[i]
	j, ok := all.versions[[3]string{r.Suite, p.name, p.hash}]
	if !ok {
		j = len(h.Versions)
		all.versions[[3]string{r.Suite, p.name, p.hash}] = j
		h.Versions = append(h.Versions, PromptVersion{Hash: p.hash, Text: p.text, LastRun: r.ID, LastSeen: startOf(r)})
	}
	v := &h.Versions[j]
	v.FirstRun, v.FirstSeen = r.ID, startOf(r)
	v.Runs, v.Passed, v.Failed, v.Errors = v.Runs+1, v.Passed+p.passed, v.Failed+p.failed, v.Errors+p.errors
}

// promptsOf returns the prompts of an ended run, each with its counts.
func (s *Server) promptsOf(c *call, r store.Run) ([]promptCount, error) {
	return remembered(s.history.prompts, keyOfRun(c, r.ID), func() ([]promptCount, error) { return s.countPrompts(c, r) })
}

func (s *Server) countPrompts(c *call, r store.Run) ([]promptCount, error) {
	list, err := s.textsOf(c, r)
	if err != nil {
		return nil, err
	}
	if len(list) == 1 {
		list[0].passed, list[0].failed, list[0].errors = r.Totals.Passed, r.Totals.Failed, r.Totals.Errors
	} else if len(list) > 1 {
		tally, err := s.tallyOf(c, r)
		if err != nil {
			return nil, err
		}
		for _, n := range tally.Prompts {
			if i := slices.IndexFunc(list, func(p promptCount) bool { return p.id == n.ID }); i >= 0 {
				list[i].passed, list[i].failed, list[i].errors = n.Passed, n.Failed, n.Errors
			}
		}
	}
	return list, nil
}

// textsOf returns the prompts of a run: from the header of a pushed run, or from the version of
// the suite.
func (s *Server) textsOf(c *call, r store.Run) ([]promptCount, error) {
	var list []promptCount
	seen, size := map[string]bool{}, 0
	add := func(id, label, raw string) {
		if !seen[id] && len(list) < maxPrompts && size < maxPromptTexts {
			seen[id] = true
			list = append(list, countedPrompt(id, label, raw, len(list)+1))
			size += len(list[len(list)-1].text)
		}
	}
	ends, err := c.kept.RunFile(c.r.Context(), r.ID)
	if err == nil {
		h, err := runfile.ParseHeader(ends.Header)
		if err != nil {
			return nil, nil // the run has no prompts to show
		}
		columns, _ := h.Meta.At("columns").([]any)
		for _, v := range columns {
			o, _ := v.(*value.Object)
			if raw := o.Text("promptRaw"); raw != "" {
				add(o.Text("promptId"), o.Text("promptLabel"), raw)
			}
		}
		return list, nil
	}
	if proviso.CodeOf(err) != proviso.NotFound {
		return nil, err
	}
	doc, err := c.kept.Document(c.r.Context(), store.SuiteKind, r.Suite, r.Version)
	if proviso.CodeOf(err) == proviso.NotFound || s.o.Runner == nil {
		return nil, nil
	}
	var bundle Bundle
	if err == nil {
		err = decode(c.r.Context(), doc.Content, &bundle)
	}
	if err != nil {
		return nil, err
	}
	bundle.Datasets = storedDatasets{c.kept, runOf(r).Datasets}
	plan, mistakes := s.o.Runner.Check(c.r.Context(), &bundle, RunOptions{})
	if plan == nil {
		s.o.Log.Warn("read the prompts of a suite", "suite", r.Suite, "error", mistakes.Err())
		return nil, nil // a key or a file may be missing
	}
	for _, p := range plan.Prompts {
		column := report.NewColumn(&p, &proviso.ProviderSpec{})
		add(column.PromptID, p.Label, p.Raw)
	}
	return list, nil
}

// matcher matches instructions with assertions. Its engine is opened on first use, and serves
// all prompts of a request.
type matcher struct {
	s *Server
	e *engine.Engine // nil until the first use
}

// close frees the memory of the engine.
func (m *matcher) close() {
	if m.e != nil {
		m.e.Close()
	}
}

// of returns the instructions in a version, with the assertions of its last run that check
// them.
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

// coverTimeout limits the time for the sentences of one prompt.
const coverTimeout = 5 * time.Second

// cover matches sentences with assertions by rules. It calls no model and runs no code.
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
