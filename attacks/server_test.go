package attacks_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/store/sqlite"
)

// target is the server under attack.
type target struct {
	t      *testing.T
	db     *sqlite.DB
	suites *server.Suites
	url    string
	stop   func() error
}

// serve starts a server that evaluates without a model and accepts suites.
func serve(t *testing.T, o server.Options) *target {
	t.Helper()
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "proviso.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	j, err := judge.New(judge.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	o.Store, o.Jobs, o.Judge = db, db, j
	suites := &server.Suites{
		Dir: t.TempDir(), Engine: engine.Options{Version: "test", Engines: engine.Engines{Client: transport.New(transport.Options{}).Client()}},
	}
	o.Runner = suites
	s, err := server.New(o)
	if err != nil {
		t.Fatal(err)
	}
	l := httptest.NewUnstartedServer(nil).Listener
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	x := &target{t: t, db: db, suites: suites, url: "http://" + l.Addr().String(), stop: sync.OnceValue(func() error {
		cancel()
		return <-ended
	})}
	t.Cleanup(func() { _ = x.stop() })
	return x
}

// key creates an API key and returns its secret.
func (x *target) key(name string) string {
	x.t.Helper()
	_, secret, err := x.db.CreateKey(x.t.Context(), store.NewKey{Name: name, Scopes: []store.Scope{store.Evaluate, store.Read}})
	if err != nil {
		x.t.Fatal(err)
	}
	return secret
}

// post sends a body with the given key and returns the answer.
func (x *target) post(ctx context.Context, key, path, body string) (status int, answer string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, x.url+path, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(data), err
}

// patterns returns an evaluation with n patterns that backtrack as long as they can. All
// differ, so that no cache helps.
func patterns(n int) string {
	type obj = map[string]any
	var list []obj
	for i := range n {
		list = append(list, obj{"id": fmt.Sprint("p", i), "check": obj{"type": "regex", "value": fmt.Sprintf("^(?=(a+)+$)(a+)+b{%d}$", i+1)}})
	}
	data, _ := json.Marshal(obj{"agent_input": "", "agent_output": strings.Repeat("a", 60) + "!", "assertions": list})
	return string(data)
}

// small is an evaluation that takes a millisecond.
const small = `{"agent_input":"Hi","agent_output":"Hello","assertions":[{"id":"a","check":{"type":"contains","value":"Hello"}},{"id":"b","check":{"type":"regex","value":"(?<=H)ello"}}]}`

// median makes small evaluations, one after the other, and returns the median duration.
func (x *target) median(key string, n int) time.Duration {
	x.t.Helper()
	var took []time.Duration
	for range n {
		started := time.Now()
		status, body, err := x.post(x.t.Context(), key, "/v1/evaluate", small)
		if err != nil || status != http.StatusOK || !strings.Contains(body, `"passed":2`) {
			x.t.Fatalf("%d %s %v", status, body, err)
		}
		took = append(took, time.Since(started))
	}
	slices.Sort(took)
	return took[n/2]
}

