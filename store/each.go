package store

import "context"

// Each calls do with every item of a list. It reads the list a page at a time.
func Each[T any](ctx context.Context, read func(context.Context, Page) (List[T], error), do func(*T) error) error {
	for page := (Page{Limit: MaxPage}); ; {
		list, err := read(ctx, page)
		if err != nil {
			return err
		}
		for i := range list.Items {
			if err := do(&list.Items[i]); err != nil {
				return err
			}
		}
		if page.After = list.Next; list.Next == "" {
			return nil
		}
	}
}

// By binds a filter to a list method, for [Each].
func By[T, F any](list func(context.Context, F, Page) (List[T], error), f F) func(context.Context, Page) (List[T], error) {
	return func(ctx context.Context, p Page) (List[T], error) { return list(ctx, f, p) }
}
