package spade_test

import (
	"testing"

	"github.com/proviso-eval/proviso/spade"
	"github.com/proviso-eval/proviso/spade/internal/spadetest"
)

// TestCoverCountsWhatRulesCheck: an instruction counts whether or not an assertion
// checks it.
func TestCoverCountsWhatRulesCheck(t *testing.T) {
	t.Parallel()
	const prompt = "Use at most 3 sentences.\nMention {question}.\n{question}"
	c := spadetest.Compiler(t)
	all := propose(t, spade.RuleOptions{Compiler: c}, prompt).Candidates
	if len(all) != 2 {
		t.Fatalf("%+v", all)
	}
	for n, want := range []int{0, 1, 2} {
		cover, err := spade.CoverOf(t.Context(), prompt, all[:n], c)
		if err != nil || cover.Total != 2 || cover.Covered != want {
			t.Errorf("%d assertions: %+v, %v", n, cover, err)
		}
	}
}
