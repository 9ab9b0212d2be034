package solve

import (
	"context"
	"slices"
)

// withKept adds the candidates that every selection has.
func (in *Instance) withKept(selected []int) []int {
	return slices.Compact(slices.Sorted(slices.Values(append(selected, in.Keep...))))
}

// keeping searches among the selections that have the kept candidates. For each of them
// it adds bad examples that nothing else catches, so many that no selection without it
// catches enough. So the search needs no other rule, and its proof holds.
func keeping(ctx context.Context, in *Instance, method Method, o Options) (*Answer, error) {
	kept := in.withKept(nil)
	_, bad := in.Count()
	if len(kept) == 0 || in.Need > bad {
		return search(ctx, in, method, o) // nothing catches enough anyway
	}
	more := *in
	more.Keep = nil
	more.Good, more.Fails = slices.Clone(in.Good), slices.Clone(in.Fails)
	for _, j := range kept {
		more.Fails[j] = slices.Clone(in.Fails[j])
		for range bad + 1 {
			more.Fails[j] = append(more.Fails[j], len(more.Good))
			more.Good = append(more.Good, false)
		}
	}
	added := len(kept) * (bad + 1)
	more.Need += added
	a, err := search(ctx, &more, method, o)
	if err != nil {
		return nil, err
	}
	a.Best = max(0, a.Best-added)
	if a.Status == Optimal || a.Status == Feasible {
		a.Worth = in.worth(method, a.Selected)
	}
	return a, nil
}
