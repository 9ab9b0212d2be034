package judge_test

import (
	"context"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/fakejudge"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/value"
)

// instant is a judge that answers at once and records nothing.
type instant struct{ reply string }

func (instant) ID() string { return "instant" }

func (i instant) Answer(context.Context, proviso.Ask) (proviso.Output, error) {
	return proviso.Output{Value: i.reply}, nil
}

// BenchmarkEvaluate measures the overhead of an evaluation besides the judge: a request
// with four assertions, twelve criteria and a check, on an output of 4 KB.
func BenchmarkEvaluate(b *testing.B) {
	list := []judge.Assertion{
		wants("a", "1", "2", "3"), wants("b", "4", "5", "6"), wants("c", "7", "8"), wants("d", "9", "10", "11", "12"),
		{ID: "e", Check: value.ObjectOf("type", "contains", "value", "word")},
	}
	f := &fake{}
	r := &judge.Request{Input: "What is new?", Output: strings.Repeat("A word. ", 512), Assertions: list}
	request(b, one(b, f, func(o *judge.Options) { o.Chunk = 100 }), r)
	j, err := judge.New(judge.Options{Chunk: 100, Judges: []judge.Seat{{Provider: instant{fakejudge.Honest(f.Calls()[0])}, Identity: "i"}}})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if out, err := j.Evaluate(b.Context(), r); err != nil || out.Passed != 5 {
			b.Fatal(out, err)
		}
	}
}
