package run_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/run"
)

// paidProvider costs money, unless its answers come from a cache.
type paidProvider struct {
	asked  atomic.Int32
	cached bool
}

func (*paidProvider) ID() string { return "paid" }

func (p *paidProvider) Answer(context.Context, proviso.Ask) (proviso.Output, error) {
	p.asked.Add(1)
	return proviso.Output{Value: "answer", Cached: p.cached}, nil
}

// TestPaidRowsAreKeptBeforeTheyCount checks the run file whenever a row counts. A paid row must
// be in it; a free one may come later.
func TestPaidRowsAreKeptBeforeTheyCount(t *testing.T) {
	t.Parallel()
	compared := "prompts: [a, b]\nproviders: [paid]\ntests:\n  - assert: [{type: max-score}, {type: contains, value: answer}]\n"
	for name, test := range map[string]struct {
		suite  string
		cached bool
		kept   bool
	}{
		"asked":    {"prompts: ['{{n}}']\nproviders: [paid]\ntests: [{vars: {n: ['1', '2', '3', '4', '5']}}]\n", false, true},
		"compared": {compared, false, true},
		"cached":   {"prompts: ['{{n}}']\nproviders: [paid]\ntests: [{vars: {n: ['1', '2', '3']}}]\n", true, false},
		"given":    {"prompts: ['{{n}}']\nproviders: [paid]\ntests: [{vars: {n: ['1', '2']}, providerOutput: a}]\n", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			late := 0
			tick := func(total proviso.Totals) {
				files, err := filepath.Glob(filepath.Join(dir, "*", "run.jsonl"))
				if err != nil || len(files) != 1 {
					t.Errorf("%d run files: %v", len(files), err)
					return
				}
				data, err := os.ReadFile(files[0])
				if err != nil {
					t.Error(err)
				}
				if rows := bytes.Count(data, []byte("\n")) - 1; rows < total.Rows() {
					late++
				}
			}
			open := func(proviso.ProviderSpec) (proviso.Provider, error) { return &paidProvider{cached: test.cached}, nil }
			out := outcome(t, t.Context(), test.suite, nil, run.Options{Engines: run.Engines{Open: open}, Limits: run.Limits{Concurrency: 2}, Observers: run.Observers{Tick: tick}, Task: run.Task{Dir: dir}})
			if out.Totals.Rows() == 0 || (late == 0) != test.kept {
				t.Errorf("%d rows, %d of them counted before they were kept", out.Totals.Rows(), late)
			}
		})
	}
}

// TestUnrecordedEndsTheRun: once requests cannot be recorded, no more are sent, and the run can
// be resumed later.
func TestUnrecordedEndsTheRun(t *testing.T) {
	t.Parallel()
	p := &paidProvider{}
	full := errors.New("record: no space left on device")
	plan, mistakes := plan(t, "prompts: ['{{n}}']\nproviders: [paid]\ntests: file://cases.jsonl\n",
		map[string]string{"cases.jsonl": strings.Repeat(`{"vars":{"n":"1"}}`+"\n", 100)}, run.Options{
			Task: run.Task{Dir: t.TempDir()}, Limits: run.Limits{Concurrency: 2},
			Engines: run.Engines{
				Open: func(proviso.ProviderSpec) (proviso.Provider, error) { return p, nil },
				Unrecorded: func() error {
					if p.asked.Load() > 10 {
						return full
					}
					return nil
				},
			},
		})
	if err := mistakes.Err(); err != nil {
		t.Fatal(err)
	}
	defer plan.Close()
	out, err := plan.Run(t.Context())
	if !errors.Is(err, full) || out == nil {
		t.Fatalf("it ended with %v", err)
	}
	defer out.Close()
	if asked := p.asked.Load(); asked > 13 || out.Totals.Rows() == 0 || out.Totals.Rows() > 10 || out.Totals.Errors > 0 {
		t.Errorf("%d asked, %d rows, %d errors", asked, out.Totals.Rows(), out.Totals.Errors)
	}
}
