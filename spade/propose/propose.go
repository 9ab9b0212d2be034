// Package propose proposes assertions for what each version of a prompt added, by rules,
// by a model, or both. Start at [Run].
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
	// Rules enables the rules; Model is the model that proposes, nil for none.
	Rules bool
	Model *ask.Model
	// Dropped also proposes for text that is no longer in the last version.
	Dropped bool
	// Trials are outputs of the prompt: the model sees one of them, and candidates are
	// tried on them.
	Trials []trial.Trial
	// Concurrency is the number of questions in flight; 0 is 4.
	Concurrency int
	// Earlier is the proposal before this one. It is kept where the prompt still has
	// its sentences, and the model is not asked about them again.
	Earlier *Earlier
	// Save is called with the proposal after each answered question, one call at a
	// time; an error ends the proposing. It may be nil.
	Save func(*Proposal) error
	// Progress is called with the number of answered questions, one call at a time. It
	// may be nil.
	Progress func(answered, of int)
}

// Limits of what a model is asked. Anything beyond them is listed as not proposed.
const (
	maxAsked        = 240      // sentences of one version
	maxTogether     = 24       // sentences in one question
	maxTogetherSize = 12 << 10 // bytes of sentences in one question
	maxShownExample = 16 << 10 // bytes shown of an example and of its response
)

// Dropped is a proposed criterion or candidate that was not kept.
type Dropped struct {
	Candidate string // its name; "" for a criterion
	Criterion string // its words; "" for a candidate
	Version   int
	Reason    string
}

// VersionReport reports on the questions about one version.
type VersionReport struct {
	Version  int
	Asked    int // sentences that the model was asked about
	Criteria int // criteria found in them
	Proposed int // candidates proposed
	Repaired int // of them, candidates repaired after feedback
	Kept     int
	Notes    []string // notes for the user
	Spent    ask.Spent
	Err      error // why some of its sentences could not be asked about
}

// DeltaCriterion is a requirement on outputs in a sentence of the prompt.
type DeltaCriterion struct {
	proviso.Criterion
	Delta proviso.Delta
	Quote string // the words of the sentence that state it
	Vague bool   // a person would have to choose the details
}

// Run proposes assertions for what each version added: by rules, by a model, or
// both; equal checks appear once. A question that cannot be answered is an error of its
// version, and the others go on. If ctx ends, or Save fails, the proposal holds the
// work so far, together with the error.
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
	jobs := r.plan()
	if o.Model == nil {
		return r.assemble(), ctx.Err()
	}
	err := r.askAll(ctx, jobs)
	return r.assemble(), err
}

// proposing is the work on one history.
type proposing struct {
	Options
	history *delta.History
	said    *places
	rules   *rules.Proposed // nil without rules
	left    []rules.Unproposed

	mu      sync.Mutex
	done    []*job
	reports map[int]*VersionReport
	saved   error
	ended   int // finished jobs
	jobs    int
}

// job is one question about sentences of one version, with its result.
type job struct {
	change *delta.Change
	deltas []proviso.Delta

	criteria   []DeltaCriterion
	candidates []proviso.Candidate
	left       []rules.Unproposed
	dropped    []Dropped
	report     VersionReport
}

// plan finds the sentences that need a model, and groups those of a version.
func (r *proposing) plan() []*job {
	done := map[string]bool{}
	var jobs []*job
	for i := range r.history.Changes {
		c := &r.history.Changes[i]
		var pending []proviso.Delta
		for _, d := range c.Deltas {
			key := delta.Key(d.Text)
			if !d.Added || d.Moved || done[key] {
				continue
			}
			switch d = r.said.first[key]; {
			case d.Part == string(delta.Heading) || d.Part == string(delta.Markup):
				// It asks nothing by itself.
			case d.Removed > 0 && !r.Dropped:
				r.left = append(r.left, rules.Unproposed{Delta: d, Category: "", Reason: "a later version does not say it any more"})
			case r.Earlier.asked(key):
				done[key] = true
			default:
				done[key] = true
				pending = append(pending, d)
			}
		}
		if r.Model != nil {
			jobs = append(jobs, r.together(c, pending)...)
		}
	}
	return jobs
}

