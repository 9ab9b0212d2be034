package judge

import (
	"context"

	"github.com/proviso-eval/proviso"
)

// judgedType is one type of question: what package judge knows about it besides its row
// in package check's table.
type judgedType struct {
	Type string // assertion type, without "not-"
	// Grade answers a question before negation, which the caller handles. The error
	// explains why there is no verdict; the grade has usage and cost even then. Grade is
	// nil for a type that compares outputs: see [Judge.Choose].
	Grade func(ctx context.Context, j *Judge, q proviso.Question) (proviso.Grade, error)
	// Model returns the provider to use instead of the question's, or an error if the
	// question's provider cannot answer the type. A nil Model accepts any provider.
	Model func(j *Judge, q proviso.Question) (any, error)
	// Check reports invalid settings; nil accepts all settings.
	Check func(q proviso.Question) error
	// Calls is the minimum number of calls per question, 1 if 0. With PerValue, it
	// applies to each text of the question's value.
	Calls    int
	PerValue bool
	// Steps are the keys or indexes of the prompts in a rubricPrompt. If empty, the
	// rubricPrompt is a single prompt.
	Steps []any
}

// kinds returns the types of question that a judge answers, sorted.
func kinds() []judgedType {
	return []judgedType{
		{Type: "agent-rubric", Grade: gradeAgent, Model: agentOf},
		{Type: "answer-relevance", Grade: graded(Text, decideRelevance), Calls: 3},
		{Type: "classifier", Grade: graded(Classification, decideClass)},
		{Type: "context-faithfulness", Grade: graded(Text, decideFaithfulness), Calls: 2, Steps: []any{0, 1}},
		{Type: "context-recall", Grade: graded(Text, decideRecall)},
		{Type: "context-relevance", Grade: graded(Text, decideContext)},
		{Type: "conversation-relevance", Grade: graded(Text, decideConversation), Check: checkWindow},
		{Type: "factuality", Grade: graded(Text, decideFactuality), Check: checkWorth},
		{Type: "g-eval", Grade: graded(Text, decideGEval), Calls: 2, PerValue: true, Steps: []any{"steps", "evaluate"}},
		{Type: judged, Grade: gradeCriteria},
		{Type: "llm-rubric", Grade: graded(Text, decideRubric)},
		{Type: "model-graded-closedqa", Grade: graded(Text, decideClosedQA)},
		{Type: "model-graded-factuality", Grade: graded(Text, decideFactuality), Check: checkWorth},
		{Type: "moderation", Grade: graded(Moderation, decideModeration)},
		{Type: "search-rubric", Grade: gradeSearch, Model: searcherOf},
		{Type: "select-best", Check: checkOrders},
		{Type: "similar", Grade: gradeSimilar},
		{Type: "similar:cosine", Grade: gradeSimilar},
		{Type: "similar:dot", Grade: gradeSimilar},
		{Type: "similar:euclidean", Grade: gradeSimilar},
		{Type: "trajectory:goal-success", Grade: graded(Text, decideGoal)},
	}
}

// kindOf returns the row of a type, or an empty one.
func (j *Judge) kindOf(name string) *judgedType {
	for i := range j.kinds {
		if j.kinds[i].Type == name {
			return &j.kinds[i]
		}
	}
	return &judgedType{}
}
