package server_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/server/outage"
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

// TestOutagesInLog: an outage has a line at its start, one for another reason, one every 30
// seconds, and one at its end; other lines are unchanged.
func TestOutagesInLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out safeBuffer
		var away atomic.Bool
		h := outage.New(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey || a.Key == slog.LevelKey {
				return slog.Attr{}
			}
			return a
		}}))
		lost := fmt.Errorf("reach: %w", store.ErrUnreachable)
		h.Watch(func(context.Context) error {
			if away.Load() {
				return lost
			}
			return nil
		})
		log := slog.New(h)
		for range 2 { // two outages
			away.Store(true)
			for i := range 70 {
				log.Warn("look for runs", "error", lost)
				log.With("a", "b").Warn("renew", "error", lost)
				if i == 10 {
					log.Warn("look for runs", "error", fmt.Errorf("reach: no such role: %w", store.ErrReadOnly))
				}
				time.Sleep(time.Second)
			}
			log.Warn("another mistake", "error", errors.New("no"))
			time.Sleep(time.Second / 2)
			away.Store(false)
			time.Sleep(2 * time.Second)
			synctest.Wait()
			log.Info("goes on")
		}
		const once = `msg="look for runs" error="reach: the database cannot be reached"
msg="look for runs" error="reach: no such role: the database cannot be written" left_out=21
msg="look for runs" error="reach: the database cannot be reached" left_out=58
msg="another mistake" error=no
msg="the database is there again" away_s=71 left_out=59
msg="goes on"
`
		if got := out.String(); got != once+once {
			t.Errorf("%s", got)
		}
	})
}

// TestOutageGoesOn: while requests fail, the log does not report that the database is available
// again, whatever a ping says.
func TestOutageGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out safeBuffer
		h := outage.New(slog.NewTextHandler(&out, nil))
		h.Watch(func(context.Context) error { return nil })
		log := slog.New(h)
		for range 100 {
			log.Warn("request", "error", store.Unreadable("api_key"))
			time.Sleep(700 * time.Millisecond)
		}
		synctest.Wait()
		if got := out.String(); strings.Count(got, "msg=request") != 3 || strings.Contains(got, "there again") {
			t.Errorf("while requests fail: %s", got)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got := out.String(); strings.Count(got, "there again") != 1 {
			t.Errorf("afterwards: %s", got)
		}
	})
}
