// Package classify assigns each change of a prompt to a category, by a model or by rules, and
// measures its agreement with people. Start at [All].
package classify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/internal/shape"
	"github.com/proviso-eval/proviso/spade/ask"
	"github.com/proviso-eval/proviso/spade/delta"
	"github.com/proviso-eval/proviso/spade/internal/format"
	"github.com/proviso-eval/proviso/spade/rules"
	"github.com/proviso-eval/proviso/value"
)

// Classified is a model's classification of the changes of one version.
type Classified struct {
	delta.Classes
	Notes []string // notes for the user
	Spent ask.Spent
}

// ClassesOf returns the categories in classifications.
func ClassesOf(list []Classified) []delta.Classes {
	out := make([]delta.Classes, len(list))
	for i := range list {
		out[i] = list[i].Classes
	}
	return out
}

// classifyReply is the shape of the answer.
func classifyReply() *proviso.Reply {
	return shape.Reply("categories",
		"changes", shape.List(shape.Object("n", shape.Of("integer"), "category", shape.Enum(delta.Categories...))),
		"whole", shape.List(shape.Enum(delta.Categories...)),
	)
}

// Limits of a question about one version.
const (
	maxClassified     = 120
	maxClassifiedSize = 48 << 10
)

// All asks a model for the categories of each version's changes, for at most concurrency
// versions at once (0 means 4). A version without an answer has an error, and the others
// continue. If ctx ends, the remaining versions have its error.
func All(ctx context.Context, changes []delta.Change, m *ask.Model, concurrency int) []Classified {
	out := make([]Classified, len(changes))
	_ = ask.Each(ctx, len(changes), concurrency, func(ctx context.Context, i int) error {
		out[i] = classify(ctx, &changes[i], m)
		return nil
	}) // a version cut off by ctx has its error
	return out
}

// classify asks the model about one version.
func classify(ctx context.Context, c *delta.Change, m *ask.Model) Classified {
	out := Classified{Classes: delta.Classes{Deltas: make([]string, len(c.Deltas))}}
	if out.Err = ctx.Err(); out.Err != nil {
		return out
	}
	var lines []*value.Object
	var asked []int // delta of each line
	size := 0
	for i, d := range c.Deltas {
		if d.Moved {
			out.Deltas[i] = delta.PromptClarification // the same words in another place
			continue
		}
		if size += min(len(d.Text), delta.MaxSentence); len(lines) == maxClassified || size > maxClassifiedSize {
			out.Notes = append(out.Notes, fmt.Sprintf("the first %d of %d changes were shown", len(lines), len(c.Deltas)))
			break
		}
		lines = append(lines, value.ObjectOf("n", float64(len(lines)+1), "change", delta.Kind(d), "text", excerpt.Head(d.Text, delta.MaxSentence)))
		asked = append(asked, i)
	}
	if len(lines) == 0 {
		return out // only positions and white space changed
	}
	if len(c.Text) > ask.MaxPromptShown {
		out.Notes = append(out.Notes, fmt.Sprintf("the prompt has %d bytes, of which the beginning and the end were shown, %d in all", len(c.Text), ask.MaxPromptShown))
	}
	d := ask.Begin(m, "classify", classifyReply(), 4096, []ask.Piece{{Name: "prompt", Text: format.MiddleOut(c.Text, ask.MaxPromptShown)}, {Name: "changes", Text: ask.JSONLines(lines)}})
	out.Err = d.Ask(ctx, func(text string) error {
		whole, each, err := readClasses(text, len(lines))
		if err == nil {
			out.Whole = whole
			for n, category := range each {
				out.Deltas[asked[n]] = category
			}
		}
		return err
	})
	out.Spent = d.Spent
	return out
}

// readClasses reads the categories of n changes and of the whole version.
func readClasses(text string, n int) (whole, each []string, err error) {
	o, list, err := ask.ListIn(text, "changes")
	if err != nil {
		return nil, nil, err
	}
	all, ok := o.At("whole").([]any)
	if !ok {
		return nil, nil, errors.New(`it has no list under "whole"`)
	}
	for _, v := range all {
		category, ok := delta.CategoryNamed(value.ToString(v))
		if !ok {
			return nil, nil, fmt.Errorf("whole has what is no category: %s", format.Excerpt(value.ToString(v)))
		}
		whole = append(whole, category)
	}
	each = make([]string, n)
	for _, v := range list {
		entry, _ := v.(*value.Object)
		at, _ := entry.At("n").(float64)
		category, ok := delta.CategoryNamed(entry.Text("category"))
		switch {
		case at != float64(int(at)) || at < 1 || int(at) > n:
			return nil, nil, fmt.Errorf("an entry of changes has an n that is not one of 1 to %d", n)
		case !ok:
			return nil, nil, fmt.Errorf("an entry of changes has what is no category: %s", format.Excerpt(entry.Text("category")))
		case each[int(at)-1] != "" && each[int(at)-1] != category:
			return nil, nil, fmt.Errorf("change %d has two categories", int(at))
		}
		each[int(at)-1] = category
	}
	if i := slices.Index(each, ""); i >= 0 {
		return nil, nil, fmt.Errorf("changes has no entry for %d, and one is needed for each of 1 to %d", i+1, n)
	}
	return inCategoryOrder(whole), each, nil
}

// inCategoryOrder sorts categories in the order of [delta.Categories] and removes repeats.
func inCategoryOrder(list []string) []string {
	slices.SortFunc(list, func(a, b string) int {
		return cmp.Compare(slices.Index(delta.Categories, a), slices.Index(delta.Categories, b))
	})
	return slices.Compact(list)
}

// ByRules classifies the changes of versions without a model, by the words of the changes. The
// rules read English.
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

// leastReworded is the minimum share of rewordings among the added sentences for a version to
// clarify the prompt; below it, the prompt counts as rewritten.
const leastReworded = 0.25

// ruled classifies one version. A sentence counts for the version in all of its categories,
// and for itself in the first of them. A reworded sentence counts by the words that only one
// of its wordings has. Removed text counts only if nothing was added.
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

// tally counts the sentences that were added, removed and reworded; a reworded sentence also
// counts as added.
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

// differing returns the members that only one of two lists has.
func differing(a, b []string) []string {
	var out []string
	for _, x := range slices.Concat(a, b) {
		if slices.Contains(a, x) != slices.Contains(b, x) {
			out = append(out, x)
		}
	}
	return out
}
