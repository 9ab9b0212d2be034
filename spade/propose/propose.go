// Package propose proposes assertions for what each version of a prompt added, by rules, by a
// model, or both. Start at [Run].
package propose

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/spade/ask"
	"github.com/proviso-eval/proviso/spade/delta"
	"github.com/proviso-eval/proviso/spade/rules"
	"github.com/proviso-eval/proviso/spade/trial"
)

// Options configure [Run].
type Options struct {
	// Compiler tries every candidate that needs no model.
	Compiler *check.Compiler
	// Code compiles and tries Python candidates; if nil, they stay untried.
	Code proviso.Code
	// Rules enables the rules; Model is the proposing model, nil for none.
	Rules bool
	Model *ask.Model
	// Dropped also proposes for text that is no longer in the last version.
	Dropped bool
	// Trials are outputs of the prompt: the model sees two good and two bad ones, and
	// candidates are tried on them. Candidates that fail more than Tau of the good ones, or
	// catch nothing, go back to the model once.
	Trials []trial.Trial
	Tau    float64
	// Judged compiles judged candidates with a judge, which decides them on the outputs that
	// the model sees; nil leaves them untried.
	Judged *check.Compiler
	// Uncaught are the ids of bad trials that no candidate catches: the model is also asked
	// what is wrong with them.
	Uncaught []string
	// Concurrency is the number of questions in flight; 0 means 4.
	Concurrency int
	// Earlier is the previous proposal. Its candidates are kept if the prompt still has their
	// sentences, and the model is not asked about these again.
	Earlier *Earlier
	// Save is called with the proposal after each answered question, one call at a time; an
	// error stops Run. It may be nil.
	Save func(*Proposal) error
	// Progress is called with the number of answered questions, one call at a time. It
	// may be nil.
	Progress func(answered, of int)
}

// Limits of the questions to a model. Anything beyond them is listed as not proposed.
const (
	maxAsked        = 240      // sentences of one version
	maxTogether     = 24       // sentences in one question, also across versions
	maxTogetherSize = 12 << 10 // bytes of sentences in one question
)

// Dropped is a proposed criterion or candidate that was not kept.
type Dropped struct {
	Candidate string // its name; "" for a criterion
	Criterion string // its words; "" for a candidate
	Version   int
	Reason    string
	Same      bool // a kept one is the same check
}

// VersionReport reports on the questions about one version, or about several small ones
// together.
type VersionReport struct {
	Version  int // the newest of them
	First    int // the oldest of them
	Asked    int // sentences that the model was asked about
	Criteria int // criteria found in them
	Proposed int // candidates proposed
	Repaired int // of them, unusable candidates that were corrected
	Improved int // of them, candidates that were changed because of their results on outputs
	Kept     int
	Notes    []string // notes for the user
	Spent    ask.Spent
	Err      error // why some of its sentences could not be asked about
}

// DeltaCriterion is a requirement on outputs in a sentence of the prompt.
type DeltaCriterion struct {
	proviso.Criterion
	Delta proviso.Delta
	Quote string // words of the sentence that state it
	Vague bool   // a person must choose the details
}

// Run proposes assertions for what each version added: by rules, by a model, or both; equal
// checks appear once. A question without an answer is an error of its version, and the others
// continue. If ctx ends or Save fails, Run returns the work so far together with the error.
func Run(ctx context.Context, h *delta.History, o Options) (*Proposal, error) {
	r := &proposing{Options: o, history: h, said: placesOf(h), reports: map[int]*VersionReport{}}
	if o.Earlier == nil {
		r.Earlier = &Earlier{}
	}
	if o.Rules {
		var err error
		if r.rules, err = rules.Propose(ctx, h, rules.Options{Compiler: o.Compiler, Dropped: o.Dropped}); err != nil {
			return nil, err
		}
	}
	if o.Model != nil {
		if err := r.read(ctx); err != nil {
			return nil, err
		}
	}
	r.Trials = r.Trials[:min(len(r.Trials), maxTried)]
	jobs := r.plan()
	if o.Model == nil {
		return r.assemble(), ctx.Err()
	}
	if r.pending, r.broken = r.uncaught(); len(jobs)+len(r.pending) > 0 {
		r.known = r.knownBefore(ctx)
	}
	r.jobs = len(jobs) + (len(r.pending)+maxUncaught-1)/maxUncaught
	err := r.askAll(ctx, jobs)
	for err == nil {
		j := r.nextUncaught()
		if j == nil {
			break
		}
		err = r.askUncaught(ctx, j)
	}
	return r.assemble(), err
}

