package coverage_test

import (
	"testing"

	"github.com/proviso-eval/proviso/spade/coverage"
	"github.com/proviso-eval/proviso/spade/delta"
	"github.com/proviso-eval/proviso/spade/internal/spadetest"
	"github.com/proviso-eval/proviso/spade/rules"
)

// TestCoverCountsWhatRulesCheck: an instruction counts whether or not an assertion
// checks it.
func TestCoverCountsWhatRulesCheck(t *testing.T) {
	t.Parallel()
	const prompt = "Use at most 3 sentences.\nMention {question}.\n{question}"
	c := spadetest.Compiler(t)
	h, err := delta.HistoryOf([]delta.Version{{Text: prompt}})
	if err != nil {
		t.Fatal(err)
	}
	proposed, err := rules.Propose(t.Context(), h, rules.Options{Compiler: c})
	if err != nil || len(proposed.Candidates) != 2 {
		t.Fatalf("%+v, %v", proposed, err)
	}
	all := proposed.Candidates
	for n, want := range []int{0, 1, 2} {
		cover, err := coverage.Of(t.Context(), prompt, all[:n], c)
		if err != nil || cover.Total != 2 || cover.Covered != want {
			t.Errorf("%d assertions: %+v, %v", n, cover, err)
		}
	}
}
