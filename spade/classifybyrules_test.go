package spade_test

import (
	"os"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/spade/classify"
	"github.com/proviso-eval/proviso/spade/delta"
)

func TestByRules(t *testing.T) {
	t.Parallel()
	for _, x := range []struct{ name, before, after, whole, each string }{
		{"added", "", "Answer in at most 3 sentences.\nDo not use emojis.\n{question}", "WorkflowDescription DataIntegration Quantity Exclusion", "Quantity Exclusion DataIntegration"},
		{"reworded", "Write a long poem about the sea.", "Write a long poem about the ocean.", "PromptClarification", "WorkflowDescription WorkflowDescription"},
		{"a variable in it", "Write a long poem about the {sea}.", "Write a long poem about the ocean.", "PromptClarification DataIntegration", "WorkflowDescription WorkflowDescription"},
		{"removed", "Never lie.\nA.", "A.", "Exclusion", "Exclusion"},
		{"an example", "", "<example>\nNever lie.\n</example>", "ExampleDemonstration", "ExampleDemonstration"},
		{"moved", "One is here.\nTwo is here.", "Two is here.\nOne is here.", "", "PromptClarification"},
		{"a role", "", "You are a poet.", "", "PromptClarification"},
	} {
		h := historyOf(t, x.before+"\n\n", x.after)
		got := classify.ByRules(h.Changes[1:])[0]
		if whole, each := strings.Join(got.Whole, " "), strings.Join(got.Deltas, " "); whole != x.whole || each != x.each {
			t.Errorf("%s: %q, %q; want %q, %q", x.name, whole, each, x.whole, x.each)
		}
	}
	h := historyOf(t, "Trả lời ngắn gọn, không quá 3 câu.")
	if notes := classify.ByRules(h.Changes)[0].Notes; len(notes) != 1 || !strings.Contains(notes[0], "Vietnamese") {
		t.Errorf("%q", notes)
	}
}

// TestByRulesOnPublishedTaxonomy scores the rules on the paper's data, on which its model has
// an F1 of 0.809. The rules were written by looking only at the even rows.
func TestByRulesOnPublishedTaxonomy(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(published)
	if err != nil {
		t.Skip("the data are not here")
	}
	list, mistakes := classify.ReadLabelled("taxonomy.jsonl", data)
	if err := mistakes.Err(); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		rows        string
		from, steps int
		least       float64
	}{{"all", 0, 1, 0.76}, {"even", 0, 2, 0.71}, {"odd", 1, 2, 0.8}} {
		var some []classify.LabelledChange
		var said [][]string
		for i := x.from; i < len(list); i += x.steps {
			some = append(some, list[i])
			said = append(said, classify.ByRules([]delta.Change{list[i].Change})[0].Whole)
		}
		s := classify.ScoreOf(some, said)
		f, ok := s.Micro.F1()
		t.Logf("%s rows: F1 %.3f, exact %d of %d", x.rows, f, s.Exact, s.Rows)
		for _, c := range append(s.Categories, s.Groups...) {
			one, _ := c.F1()
			t.Logf("  %-22s %.3f", c.Category, one)
		}
		if !ok || f < x.least {
			t.Errorf("%s rows: F1 %.3f, less than %.3f", x.rows, f, x.least)
		}
	}
}