// prompt returns the last version.
func (r *proposing) prompt() string { return r.history.Changes[len(r.history.Changes)-1].Text }

// together makes the questions about one version, within the bounds.
func (r *proposing) together(c *delta.Change, deltas []proviso.Delta) []*job {
	var jobs []*job
	if len(deltas) > maxAsked {
		for _, d := range deltas[maxAsked:] {
			r.left = append(r.left, rules.Unproposed{Delta: d, Category: "", Reason: fmt.Sprintf("the version brings more than the %d sentences that a model is asked about", maxAsked)})
		}
		r.note(c.Number, "%d sentences of it were not asked about: %d are the most of one version at a time", len(deltas)-maxAsked, maxAsked)
		deltas = deltas[:maxAsked]
	}
	size := 0
	for _, d := range deltas {
		if len(d.Text) > delta.MaxSentence {
			r.note(c.Number, "line %d: the first %d of %d bytes were shown", d.Line, delta.MaxSentence, len(d.Text))
		}
		n := min(len(d.Text), delta.MaxSentence)
		if len(jobs) == 0 || len(jobs[len(jobs)-1].deltas) == maxTogether || size+n > maxTogetherSize {
			jobs, size = append(jobs, &job{change: c}), 0
		}
		size += n
		j := jobs[len(jobs)-1]
		j.deltas = append(j.deltas, d)
	}
	if len(jobs) > 0 && len(c.Text) > ask.MaxPromptShown {
		r.note(c.Number, "the prompt has %d bytes, of which the beginning and the end were shown, %d in all", len(c.Text), ask.MaxPromptShown)
	}
	return jobs
}

// version returns the report of a version; the caller holds r.mu, or no other goroutine
// runs yet.
func (r *proposing) version(n int) *VersionReport {
	if r.reports[n] == nil {
		r.reports[n] = &VersionReport{Version: n}
	}
	return r.reports[n]
}

func (r *proposing) note(version int, format string, args ...any) {
	v := r.version(version)
	v.Notes = append(v.Notes, fmt.Sprintf(format, args...))
}

// askAll works through the jobs.
func (r *proposing) askAll(ctx context.Context, jobs []*job) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	r.jobs = len(jobs)
	next := make(chan *job)
	var wait sync.WaitGroup
	for range cmp.Or(max(r.Concurrency, 0), ask.DefaultQuestions) {
		wait.Go(func() {
			for j := range next {
				j.run(ctx, r)
				if err := r.finish(ctx, j); err != nil {
					stop(err)
				}
			}
		})
	}
send:
	for _, j := range jobs {
		select {
		case next <- j:
		case <-ctx.Done():
			break send
		}
	}
	close(next)
	wait.Wait()
	return context.Cause(ctx)
}

// finish adds the result of a job and saves.
func (r *proposing) finish(ctx context.Context, j *job) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended++; r.Progress != nil {
		r.Progress(r.ended, r.jobs)
	}
	v := r.version(j.change.Number)
	v.Notes = append(v.Notes, j.report.Notes...)
	v.Spent.Add(j.report.Spent)
	if j.report.Err != nil && ctx.Err() == nil {
		v.Err = errors.Join(v.Err, j.report.Err)
	}
	if len(j.deltas) == 0 {
		return nil
	}
	v.Asked += len(j.deltas)
	v.Criteria += len(j.criteria)
	v.Proposed += j.report.Proposed
	v.Repaired += j.report.Repaired
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
			list = append(list, fmt.Errorf("version %d: %w", v.Version, v.Err))
		}
	}
	return errors.Join(list...)
}

// Spent is what the questions of all versions used.
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
	Unproposed []rules.Unproposed
	Ruled      []string // hashes of what rules made, even if a person removed it, sorted

	// The rest comes from models only.
	Criteria []DeltaCriterion
	Dropped  []Dropped
	Versions []VersionReport // of the versions that a model was asked about
	Asked    []string        // hashes of the sentences that a model was asked about, now or earlier, sorted
}
