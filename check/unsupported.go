package check

import "slices"

// unsupported are promptfoo's types that this version cannot decide, with what
// they need, sorted.
var unsupported = []struct{ Type, Needs string }{
	{"agent-rubric", judge},
	{"answer-relevance", judge},
	{"classifier", "a classifier"},
	{"context-faithfulness", judge},
	{"context-recall", judge},
	{"context-relevance", judge},
	{"conversation-relevance", judge},
	{"factuality", judge},
	{"g-eval", judge},
	{"human", "a person"},
	{"judge", judge},
	{"llm-rubric", judge},
	{"model-graded-closedqa", judge},
	{"model-graded-factuality", judge},
	{"moderation", "a moderator"},
	{"pi", "a remote service"},
	{"python", "a Python interpreter"},
	{"ruby", "a Ruby interpreter"},
	{"search-rubric", judge},
	{"similar", embeddings},
	{"similar:cosine", embeddings},
	{"similar:dot", embeddings},
	{"similar:euclidean", embeddings},
	{"trace-error-spans", trace},
	{"trace-span-count", trace},
	{"trace-span-duration", trace},
	{"trajectory:goal-success", trace},
	{"trajectory:step-count", trace},
	{"trajectory:tool-args-match", trace},
	{"trajectory:tool-sequence", trace},
	{"trajectory:tool-used", trace},
}

const (
	judge      = "a model that judges"
	embeddings = "a model that embeds"
	trace      = "a trace"
)

// Unsupported returns what a type of promptfoo that this version does not have
// would need; ok is false for any other type.
func Unsupported(base string) (needs string, ok bool) {
	i := slices.IndexFunc(unsupported, func(u struct{ Type, Needs string }) bool { return u.Type == base })
	if i < 0 {
		return "", false
	}
	return unsupported[i].Needs, true
}
