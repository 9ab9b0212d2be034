package spade

import (
	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// checkOf returns what a candidate checks, without its name.
func checkOf(c *proviso.Candidate) string {
	o := written(c, false)
	for _, key := range []string{"id", "description", "metric", "weight", "severity"} {
		o.Delete(key)
	}
	return value.Stringify(o)
}

// From copies the provenance of candidates from another list, by name, where they have
// none.
func From(list, others []proviso.Candidate) {
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
