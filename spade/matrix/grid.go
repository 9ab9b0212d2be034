// Package matrix tries candidates on outputs: it makes, reads and writes the matrix of
// candidates and outputs. Start at [Try].
package matrix

import (
	"context"
	"encoding/json"
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/spade/candidate/python"
	"github.com/proviso-eval/proviso/spade/trial"
)

// Grid holds the results of candidates on trials; [Grid.CSV] writes it as the matrix that
// [Read] reads. It holds one byte per cell, and no outputs.
type Grid struct {
	Names   []string
	Columns []Column // by candidate
	Entries []trial.Entry
	Cells   [][]Cell // by trial, then by candidate

	// Usage and Cost are the totals of the model calls; Cost is in US dollars.
	Usage proviso.Usage
	Cost  float64
	// Unkept is the error that prevented saving cells for the next run, or nil.
	Unkept error
}

// Column summarises the cells of one candidate.
type Column struct {
	Threw int // cells that failed because the candidate threw; included in Failed
	Kept  int // cells taken from an earlier run
	// Why are up to three different reasons for undecided cells, and Thrown for cells whose
	// candidate threw.
	Why, Thrown []string
	// NotRunnable is the reason why the candidate cannot run here at all; "" if it can.
	NotRunnable string
	AsksModel   bool
	Cost        Cost // cost of the cells that were decided now, without a definition
}

// Rate counts the results of a candidate. Threw is included in Failed.
type Rate struct {
	Passed    int `json:"passed"`
	Failed    int `json:"failed"`
	Threw     int `json:"threw"`
	Undecided int `json:"undecided"`
}

// Options configure how candidates are tried.
type Options struct {
	Compiler    *check.Compiler
	Concurrency int // cells in flight; 0 is one per processor, and at least four if a model is asked

	// Code runs Python functions as [python.Of] finds them; nil runs none.
	Code proviso.Code
	// Packages means that Code may import installed packages. It only affects the reason of a
	// cell whose function could not import one.
	Packages bool
	// Untimed means that model times are meaningless, such as for recorded answers.
	Untimed bool
	// Keep saves decided cells for the next run; nil saves none.
	Keep *Keep
	// Tick is called after every trial, from one goroutine at a time; it may be nil.
	Tick func(done int)
}

// Try decides every candidate on every trial. An assertion that does not apply to an output
// passes; one that throws fails. A cell is undecided if the assertion could not be decided.
// All cells of a candidate are undecided if this version or machine cannot run it. For invalid
// candidates and candidates that compare several outputs, Try returns one error that names
// them all. Only one batch of trials is in memory at a time ([maxBatchBytes]). If ctx ends,
// the remaining cells are undecided and Try returns the error of ctx. An error from trials
// also ends it.
func Try(ctx context.Context, list []proviso.Candidate, trials iter.Seq2[trial.Trial, error], o Options) (*Grid, error) {
	g := &Grid{Columns: make([]Column, len(list))}
	for i := range list {
		g.Names = append(g.Names, list[i].Name)
	}
	p, err := prepareTries(ctx, list, g, o)
	if err != nil {
		return nil, err
	}
	defer p.close()
	workers := o.Concurrency
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
		if len(p.asking) > 0 {
			workers = max(workers, 4)
		}
	}
	err = p.batches(ctx, trials, workers)
	if p.o.Keep != nil {
		g.Unkept = p.o.Keep.failure()
	}
	if err == nil {
		err = ctx.Err()
	}
	return g, err
}

// trying holds the prepared candidates and the state of [Try].
type trying struct {
	o        Options
	g        *Grid
	alone    []tryer    // by candidate; nil for candidates that ask a model or cannot run
	asking   []int      // the candidates that ask a model, in order
	together *check.Set // candidates that ask a model, so that their questions share calls
	keys     *cellKeys

	mu   sync.Mutex // guards the fields below, and the grid's columns
	done int
}

// tryer decides one candidate on one output.
type tryer interface {
	try(ctx context.Context, t *trial.Trial, row *check.Row) said
	close()
}

// said is the result of a candidate on an output.
type said struct {
	cell   Cell
	threw  bool
	kept   bool          // from an earlier run
	reason string        // why the cell is undecided or threw
	took   time.Duration // time to decide; 0 if not measured
}

