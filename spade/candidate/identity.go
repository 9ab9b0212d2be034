package candidate

import (
	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// Check returns what a candidate checks, without its name.
func Check(c *proviso.Candidate) string {
	o := Object(c, false)
	for _, key := range []string{"id", "description", "metric", "weight", "severity"} {
		o.Delete(key)
	}
	return value.Stringify(o)
}

// TakeProvenance copies provenance, by name, from another list to the candidates that have
// none.
func TakeProvenance(list, others []proviso.Candidate) {
	for i := range list {
		if list[i].Delta.Text != "" {
			continue
		}
		for k := range others {
			if others[k].Name == list[i].Name {
				list[i].Delta, list[i].Category, list[i].Model, list[i].PromptHash = others[k].Delta, others[k].Category, others[k].Model, others[k].PromptHash
			}
		}
	}
}
