package transport_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/internal/transport"
)

func TestRecording(t *testing.T) {
	t.Parallel()
	srv := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{}")) })
	s := newShelf()
	hour := 10
	live := recordOn(s, transport.CassetteOptions{Now: func() time.Time {
		return time.Date(2026, 3, 1, hour, 0, 0, 999, time.FixedZone("east", 3600))
	}})
	of := func() transport.Recording {
		t.Helper()
		r, err := transport.Replay(s, transport.CassetteOptions{}).Recording(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := of(); r.Exchanges != 0 || !r.Made.Equal(time.Unix(0, 0)) {
		t.Errorf("an empty cassette: %+v", r)
	}
	for _, hour = range []int{12, 14, 13} {
		if _, err := post(t.Context(), live, srv.URL, time.Duration(hour).String()); err != nil {
			t.Fatal(err)
		}
	}
	first := of()
	if want := "2026-03-01T13:00:00Z"; first.Exchanges != 3 || first.Made.Format(time.RFC3339Nano) != want {
		t.Errorf("got %+v, want 3 exchanges of %s", first, want)
	}
	if again := of(); again != first {
		t.Errorf("%+v, then %+v", first, again)
	}
	for k, data := range s.files { // a truncated file counts as it is
		s.files[k] = data[:len(data)/2]
		break
	}
	if cut := of(); cut.Exchanges != 3 || cut.Hash == first.Hash {
		t.Errorf("with a damaged file: %+v", cut)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := transport.Replay(s, transport.CassetteOptions{}).Recording(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
