package judge_test

import (
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/fakemodel"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/value"
)

// TestScaleOfRubric: a threshold above 1 means that the rubric sets the scale of the score. On
// proviso's own scale, which ends at 1, every output would fail.
func TestScaleOfRubric(t *testing.T) {
	t.Parallel()
	at := func(f float64) *float64 { return &f }
	for name, tc := range map[string]struct {
		threshold *float64
		score     string
		want      string
	}{
		"reached":       {at(4), "5", "pass"},
		"not reached":   {at(4), "3", "fail"},
		"own scale":     {at(0.8), "1", "pass"},
		"beyond it":     {at(0.8), "5", "error"},
		"no threshold":  {nil, "5", "error"},
		"the threshold": {at(1), "1", "pass"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := fakemodel.New(fakemodel.Options{Reply: func(fakemodel.Request) fakemodel.Reply {
				return fakemodel.Reply{Text: `{"reason":"r","score":` + tc.score + `,"pass":true}`}
			}})
			defer server.Close()
			j := judgeAt(t, server.URL)
			g, err := j.Grade(t.Context(), proviso.Question{Type: "llm-rubric", Value: "Score 1-5.", Output: "It is open.", Threshold: tc.threshold})
			got := "fail"
			switch {
			case err != nil:
				got = "error"
			case g.Pass:
				got = "pass"
			}
			if got != tc.want {
				t.Errorf("%s (%s, %v), want %s", got, g.Reason, err, tc.want)
			}
			system := value.Stringify(server.Last().Body)
			own := tc.threshold == nil || *tc.threshold <= 1
			if strings.Contains(system, "from 0") != own || strings.Contains(system, "on the scale that the rubric sets") == own || strings.Contains(system, "number on that scale") == own {
				t.Errorf("the model is asked with %s", system)
			}
		})
	}
}

// TestScaleInEveryPrompt: each prompt for a rubric names proviso's own scale in the words that
// onScale replaces.
func TestScaleInEveryPrompt(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"llm-rubric", "search-rubric", "agent-rubric"} {
		if own, text := judge.OnScale(name); strings.Count(own, "to 1") != 2 || strings.Contains(text, "to 1") || strings.Count(text, "scale") != 2 {
			t.Errorf("%s: %s", name, text)
		}
	}
}