// prepareTries compiles the candidates.
func prepareTries(ctx context.Context, list []proviso.Candidate, g *Grid, o Options) (*trying, error) {
	p := &trying{o: o, g: g, alone: make([]tryer, len(list))}
	var wrong []Wrong
	var asking []*proviso.Assertion
	for i := range list {
		a := list[i].Assertion
		if kind, ok := check.Lookup(strings.TrimPrefix(a.Type, "not-")); ok && kind.Needs&check.NeedsGroup != 0 {
			wrong = append(wrong, Wrong{Name: list[i].Name, Err: proviso.Errorf(proviso.Invalid, "%s compares several outputs and cannot be tried on one", a.Type)})
			continue
		}
		t, asks, mistakes := p.compile(ctx, a)
		g.Columns[i].AsksModel = asks
		for _, e := range mistakes {
			if e.Code == proviso.Unsupported || e.Code == proviso.Unavailable || e.Code == proviso.Refused {
				g.Columns[i].NotRunnable = e.Message
				continue
			}
			wrong = append(wrong, Wrong{Name: list[i].Name, Err: e, Nearest: nearestOf(a, e)})
		}
		switch _, python := t.(*pythonTryer); {
		case g.Columns[i].NotRunnable != "":
			g.Columns[i].Why = []string{g.Columns[i].NotRunnable}
		case asks && !python:
			p.asking, asking = append(p.asking, i), append(asking, a)
		default:
			p.alone[i] = t
		}
	}
	if len(wrong) > 0 {
		p.close()
		return nil, &InvalidError{Wrong: wrong}
	}
	if len(asking) > 0 {
		p.together, _ = o.Compiler.Compile(asking) // each was already compiled
	}
	if o.Keep != nil {
		p.keys = newCellKeys(list, p)
	}
	return p, nil
}

// compile compiles one candidate and reports whether it asks a model.
func (p *trying) compile(ctx context.Context, a *proviso.Assertion) (tryer, bool, []*proviso.Error) {
	if f, ok := python.Of(a); ok {
		t, mistakes := p.compilePython(ctx, a, f)
		return t, f.AsksModel, mistakes
	}
	set, mistakes := p.o.Compiler.Compile([]*proviso.Assertion{a})
	return setTryer{set}, asksModel(a), mistakes
}

// AsksModel reports whether a candidate needs a model to be decided.
func AsksModel(c *proviso.Candidate) bool {
	f, ok := python.Of(c.Assertion)
	return ok && f.AsksModel || asksModel(c.Assertion)
}

// asksModel reports whether an assertion needs a model.
func asksModel(a *proviso.Assertion) bool {
	const models = check.NeedsJudge | check.NeedsEmbedder | check.NeedsClassifier | check.NeedsModerator
	kind, ok := check.Lookup(strings.TrimPrefix(a.Type, "not-"))
	if ok && kind.Type == proviso.TypeJudge && len(a.Criteria) == 0 && a.Check != nil {
		return false
	}
	return ok && kind.Needs&models != 0 || slices.ContainsFunc(a.Assert, asksModel)
}

func (p *trying) close() {
	for _, t := range p.alone {
		if t != nil {
			t.close()
		}
	}
}

// setTryer is a candidate that is an ordinary suite assertion.
type setTryer struct{ set *check.Set }

func (s setTryer) close() {}

func (s setTryer) try(ctx context.Context, _ *trial.Trial, row *check.Row) said {
	verdicts := s.set.Eval(ctx, row)
	if len(verdicts) == 0 {
		return said{cell: Undecided, reason: "there is no verdict"}
	}
	return saidBy(&verdicts[0])
}

// saidBy converts a verdict to a result.
func saidBy(v *proviso.Verdict) said {
	switch v.Status {
	case proviso.Pass, proviso.Skip:
		return said{cell: Passed}
	case proviso.Fail:
		if threw(v) {
			return said{cell: Failed, threw: true, reason: v.Reason}
		}
		return said{cell: Failed}
	}
	return said{cell: Undecided, reason: v.Reason}
}

// threw reports whether a verdict, or the failing part of it, is an exception.
func threw(v *proviso.Verdict) bool {
	return v.Threw || v.Status == proviso.Fail && slices.ContainsFunc(v.Components, func(c proviso.Verdict) bool { return threw(&c) })
}

