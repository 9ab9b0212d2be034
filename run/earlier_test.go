package run_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/run"
)

// TestEarlier: a caller that stores the rows itself gets each finished row, and passes back
// those that must not run again.
func TestEarlier(t *testing.T) {
	t.Parallel()
	const text = "prompts: [\"{{ n }}\"]\nproviders: [echo]\ntests: [{vars: {n: a}}, {vars: {n: b}, assert: [{type: equals, value: x}]}, {vars: {n: c}}]\n"
	var mu sync.Mutex
	kept := map[int]string{}
	keep := func(_ context.Context, index int, row []byte, r *proviso.Result) error {
		mu.Lock()
		defer mu.Unlock()
		if r.Case.Index != index {
			t.Errorf("the row %d is of the case %d", index, r.Case.Index)
		}
		kept[index] = string(row)
		return nil
	}
	first := outcome(t, t.Context(), text, nil, run.Options{Observers: run.Observers{Keep: keep}, Task: run.Task{RunID: "mine"}})
	if len(kept) != 3 || counts(first) == "" || !strings.Contains(kept[2], `"id":"mine/2"`) {
		t.Fatalf("kept %v", kept)
	}
	earlier := map[int]string{0: kept[0], 1: kept[1]}
	clear(kept)
	var taken, last proviso.Totals
	again := outcome(t, t.Context(), text, nil, run.Options{Observers: run.Observers{Keep: keep, Taken: func(t proviso.Totals) { taken = t }, Tick: func(t proviso.Totals) { last = t }}, Task: run.Task{RunID: "mine", Earlier: func(take func(int, []byte) error) error {
		for index, row := range earlier {
			if err := take(index, []byte(row)); err != nil {
				return err
			}
		}
		return nil
	}}})
	if taken.Rows() != 2 || taken.Failed != 1 || last.Rows() != 3 {
		t.Errorf("taken %+v, then %+v", taken, last)
	}
	if len(kept) != 1 || !strings.Contains(kept[2], `"id":"mine/2"`) {
		t.Errorf("done again: %v", kept)
	}
	if counts(again) != counts(first) || len(rows(t, again)) != 3 {
		t.Errorf("%s, want %s; %d rows", counts(again), counts(first), len(rows(t, again)))
	}
}

// TestKeepFails: a row that cannot be stored ends the run.
func TestKeepFails(t *testing.T) {
	t.Parallel()
	full := errors.New("no room")
	const text = "prompts: [x]\nproviders: [echo]\ntests: [{vars: {n: 1}}, {vars: {n: 2}}]\n"
	for name, o := range map[string]run.Options{
		"keeping": {Observers: run.Observers{Keep: func(context.Context, int, []byte, *proviso.Result) error { return full }}},
		"earlier": {Task: run.Task{Dir: notKept, Earlier: func(func(int, []byte) error) error { return full }}},
	} {
		p, mistakes := plan(t, text, nil, o)
		if err := mistakes.Err(); err != nil {
			t.Fatal(err)
		}
		out, err := p.Run(t.Context())
		if !errors.Is(err, full) {
			t.Errorf("%s: %v", name, err)
		}
		if out != nil {
			out.Close()
		}
	}
}
