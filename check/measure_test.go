package check_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/assertion"
	"github.com/proviso-eval/proviso/value"
)

// prose returns n common words.
func prose(r *rand.Rand, n int) []string {
	common := strings.Fields("the of and to in a is that for it as was with be by on not he his but at are this have from or had an " +
		"they which one you were all her she there would their we him been has when who will no more if out so up said what its about")
	words := make([]string, n)
	for i := range words {
		words[i] = common[r.IntN(len(common))]
	}
	return words
}

// changed replaces one word in twelve.
func changed(r *rand.Rand, words []string) string {
	out := prose(r, len(words))
	for i, w := range words {
		if r.IntN(12) > 0 {
			out[i] = w
		}
	}
	return strings.Join(out, " ")
}

func compile(b *testing.B, list ...*value.Object) *check.Set {
	b.Helper()
	assertions := make([]*proviso.Assertion, len(list))
	for i, o := range list {
		assertions[i] = assertion.Of(o, "")
	}
	set, mistakes := check.New(check.Options{}).Compile(assertions)
	if len(mistakes) > 0 {
		b.Fatal(mistakes[0])
	}
	return set
}

// BenchmarkMeasures decides one assertion of each type that counts or compares,
// on a text of 200 words.
func BenchmarkMeasures(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	words := prose(r, 200)
	reference, latency, cost := strings.Join(words, " "), time.Second, 0.1
	output := &proviso.Output{
		Value: changed(r, words), Latency: &latency, Cost: &cost, FinishReason: "stop", LogProbs: make([]float64, 200),
	}
	for _, c := range []struct {
		typ              string
		value, threshold any
	}{
		{"bleu", reference, 0.3}, {"gleu", reference, 0.3}, {"meteor", reference, 0.3}, {"rouge-l", reference, 0.3}, {"rouge-n", reference, 0.3},
		{"levenshtein", reference, 100.0}, {"levenshtein", reference, 1e6},
		{"word-count", 200.0, nil}, {"char-count", value.ObjectOf("max", 1e4), nil}, {"sentence-count", 1.0, nil},
		{"line-count", 1.0, nil}, {"item-count", 0.0, nil}, {"token-count", value.ObjectOf("max", 1e4), nil},
		{"count", "the", nil}, {"count", value.ObjectOf("regex", "t\\w+"), nil}, {"in-order", []any{"the", "of"}, nil}, {"chars", "emoji", nil},
		{"chars", "upper", nil}, {"is-refusal", nil, nil}, {"cost", nil, 1.0}, {"latency", nil, 5000.0}, {"perplexity", nil, 2.0},
		{"perplexity-score", nil, 0.1}, {"finish-reason", "stop", nil},
	} {
		o := value.ObjectOf("type", c.typ)
		if c.value != nil {
			o.Set("value", c.value)
		}
		if c.threshold != nil {
			o.Set("threshold", c.threshold)
		}
		set := compile(b, o)
		b.Run(c.typ, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if v := set.Eval(b.Context(), &check.Row{Output: output}); v[0].Status == proviso.Errored {
					b.Fatal(v[0].Reason)
				}
			}
		})
	}
}

// BenchmarkMetricsRow compiles and decides a row of the metrics workload: rouge-n,
// bleu and gleu with one reference of its own.
func BenchmarkMetricsRow(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	rows := make([][2]string, 256)
	for i := range rows {
		words := prose(r, 200)
		rows[i] = [2]string{changed(r, words), strings.Join(words, " ")}
	}
	c := check.New(check.Options{})
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		row := rows[i%len(rows)]
		var list []*proviso.Assertion
		for _, t := range []string{"rouge-n", "bleu", "gleu"} {
			list = append(list, &proviso.Assertion{Type: t, Value: row[1], Threshold: 0.3})
		}
		set, _ := c.Compile(list)
		for _, v := range set.Eval(b.Context(), &check.Row{Output: &proviso.Output{Value: row[0]}}) {
			if v.Status != proviso.Pass {
				b.Fatal(v.Reason)
			}
		}
	}
}

// TestOverlapsAreShared decides the same metrics twice on one row, and with full
// stops that only one of them keeps.
func TestOverlapsAreShared(t *testing.T) {
	t.Parallel()
	c := check.New(check.Options{})
	for _, output := range []string{"It rained today.", "It rained today", "It. rained. today."} {
		row := &check.Row{Output: &proviso.Output{Value: output}}
		var together []string
		for _, typ := range []string{"rouge-n", "bleu", "gleu", "bleu", "gleu"} {
			a := &proviso.Assertion{Type: typ, Value: "It rained today", Threshold: 0.0}
			alone := c.Decide(t.Context(), a, &check.Row{Output: row.Output}).Score
			if got := c.Decide(t.Context(), a, row).Score; got != alone {
				t.Errorf("%s of %q scores %v, alone %v", typ, output, got, alone)
			}
			together = append(together, fmt.Sprint(alone))
		}
		if together[1] != together[3] || together[2] != together[4] {
			t.Errorf("scores of %q differ: %v", output, together)
		}
	}
}
