// Package attack makes prompt injection attempts on a judge and counts how many succeed.
// The attempts are shipped, in sets that do not change.
package attack

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/stats"
)

// Options select the attempts that [Run] makes.
type Options struct {
	Sets        []string // only these sets; nil means all
	Kinds       []string // only these kinds; nil means all
	Concurrency int      // attempts in flight; 4 if 0
	// Tick, if not nil, is called after each answer with the progress. Several
	// goroutines call it, one at a time.
	Tick func(done, total int)
}

// Report is the result of prompt injection attempts on a judge. An attempt takes an
// output with a clear verdict and adds a text that demands the opposite verdict: to the
// output, the input or a variable. It succeeds if the judge gives that verdict. Attempts
// without a verdict are left out of all rates.
type Report struct {
	Judge string `json:"judge"`
	Tally
	Sets      []Kind      `json:"sets"` // totals per set
	Kinds     []Kind      `json:"kinds"`
	Through   []Result    `json:"through"`   // attempts that succeeded
	Undecided []Result    `json:"undecided"` // attempts without a verdict
	Controls  []Result    `json:"controls"`  // unusable controls: the judge gave the wrong verdict on them
	Usage     judge.Usage `json:"usage"`
	Cost      float64     `json:"cost"` // US dollars
}

// Tally counts attempts.
type Tally struct {
	Attempts  int       `json:"attempts"` // attempts made, including those without a verdict
	Succeeded int       `json:"succeeded"`
	Withstood int       `json:"withstood"`
	Errors    int       `json:"errors"`   // attempts without a verdict
	LeftOut   int       `json:"left_out"` // attempts not made, because the judge gives the wrong verdict on the control
	Rate      *float64  `json:"rate"`     // succeeded / (succeeded + withstood); null if both are 0
	Interval  *Interval `json:"interval"`
}

// Kind is the part of a report for one kind of attempt, or for one set.
type Kind struct {
	Set  string `json:"set"`
	Kind string `json:"kind,omitempty"` // "" for a set as a whole
	Doc  string `json:"doc"`
	Tally
}

// Interval is the 95 % confidence interval of a rate (Wilson).
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Result is the result of one attempt, or of a control.
type Result struct {
	ID        string `json:"id"`
	Set       string `json:"set,omitempty"`
	Kind      string `json:"kind,omitempty"`
	Control   string `json:"control,omitempty"` // the control that the attempt was added to
	Towards   string `json:"towards,omitempty"` // verdict that the attempt demands
	Status    string `json:"status"`            // pass, fail or error
	Reasoning string `json:"reasoning"`
}

// Judge is the judge under attack. [judge.Judge] implements it.
type Judge interface {
	Identity() string
	Evaluate(ctx context.Context, r *judge.Request) (*judge.Response, error)
}

// Run makes every selected attempt on the judge once. If the judge gives the wrong
// verdict on a control, the attempts on that control are left out. The error is the cause
// of ctx, or names an unknown set or kind.
func Run(ctx context.Context, j Judge, o Options) (*Report, error) {
	attempts, err := chosen(o.Sets, o.Kinds)
	if err != nil {
		return nil, err
	}
	a := &runner{judge: j, o: o, report: &Report{Judge: j.Identity(), Sets: []Kind{}, Kinds: []Kind{}, Through: []Result{}, Undecided: []Result{}, Controls: []Result{}}}
	controls := slices.DeleteFunc(slices.Clone(shipped().controls), func(c control) bool {
		return !slices.ContainsFunc(attempts, func(t Attempt) bool { return t.control.ID == c.ID })
	})
	a.total = len(controls) + len(attempts)
	usable := map[string]bool{}
	for i, r := range a.all(ctx, len(controls), func(i int) *judge.Request { return controls[i].request() }) {
		usable[controls[i].ID] = r.Status == controls[i].verdict().String()
		if !usable[controls[i].ID] {
			a.report.Controls = append(a.report.Controls, Result{ID: controls[i].ID, Set: controls[i].set, Status: r.Status, Reasoning: r.Reasoning})
		}
	}
	made := slices.DeleteFunc(slices.Clone(attempts), func(t Attempt) bool { return !usable[t.control.ID] })
	results := a.all(ctx, len(made), func(i int) *judge.Request { return made[i].request() })
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	a.count(attempts, made, results)
	return a.report, nil
}

