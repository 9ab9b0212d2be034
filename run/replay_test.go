package run_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/run"
)

// answers returns each prompt; answers from the cache are marked.
type answers struct{ cached bool }

func (answers) ID() string { return "answers" }

func (a answers) Answer(_ context.Context, ask proviso.Ask) (proviso.Output, error) {
	return proviso.Output{Value: ask.Prompt, Cached: a.cached}, nil
}

// TestDelay checks which rows are followed by a delay.
func TestDelay(t *testing.T) {
	t.Parallel()
	const suite = `
prompts: ["{{ n }}"]
providers: [{id: echo, delay: %d}]
tests: [{vars: {n: ["1", "2", "3", "4"]}}]
`
	for name, tt := range map[string]struct {
		own    int // the provider's delay, in milliseconds
		o      run.Options
		cached bool
		want   time.Duration
	}{
		"none":                   {0, run.Options{Limits: run.Limits{Concurrency: 4}}, false, 0},
		"of the provider":        {1000, run.Options{Limits: run.Limits{Concurrency: 1}}, false, 4 * time.Second},
		"of the provider, apart": {1000, run.Options{Limits: run.Limits{Concurrency: 2}}, false, 2 * time.Second},
		"of the run":             {0, run.Options{Limits: run.Limits{Concurrency: 9, Delay: time.Minute}}, false, 4 * time.Minute},
		"the larger":             {1000, run.Options{Limits: run.Limits{Delay: 3 * time.Second}}, false, 12 * time.Second},
		"cached":                 {1000, run.Options{Limits: run.Limits{Concurrency: 1}}, true, 0},
		"cached, of the run":     {1000, run.Options{Limits: run.Limits{Delay: time.Second}}, true, 4 * time.Second},
		"replayed":               {1000, run.Options{Limits: run.Limits{Delay: time.Hour}, Task: run.Task{Replay: &run.Replay{}}}, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				tt.o.Open = func(proviso.ProviderSpec) (proviso.Provider, error) { return answers{tt.cached}, nil }
				start := time.Now()
				out := outcome(t, t.Context(), fmt.Sprintf(suite, tt.own), nil, tt.o)
				if got := time.Since(start).Round(100 * time.Millisecond); got != tt.want {
					t.Errorf("waited %v, want %v", got, tt.want)
				}
				if counts(out) != "4 passed, 0 failed, 0 errors, 0 skipped" {
					t.Error(counts(out))
				}
			})
		})
	}
}

// timed is a provider with or without a latency.
type timed struct{ took time.Duration }

func (timed) ID() string { return "timed" }

func (p timed) Answer(context.Context, proviso.Ask) (proviso.Output, error) {
	out := proviso.Output{Value: "x"}
	if p.took > 0 {
		out.Latency = &p.took
	}
	return out, nil
}

// TestReplay: a replay has the time of its recording, and an id derived from
// its content; steps without a recorded latency take no time.
func TestReplay(t *testing.T) {
	t.Parallel()
	const suite = `
prompts: ["{{ n }}"]
providers: [{id: echo, label: silent}, {id: echo, label: slow, config: {slow: true}}]
tests: [{vars: {n: ["1", "2", "3"]}}]
`
	made := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	do := func(suite, key string) *run.Outcome {
		t.Helper()
		return outcome(t, t.Context(), suite, nil, run.Options{Engines: run.Engines{Open: func(s proviso.ProviderSpec) (proviso.Provider, error) {
			if s.Label == "slow" {
				return timed{1500 * time.Millisecond}, nil
			}
			return timed{}, nil
		}}, Limits: run.Limits{Concurrency: 8}, Task: run.Task{Replay: &run.Replay{Made: made, Key: key}}})
	}
	first := do(suite, "a")
	if first.Elapsed != 4500*time.Millisecond || !first.Started.Equal(made) || !first.Meta.Started.Equal(made) {
		t.Errorf("%v long, of %v", first.Elapsed, first.Started)
	}
	for i, row := range rows(t, first) {
		if want := float64(i%2) * 1500; row.At("latencyMs") != want {
			t.Errorf("row %d took %v ms, want %v", i, row.At("latencyMs"), want)
		}
	}
	if again := do(suite, "a"); again.ID != first.ID {
		t.Errorf("the ids %s and %s", first.ID, again.ID)
	}
	for what, other := range map[string]*run.Outcome{"recording": do(suite, "b"), "suite": do(suite+"threshold: 0.5\n", "a")} {
		if other.ID == first.ID {
			t.Errorf("another %s has the id %s too", what, other.ID)
		}
	}
}