// note counts the results of a trial.
func (p *trying) note(ctx context.Context, list []said, asked []proviso.Verdict) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range asked {
		p.g.Usage.Add(asked[i].Usage)
		p.g.Cost += asked[i].Cost
		p.measure(p.asking[i], &asked[i])
	}
	for j := range list {
		c, s := &p.g.Columns[j], &list[j]
		if s.took > 0 {
			c.Cost.Outputs++
			if !p.o.Untimed || !c.AsksModel {
				c.Cost.Took += s.took
			}
		}
		if s.kept {
			c.Kept++
		}
		switch {
		case s.threw:
			c.Threw++
			c.Thrown = oneMore(c.Thrown, s.reason)
		case s.cell == Undecided && s.reason != "":
			c.Why = oneMore(c.Why, s.reason)
		}
	}
	if ctx.Err() != nil {
		return
	}
	p.done++
	if p.o.Tick != nil {
		p.o.Tick(p.done)
	}
}

// measure counts the cost of a question to a model. A kept answer cost nothing.
func (p *trying) measure(j int, v *proviso.Verdict) {
	if v.Usage.Prompt+v.Usage.Completion == 0 || v.Cached && v.Cost == 0 {
		return
	}
	c := &p.g.Columns[j].Cost
	c.Asked++
	c.Prompt += v.Usage.Prompt
	c.Completion += v.Usage.Completion
	c.USD += v.Cost
}

// maxReasons bounds how many reasons are kept per column, and maxReason the size of
// each, in bytes.
const (
	maxReasons = 3
	maxReason  = 2 << 10
)

// oneMore adds a reason if it is new and the list is not full.
func oneMore(list []string, reason string) []string {
	reason = strings.Clone(reason[:min(len(reason), maxReason)])
	if len(list) == maxReasons || slices.Contains(list, reason) {
		return list
	}
	return append(list, reason)
}

// gridJSON is the JSON form of the grid's rates.
type gridJSON struct {
	Candidates []columnJSON `json:"candidates"`
	Outputs    outputsJSON  `json:"outputs"`
	Cells      cellsJSON    `json:"cells"`
	Kept       int          `json:"kept"` // cells that an earlier run decided
	Tokens     int64        `json:"tokens"`
	Cost       float64      `json:"cost"`
}

type columnJSON struct {
	Name string `json:"name"`
	cellsJSON
	AsksModel   bool     `json:"asks_model"`
	NotRunnable string   `json:"not_runnable,omitempty"`
	Reasons     []string `json:"reasons,omitempty"`
	Threw       []string `json:"exceptions,omitempty"`
}

// cellsJSON counts cells.
type cellsJSON struct {
	Rate
	ThrowRate     float64 `json:"throw_rate"`
	UndecidedRate float64 `json:"undecided_rate"`
}

type outputsJSON struct {
	Total      int `json:"total"`
	Good       int `json:"good"`
	Bad        int `json:"bad"`
	Unlabelled int `json:"unlabelled"`
}

// JSON returns how often each candidate passed, failed, threw and was undecided, as
// one indented JSON object.
func (g *Grid) JSON() ([]byte, error) {
	n := trial.CountLabels(g.Entries)
	j := gridJSON{Candidates: []columnJSON{}, Outputs: outputsJSON{len(g.Entries), n.Good, n.Bad, n.Left}, Tokens: g.Usage.Total, Cost: g.Cost}
	var all Rate
	for i, r := range g.Rates() {
		c := g.Columns[i]
		j.Candidates = append(j.Candidates, columnJSON{Name: g.Names[i], cellsJSON: r.encoded(), AsksModel: c.AsksModel, NotRunnable: c.NotRunnable, Reasons: c.Why, Threw: c.Thrown})
		j.Kept += c.Kept
		all = Rate{all.Passed + r.Passed, all.Failed + r.Failed, all.Threw + r.Threw, all.Undecided + r.Undecided}
	}
	j.Cells = all.encoded()
	return json.MarshalIndent(j, "", "  ")
}

func (r Rate) encoded() cellsJSON {
	n := float64(max(1, r.Passed+r.Failed+r.Undecided))
	return cellsJSON{r, float64(r.Threw) / n, float64(r.Undecided) / n}
}
