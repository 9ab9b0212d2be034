package server_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/store"
)

// hostileRun is a run file with this many prompts in its header and judges in each row.
func hostileRun(prompts, rows, judges int) string {
	var b strings.Builder
	b.WriteString(`{"proviso":"run","format":1,"id":"20260105-091500-k3x9","suite":"hostile","hash":"h","started":"2026-01-05T09:15:00Z","meta":{"rows":1,"columns":[`)
	for i := range prompts {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"promptId":"%d","promptRaw":"%d"}`, i, i)
	}
	b.WriteString("]}}\n")
	for row := range rows {
		fmt.Fprintf(&b, `{"index":%d,"promptIdx":0,"promptId":"x","verdict":"pass","success":true,"score":1,"gradingResult":{"pass":true,"score":1,"componentResults":[`, row)
		for j := range judges {
			if j > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `{"pass":true,"score":1,"status":"pass","judge":"%d-%d","assertion":{"type":"judge"}}`, row, j)
		}
		b.WriteString("]}}\n")
	}
	fmt.Fprintf(&b, `{"trailer":{"passed":%d}}`+"\n", rows)
	return b.String()
}

// TestHostileRunsOverSeveral: pages over several runs take time in proportion to the pushed
// data, and show a limited part of it.
func TestHostileRunsOverSeveral(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{})
	secret, _ := f.key(store.NewKey{Scopes: []store.Scope{store.Edit, store.Read}})
	for _, tt := range []struct {
		path, text, each string
		most             int
	}{
		{"/v1/prompts?limit=200", hostileRun(100_000, 1000, 0), `"suite":`, 200},
		{"/v1/judges", hostileRun(1, 10, 300), `"judge":`, 100},
	} {
		if got := f.push(tt.text, bearer(secret)); got.status != 201 {
			t.Fatalf("%d %.300s", got.status, got.body)
		}
		at := time.Now()
		got := f.ask("GET", tt.path, "", bearer(secret))
		if n := strings.Count(got.body, tt.each); got.status != 200 || n != tt.most {
			t.Errorf("%s: %d, %d items, want %d", tt.path, got.status, n, tt.most)
		}
		t.Logf("%s: %v", tt.path, time.Since(at))
	}
}

// TestStreamsOfRevokedKeys: an open event stream ends with its key, and with the session of its
// browser.
func TestStreamsOfRevokedKeys(t *testing.T) {
	t.Parallel()
	p := newSlow()
	f := start(t, server.Options{Runner: p.with(suites(t, nil)), Poll: 20 * time.Millisecond})
	admin, _ := f.key(store.NewKey{Scopes: []store.Scope{store.Admin}})
	run := f.run(slowSuite(3, 1), bearer(admin))
	open := func(header string) (ended chan error) {
		name, value, _ := strings.Cut(header, ": ")
		r := must2(http.NewRequestWithContext(t.Context(), http.MethodGet, f.url+"/v1/runs/"+run+"/events", nil))(t)
		r.Header.Set(name, value)
		resp, err := http.DefaultClient.Do(r)
		if err != nil || resp.StatusCode != 200 {
			t.Fatal(resp, err)
		}
		ended = make(chan error, 1)
		go func() {
			_, err := io.Copy(io.Discard, resp.Body)
			ended <- errors.Join(err, resp.Body.Close())
		}()
		return ended
	}
	wait := func(what string, ended chan error) {
		t.Helper()
		select {
		case <-ended:
		case <-time.After(30 * time.Second):
			t.Errorf("%s: the stream goes on", what)
		}
	}
	secret, key := f.key(store.NewKey{Scopes: []store.Scope{store.Read}})
	b := f.login(secret)
	stays := open(bearer(admin))
	ended := open(b.cookie)
	if got := f.ask("DELETE", "/v1/session", "", b.cookie, f.origin(), ownPage); got.status != 204 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	wait("logout", ended)
	ended, session := open(bearer(secret)), open(f.login(secret).cookie)
	if _, err := f.store.RevokeKey(t.Context(), key.ID); err != nil {
		t.Fatal(err)
	}
	wait("revoked key", ended)
	wait("session of a revoked key", session)
	select {
	case err := <-stays:
		t.Error("the stream of another key ended:", err)
	default:
	}
	f.ask("POST", "/v1/runs/"+run+"/cancel", "", bearer(admin))
	wait("cancelled run", stays)
}
