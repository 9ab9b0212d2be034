package exported

import (
	"errors"
	"fmt"

	"github.com/proviso-eval/proviso/value"
)

// isPromptLayerPrompt recognises a version of a prompt template of PromptLayer's API,
// GET /prompt-templates, in the form of today and that of LangChain.
func isPromptLayerPrompt(o *value.Object) bool {
	return o.Object("prompt_template") != nil
}

func versionOfPromptLayer(o *value.Object) (Version, error) {
	template := o.Object("prompt_template")
	text, ok := "", false
	if parts, isList := template.At("content").([]any); isList {
		text, ok = partsText(parts)
	} else {
		text, ok = PromptText(template)
	}
	if !ok {
		return Version{}, errors.New("the prompt template has neither content nor messages with a text")
	}
	v := Version{Prompt: textOf(o, "prompt_name", "name"), Text: text, Time: timeOf(o, "created_at")}
	if v.Number, v.Numbered = o.At("version").(float64); v.Numbered {
		v.Name = fmt.Sprintf("version %v", v.Number)
	}
	if note := textOf(o, "commit_message"); note != "" {
		v.Name += " " + note
	}
	return v, nil
}
