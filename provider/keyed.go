package provider

import (
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// keyed returns ask as answers are found by it: without the id of the run, which
// differs each time, wherever a template put it.
func keyed(ask proviso.Ask) proviso.Ask {
	id, _ := ask.Own.At(proviso.EvalID).(string)
	if id == "" {
		return ask
	}
	ask.Own = ask.Own.Clone()
	ask.Own.Set(proviso.EvalID, proviso.EvalID)
	ask.Prompt = strings.ReplaceAll(ask.Prompt, id, proviso.EvalID)
	ask.Vars = withoutID(ask.Vars, id)
	ask.Config = withoutID(ask.Config, id)
	return ask
}

func withoutID(o *value.Object, id string) *value.Object {
	if o == nil {
		return nil
	}
	text := value.Stringify(o)
	if !strings.Contains(text, id) {
		return o
	}
	v, err := value.ParseJSON(strings.ReplaceAll(text, id, proviso.EvalID))
	if changed, ok := v.(*value.Object); ok && err == nil {
		return changed
	}
	return o
}