// proposing is the state of proposing for one history.
type proposing struct {
	Options
	history *delta.History
	said    *places
	rules   *rules.Proposed // nil without rules
	known   []known         // candidates of rules and earlier ones
	left    []rules.Unproposed
	reading map[string][]proviso.Candidate // candidates that the rules read in each sentence, by its key
	pending []int                          // bad trials that nothing catches and that no question covered
	broken  []proviso.Delta                // sentences that they may break

	mu      sync.Mutex
	done    []*job
	reports map[int]*VersionReport
	saved   error
	ended   int // finished jobs
	jobs    int
}

// version returns the report of a version; the caller holds r.mu, or no other goroutine runs
// yet.
func (r *proposing) version(n int) *VersionReport {
	if r.reports[n] == nil {
		r.reports[n] = &VersionReport{Version: n, First: n}
	}
	return r.reports[n]
}

func (r *proposing) note(version int, format string, args ...any) {
	v := r.version(version)
	v.Notes = append(v.Notes, fmt.Sprintf(format, args...))
}

// askAll works through the jobs.
func (r *proposing) askAll(ctx context.Context, jobs []*job) error {
	return ask.Each(ctx, len(jobs), r.Concurrency, func(ctx context.Context, i int) error {
		if ctx.Err() != nil {
			return nil
		}
		var wrong error
		for _, part := range jobs[i].runAll(ctx, r) {
			wrong = cmp.Or(wrong, r.finish(ctx, part))
		}
		return wrong
	})
}

// askUncaught asks about bad outputs, after all other questions and one question at a time,
// because an answer often catches more outputs than its question covers, and the next question
// takes that into account.
func (r *proposing) askUncaught(ctx context.Context, j *job) error {
	for _, part := range j.runAll(ctx, r) {
		if err := r.finish(ctx, part); err != nil {
			return err
		}
		for i := range part.candidates {
			r.known = append(r.known, known{Candidate: &part.candidates[i]})
		}
	}
	return context.Cause(ctx)
}

// finish adds the result of a job and saves.
func (r *proposing) finish(ctx context.Context, j *job) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended++; r.Progress != nil {
		r.jobs = max(r.jobs, r.ended)
		r.Progress(r.ended, r.jobs)
	}
	v := r.version(j.newest().Number)
	v.First = min(v.First, j.changes[0].Number)
	v.Notes = append(v.Notes, j.report.Notes...)
	v.Spent.Add(j.report.Spent)
	if j.report.Err != nil && ctx.Err() == nil {
		v.Err = errors.Join(v.Err, j.report.Err)
	}
	if len(j.deltas) == 0 {
		return nil
	}
	if j.bad == nil {
		v.Asked += len(j.deltas)
	}
	v.Criteria += len(j.criteria)
	v.Proposed += j.report.Proposed
	v.Repaired += j.report.Repaired
	v.Improved += j.report.Improved
	r.done = append(r.done, j)
	if r.Save == nil || r.saved != nil {
		return nil
	}
	r.saved = r.Save(r.assemble())
	return r.saved
}

// Failed joins the errors of the versions, or returns nil.
func (p *Proposal) Failed() error {
	var list []error
	for _, v := range p.Versions {
		if v.Err != nil {
			list = append(list, fmt.Errorf("%s: %w", v.Name(), v.Err))
		}
	}
	return errors.Join(list...)
}

// Name returns the name of the versions that the report covers.
func (v *VersionReport) Name() string {
	if v.First < v.Version {
		return fmt.Sprintf("versions %d to %d", v.First, v.Version)
	}
	return fmt.Sprintf("version %d", v.Version)
}

// Spent returns the usage of all versions' questions.
func (p *Proposal) Spent() ask.Spent {
	var s ask.Spent
	for _, v := range p.Versions {
		s.Add(v.Spent)
	}
	return s
}

// Proposal is the result of proposing for a history.
type Proposal struct {
	Candidates []proviso.Candidate
	Unproposed []rules.Unproposed // sentences that the last version has
	Gone       []rules.Unproposed // sentences that it no longer has
	Ruled      []string           // sorted hashes of the candidates that rules made, including those that a person removed

	// The following fields come only from models.
	Criteria []DeltaCriterion
	Dropped  []Dropped
	Before   []Dropped       // what the previous proposal dropped
	Versions []VersionReport // reports on the versions that a model was asked about
	Asked    []string        // sorted hashes of the sentences that a model was asked about, now or earlier
}
