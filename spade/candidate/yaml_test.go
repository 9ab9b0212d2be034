package candidate_test

import (
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/value"
)

// TestYAMLKeepsText writes texts of every kind and reads them again.
func TestYAMLKeepsText(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"def f(a):\n\n    return 'x: # y'  \n\nreturn f(1)\n", "two\nlines", " begins\nwith a blank", "\nbegins with a break", "ends\nin two\n\n",
		"a tab\n\tinside", "a carriage\r\nreturn", "a next line\n\u0085 sign", "a control\n\x1b[31m sign", "- a\n- b", "# a\n# b\n", "a\n---\nb", "x\n", "\n", "%TAG\n!x", "a\n \n  b",
	} {
		c := proviso.Candidate{Name: "a", Assertion: &proviso.Assertion{Raw: value.ObjectOf("type", "contains", "value", text)}}
		yaml := candidate.YAML([]proviso.Candidate{c}, nil)
		list, mistakes := candidate.Read("c.yaml", yaml)
		if err := mistakes.Err(); err != nil || len(list) != 1 || list[0].Assertion.Value != text {
			t.Errorf("%q: %v\n%s", text, err, yaml)
		}
	}
	c := proviso.Candidate{Name: "a", Assertion: &proviso.Assertion{Raw: value.ObjectOf("type", "python", "value", "x = 1\nreturn x\n")}}
	if yaml := string(candidate.YAML([]proviso.Candidate{c}, nil)); !strings.Contains(yaml, "    value: |\n      x = 1\n      return x\n") {
		t.Errorf("%s", yaml)
	}
	turned := proviso.Candidate{Name: "a\u202eb", Assertion: &proviso.Assertion{Raw: value.ObjectOf("type", "contains", "value", "x\u2066y")}}
	if yaml := string(candidate.YAML([]proviso.Candidate{turned}, nil)); strings.ContainsAny(yaml, "\u202e\u2066") || !strings.Contains(yaml, `a\u202eb`) || !strings.Contains(yaml, `x\u2066y`) {
		t.Errorf("%q", yaml)
	}
}
