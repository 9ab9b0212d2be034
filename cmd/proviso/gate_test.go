package main

import (
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/gate"
)

// TestGateVotes: an assertion that must pass and depends on one answer of a judge is named.
func TestGateVotes(t *testing.T) {
	t.Parallel()
	head := &side{run: &gate.Run{Rows: []gate.Row{{Verdicts: []gate.Verdict{
		{Assertion: "tone", Judge: "openai:chat:gpt-5"}, {Assertion: "brief"}, {Assertion: "kind", Judge: "openai:chat:gpt-5"},
	}}}}}
	for votes, want := range map[int]string{0: "", 1: `"tone" must pass and depends on one answer`, 3: ""} {
		g := &gating{head: head, votes: votes, rules: proviso.GateRules{MustPass: []string{"brief", "tone"}}}
		g.noteVotes()
		if got := strings.Join(g.notes, "\n"); want == "" && got != "" || !strings.Contains(got, want) || strings.Contains(got, "brief") || strings.Contains(got, "kind") {
			t.Errorf("%d votes: %q, want %q", votes, got, want)
		}
	}
}

// TestGateRulesOver: a flag replaces its key of the suite, and leaves the others.
func TestGateRulesOver(t *testing.T) {
	t.Parallel()
	a, b, c := 0.1, 0.2, 0.3
	n := 80
	own := &proviso.GateRules{Margin: &a, MinScore: &a, MustPass: []string{"x"}, Assertions: map[string]proviso.AssertionRule{"tone": {Min: &a, Margin: &a}, "brief": {Min: &a}}}
	flags := ruleFlags{Margin: &b, MinCases: &n, Assertions: map[string]proviso.AssertionRule{"tone": {Min: &c}}}
	got := flags.over(own)
	if *got.Margin != b || *got.MinScore != a || *got.MinCases != n || got.MustPass[0] != "x" || *got.Assertions["tone"].Min != c || *got.Assertions["tone"].Margin != a || *got.Assertions["brief"].Min != a {
		t.Errorf("%+v", got)
	}
	if *own.Margin != a || *own.Assertions["tone"].Min != a || len(flags.Assertions) != 1 {
		t.Error("the rules of the suite or of the command line changed")
	}
}