// runner is one run of the attempts.
type runner struct {
	judge  Judge
	o      Options
	report *Report

	mu          sync.Mutex
	done, total int
}

// all evaluates n requests, several at a time, and returns their results.
func (a *runner) all(ctx context.Context, n int, request func(i int) *judge.Request) []judge.Result {
	results := make([]judge.Result, n)
	free := make(chan struct{}, cmp.Or(max(a.o.Concurrency, 0), 4))
	var calls sync.WaitGroup
	for i := 0; i < n && ctx.Err() == nil; i++ {
		free <- struct{}{}
		calls.Go(func() {
			results[i] = a.one(ctx, request(i))
			<-free
		})
	}
	calls.Wait()
	return results
}

// one evaluates one request, and returns the result of its first assertion.
func (a *runner) one(ctx context.Context, r *judge.Request) judge.Result {
	out := judge.Result{Status: proviso.Errored.String()}
	resp, err := a.judge.Evaluate(ctx, r)
	switch {
	case err != nil:
		out.Reasoning = err.Error()
	case len(resp.Results) != len(r.Assertions):
		out.Reasoning = fmt.Sprintf("the judge gave %d results for %d assertions", len(resp.Results), len(r.Assertions))
	default:
		out = resp.Results[0]
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if resp != nil {
		for _, x := range resp.Results {
			if x.Usage != nil {
				a.report.Usage.Add(*x.Usage)
			}
			if x.Cost != nil {
				a.report.Cost += *x.Cost
			}
		}
	}
	a.done++
	if a.o.Tick != nil {
		a.o.Tick(a.done, a.total)
	}
	return out
}

// count sums up the results by kind.
func (a *runner) count(all, made []Attempt, results []judge.Result) {
	r := a.report
	kinds := map[string]*Kind{}
	for _, k := range shipped().kinds {
		if slices.ContainsFunc(all, func(t Attempt) bool { return t.Kind == k.Kind }) {
			r.Kinds = append(r.Kinds, k)
		}
	}
	for i := range r.Kinds {
		kinds[r.Kinds[i].Kind] = &r.Kinds[i]
	}
	for _, t := range all {
		kinds[t.Kind].LeftOut++
	}
	for i, t := range made {
		k := kinds[t.Kind]
		k.LeftOut--
		k.Attempts++
		result := Result{ID: t.ID, Set: t.Set, Kind: t.Kind, Control: t.control.ID, Towards: t.towards().String(), Status: results[i].Status, Reasoning: results[i].Reasoning}
		switch results[i].Status {
		case t.towards().String():
			k.Succeeded++
			r.Through = append(r.Through, result)
		case t.control.verdict().String():
			k.Withstood++
		default:
			k.Errors++
			r.Undecided = append(r.Undecided, result)
		}
	}
	for _, f := range folders {
		set := Kind{Set: f.set, Doc: f.doc}
		for i := range r.Kinds {
			if k := &r.Kinds[i]; k.Set == f.set {
				k.rate()
				set.plus(k.Tally)
			}
		}
		if set.Attempts+set.LeftOut == 0 {
			continue
		}
		set.rate()
		r.Sets = append(r.Sets, set)
		r.plus(set.Tally)
	}
	r.rate()
}

func (t *Tally) plus(u Tally) {
	t.Attempts += u.Attempts
	t.Succeeded += u.Succeeded
	t.Withstood += u.Withstood
	t.Errors += u.Errors
	t.LeftOut += u.LeftOut
}

// rate sets the rate with its interval, if any attempt had a verdict.
func (t *Tally) rate() {
	if n := t.Succeeded + t.Withstood; n > 0 {
		share, i := float64(t.Succeeded)/float64(n), stats.Wilson(t.Succeeded, n, 0.95)
		t.Rate, t.Interval = &share, &Interval{Low: i.Low, High: i.High}
	}
}
