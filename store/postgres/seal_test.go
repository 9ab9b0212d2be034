package postgres_test

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/ingest"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/store/postgres"
	"github.com/proviso-eval/proviso/store/postgres/postgrestest"
	"github.com/proviso-eval/proviso/store/sqldb"
)

// TestSealingLater: once one server seals texts, no other one stores unsealed texts, even if it
// is writing at that moment.
func TestSealingLater(t *testing.T) {
	t.Parallel()
	url := postgrestest.Database(t)
	old := mustOpen(t, url, sqldb.Serving)
	in := old.In(store.DefaultProject)
	event := func(id string) store.NewEvent {
		return store.NewEvent{Event: ingest.Event{ID: id, Agent: "a", Time: time.Now(), Output: "o"}, KeepContent: true}
	}
	var stop atomic.Bool
	var writers sync.WaitGroup
	for w := range 3 {
		writers.Go(func() {
			for n := 0; !stop.Load(); n++ {
				if _, err := in.AddEvents(t.Context(), []store.NewEvent{event(fmt.Sprint(w, "-", n))}); err != nil && !errors.Is(err, store.ErrSealed) {
					t.Error(err)
				}
			}
		})
	}
	until(t, func() bool { return unsealed(t, url) > 0 })
	sealing, err := postgres.Open(t.Context(), url, postgres.Options{Options: sqldb.Options{ContentKey: bytes.Repeat([]byte("k"), 32)}})
	if err != nil {
		t.Fatal(err)
	}
	defer sealing.Close()
	before := unsealed(t, url)
	until(t, func() bool {
		_, err := in.AddEvents(t.Context(), []store.NewEvent{event("later")})
		return errors.Is(err, store.ErrSealed)
	})
	stop.Store(true)
	writers.Wait()
	if after := unsealed(t, url); after != before {
		t.Errorf("%d unsealed texts more", after-before)
	}
	_, feedback := in.AddFeedback(t.Context(), ingest.Feedback{Event: "0-0", User: "u", Value: 1, Time: time.Now(), Comment: "c"})
	_, spans := in.AddSpans(t.Context(), "k", []store.SpanPart{{Trace: "t", Spans: 1, Content: []byte("c")}}, store.TraceLimits{Life: time.Minute})
	shared := old.PutShared(t.Context(), store.SharedItem{Kind: "k", Name: "n", Life: time.Minute, Content: []byte("c"), Seal: true})
	for doing, err := range map[string]error{"feedback": feedback, "spans": spans, "shared": shared, "ping": old.Ping(t.Context())} {
		var e *proviso.Error
		if !errors.Is(err, store.ErrSealed) || !errors.As(err, &e) || e.Code != proviso.Unavailable {
			t.Errorf("%s: %v", doing, err)
		}
	}
	without := event("no-text")
	without.KeepContent = false
	if _, err := sealing.In(store.DefaultProject).AddEvents(t.Context(), []store.NewEvent{event("sealed"), without}); err != nil {
		t.Error(err)
	}
	if after := unsealed(t, url); after != before {
		t.Errorf("%d unsealed texts more of the server with the key", after-before)
	}
	canWrite(t, sealing)
}

// unsealed counts the texts of events that are not sealed.
func unsealed(t *testing.T, url string) (n int) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(t.Context())
	if err := c.QueryRow(t.Context(), "SELECT count(*) FROM event_content WHERE get_byte(body, 0) <> 2").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
