package classify

import (
	"slices"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/spade/delta"
	"github.com/proviso-eval/proviso/spade/rules"
)

// ByRules classifies the changes of versions without a model, by the words of what changed.
// The rules read English.
func ByRules(changes []delta.Change) []Classified {
	out := make([]Classified, len(changes))
	for i := range changes {
		out[i].Classes = ruled(&changes[i])
		if unread := rules.Unread(changes[i].Text); unread != "" {
			out[i].Notes = append(out[i].Notes, unread)
		}
	}
	return out
}

// leastReworded is the share of the added sentences that reword others from which on a
// version clarifies the prompt; below it, the prompt is written anew.
const leastReworded = 0.25

// ruled classifies one version. A sentence counts for the version in all of its
// categories, and in its own with the first of them. Of a reworded sentence counts what
// only one of its wordings has. What was removed counts only if nothing was added.
func ruled(c *delta.Change) delta.Classes {
	out := delta.Classes{Deltas: make([]string, len(c.Deltas)), Whole: []string{}}
	added, removed, reworded := tally(c.Deltas)
	for i, d := range c.Deltas {
		own := rules.Categories(d)
		count := own
		switch {
		case d.Moved:
			own, count = []string{delta.PromptClarification}, nil
		case d.Former != "":
			count = differing(own, rules.Categories(proviso.Delta{Text: d.Former, Part: d.Part}))
		case !d.Added && added > 0:
			count = nil
		}
		if removed == 0 { // a role in a new prompt clarifies nothing
			count = slices.DeleteFunc(slices.Clone(count), func(c string) bool { return c == delta.PromptClarification })
		}
		out.Deltas[i] = delta.OtherCategory
		if len(own) > 0 {
			out.Deltas[i] = own[0]
		}
		out.Whole = append(out.Whole, count...)
	}
	if reworded > 0 && float64(reworded) >= leastReworded*float64(added) {
		out.Whole = append(out.Whole, delta.PromptClarification)
	}
	out.Whole = inCategoryOrder(out.Whole)
	return out
}

// tally counts sentences that were added, removed and reworded; reworded ones are added,
// too.
func tally(list []proviso.Delta) (added, removed, reworded int) {
	for _, d := range list {
		switch {
		case d.Moved || d.Part == string(delta.Markup):
		case !d.Added:
			removed++
		case d.Former != "":
			reworded++
			added++
		default:
			added++
		}
	}
	return added, removed, reworded
}

// differing returns what only one of two lists has.
func differing(a, b []string) []string {
	var out []string
	for _, x := range slices.Concat(a, b) {
		if slices.Contains(a, x) != slices.Contains(b, x) {
			out = append(out, x)
		}
	}
	return out
}
