package spade

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// Classified is a model's classification of the changes of one version.
type Classified struct {
	Classes
	Notes []string // notes for the user
	Spent Spent
}

// ClassesOf returns the categories in classifications.
func ClassesOf(list []Classified) []Classes {
	out := make([]Classes, len(list))
	for i := range list {
		out[i] = list[i].Classes
	}
	return out
}

// classifyReply is the shape of the answer.
func classifyReply() *proviso.Reply {
	return &proviso.Reply{Name: "categories", Schema: strictObject(
		"changes", listOf(strictObject("n", schemaOf("integer"), "category", oneOf(Categories))),
		"whole", listOf(oneOf(Categories)),
	)}
}

// Limits of what a model is asked about one version.
const (
	maxClassified     = 120
	maxClassifiedSize = 48 << 10
)

// Classify asks a model for the categories of the changes of each version, for as many
// versions at once as concurrency allows (0 is 4). A version without an answer has an
// error, and the others go on. If ctx ends, the remaining versions have its error.
func Classify(ctx context.Context, changes []Change, m *Model, concurrency int) []Classified {
	out := make([]Classified, len(changes))
	next := make(chan int)
	var wait sync.WaitGroup
	for range cmp.Or(max(concurrency, 0), DefaultQuestions) {
		wait.Go(func() {
			for i := range next {
				out[i] = classify(ctx, &changes[i], m)
			}
		})
	}
	for i := range changes {
		next <- i
	}
	close(next)
	wait.Wait()
	return out
}

// classify asks about one version.
func classify(ctx context.Context, c *Change, m *Model) Classified {
	out := Classified{Classes: Classes{Deltas: make([]string, len(c.Deltas))}}
	if out.Err = ctx.Err(); out.Err != nil {
		return out
	}
	var lines []*value.Object
	var asked []int // the delta of each line
	size := 0
	for i, d := range c.Deltas {
		if d.Moved {
			out.Deltas[i] = PromptClarification // the same words in another place
			continue
		}
		if size += min(len(d.Text), MaxSentence); len(lines) == maxClassified || size > maxClassifiedSize {
			out.Notes = append(out.Notes, fmt.Sprintf("the first %d of %d changes were shown", len(lines), len(c.Deltas)))
			break
		}
		lines = append(lines, value.ObjectOf("n", float64(len(lines)+1), "change", Kind(d), "text", cut(d.Text, MaxSentence)))
		asked = append(asked, i)
	}
	if len(lines) == 0 {
		return out // only places and blanks changed
	}
	if len(c.Text) > MaxPromptShown {
		out.Notes = append(out.Notes, fmt.Sprintf("the prompt has %d bytes, of which the beginning and the end were shown, %d in all", len(c.Text), MaxPromptShown))
	}
	d := begin(m, "classify", classifyReply(), 4096, []piece{{"prompt", middleOut(c.Text, MaxPromptShown)}, {"changes", jsonLines(lines)}})
	out.Err = d.ask(ctx, func(text string) error {
		whole, each, err := readClasses(text, len(lines))
		if err == nil {
			out.Whole = whole
			for n, category := range each {
				out.Deltas[asked[n]] = category
			}
		}
		return err
	})
	out.Spent = d.spent
	return out
}

// readClasses reads the categories of n changes and of the whole version.
func readClasses(text string, n int) (whole, each []string, err error) {
	o, list, err := listIn(text, "changes")
	if err != nil {
		return nil, nil, err
	}
	all, ok := o.At("whole").([]any)
	if !ok {
		return nil, nil, errors.New(`it has no list under "whole"`)
	}
	for _, v := range all {
		category, ok := CategoryNamed(value.ToString(v))
		if !ok {
			return nil, nil, fmt.Errorf("whole has what is no category: %s", excerpt(value.ToString(v)))
		}
		whole = append(whole, category)
	}
	each = make([]string, n)
	for _, v := range list {
		entry, _ := v.(*value.Object)
		at, _ := entry.At("n").(float64)
		category, ok := CategoryNamed(textMember(entry, "category"))
		switch {
		case at != float64(int(at)) || at < 1 || int(at) > n:
			return nil, nil, fmt.Errorf("an entry of changes has an n that is not one of 1 to %d", n)
		case !ok:
			return nil, nil, fmt.Errorf("an entry of changes has what is no category: %s", excerpt(textMember(entry, "category")))
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

// inCategoryOrder sorts categories in the order of [Categories] and removes repeats.
func inCategoryOrder(list []string) []string {
	slices.SortFunc(list, func(a, b string) int { return cmp.Compare(slices.Index(Categories, a), slices.Index(Categories, b)) })
	return slices.Compact(list)
}
