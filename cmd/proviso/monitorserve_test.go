package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/internal/fakemodel"
)

// asker is a judge model that counts the questions about each output.
type asker struct {
	mu    sync.Mutex
	asked map[string]int
}

var answerNumber = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`answer \d+ of production`) })

func (a *asker) reply(r fakemodel.Request) fakemodel.Reply {
	a.mu.Lock()
	a.asked[answerNumber().FindString(r.Prompt)]++
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

// watchState is the work of a watch in GET /v1/watches/{name}.
type watchState struct {
	Queue struct{ Pending int }
	Spend struct {
		Events              int
		Reserved, Uncertain float64
	}
}

// evaluatedWatch waits until no evaluation is waiting.
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

// TestWatchKilled: after kill -9 during evaluations, the next server continues at once. Every event
// has one verdict, and only calls in flight were paid for twice.
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

// TestMonitorApply stores the watches of a file with their sets and anchors, and shows them.
func TestMonitorApply(t *testing.T) {
	t.Parallel()
	at := fakemodel.New(fakemodel.Options{Reply: (&asker{asked: map[string]int{}}).reply})
	defer at.Close()
	dir := t.TempDir()
	p := startServe(t, dir, at.URL)
	run := func(code int, args ...string) string {
		t.Helper()
		cmd := provisoCommand(t, dir, at.URL, append([]string{"monitor"}, args...)...)
		cmd.Env = append(cmd.Env, "PROVISO_SERVER="+p.url)
		out, _ := cmd.CombinedOutput() // the exit code shows the result
		if got := cmd.ProcessState.ExitCode(); got != code {
			t.Fatalf("%v: exit code %d, want %d\n%s", args, got, code, out)
		}
		return string(out)
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const watch = `tone:
  match: {agent: support}
  assertions: file://promises.yaml
  anchors: {file: anchors.jsonl, every: 168h}
  objectives: {tone: {max_fail: 0.05}}
`
	write("watch.yaml", watch)
	write("promises.yaml", "assertions:\n  - {id: tone, criteria: [The output is polite]}\n")
	write("anchors.jsonl", `{"input": "Hi", "output": "answer 1 of production"}`+"\n"+`{"input": "Hi", "output": "answer 2 of production"}`+"\n")
	for _, want := range []string{"tone version 1: new\n", "tone version 1: unchanged\n"} {
		if got := run(exitOK, "apply", "watch.yaml"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if _, body := p.ask("GET", "/v1/watches/tone", ""); !strings.Contains(body, `"anchors":2`) || !strings.Contains(body, `"assertions":"set:watch-tone"`) {
		t.Error(body)
	}
	if got := run(exitOK, "status"); !strings.Contains(got, "tone") || !strings.Contains(got, "learning") {
		t.Error(got)
	}
	if got := run(exitOK, "status", "tone", "--format", "json"); !strings.HasPrefix(got, `{"name":"tone"`) {
		t.Error(got)
	}
	write("wrong.yaml", strings.Replace(watch, "max_fail", "max_fale", 1))
	if got := run(exitUsage, "apply", "wrong.yaml"); !strings.Contains(got, "wrong.yaml:5:") || !strings.Contains(got, "max_fail") {
		t.Error(got)
	}
	write("promises.yaml", "assertions:\n  - {id: tone, criterai: [The output is polite]}\n")
	write("anchors.jsonl", `{"input": "Hi"}`+"\n")
	got := run(exitUsage, "apply", "watch.yaml")
	for _, want := range []string{"promises.yaml:2:", "criterai", "anchors.jsonl:1:1: error: output is missing", "2 mistakes"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	write("other.yaml", "other:\n  match: {agent: support}\n  assertions: set:watch-tone\n")
	if got := run(exitOK, "apply", "other.yaml", "--prune"); got != "other version 1: new\ntone: removed\n" {
		t.Error(got)
	}
	write("two.yaml", "first:\n  match: {agent: support}\n  assertions: file://first.yaml\nsecond:\n  match: {agent: support}\n  assertions: set:watch-first\n"+
		"  objectives: {ton: {max_fail: 0.05}}\n  notify: [slack:oncall]\n")
	write("first.yaml", "- {id: tone, criteria: [The output is polite]}\n")
	got = run(exitUsage, "apply", "two.yaml")
	for _, want := range []string{`two.yaml:7:21: error: set:watch-first has no assertion "ton"; did you mean "tone"?`, "two.yaml:8:12: error: ", "2 mistakes; nothing was stored"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	for _, path := range []string{"/v1/watches/first", "/v1/assertion-sets/watch-first"} {
		if status, body := p.ask("GET", path, ""); status != http.StatusNotFound {
			t.Errorf("%s was stored although the file has mistakes: %d %s", path, status, body)
		}
	}
	write("two.yaml", "first:\n  match: {agent: support}\n  assertions: file://first.yaml\nsecond:\n  match: {agent: support}\n  assertions: set:watch-first\n")
	if got := run(exitOK, "apply", "two.yaml"); got != "first version 1: new\nsecond version 1: new\n" {
		t.Error(got)
	}
	write("two.yaml", "first:\n  match: {agent: sales}\n  assertions: file://first.yaml\n")
	if got := run(exitOK, "apply", "two.yaml"); got != "first version 2: changed\n" {
		t.Error(got)
	}
	write("first.yaml", "- {id: tone, criteria: [The output is polite]}\n- {id: code, check: {type: python, value: 'True'}}\n")
	if got := run(exitOK, "apply", "two.yaml"); !strings.Contains(got, "first version 2: unchanged, set changed (version 2)\n") || !strings.Contains(got, `"code" cannot be evaluated on this server`) {
		t.Error(got)
	}
	if got := run(exitOK, "status"); !strings.Contains(got, `first: "code" cannot be evaluated on this server`) {
		t.Error(got)
	}
	if got := run(exitOK, "alarms"); got != "there are no such alarms\n" {
		t.Error(got)
	}
	if got := run(exitUsage, "ack", "alarm_none"); !strings.Contains(got, "there is no alarm") {
		t.Error(got)
	}
	run(exitUsage, "apply")
	run(exitUsage, "status", "none") // there is no such watch
}
