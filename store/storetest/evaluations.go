package storetest

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
)

var evaluationTests = []test{
	{name: "add", run: func(b *bench) {
		k, _ := b.key()
		score := 0.75
		n := store.NewEvaluation{CreatedBy: k.ID, Agent: "agent", Set: "hash", Judge: "judge", Status: proviso.Fail, Score: &score,
			Passed: 3, Failed: 1, Errors: 0, Skipped: 2, Usage: proviso.Usage{Prompt: 1, Completion: 2, Cached: 3, Total: 4, Requests: 5},
			Cost: 0.125, Elapsed: 1500 * time.Microsecond, Request: []byte("\x00question"), Response: []byte("answer")}
		e := must(b.AddEvaluation(b.Context(), n))(b)
		if !strings.HasPrefix(e.ID, store.EvaluationID) {
			b.Errorf("the id is %q", e.ID)
		}
		n.ID = e.ID
		got := must(b.Evaluation(b.Context(), e.ID))(b)
		if got.Score == nil || *got.Score != score {
			b.Errorf("score %v", got.Score)
		}
		got.Score, n.Score, e.Score = nil, nil, nil
		want := store.Evaluation{NewEvaluation: n, Created: start}
		b.equal("returned", e, want)
		b.equal("read back", got, want)
		b.equal("charged", must(b.Key(b.Context(), k.ID))(b).Spent, 0.125)

		listed := must(b.ListEvaluations(b.Context(), store.EvaluationFilter{}, store.Page{}))(b).Items[0]
		want.Request, want.Response, listed.Score = nil, nil, nil
		b.equal("listed", listed, want)
	}},
	{name: "without contents", run: func(b *bench) {
		e := must(b.AddEvaluation(b.Context(), store.NewEvaluation{ID: "eval_mine"}))(b)
		got := must(b.Evaluation(b.Context(), e.ID))(b)
		if got.Request != nil || got.Response != nil || got.Score != nil || got.ID != "eval_mine" {
			b.Errorf("got %+v", got)
		}
	}},
	{name: "mistakes", run: func(b *bench) {
		k, _ := b.key()
		must(b.AddEvaluation(b.Context(), store.NewEvaluation{ID: "eval_1", CreatedBy: k.ID, Cost: 1}))(b)
		b.wants(proviso.Conflict, errorOf(b.AddEvaluation(b.Context(), store.NewEvaluation{ID: "eval_1", CreatedBy: k.ID, Cost: 1})))
		for _, cost := range []float64{-1, math.NaN(), math.Inf(-1)} {
			b.wants(proviso.Invalid, errorOf(b.AddEvaluation(b.Context(), store.NewEvaluation{CreatedBy: k.ID, Cost: cost})))
		}
		b.wants(proviso.Limit, errorOf(b.AddEvaluation(b.Context(), store.NewEvaluation{Request: make([]byte, store.MaxContent+1)})))
		b.wants(proviso.NotFound, errorOf(b.Evaluation(b.Context(), "eval_none")))
		b.equal("charged", must(b.Key(b.Context(), k.ID))(b).Spent, 1.0)
		b.equal("kept", len(all(b, 5, pagesOf(b.ListEvaluations, store.EvaluationFilter{}))), 1)
	}},
	{name: "filters", run: func(b *bench) {
		for i, s := range []proviso.Status{proviso.Pass, proviso.Fail, proviso.Errored, proviso.Skip} {
			for _, agent := range []string{"a", "b"} {
				must(b.AddEvaluation(b.Context(), store.NewEvaluation{CreatedBy: fmt.Sprint("key_", i%2), Agent: agent, Status: s}))(b)
				b.clock.add(time.Second)
			}
		}
		for _, tt := range []struct {
			filter store.EvaluationFilter
			want   int
		}{
			{store.EvaluationFilter{}, 8},
			{store.EvaluationFilter{Agent: "a"}, 4},
			{store.EvaluationFilter{Agent: "a", CreatedBy: "key_0"}, 2},
			{store.EvaluationFilter{Status: []proviso.Status{proviso.Errored}}, 2},
			{store.EvaluationFilter{Status: []proviso.Status{proviso.Pass, proviso.Fail}, Agent: "b"}, 2},
			{store.EvaluationFilter{Since: start.Add(6 * time.Second)}, 2},
			{store.EvaluationFilter{Until: start.Add(6 * time.Second)}, 6},
			{store.EvaluationFilter{Agent: "';"}, 0},
		} {
			if list := all(b, 3, pagesOf(b.ListEvaluations, tt.filter)); len(list) != tt.want {
				b.Errorf("%+v: %d evaluations, want %d", tt.filter, len(list), tt.want)
			}
		}
	}},
	{name: "all at once", run: func(b *bench) {
		k, _ := b.key()
		text := bytes.Repeat([]byte("x"), 5000)
		atOnce(20, func(g int) {
			for i := range 10 {
				n := store.NewEvaluation{CreatedBy: k.ID, Agent: fmt.Sprint(g), Cost: 0.5, Request: text}
				if i == 5 {
					n.ID = "eval_same" // only one call can create it
				}
				e, err := b.AddEvaluation(b.Context(), n)
				if err != nil {
					if i != 5 {
						b.Error(err)
					}
					continue
				}
				if got, err := b.Evaluation(b.Context(), e.ID); err != nil || got.Agent != n.Agent {
					b.Errorf("read back: %+v, %v", got, err)
				}
			}
		})
		b.equal("kept", len(all(b, 100, pagesOf(b.ListEvaluations, store.EvaluationFilter{CreatedBy: k.ID}))), 181)
		b.equal("charged", must(b.Key(b.Context(), k.ID))(b).Spent, 90.5)
	}},
}
