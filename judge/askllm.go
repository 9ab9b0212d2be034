package judge

import (
	"context"

	"github.com/proviso-eval/proviso"
)

// AskLLM answers a yes-or-no question about an output. It implements the function
// ask_llm(prompt, response, question) for code in assertions. A nil grader is an
// error.
func AskLLM(ctx context.Context, grader proviso.Grader, prompt, response, question string) (bool, error) {
	if grader == nil {
		return false, proviso.Errorf(proviso.Unavailable, "no judge model is configured")
	}
	g, err := grader.Grade(ctx, proviso.Question{
		Type: proviso.TypeJudge, Assertion: &proviso.Assertion{ID: "ask_llm", Type: proviso.TypeJudge}, Input: prompt, Output: response,
		Criteria: []proviso.Criterion{{Text: question}},
	})
	return g.Pass, err
}
