package server

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/internal/turns"
	"github.com/proviso-eval/proviso/judge/align"
	"github.com/proviso-eval/proviso/judge/record"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/value"
)

const (
	trialID          = "trial_"
	trialConcurrency = 4  // outputs of a trial that are judged at a time
	hopeless         = 10 // errors without any verdict after which a trial ends
	maxFlips         = 1000
	maxFlipReason    = 1000
	maxFailures      = 5
)

// judgeTrial is a running trial.
type judgeTrial struct {
	s              *Server
	c              *call // without the request, which ends earlier
	held           *heldTrial
	account        *account
	decider        *deciding
	run, assertion string
	hash           string // hash of the assertion before the change
	items          []trialItem
	left           LeftOut
	changed        *value.Object // the changed assertion
	context        string        // context for the judge, with names of variables

	mu       sync.Mutex
	outcomes []outcome
	failures []string
	before   []string // identities of the judges in the run
	after    []string
	decided  int
	checked  time.Time // when the key was last looked up
	stopped  error     // why the trial cannot continue
}

// outcome is an output that was judged again.
type outcome struct {
	trialItem
	before, after Judged
	pair          align.Pair
}

// prepareTrial reads the labels, compiles the changed assertion, and starts the trial.
func (s *Server) prepareTrial(c *call, in *NewTrial, limit int) (*judgeTrial, error) {
	if _, err := s.seenRunOf(c, in.Run); err != nil {
		return nil, err
	}
	account := s.budgets.open(c.key)
	if err := account.check(); err != nil {
		return nil, err
	}
	labels, err := labelsOfRun(c.r.Context(), c.kept, in.Run)
	if err != nil {
		return nil, err
	}
	own := &call{id: c.id, key: c.key, project: c.project, kept: c.kept, route: c.route}
	t := &judgeTrial{s: s, c: own, account: account, run: in.Run, assertion: in.Assertion}
	t.items, t.left = labels.items(in.Assertion)
	if len(t.items) == 0 {
		return nil, pointed("/assertion", proviso.Invalid, "no output of the run has a label on "+quotedShort(in.Assertion)+" that most people agree on; label some outputs first", namesOf(labels.names())...)
	}
	if len(t.items) > limit {
		t.left.Beyond, t.items = len(t.items)-limit, t.items[:limit]
	}
	was, err := definitionIn(c.r.Context(), c.kept, in.Run, t.items[0].index, in.Assertion)
	if err != nil {
		return nil, err
	}
	kind, known := check.Lookup(strings.TrimPrefix(cmp.Or(was.Text("type"), proviso.TypeJudge), "not-"))
	if !known || kind.Needs&check.NeedsJudge == 0 {
		return nil, pointed("/assertion", proviso.Invalid, "no judge decides "+quotedShort(in.Assertion)+": its type is "+quotedShort(was.Text("type")))
	}
	t.hash, t.changed = record.HashOf(was), applied(was, in.Assertion, &in.Change)
	if in.Change.Context != nil {
		t.context = *in.Change.Context
	}
	ctx := withAccount(context.WithoutCancel(c.r.Context()), account)
	turn, done, err := turns.Enter(ctx)
	if err != nil {
		return nil, err
	}
	t.decider, err = s.o.Judges.open(turn, t.changed, in.Change.Judge)
	done()
	if err != nil {
		return nil, err
	}
	return t, s.beginTrial(ctx, t, in)
}

// beginTrial adds a trial, and runs it in the background.
func (s *Server) beginTrial(ctx context.Context, t *judgeTrial, in *NewTrial) error {
	ctx, task := s.withTurns(withClock(ctx, &t.c.clock), t.c.key.ID)
	ctx, cancel := context.WithCancel(ctx)
	id := store.NewID(trialID, time.Now())
	t.held = &heldTrial{id: id, project: t.c.project, key: t.c.key, cancel: cancel, state: Trial{
		ID: id, Run: in.Run, Assertion: in.Assertion, Change: in.Change, Status: trialRunning, CreatedAt: time.Now().UTC(), Total: len(t.items)}}
	if err := s.trials.begin(t.held); err != nil {
		cancel()
		task.End()
		_ = t.decider.close()
		return err
	}
	if s.peers != nil {
		if err := s.shareTrial(ctx, t.held, time.Now()); err != nil {
			s.o.Log.Warn("share a trial with other servers", "trial", id, "error", err)
		}
	}
	s.underWay.Go(func() { // the server waits for it when it stops
		defer task.End()
		defer cancel()
		go func() {
			select {
			case <-s.quit:
				cancel()
			case <-ctx.Done():
			}
		}()
		t.judge(ctx)
	})
	return nil
}

