package exported

import (
	"errors"
	"fmt"

	"github.com/proviso-eval/proviso/value"
)

// isLangfusePrompt recognises a version of a prompt of Langfuse's API,
// GET /api/public/v2/prompts/{name}, and a row of the list of prompts, which has no text.
func isLangfusePrompt(o *value.Object) bool {
	_, numbered := o.At("version").(float64)
	_, labels := o.At("labels").([]any)
	kind := o.Text("type")
	if isListOfLangfuse(o) {
		return true
	}
	return numbered && o.Text("name") != "" && o.At("prompt") != nil && (labels || kind == "text" || kind == "chat")
}

// isListOfLangfuse recognises a row of the list of prompts: names with the numbers of
// their versions.
func isListOfLangfuse(o *value.Object) bool {
	versions, ok := o.At("versions").([]any)
	if !ok || !o.Has("lastUpdatedAt") {
		return false
	}
	_, numbers := first(versions).(float64)
	return len(versions) == 0 || numbers
}

func versionOfLangfuse(o *value.Object) (Version, error) {
	if isListOfLangfuse(o) {
		return Version{}, errors.New("this is the list of prompts, which has no texts; get each version: GET /api/public/v2/prompts/NAME?version=N")
	}
	text, ok := PromptText(o.At("prompt"))
	if !ok {
		return Version{}, errors.New("the prompt is neither a text nor a list of messages")
	}
	n, _ := o.At("version").(float64)
	v := Version{Prompt: o.Text("name"), Name: fmt.Sprintf("version %v", n), Text: text, Number: n, Numbered: true, Time: timeOf(o, "createdAt", "updatedAt")}
	if note := textOf(o, "commitMessage"); note != "" {
		v.Name += " " + note
	}
	return v, nil
}
