package judge_test

import (
	"context"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/blobs"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/value"
)

// TestVerdictStore: only verdicts that are not stored are requested. An interrupted
// evaluation continues, a changed assertion is judged alone, and failures are not stored.
func TestVerdictStore(t *testing.T) {
	t.Parallel()
	store := blobs.Open(t.TempDir())
	kept := func(o *judge.Options) { o.Store = store; o.Mode = judge.Single }
	down := &fake{Fail: func(c seen) error {
		if c.Assertions[0].ID == "c" {
			return proviso.Errorf(proviso.Unavailable, "gone")
		}
		return nil
	}}
	a, b, c := wants("a", "yes"), wants("b", "no: x", "yes"), wants("c", "yes")
	if got := statuses(evaluate(t, one(t, down, kept), a, b, c)); got != "a=pass b=fail c=error" {
		t.Fatal(got)
	}
	again := &fake{}
	r := evaluate(t, one(t, again, kept), c, b, a)
	if got := statuses(r); got != "c=pass b=fail a=pass" {
		t.Error(got)
	}
	if again.Count() != 1 || again.Calls()[0].Assertions[0].ID != "c" {
		t.Errorf("%d calls, want one for what failed", again.Count())
	}
	for i, cached := range []bool{false, true, true} {
		if res := r.Results[i]; res.Cached != cached || res.Cached && *res.Cost != 0 {
			t.Errorf("%s: cached is %v, cost %v", res.ID, res.Cached, *res.Cost)
		}
	}
	if got := r.Results[1].Criteria[0].Reasoning; got != "Because of no: x." {
		t.Errorf("the reason that was kept is %q", got)
	}
	b.Criteria[1].Text = "something else"
	changed := &fake{}
	evaluate(t, one(t, changed, kept, func(o *judge.Options) { o.Mode = judge.Batch }), a, b, c)
	if changed.Count() != 1 { // another mode means another judge
		t.Errorf("%d calls", changed.Count())
	}
	changed = &fake{}
	evaluate(t, one(t, changed, kept), a, b, c)
	if changed.Count() != 1 || changed.Calls()[0].Assertions[0].ID != "b" {
		t.Errorf("%d calls, want one for what changed", changed.Count())
	}
}

// TestInterrupted: a verdict is stored as soon as its last call is answered, so that paid
// verdicts are not lost when the process ends.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	store := blobs.Open(t.TempDir())
	entries := func() int {
		n := 0
		for _, err := range store.Walk() {
			if err != nil {
				t.Error(err)
			}
			n++
		}
		return n
	}
	ctx, kill := context.WithCancel(t.Context())
	f := &fake{}
	f.Fail = func(seen) error {
		if f.Count() == 3 { // of four calls: one for a, two for b, one for c
			kill()
			return ctx.Err()
		}
		return nil
	}
	slow := func(o *judge.Options) { o.Store, o.Mode, o.Chunk, o.Concurrency = store, judge.Single, 2, 1 }
	list := []judge.Assertion{wants("a", "1"), wants("b", "2", "3", "4"), wants("c", "5")}
	r, err := one(t, f, slow).Evaluate(ctx, &judge.Request{Output: "x", Assertions: list})
	if err != nil || r.Status != "error" {
		t.Fatal(r, err)
	}
	kept := entries()
	if kept != r.Passed || kept == 0 {
		t.Errorf("%d verdicts are kept of %d", kept, r.Passed)
	}
	again := &fake{}
	if r := request(t, one(t, again, slow), &judge.Request{Output: "x", Assertions: list}); r.Passed != 3 || entries() != 3 {
		t.Errorf("then %d pass, %d are kept", r.Passed, entries())
	}
	for _, c := range again.Calls() {
		for _, res := range r.Results {
			if res.ID == c.Assertions[0].ID && res.Status == "pass" {
				t.Errorf("%s was asked again", res.ID)
			}
		}
	}
}

// TestBatchOfMisses: a call contains only the assertions without a stored verdict, and
// its verdicts apply whatever else is in the request.
func TestBatchOfMisses(t *testing.T) {
	t.Parallel()
	store := blobs.Open(t.TempDir())
	kept := func(o *judge.Options) { o.Store = store }
	evaluate(t, one(t, &fake{}, kept), wants("a", "yes"), wants("b", "yes"))
	f := &fake{}
	evaluate(t, one(t, f, kept), wants("b", "yes"), wants("new", "yes"), wants("a", "yes"))
	if f.Count() != 1 || len(f.Calls()[0].Assertions) != 1 || f.Calls()[0].Assertions[0].ID != "new" {
		t.Errorf("asked %+v", f.Calls())
	}
}

// TestBrokenStore: an incomplete entry counts as missing.
func TestBrokenStore(t *testing.T) {
	t.Parallel()
	store := blobs.Open(t.TempDir())
	kept := func(o *judge.Options) { o.Store = store }
	evaluate(t, one(t, &fake{}, kept), wants("a", "yes", "yes too"))
	for info, err := range store.Walk() {
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range []*value.Object{
			value.NewObject(0),
			value.ObjectOf("criteria", []any{}),
			value.ObjectOf("criteria", []any{value.ObjectOf("met", true), value.ObjectOf("met", "true")}),
			value.ObjectOf("criteria", "x"),
		} {
			if err := store.Put(info.Key, entry); err != nil {
				t.Fatal(err)
			}
			f := &fake{}
			if got := statuses(evaluate(t, one(t, f, kept), wants("a", "yes", "yes too"))); got != "a=pass" || f.Count() != 1 {
				t.Errorf("%s: %s after %d calls", value.Stringify(entry), got, f.Count())
			}
		}
	}
}
