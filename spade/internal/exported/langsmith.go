package exported

import (
	"errors"
	"strings"

	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/value"
)

// isLangSmithCommit recognises a commit of the LangSmith hub: GET /commits/{owner}/{repo} and
// GET /commits/{owner}/{repo}/{commit}.
func isLangSmithCommit(o *value.Object) bool {
	return o.Text("commit_hash") != "" && (o.Has("manifest") || o.Has("manifest_id") || o.Has("repo_id"))
}

func versionOfLangSmith(o *value.Object) (Version, error) {
	text, ok := PromptText(o.At("manifest"))
	if !ok {
		return Version{}, errors.New("the commit " + o.Text("commit_hash") + " has no manifest with a prompt")
	}
	hash := o.Text("commit_hash")
	v := Version{Prompt: strings.TrimSuffix(o.Text("full_name"), ":"+hash), Name: hash, Text: text, Time: TimeOf(o, "created_at", "updated_at")}
	return v, nil
}

// isLangSmithRun recognises a run (a trace or a part of one) as LangSmith's API and user
// interface export it: run_type, inputs and outputs.
func isLangSmithRun(o *value.Object) bool {
	return o.Text("run_type") != "" && (o.Has("inputs") || o.Has("outputs") || o.Has("trace_id"))
}

func outputOfLangSmith(o *value.Object) (out Output, skipped string) {
	out = Output{ID: textOf(o, "id"), Time: TimeOf(o, "start_time", "end_time")}
	out.part = textOf(o, "parent_run_id") != ""
	out.isModel = o.Text("run_type") == "llm"
	if textOf(o, "error") != "" {
		return out, "they ended with an error"
	}
	if out.Value = answerOfLangSmith(o.At("outputs")); out.Value == nil || out.Value == "" {
		return out, "they have no output"
	}
	out.asked(o.At("inputs"))
	if feedback := o.Object("feedback_stats"); feedback != nil {
		for name, v := range feedback.All() {
			if stats, ok := v.(*value.Object); ok {
				out.feedback(name, stats)
			}
		}
	}
	out.labelIn(o, "", false, "label")
	out.labelIn(o.Object("extra").Object("metadata"), "/extra/metadata", false, "label")
	return out, ""
}

// feedback reads people's feedback under a name: the mean of numbers, if it is one person's or
// people agree, or the words that they chose.
func (o *Output) feedback(name string, stats *value.Object) {
	at := document.Join("/feedback_stats", name)
	words := stats.Object("values")
	var given opinion
	given.of(stats.At("avg"))
	if byPeople(name) {
		if mean, ok := stats.At("avg").(float64); ok && (mean <= 0 || mean >= 1 || stats.At("n") == 1.0) { // otherwise people disagree
			o.score(name, mean, at, false)
		}
	} else if isNearlyLabel(name) && (given != opinion{} || words.Len() > 0) {
		o.slips = append(o.slips, slip{at: at, key: true, message: "the key " + value.Stringify(name) + " holds a label", meant: "label"})
	}
	if words == nil || !byPeople(name) {
		return
	}
	for word := range words.All() {
		o.score(name, word, document.Join(at+"/values", word), true)
	}
}

// answerOfLangSmith finds the answer: a chain's output, or the text of a model's first
// generation.
func answerOfLangSmith(v any) any {
	o, ok := v.(*value.Object)
	if !ok {
		return answered(v)
	}
	if list, ok := o.At("generations").([]any); ok {
		g := first(list)
		if inner, nested := g.([]any); nested {
			g = first(inner)
		}
		if g, ok := g.(*value.Object); ok {
			if text := textOf(g, "text"); text != "" {
				return text
			}
			return answered(g.At("message"))
		}
	}
	if inner, ok := o.Get("output"); ok {
		return answered(inner)
	}
	return answered(o)
}
