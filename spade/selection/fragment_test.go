package selection_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/spade/selection"
	"github.com/proviso-eval/proviso/suite"
)

// TestFragmentIsASuite reads the fragment as part of a suite.
func TestFragmentIsASuite(t *testing.T) {
	t.Parallel()
	list := candidates(t, "c.yaml", candidatesText)
	m := read(t, small)
	s, err := selection.Select(context.Background(), m, nil, selection.Options{Method: "cov", Alpha: 1, Tau: 0})
	if err != nil {
		t.Fatal(err)
	}
	for each, want := range map[bool]string{false: "assertions:", true: "defaultTest:"} {
		text, err := s.Fragment(list, each)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{want, "# They catch 3 of 3 bad outputs and fail 0 of 4 good ones (alpha 1, tau 0).",
			"# short: catches 1 of 3 bad, 1 of them alone; fails 0 of 4 good",
			"# from version 2, line 4, added: Answer in at most 3 sentences.; Quantity; proposed by a rule"} {
			if !strings.Contains(string(text), part) {
				t.Errorf("%q is missing in\n%s", part, text)
			}
		}
		file := filepath.Join(t.TempDir(), "proviso.yaml")
		whole := "prompts: [hi]\nproviders: [echo]\ntests: [{vars: {a: 1}}]\n" + string(text)
		if err := os.WriteFile(file, []byte(whole), 0o600); err != nil {
			t.Fatal(err)
		}
		read, mistakes := suite.Read(context.Background(), []string{file}, suite.Options{})
		if err := mistakes.Err(); err != nil {
			t.Fatalf("%v in\n%s", err, whole)
		}
		for c, err := range read.Cases() {
			if err != nil || len(c.Set)+len(c.Assert) != 2 {
				t.Errorf("%d assertions, %v, in\n%s", len(c.Set)+len(c.Assert), err, whole)
			}
		}
	}
	if _, err := s.Fragment(list[1:], false); err == nil || !strings.Contains(err.Error(), `no candidate has the name "short"`) {
		t.Errorf("%v", err)
	}
}

const candidatesText = `assertions:
  - id: short
    description: At most 3 sentences.
    type: sentence-count
    value: {max: 3}
    config: {spade: {category: Quantity, version: 2, line: 4, text: "Answer in at most 3 sentences."}}
  - id: polite
    instruction: Be polite.
    criteria: [The answer is polite., "It blames nobody: # not even \"him\"\u0085"]
  - id: cites
    type: not-contains-any
    value: ["yes", no, "1", "a, b", ""]
    ignoreCase: true
    scope: {section: {from: "## Sources"}, each: item, match: any}
    config: {other: 1, spade: {model: m, prompt: sha256:00, version: 3, change: removed, text: x}}
`

func candidates(t *testing.T, file, text string) []proviso.Candidate {
	t.Helper()
	list, mistakes := candidate.Read(file, []byte(text))
	if err := mistakes.Err(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return list
}
