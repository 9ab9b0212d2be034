package judge

import (
	"context"

	"github.com/proviso-eval/proviso"
)

// AskLLM answers yes or no to a question about an output: what the function
// ask_llm(prompt, response, question) of an assertion in code stands for. Without a
// grader nobody answers.
func AskLLM(ctx context.Context, grader proviso.Grader, prompt, response, question string) (bool, error) {
	if grader == nil {
		return false, proviso.Errorf(proviso.Unavailable, "no judge model is configured")
	}
	g, err := grader.Grade(ctx, proviso.Question{
		Type: "judge", Assertion: &proviso.Assertion{ID: "ask_llm", Type: "judge"}, Input: prompt, Output: response,
		Criteria: []proviso.Criterion{{Text: question}},
	})
	return g.Pass, err
}
