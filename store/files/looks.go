package files

import "context"

// AddLook implements [store.Looks].
func (p project) AddLook(context.Context, string, string) (int, error) { return 0, refused() }

// CountLooks implements [store.Looks]: what only looks asks no judge.
func (p project) CountLooks(ctx context.Context, _, _ string) (int, error) { return 0, ctx.Err() }
