package files

import (
	"context"
	"iter"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
)

// refusing are the methods of a store that change something, or are about what a folder of
// runs does not have.
type refusing struct {
	unwatched
	untrafficked
}

func refused() error {
	return proviso.Errorf(proviso.Refused, "proviso view changes nothing; use `proviso serve`")
}

// CreateKey implements [store.Keys].
func (refusing) CreateKey(context.Context, store.NewKey) (store.Key, string, error) {
	return store.Key{}, "", refused()
}

// Authenticate implements [store.Keys].
func (refusing) Authenticate(context.Context, string) (store.Key, error) {
	return store.Key{}, proviso.Errorf(proviso.NotFound, "there are no keys here")
}

// Key implements [store.Keys].
func (refusing) Key(context.Context, string) (store.Key, error) {
	return store.Key{}, proviso.Errorf(proviso.NotFound, "there are no keys here")
}

// ListKeys implements [store.Keys].
func (refusing) ListKeys(_ context.Context, p store.Page) (store.List[store.Key], error) {
	return none[store.Key]("keys", p)
}

// Projects implements [store.Keys].
func (refusing) Projects(ctx context.Context) ([]store.Project, error) {
	return []store.Project{store.DefaultProject}, ctx.Err()
}

// RevokeKey implements [store.Keys].
func (refusing) RevokeKey(context.Context, string) (store.Key, error) {
	return store.Key{}, refused()
}

// Charge implements [store.Keys].
func (refusing) Charge(context.Context, string, float64) (store.Key, error) {
	return store.Key{}, refused()
}

// TouchKey implements [store.Keys].
func (refusing) TouchKey(context.Context, string, time.Time) error { return refused() }

// Several implements [store.Shared]: `proviso view` is the only server on its folder.
func (refusing) Several() bool { return false }

// PutShared implements [store.Shared].
func (refusing) PutShared(context.Context, ...store.SharedItem) error { return refused() }

// ReplaceShared implements [store.Shared].
func (refusing) ReplaceShared(context.Context, store.SharedItem) (bool, error) {
	return false, refused()
}

// GetShared implements [store.Shared].
func (refusing) GetShared(ctx context.Context, _, _ string) (*store.SharedItem, error) {
	return nil, ctx.Err()
}

// ListShared implements [store.Shared].
func (refusing) ListShared(ctx context.Context, _, _, _ string, _ int) ([]store.SharedItem, error) {
	return nil, ctx.Err()
}

// DeleteShared implements [store.Shared].
func (refusing) DeleteShared(context.Context, string, ...string) error { return refused() }

// DeleteSharedGroup implements [store.Shared].
func (refusing) DeleteSharedGroup(context.Context, string, string) error { return refused() }

// Prune implements [store.Store]: nothing here expires.
func (refusing) Prune(ctx context.Context, _ store.Retention) (store.Pruned, error) {
	return store.Pruned{}, ctx.Err()
}

// PutDocument implements [store.Documents].
func (refusing) PutDocument(context.Context, store.NewDocument) (store.Document, bool, error) {
	return store.Document{}, false, refused()
}

// DeleteDocument implements [store.Documents].
func (refusing) DeleteDocument(context.Context, store.Kind, string) error { return refused() }

// Document implements [store.Documents].
func (refusing) Document(_ context.Context, kind store.Kind, name, _ string) (store.Document, error) {
	return store.Document{}, proviso.Errorf(proviso.NotFound, "there is no %s %q: a folder of runs has none", kind, name)
}

// ListDocuments implements [store.Documents].
func (refusing) ListDocuments(_ context.Context, _ store.DocumentFilter, p store.Page) (store.List[store.Document], error) {
	return none[store.Document]("documents", p)
}

// AddEvaluation implements [store.Evaluations].
func (refusing) AddEvaluation(context.Context, store.NewEvaluation) (store.Evaluation, error) {
	return store.Evaluation{}, refused()
}

// Evaluation implements [store.Evaluations].
func (refusing) Evaluation(_ context.Context, id string) (store.Evaluation, error) {
	return store.Evaluation{}, proviso.Errorf(proviso.NotFound, "there is no evaluation %q: a folder of runs has none", id)
}

// ListEvaluations implements [store.Evaluations].
func (refusing) ListEvaluations(_ context.Context, _ store.EvaluationFilter, p store.Page) (store.List[store.Evaluation], error) {
	return none[store.Evaluation]("evaluations", p)
}

// CreateRun implements [store.Runs].
func (refusing) CreateRun(context.Context, store.NewRun) (store.Run, error) {
	return store.Run{}, refused()
}

// PlanRun implements [store.Runs].
func (refusing) PlanRun(context.Context, string, store.RunPlan) (store.Run, error) {
	return store.Run{}, refused()
}

// CancelRun implements [store.Runs].
func (refusing) CancelRun(context.Context, string) (store.Run, error) {
	return store.Run{}, refused()
}

// DeleteRun implements [store.Runs].
func (refusing) DeleteRun(context.Context, string) error { return refused() }

// ImportRun implements [store.Runs].
func (refusing) ImportRun(context.Context, store.ImportedRun, iter.Seq2[store.Result, error]) (store.Run, bool, error) {
	return store.Run{}, false, refused()
}

// AddResults implements [store.Runs].
func (refusing) AddResults(context.Context, string, []store.Result) (int, error) { return 0, refused() }

// none is an empty list; the error is that the cursor is none of such a list.
func none[T any](list string, p store.Page) (store.List[T], error) {
	_, _, err := p.Position(list)
	return store.List[T]{}, err
}
