package judge

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/stats"
)

// AttackOptions say which attempts [Judge.Attack] makes.
type AttackOptions struct {
	Kinds       []string // only these kinds; nil is all
	Concurrency int      // attempts in flight; 4 if 0
	// Tick is called after each answer with how many there are of how many, if it is
	// set. It is called by several goroutines, one at a time.
	Tick func(done, total int)
}

// AttackReport says how often a judge was talked over. An attempt is an output
// that plainly fails its assertion, with something added that asks for a pass; it
// succeeds if the judge says pass. An attempt without a verdict counts in no rate.
type AttackReport struct {
	Judge     string         `json:"judge"`
	Attempts  int            `json:"attempts"` // made, those without a verdict included
	Succeeded int            `json:"succeeded"`
	Withstood int            `json:"withstood"`
	Errors    int            `json:"errors"`   // without a verdict
	LeftOut   int            `json:"left_out"` // not made, as the judge passes the output without anything added, or has no verdict on it
	Rate      *float64       `json:"rate"`     // succeeded / (succeeded + withstood); null if both are 0
	Interval  *RateInterval  `json:"interval"`
	Kinds     []AttackKind   `json:"kinds"`
	Through   []AttackResult `json:"through"`   // what succeeded
	Undecided []AttackResult `json:"undecided"` // what had no verdict
	Controls  []AttackResult `json:"controls"`  // controls that cannot be used
	Usage     Usage          `json:"usage"`
	Cost      float64        `json:"cost"` // US dollars
}

// AttackKind is the part of a report that is about one kind of attempt.
type AttackKind struct {
	Kind      string        `json:"kind"`
	Doc       string        `json:"doc"`
	Attempts  int           `json:"attempts"`
	Succeeded int           `json:"succeeded"`
	Withstood int           `json:"withstood"`
	Errors    int           `json:"errors"`
	LeftOut   int           `json:"left_out"`
	Rate      *float64      `json:"rate"`
	Interval  *RateInterval `json:"interval"`
}

// RateInterval is the range in which the true rate is expected, with a confidence
// of 95 % (Wilson).
type RateInterval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// AttackResult is what became of one attempt, or of a control.
type AttackResult struct {
	ID        string `json:"id"`
	Kind      string `json:"kind,omitempty"`
	Control   string `json:"control,omitempty"` // the output that the attempt was added to
	Status    string `json:"status"`            // pass, fail or error
	Reasoning string `json:"reasoning"`
}

// Attack makes every shipped attempt on the judge, once each. An output that the
// judge passes without an attempt is no test of it: attempts on that output are
// left out. The error is that of ctx, or names a kind that is none.
func (j *Judge) Attack(ctx context.Context, o AttackOptions) (*AttackReport, error) {
	attempts, err := chosen(o.Kinds)
	if err != nil {
		return nil, err
	}
	a := &attack{judge: j, o: o, report: &AttackReport{Judge: j.Identity(), Kinds: []AttackKind{}, Through: []AttackResult{}, Undecided: []AttackResult{}, Controls: []AttackResult{}}}
	controls := attackData().controls
	a.total = len(controls) + len(attempts)
	usable := map[string]bool{}
	for i, r := range a.all(ctx, len(controls), func(i int) *Request { return controls[i].request(controls[i].Output) }) {
		usable[controls[i].ID] = r.Status == proviso.Fail.String()
		if !usable[controls[i].ID] {
			a.report.Controls = append(a.report.Controls, AttackResult{ID: controls[i].ID, Status: r.Status, Reasoning: r.Reasoning})
		}
	}
	made := slices.DeleteFunc(slices.Clone(attempts), func(t Attempt) bool { return !usable[t.control.ID] })
	results := a.all(ctx, len(made), func(i int) *Request { return made[i].request() })
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	a.count(attempts, made, results)
	return a.report, nil
}

// attack is one run of the attempts.
type attack struct {
	judge  *Judge
	o      AttackOptions
	report *AttackReport

	mu          sync.Mutex
	done, total int
}

// all evaluates n requests, several at a time, and returns the result of each.
func (a *attack) all(ctx context.Context, n int, request func(i int) *Request) []Result {
	results := make([]Result, n)
	next := make(chan int)
	var workers sync.WaitGroup
	most := a.o.Concurrency
	if most <= 0 {
		most = 4
	}
	for range min(most, n) {
		workers.Go(func() {
			for i := range next {
				results[i] = a.one(ctx, request(i))
			}
		})
	}
	for i := range n {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	workers.Wait()
	return results
}

// one evaluates one request of one assertion.
func (a *attack) one(ctx context.Context, r *Request) Result {
	out := Result{Status: proviso.Errored.String()}
	resp, err := a.judge.Evaluate(ctx, r)
	switch {
	case err != nil:
		out.Reasoning = err.Error()
	case len(resp.Results) != 1:
		out.Reasoning = fmt.Sprintf("the judge gave %d results for one assertion", len(resp.Results))
	default:
		out = resp.Results[0]
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if out.Usage != nil {
		a.report.Usage.add(*out.Usage)
	}
	if out.Cost != nil {
		a.report.Cost += *out.Cost
	}
	a.done++
	if a.o.Tick != nil {
		a.o.Tick(a.done, a.total)
	}
	return out
}

func (u *Usage) add(v Usage) {
	u.Prompt += v.Prompt
	u.Completion += v.Completion
	u.Cached += v.Cached
	u.Total += v.Total
	u.Requests += v.Requests
}

// count sums up the results by kind.
func (a *attack) count(all, made []Attempt, results []Result) {
	r := a.report
	kinds := map[string]*AttackKind{}
	for _, k := range attackData().kinds {
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
		result := AttackResult{ID: t.ID, Kind: t.Kind, Control: t.control.ID, Status: results[i].Status, Reasoning: results[i].Reasoning}
		switch results[i].Status {
		case proviso.Pass.String():
			k.Succeeded++
			r.Through = append(r.Through, result)
		case proviso.Fail.String():
			k.Withstood++
		default:
			k.Errors++
			r.Undecided = append(r.Undecided, result)
		}
	}
	for i := range r.Kinds {
		k := &r.Kinds[i]
		k.Rate, k.Interval = rateOf(k.Succeeded, k.Succeeded+k.Withstood)
		r.Attempts += k.Attempts
		r.Succeeded += k.Succeeded
		r.Withstood += k.Withstood
		r.Errors += k.Errors
		r.LeftOut += k.LeftOut
	}
	r.Rate, r.Interval = rateOf(r.Succeeded, r.Succeeded+r.Withstood)
}

// rateOf returns k of n with its interval, nil for none.
func rateOf(k, n int) (*float64, *RateInterval) {
	if n == 0 {
		return nil, nil
	}
	const confidence = 0.95
	rate := float64(k) / float64(n)
	i := stats.Wilson(k, n, confidence)
	return &rate, &RateInterval{Low: i.Low, High: i.High}
}
