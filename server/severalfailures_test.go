package server_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/value"
)

// cutStore is a store in which the writes of its server's shared items fail.
type cutStore struct {
	testStore
	cut  atomic.Bool
	lies atomic.Bool // writes succeed, but report failure
}

var errCut = errors.New("cut off")

func (c *cutStore) PutShared(ctx context.Context, items ...store.SharedItem) error {
	switch {
	case c.lies.Load():
		return errors.Join(errCut, c.testStore.PutShared(ctx, items...))
	case c.cut.Load():
		return errCut
	}
	return c.testStore.PutShared(ctx, items...)
}

// TestSeveralKilled: evaluations that a killed server had accepted get an end on the others.
func TestSeveralKilled(t *testing.T) {
	t.Parallel()
	j, allow := gatedJudge(t)
	stores := storesOf(t, 2)
	cut := &cutStore{testStore: stores[0]}
	quick := server.Options{Open: true, Judge: j, Store: cut, AliveEvery: 50 * time.Millisecond, Poll: 20 * time.Millisecond}
	a := start(t, quick)
	quick.Store = stores[1]
	b := start(t, quick)
	id := a.begin(threeAsked)
	cut.cut.Store(true)
	until(t, "the other server is taken for ended", func() bool {
		return b.ask("GET", "/v1/evaluations/"+id, "").object(t).At("status") == "error"
	})
	events := b.open(id).rest()
	if last := events[len(events)-1]; last.name != "end" || last.data.At("status") != "error" || !strings.Contains(value.Stringify(last.data), "the server that evaluated this has ended") {
		t.Errorf("%s: %s", last.name, value.Stringify(last.data))
	}
	allow("one")
	allow("two")
}

// TestSeveralCut: events that could not be written for a while arrive later, each once.
func TestSeveralCut(t *testing.T) {
	t.Parallel()
	j, allow := gatedJudge(t)
	stores := storesOf(t, 2)
	cut := &cutStore{testStore: stores[0]}
	a := start(t, server.Options{Open: true, Judge: j, Store: cut})
	b := start(t, server.Options{Open: true, Store: stores[1]})
	id := a.begin(threeAsked)
	own, s := a.open(id), b.open(id)
	for range 2 {
		own.next()
		s.next()
	}
	cut.lies.Store(true)
	allow("two")
	own.next()
	if e := s.next(); e == nil || e.id != "2" { // it was written, and the server does not know
		t.Fatalf("%+v", e)
	}
	cut.cut.Store(true)
	cut.lies.Store(false)
	allow("one")
	own.rest()
	time.Sleep(250 * time.Millisecond) // one attempt to write
	cut.cut.Store(false)
	if rest := s.rest(); len(rest) != 2 || rest[0].id != "3" || rest[1].id != "4" || rest[1].name != "end" {
		t.Errorf("%+v", rest)
	}
}

// TestSeveralRevoked: when a key is revoked, its streams and its running evaluations end on all
// servers.
func TestSeveralRevoked(t *testing.T) {
	t.Parallel()
	j, _ := gatedJudge(t)
	a, b := several(t, server.Options{Judge: j}, server.Options{PanelOrigins: []string{panelPage}})
	secret, key := a.key(store.NewKey{Scopes: []store.Scope{store.Evaluate}})
	reader, _ := a.key(store.NewKey{Scopes: []store.Scope{store.Read}})
	id := a.begin(threeAsked, bearer(secret))
	own, panel := b.open(id, bearer(secret)), b.open(id, bearer(b.mint(tokenFor(id, ""), bearer(secret))), fromPanel)
	other := b.open(id, bearer(reader))
	for _, s := range []*eventStream{own, panel, other} {
		if e := s.next(); e == nil || e.name != "start" {
			t.Fatalf("%+v", e)
		}
	}
	if _, err := b.store.RevokeKey(t.Context(), key.ID); err != nil {
		t.Fatal(err)
	}
	own.rest()
	panel.rest() // these return only because the streams end
	if rest := other.rest(); !strings.Contains(value.Stringify(rest[len(rest)-1].data), "the key was revoked") {
		t.Errorf("%+v", rest)
	}
}
