package align_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/judge/align"
)

// TestHeldOutStays: the halves never change, so a case that is held out now was held out
// when it was first labelled.
func TestHeldOutStays(t *testing.T) {
	t.Parallel()
	var held []int
	for i := range 1000 {
		if align.HeldOut(fmt.Sprint("case ", i), fmt.Sprint("out-", i%7)) {
			held = append(held, i)
		}
	}
	if first := []int{1, 4, 5, 6, 8, 10}; len(held) < 450 || len(held) > 550 || !slices.Equal(held[:6], first) {
		t.Errorf("%d of 1000 are held out, first %v", len(held), held[:6])
	}
	if align.HeldOut("c", "out-1") != align.HeldOut("c", "out-2") {
		t.Error("outputs of a case are in two halves")
	}
}

func TestChangeOf(t *testing.T) {
	t.Parallel()
	var pairs []align.Pair
	add := func(n int, human, before, after proviso.Status) {
		for range n {
			pairs = append(pairs, align.Pair{Case: fmt.Sprint(len(pairs)), Human: human, Before: before, After: after})
		}
	}
	const pass, fail, wrong = proviso.Pass, proviso.Fail, proviso.Errored
	add(30, pass, pass, pass)
	add(2, pass, pass, fail)
	add(10, fail, pass, fail)
	add(8, fail, fail, fail)
	add(2, fail, pass, pass)
	add(3, fail, fail, wrong) // an error is not agreement
	add(1, pass, wrong, pass)
	add(1, fail, proviso.Skip, proviso.Skip)
	add(4, wrong, pass, pass) // not labelled
	c := align.ChangeOf(pairs)
	if c.Labels != 57 || c.Cases != 57 || c.Pairs != 52 || c.NotApplied != 1 || c.Before.Errors != 1 || c.After.Errors != 3 {
		t.Errorf("%+v", c)
	}
	if c.Before.TP != 32 || c.Before.FP != 12 || c.Before.TN != 8 || c.After.TP != 30 || c.After.FN != 2 || c.After.TN != 18 || *c.Before.Agreement != 40.0/52 {
		t.Errorf("before %+v, after %+v", c.Before.Confusion, c.After.Confusion)
	}
	d := c.Difference
	if math.Abs(d.TNR.Value-0.5) > 1e-12 || math.Abs(d.TPR.Value+2.0/32) > 1e-12 || math.Abs(d.Kappa.Value-(c.After.Kappa.Value-c.Before.Kappa.Value)) > 1e-12 || d.Kappa.Low <= 0 || c.Finding() != align.Better {
		t.Errorf("kappa %v, TPR %v, TNR %v: %s", *d.Kappa, *d.TPR, *d.TNR, c.Finding())
	}
	for i := range pairs {
		pairs[i].Before, pairs[i].After = pairs[i].After, pairs[i].Before
	}
	if back := align.ChangeOf(pairs); back.Finding() != align.Worse {
		t.Errorf("%s", back.Finding())
	}
	for i := range pairs {
		pairs[i].After = pairs[i].Before
	}
	if same := align.ChangeOf(pairs); same.Finding() != align.Unclear || same.Difference.Kappa.Value != 0 {
		t.Errorf("%s", same.Finding())
	}
	few := align.ChangeOf(pairs[:20])
	if none := align.ChangeOf(nil); few.Finding() != align.Unknown || none.Finding() != align.Unknown || none.Before.Agreement != nil {
		t.Errorf("%s, %s", few.Finding(), none.Finding())
	}
}
