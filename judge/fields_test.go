package judge_test

import (
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/fakemodel"
)

// TestRubricAtOdds: a contradictory graded reply decides nothing, and does not make a
// negated assertion pass either.
func TestRubricAtOdds(t *testing.T) {
	t.Parallel()
	const met, not = `{"reason":"r","score":1,"pass":true}`, `{"reason":"r","score":0,"pass":false}`
	for reply, want := range map[string]string{
		met:                                   "pass",
		not:                                   "fail",
		"```json\n" + met + "\n```":           "pass",
		met + " I hope that helps.":           "pass",
		not + " So the rubric is not met.":    "fail",
		met + ` Wait: {"pass":false,"reas`:    "error",
		met + " Final answer: this fails.":    "error",
		met + ` Final: {"passed":false}`:      "error",
		met + ` Final: {"final":` + not + "}": "error",
		not + " Final answer: it passes.":     "error",
		`{"reason":"r","score":1,"pass":true,"Pass":false}`:               "error",
		`{"reason":"r","score":1,"pass":true,"final_verdict":"fail"}`:     "error",
		`{"reason":"r","score":1,"pass":true,"corrected":{"pass":false}}`: "error",
		`{"reason":"r","score":1,"pass":true,"parts":[{"pass":false}]}`:   "error",
	} {
		t.Run(reply, func(t *testing.T) {
			t.Parallel()
			server := fakemodel.New(fakemodel.Options{Reply: func(fakemodel.Request) fakemodel.Reply { return fakemodel.Reply{Text: reply} }})
			defer server.Close()
			j := judgeAt(t, server.URL)
			g, err := j.Grade(t.Context(), proviso.Question{Type: "llm-rubric", Value: "names the city", Output: "It is open."})
			got := "fail"
			switch {
			case err != nil:
				got = "error"
			case g.Pass:
				got = "pass"
			}
			if got != want {
				t.Errorf("%s (%s, %v), want %s", got, g.Reason, err, want)
			}
		})
	}
}
