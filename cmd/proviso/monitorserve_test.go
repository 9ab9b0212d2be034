package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/internal/fakemodel"
)

// asker is a judge model that counts how often it was asked about each output.
type asker struct {
	mu    sync.Mutex
	asked map[string]int
}

var answerNumber = regexp.MustCompile(`answer \d+ of production`)

func (a *asker) reply(r fakemodel.Request) fakemodel.Reply {
	a.mu.Lock()
	a.asked[answerNumber.FindString(r.Prompt)]++
	a.mu.Unlock()
	time.Sleep(5 * time.Millisecond)
	return fakemodel.Reply{Text: `{"results":[{"id":"tone","criteria":[{"n":1,"reasoning":"It is polite.","evidence":["answer"],"met":true}]}]}`}
}

func (a *asker) counts() (outputs, calls int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, n := range a.asked {
		calls += n
	}
	return len(a.asked), calls
}

// watchState is what GET /v1/watches/{name} says of its work.
type watchState struct {
	Queue struct{ Pending int }
	Spend struct {
		Events              int
		Reserved, Uncertain float64
	}
}

// evaluatedWatch waits until nothing waits.
func (p *serveProcess) evaluatedWatch() (w watchState) {
	p.t.Helper()
	body := ""
	for range 1500 {
		w = watchState{}
		if _, body = p.ask("GET", "/v1/watches/tone", ""); json.Unmarshal([]byte(body), &w) == nil && w.Spend.Events > 0 && w.Queue.Pending == 0 {
			return w
		}
		time.Sleep(10 * time.Millisecond)
	}
	p.t.Fatalf("events still wait: %s", body)
	return w
}

// TestWatchKilled: after kill -9 while events are evaluated, the next server goes on at once.
// Every event has one verdict, and only calls in flight were paid twice.
func TestWatchKilled(t *testing.T) {
	t.Parallel()
	const events, kills, workers = 120, 3, 4
	model := &asker{asked: map[string]int{}}
	at := fakemodel.New(fakemodel.Options{Reply: model.reply})
	defer at.Close()
	dir := t.TempDir()
	flags := []string{"--no-cache", "--watch-workers", fmt.Sprint(workers)}
	p := startServe(t, dir, at.URL, flags...)
	for path, body := range map[string]string{
		"/v1/assertion-sets/replies": `{"assertions": [{"id": "tone", "criteria": ["The output is polite"]}]}`,
	} {
		if status, answer := p.ask("PUT", path, body); status != http.StatusCreated {
			t.Fatalf("%d %s", status, answer)
		}
	}
	if status, answer := p.ask("PUT", "/v1/watches/tone", `{"match": {"agent": "support"}, "assertions": "set:replies", "sample": {"rate": 1}}`); status != http.StatusCreated {
		t.Fatalf("%d %s", status, answer)
	}
	var list []string
	for i := range events {
		list = append(list, fmt.Sprintf(`{"id": "e%d", "agent": "support", "output": "answer %d of production"}`, i, i))
	}
	if status, answer := p.ask("POST", "/v1/events", `{"events": [`+strings.Join(list, ",")+`]}`); status != http.StatusAccepted {
		t.Fatalf("%d %s", status, answer)
	}
	for kill := range kills {
		for outputs := 0; outputs < events*(kill+1)/(kills+1); outputs, _ = model.counts() {
			time.Sleep(2 * time.Millisecond)
		}
		p.end(syscall.SIGKILL)
		p = startServe(t, dir, at.URL, flags...)
	}
	w := p.evaluatedWatch()
	if w.Spend.Events < events || w.Spend.Reserved > 1e-9 {
		t.Errorf("%+v", w)
	}
	var verdicts struct {
		Items []struct{ Event, Status string }
	}
	_, body := p.ask("GET", "/v1/watches/tone/verdicts?limit=1000", "")
	if err := json.Unmarshal([]byte(body), &verdicts); err != nil {
		t.Fatal(err)
	}
	once := map[string]bool{}
	for _, v := range verdicts.Items {
		once[v.Event] = v.Status == "pass"
	}
	if len(verdicts.Items) != events || len(once) != events {
		t.Errorf("%d verdicts on %d events of %d", len(verdicts.Items), len(once), events)
	}
	outputs, calls := model.counts()
	t.Logf("%d calls for %d events, and %d kills of a server with %d calls at a time", calls, outputs, kills, workers)
	if outputs != events || calls > events+kills*workers {
		t.Errorf("%d calls on %d outputs", calls, outputs)
	}
	if code := p.end(os.Interrupt); code != exitOK {
		t.Errorf("exit code %d: %s", code, p.stderr)
	}
}
