package conformance

import (
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/assertion"
	"github.com/proviso-eval/proviso/suite"
	"github.com/proviso-eval/proviso/value"
)

// TestEveryTypeInACell checks the parsing of cells against the table of types: each
// has a form in a cell, or a message that it has none.
func TestEveryTypeInACell(t *testing.T) {
	t.Parallel()
	cells := suite.Cells(check.Facts())
	for _, k := range check.Kinds() {
		for _, not := range []string{"", "not-"} {
			a := cells.ParseExpected(not + k.Type + ": x")
			if got, want := a.At("type") == not+k.Type, k.Cell != proviso.CellNone; got != want {
				t.Errorf("%s%s: x is read as %s", not, k.Type, value.Stringify(a))
			}
		}
	}
}

// TestShortFormsOfCells covers the values that docs/assertions.md calls a text, a
// number, a list or a path: they are valid in a cell as in a suite.
func TestShortFormsOfCells(t *testing.T) {
	t.Parallel()
	cells := suite.Cells(check.Facts())
	c := check.New(check.Options{})
	for _, cell := range []string{
		"count: x", "not-count: x", "in-order: a, b", "json-path: $.a", "chars: digits", "chars: emoji", "char-count: 3",
		"word-count: 3", "sentence-count: 1", "line-count: 2", "item-count: 4", "token-count: 9", "contains-all: a, b",
		"contains-any: a, b", "icontains-all: a", "icontains-any: a", "contains: a", "icontains: a", "starts-with: a",
		"ends-with: a", "equals: a", "regex: a+", "levenshtein: a", "bleu: a", "gleu: a", "rouge-n: a", "rouge-l: a", "meteor: a",
		"is-json", "contains-json", "is-xml: a.b", "contains-xml: a.b", "is-sql", "contains-sql", "is-html", "contains-html",
		"is-refusal", "finish-reason: stop", "latency(200)", "cost(0.1)", "perplexity(5)", "perplexity-score(0.5)",
		"tool-call-f1: a, b", "skill-used: a", "guardrails", "is-valid-function-call", "is-valid-openai-tools-call",
		"trace-error-spans: 0", "trajectory:tool-used: a", "similar(0.9): a", "classifier: a", "moderation", "g-eval: a",
		"factuality: a", "llm-rubric: a", "context-recall: a", "model-graded-closedqa: a", "trajectory:goal-success: a",
		"webhook: https://example.com/check",
	} {
		a := assertion.Of(cells.ParseExpected(cell), "/a")
		_, mistakes := c.Compile([]*proviso.Assertion{a})
		for _, m := range mistakes {
			t.Errorf("%s: %v", cell, m)
		}
		if name, _, _ := strings.Cut(strings.TrimPrefix(cell, "not-"), ":"); a.Type == "equals" && name != "equals" {
			t.Errorf("%s is read as equals", cell)
		}
	}
}
