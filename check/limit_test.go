package check_test

import (
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/assertion"
	"github.com/proviso-eval/proviso/value"
)

// TestLongOutputs: a very long text leaves metrics that split it into words
// undecided, even if they are negated.
func TestLongOutputs(t *testing.T) {
	t.Parallel()
	c := compiler(t)
	row := &check.Row{Output: &proviso.Output{Value: strings.Repeat("word ", 1<<20)}, Vars: value.NewObject(0)}
	for _, name := range []string{"rouge-n", "not-bleu", "gleu", "meteor", "rouge-l"} {
		v := c.Decide(t.Context(), assertion.Of(value.ObjectOf("type", name, "value", "word"), ""), row)
		if v.Status != proviso.Errored || !strings.Contains(v.Reason, "4 MiB") {
			t.Errorf("%s is %s: %s", name, v.Status, v.Reason)
		}
	}
	v := c.Decide(t.Context(), assertion.Of(value.ObjectOf("type", "contains", "value", "word"), ""), row)
	if v.Status != proviso.Pass {
		t.Errorf("contains is %s: %s", v.Status, v.Reason)
	}
}
