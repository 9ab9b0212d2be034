package server_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/store"
)

// awayStore is a store whose database fails for a given cause.
type awayStore struct {
	testStore
	cause atomic.Pointer[error]
}

const awayPlace = "data at db.internal:5432"

func (a *awayStore) fails() error {
	if cause := a.cause.Load(); cause != nil {
		return proviso.Because(errors.Join(*cause, errors.New("42501")), proviso.Unavailable, "write the database %s: %v", awayPlace, *cause)
	}
	return nil
}

func (a *awayStore) Ping(ctx context.Context) error {
	return errors.Join(a.fails(), a.testStore.Ping(ctx))
}

func (a *awayStore) Authenticate(ctx context.Context, secret string) (store.Key, error) {
	if err := a.fails(); err != nil {
		return store.Key{}, err
	}
	return a.testStore.Authenticate(ctx, secret)
}

func (a *awayStore) In(p store.Project) store.ProjectStore {
	return awayProject{a.testStore.In(p), a}
}

type awayProject struct {
	store.ProjectStore
	of *awayStore
}

func (a awayProject) AddEvents(ctx context.Context, events []store.NewEvent) (store.AddedEvents, error) {
	if err := a.of.fails(); err != nil {
		return store.AddedEvents{}, err
	}
	return a.ProjectStore.AddEvents(ctx, events)
}

// TestOutage: while the database is unavailable, clients are told to retry, without the
// database address; the log has that address.
func TestOutage(t *testing.T) {
	t.Parallel()
	away := &awayStore{testStore: openStore(t, filepath.Join(t.TempDir(), "proviso.db"))}
	f := start(t, server.Options{Open: true, Store: away})
	const events = `{"events": [{"id": "e", "agent": "a", "output": "o"}]}`
	secret, _ := f.key(store.NewKey{Scopes: []store.Scope{store.Admin}})
	if got := f.ask("POST", "/v1/events", events, bearer(secret)); got.status != 202 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	for _, cause := range []error{store.ErrUnreachable, store.Unreadable("api_key"), store.ErrReadOnly, store.ErrFailed} {
		away.cause.Store(&cause)
		for _, got := range []answer{f.ask("GET", "/readyz", ""), f.ask("POST", "/v1/events", events, bearer(secret)), f.ask("GET", "/v1/runs", "", bearer(secret))} {
			if p := got.problem(t); got.status != 503 || p.Code != proviso.Unavailable || p.Detail != cause.Error() || got.header.Get("Retry-After") != "5" || strings.Contains(got.body, "db.internal") {
				t.Errorf("%v: %d %s", cause, got.status, got.body)
			}
		}
	}
	away.cause.Store(nil)
	if got := f.ask("GET", "/readyz", ""); got.status != 200 {
		t.Errorf("afterwards: %d %s", got.status, got.body)
	}
	if !strings.Contains(f.log.String(), awayPlace) {
		t.Error("the log does not say which database it is")
	}
}
