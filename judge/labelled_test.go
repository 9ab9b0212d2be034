package judge_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/judge/align"
	"github.com/proviso-eval/proviso/suite"
)

// labelledAssertion is a line of testdata/labelled/labels.jsonl.
type labelledAssertion struct {
	Case, Assertion, Human string
	Criteria               []struct{ Label, Why string }
}

// TestLabelledCases checks the labels in testdata/labelled against their suite: a missing
// label would measure a judge on the wrong criteria.
func TestLabelledCases(t *testing.T) {
	t.Parallel()
	folder := filepath.Join("testdata", "labelled")
	data, err := os.ReadFile(filepath.Join(folder, "labels.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := align.ReadLabels("labels.jsonl", bytes.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	var labels []labelledAssertion
	for line := range strings.Lines(string(data)) {
		var l labelledAssertion
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatalf("%s%v", line, err)
		}
		labels = append(labels, l)
	}
	s, mistakes := suite.Read(context.Background(), []string{filepath.Join(folder, "proviso.yaml")}, suite.Options{})
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	cases, at := 0, 0
	count := map[string]int{}
	for c, err := range s.Cases() {
		if err != nil {
			t.Fatal(err)
		}
		cases++
		for _, a := range c.Assert {
			if at == len(labels) {
				t.Fatalf("%s/%s: no label", c.ID, a.ID)
			}
			checkLabels(t, c.ID, a, labels[at])
			for _, l := range labels[at].Criteria {
				count[l.Label]++
			}
			at++
		}
	}
	if at != len(labels) {
		t.Errorf("%d labels, %d assertions", len(labels), at)
	}
	all := count["met"] + count["not_met"] + count["cannot_tell"]
	if share := float64(count["not_met"]) / float64(all); cases < 60 || all < 150 || share < 0.4 || share > 0.5 || count["cannot_tell"] < 10 {
		t.Errorf("%d cases, %d criteria, of which %v: too few, or too unlike, to measure both kinds of error", cases, all, count)
	}
}

// checkLabels checks that l labels every criterion of a, and that its verdict follows
// from them: pass if all are met, fail if one is not, none if nobody can tell.
func checkLabels(t *testing.T, id string, a *proviso.Assertion, l labelledAssertion) {
	t.Helper()
	if l.Case != id || l.Assertion != a.ID || len(l.Criteria) != len(a.Criteria) {
		t.Fatalf("%s/%s has %d criteria; the label is of %s/%s and has %d", id, a.ID, len(a.Criteria), l.Case, l.Assertion, len(l.Criteria))
	}
	if n := len(l.Criteria); n < 1 || n > 4 {
		t.Errorf("%s/%s has %d criteria", id, a.ID, n)
	}
	human := "pass"
	for i, c := range l.Criteria {
		switch {
		case c.Why == "":
			t.Errorf("%s/%s: no reason for the label of %q", id, a.ID, a.Criteria[i].Text)
		case c.Label == "not_met":
			human = "fail"
		case c.Label == "cannot_tell" && human == "pass":
			human = ""
		case c.Label != "met" && c.Label != "cannot_tell":
			t.Errorf("%s/%s: label %q", id, a.ID, c.Label)
		}
	}
	if l.Human != human {
		t.Errorf("%s/%s: the verdict is %q; it follows from the criteria that it is %q", id, a.ID, l.Human, human)
	}
}
