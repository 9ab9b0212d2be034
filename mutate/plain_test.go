package mutate_test

import (
	"testing"

	"github.com/proviso-eval/proviso/mutate"
	"github.com/proviso-eval/proviso/spade/delta"
	"github.com/proviso-eval/proviso/value"
)

// TestAssumedOnlyIfPlain: without a check, an instruction is broken only if every word of
// it is understood.
func TestAssumedOnlyIfPlain(t *testing.T) {
	t.Parallel()
	out := &mutate.Output{ID: "a", Text: "Ann, the Velo costs 499 EUR [1]. Our workshop opens at nine [2]. Call the shop about your order.", Vars: value.NewObject(0)}
	for _, x := range []struct {
		text  string
		apart bool
		some  bool
	}{
		{"Do not apologise.", false, true},
		{"Never apologise to customers.", false, true},
		{"Do not apologise more than once.", false, false},
		{"Do not apologise in the first sentence.", false, false},
		{"Apologise at most once.", false, false},
		{"Do not mention prices.", false, true},
		{"Do not mention prices unless asked.", false, false},
		{"Only mention the price if the customer asks.", false, false},
		{"Give the price in EUR.", false, false},
		{"Ask for the order number if it is missing.", false, false},
		{"Don't repeat the question.", false, false},
		{"Do not ask questions.", false, true},
		{"Answer only questions about bicycles.", false, false},
		{"Do not make promises about delivery dates.", false, false},
		{"Never mention other shops by name.", false, false},
		{"Mention competitors.", false, false},
		{"Do not mention competitors.", false, true},
		{"Do not mention competitors.", true, false},
		{"Be polite.", false, true},
		{"Be polite, but not too formal.", false, false},
		{"Use a friendly tone but do not use slang.", false, false},
		{"Keep it brief.", false, true},
		{"Do not summarise.", false, false},
		{"Do not keep it brief.", false, false},
		{"Cite the source as [1].", false, true},
		{"Cite at least two sources.", false, false},
		{"Never cite sources.", false, false},
		{"Never invent facts.", false, true},
		{"Do not round numbers.", false, false},
		{"Numbers are written as digits.", false, false},
		{"Answer in English.", false, true},
		{"Do not answer in English.", false, false},
		{"Explain why.", false, false},
	} {
		in := &mutate.Instruction{Text: x.text, Line: 1, Category: delta.WorkflowDescription, Apart: x.apart}
		if got := mutate.Of(in, out, mutate.Options{}); len(got) > 0 != x.some {
			t.Errorf("%s: %+v", x.text, got)
		}
	}
}