// judge judges all items and stores the result in the trial.
func (t *judgeTrial) judge(ctx context.Context) {
	defer t.s.hub.changed(t.held.id)
	defer t.s.trials.end(t.held)
	defer func() {
		if v := recover(); v != nil {
			t.s.o.Log.Error("defect", "request_id", t.c.id, "route", t.c.route.Path, "panic", v)
			t.held.change(func(x *Trial) { x.Status, x.Error = trialFailed, "see the log of the server" })
		}
	}()
	t.each(ctx)
	if err := t.decider.close(); err != nil {
		t.s.o.Log.Error("close a judge", "request_id", t.c.id, "error", err)
	}
	t.s.paid(ctx, t.c.project, t.account, "request_id", t.c.id)
	switch {
	case t.stopped != nil:
		t.held.change(func(x *Trial) { x.Status, x.Error = trialFailed, problemOf(t.stopped).Detail })
	case ctx.Err() != nil:
		t.held.change(func(x *Trial) { x.Status = trialCancelled })
	default:
		result := t.result()
		result.Looks = t.look(ctx)
		t.held.change(func(x *Trial) { x.Status, x.Result = trialDone, result })
	}
}

// each judges the items, several at a time.
func (t *judgeTrial) each(ctx context.Context) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	next := make(chan trialItem)
	var workers sync.WaitGroup
	for range min(trialConcurrency, len(t.items)) {
		workers.Go(func() {
			for item := range next {
				if err := t.one(ctx, item); err != nil {
					t.mu.Lock()
					if t.stopped == nil {
						t.stopped = err
					}
					t.mu.Unlock()
					stop()
				}
			}
		})
	}
	for _, item := range t.items {
		if ctx.Err() != nil {
			break
		}
		select {
		case next <- item:
		case <-ctx.Done():
		}
	}
	close(next)
	workers.Wait()
}

// one judges an item. An error ends the trial.
func (t *judgeTrial) one(ctx context.Context, item trialItem) error {
	if ctx.Err() != nil {
		return nil
	}
	if err := t.allowed(ctx); err != nil {
		return err
	}
	row, was, err := verdictIn(ctx, t.c.kept, t.run, item.index, t.assertion)
	switch {
	case ctx.Err() != nil:
		return nil
	case err != nil:
		return err
	case record.HashOf(was.Assertion) != t.hash || was.Status == proviso.Skip:
		t.leave(was.Status == proviso.Skip)
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, t.s.o.EvaluateLimit)
	defer cancel()
	background, err := contextOf(t.context, row.Vars())
	if err != nil {
		return err
	}
	now := t.decider.decide(limited, engine.Answer{Output: proviso.Output{Value: row.Value()}, Prompt: row.Prompt(), Context: background, Vars: row.Vars()})
	if err := t.s.settle(ctx, t.account); err != nil { // at once: the process may die before the trial ends
		return err
	}
	if ctx.Err() != nil {
		return nil
	}
	if err := t.account.check(); err != nil && now.Status == proviso.Errored { // it is not an error of the judge
		return err
	}
	return t.keep(item, was, &now)
}

// allowed checks that the key can pay, and from time to time that it is still valid.
func (t *judgeTrial) allowed(ctx context.Context) error {
	if err := t.account.check(); err != nil {
		return err
	}
	t.mu.Lock()
	due := time.Since(t.checked) > t.s.o.Poll
	if due {
		t.checked = time.Now()
	}
	t.mu.Unlock()
	if due && t.s.revoked(ctx, t.c.key.ID) {
		return proviso.Errorf(proviso.Refused, "the key was revoked")
	}
	return nil
}