// TestOneKeyDoesNotStarveOthers: forty evaluations of fifty backtracking patterns do not
// delay another key. Each ends at its CPU budget, and the remaining work ends when its
// clients disconnect.
func TestOneKeyDoesNotStarveOthers(t *testing.T) {
	x := serve(t, server.Options{CPUBudget: 1500 * time.Millisecond})
	attacker, victim := x.key("attacker"), x.key("victim")
	alone := x.median(victim, 20)
	attack, leave := context.WithCancel(t.Context())
	defer leave()
	var clients sync.WaitGroup
	var mu sync.Mutex
	var answers []string
	body := patterns(50)
	for range 40 {
		clients.Go(func() {
			status, answer, err := x.post(attack, attacker, "/v1/evaluate", body)
			if err != nil {
				return // the client disconnected
			}
			mu.Lock()
			defer mu.Unlock()
			answers = append(answers, fmt.Sprint(status, " ", answer))
		})
	}
	time.Sleep(2 * time.Second)
	under := x.median(victim, 60)
	t.Logf("the other key's p50: %v alone, %v under the attack", alone, under)
	if under > 100*time.Millisecond {
		t.Errorf("the other key's p50 is %v under the attack, %v without", under, alone)
	}
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		mu.Lock()
		n := len(answers)
		mu.Unlock()
		if n >= 2 {
			break
		}
	}
	mu.Lock()
	if len(answers) < 2 {
		t.Errorf("%d evaluations came to their budget", len(answers))
	}
	for _, a := range answers {
		if !strings.HasPrefix(a, "422 ") || !strings.Contains(a, `"code":"limit"`) || !strings.Contains(a, "computes for more than 1.5s; --cpu-budget sets the limit") {
			t.Errorf("beyond the budget: %s", a)
		}
	}
	mu.Unlock()
	leave()
	clients.Wait()
	left := time.Now()
	if err := x.stop(); err != nil { // waits for work in flight
		t.Errorf("stopping: %v", err)
	}
	took := time.Since(left)
	t.Logf("the work ended %v after its clients left", took)
	if took > 2*time.Second {
		t.Errorf("the work went on for %v after its clients left", took)
	}
}

// wide returns a suite with a CSV file that has the given number of columns.
func wide(columns int, name func(int) string) string {
	header, row := make([]string, columns), make([]string, columns)
	for i := range columns {
		header[i], row[i] = name(i), "1"
	}
	data, _ := json.Marshal(map[string]any{
		"name": "wide", "suite": "prompts: [hi]\nproviders: [echo]\ntests: file://a.csv\n",
		"files": map[string]string{"a.csv": strings.Join(header, ",") + "\n" + strings.Join(row, ",") + "\n"},
	})
	return string(data)
}

// TestWideCSV: a small body with very many columns is rejected at once, with the limit in
// the message, and the server can stop while it reads the body.
func TestWideCSV(t *testing.T) {
	for kind, name := range map[string]func(int) string{
		"different": func(i int) string { return fmt.Sprint("c", i) },
		"the same":  func(int) string { return "c" },
		"special":   func(i int) string { return fmt.Sprint("__c", i) },
	} {
		t.Run(kind, func(t *testing.T) {
			x := serve(t, server.Options{})
			key := x.key("attacker")
			started := time.Now()
			status, answer, err := x.post(t.Context(), key, "/v1/suites", wide(300_000, name))
			if err != nil || status != http.StatusUnprocessableEntity || !strings.Contains(answer, "300000 columns") || !strings.Contains(answer, "at most 10000") {
				t.Errorf("%d %s %v", status, answer, err)
			}
			if took := time.Since(started); took > 5*time.Second {
				t.Errorf("answered after %v", took)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			if _, _, err := x.post(ctx, key, "/v1/suites", wide(9_999, name)); err != nil && !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
			stopping := time.Now()
			if err := x.stop(); err != nil || time.Since(stopping) > 3*time.Second {
				t.Errorf("stopped after %v: %v", time.Since(stopping), err)
			}
		})
	}
}

// TestBodiesOfManyValues: a body of small values would take fifty times its size in
// memory. Every route rejects it and reports the limit.
func TestBodiesOfManyValues(t *testing.T) {
	x := serve(t, server.Options{})
	key := x.key("attacker")
	values := "[" + strings.Repeat("{},", 2_000_000) + "{}]"
	for path, body := range map[string]string{
		"/v1/evaluate":            `{"agent_input":"","agent_output":"","vars":{"a":` + values + `},"assertions":[]}`,
		"/v1/suites":              `{"name":"a","suite":{"tests":` + values + `}}`,
		"/v1/assertion-sets":      `{"name":"a","assertions":` + values + `}`,
		"/v1/traces":              `{"resourceSpans":` + values + `}`,
		"/v1/suites/nothing/runs": `{"concurrency":` + values + `}`,
	} {
		status, answer, err := x.post(t.Context(), key, path, body)
		if err != nil || status/100 != 4 || !strings.Contains(answer, "the JSON holds more than 1000000 values") {
			t.Errorf("%s: %d %.300s %v", path, status, answer, err)
		}
	}
}
