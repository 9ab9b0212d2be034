package store

import (
	"context"
	"iter"
)

// All yields the items of a list, which it reads a page at a time. It ends after an error.
func All[T any](ctx context.Context, read func(context.Context, Page) (List[T], error)) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		for page := (Page{Limit: MaxPage}); ; {
			list, err := read(ctx, page)
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range list.Items {
				if !yield(&list.Items[i], nil) {
					return
				}
			}
			if page.After = list.Next; list.Next == "" {
				return
			}
		}
	}
}

// Each calls do with every item of a list, as [All] yields them.
func Each[T any](ctx context.Context, read func(context.Context, Page) (List[T], error), do func(*T) error) error {
	for item, err := range All(ctx, read) {
		if err != nil {
			return err
		}
		if err := do(item); err != nil {
			return err
		}
	}
	return nil
}

// By binds a filter to a list method, for [All] and [Each].
func By[T, F any](list func(context.Context, F, Page) (List[T], error), f F) func(context.Context, Page) (List[T], error) {
	return func(ctx context.Context, p Page) (List[T], error) { return list(ctx, f, p) }
}