// leave counts an item that is left out.
func (t *judgeTrial) leave(skipped bool) {
	t.mu.Lock()
	if skipped {
		t.left.NotApplied++
	} else {
		t.left.OtherText++
	}
	t.mu.Unlock()
	t.told(func(x *Trial) { x.Done++ })
}

// keep records the verdict on an item.
func (t *judgeTrial) keep(item trialItem, was record.Verdict, now *proviso.Verdict) error {
	o := outcome{trialItem: item, before: judgedOf(was.Status, was.Reason()), after: judgedOf(now.Status, now.Reason)}
	o.pair = align.Pair{Case: item.case_, Human: item.human, Before: was.Status, After: now.Status}
	failed := now.Status == proviso.Errored
	t.mu.Lock()
	defer t.mu.Unlock()
	t.outcomes = append(t.outcomes, o)
	t.before, t.after = withName(t.before, was.Judge), withName(t.after, now.Judge)
	if !failed {
		t.decided++
	} else if len(t.failures) < maxFailures {
		t.failures = withName(t.failures, o.after.Reason)
	}
	cost, _ := t.account.total()
	t.told(func(x *Trial) {
		x.Done, x.Cost = x.Done+1, cost
		if failed {
			x.Errors++
		}
	})
	if t.decided == 0 && len(t.outcomes) >= hopeless {
		return proviso.Errorf(proviso.Unavailable, "the judge decided none of the first %d outputs: %s", len(t.outcomes), o.after.Reason)
	}
	return nil
}

// told changes the state that clients see, and notifies them.
func (t *judgeTrial) told(f func(*Trial)) {
	t.held.change(f)
	t.s.hub.changed(t.held.id)
}

func judgedOf(s proviso.Status, reason string) Judged {
	return Judged{Status: s.String(), Reason: excerpt.Bytes(reason, maxFlipReason)}
}

// result compares both judges.
func (t *judgeTrial) result() *TrialResult {
	slices.SortFunc(t.outcomes, func(a, b outcome) int { return a.index - b.index })
	var all, work, held []align.Pair
	r := &TrialResult{Flipped: []Flip{}, Failures: orNone(t.failures), JudgeBefore: orNone(t.before), JudgeAfter: orNone(t.after), Definition: t.changed, LeftOut: t.left}
	for i := range t.outcomes {
		o := &t.outcomes[i]
		all = append(all, o.pair)
		if o.heldOut {
			held = append(held, o.pair)
		} else {
			work = append(work, o.pair)
		}
		if o.pair.Flipped() {
			r.Flipped = append(r.Flipped, Flip{Index: o.index, Case: o.case_, HeldOut: o.heldOut, Label: o.human.String(), Before: o.before, After: o.after, Agrees: o.pair.After == o.human})
		}
	}
	slices.SortStableFunc(r.Flipped, func(a, b Flip) int {
		switch {
		case a.Agrees == b.Agrees:
			return 0
		case b.Agrees:
			return -1
		}
		return 1
	})
	r.Flipped = r.Flipped[:min(len(r.Flipped), maxFlips)]
	r.TrialHalf, r.Work, r.HeldOut = halfOf(all), halfOf(work), halfOf(held)
	return r
}

// look counts that the held-out half was shown. The count is in the database, so that the
// warning about many looks survives a restart.
func (t *judgeTrial) look(ctx context.Context) int {
	n, err := t.c.kept.AddLook(context.WithoutCancel(ctx), t.run, t.assertion)
	if err != nil {
		t.s.o.Log.Error("count a look at held-out labels", "request_id", t.c.id, "error", err)
		return 1
	}
	return n
}

func orNone(list []string) []string {
	if list == nil {
		return []string{}
	}
	slices.Sort(list)
	return list
}

// namesOf returns names for a message.
func namesOf(list []LabelledName) []string {
	var names []string
	for _, n := range list[:min(len(list), 20)] {
		names = append(names, n.Assertion)
	}
	return names
}

func quotedShort(text string) string { return fmt.Sprintf("%q", shortened(text)) }
