package judge

import (
	"context"

	"github.com/proviso-eval/proviso"
)

// kind is one type of question.
type kind struct {
	Type string // assertion type, without "not-"
	// Grade answers a question before negation, which the caller handles. The error
	// explains why there is no verdict; the grade has usage and cost even then.
	Grade func(ctx context.Context, j *Judge, q proviso.Question) (proviso.Grade, error)
}

// kinds are the types of question that a judge answers, sorted.
func kinds() []kind {
	return []kind{
		{Type: "agent-rubric", Grade: gradeAgent},
		{Type: "answer-relevance", Grade: graded(Text, decideRelevance)},
		{Type: "classifier", Grade: graded(Classification, decideClass)},
		{Type: "context-faithfulness", Grade: graded(Text, decideFaithfulness)},
		{Type: "context-recall", Grade: graded(Text, decideRecall)},
		{Type: "context-relevance", Grade: graded(Text, decideContext)},
		{Type: "conversation-relevance", Grade: graded(Text, decideConversation)},
		{Type: "factuality", Grade: graded(Text, decideFactuality)},
		{Type: "g-eval", Grade: graded(Text, decideGEval)},
		{Type: judged, Grade: gradeCriteria},
		{Type: "llm-rubric", Grade: graded(Text, decideRubric)},
		{Type: "model-graded-closedqa", Grade: graded(Text, decideClosedQA)},
		{Type: "model-graded-factuality", Grade: graded(Text, decideFactuality)},
		{Type: "moderation", Grade: graded(Moderation, decideModeration)},
		{Type: "search-rubric", Grade: gradeSearch},
		{Type: "similar", Grade: gradeSimilar},
		{Type: "similar:cosine", Grade: gradeSimilar},
		{Type: "similar:dot", Grade: gradeSimilar},
		{Type: "similar:euclidean", Grade: gradeSimilar},
		{Type: "trajectory:goal-success", Grade: graded(Text, decideGoal)},
	}
}
