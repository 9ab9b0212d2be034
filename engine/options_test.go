package engine_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/internal/fakemodel"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/run"
	"github.com/proviso-eval/proviso/sandbox"
	"github.com/proviso-eval/proviso/value"
)

// memory is a cache of a Go program.
type memory struct {
	mu      sync.Mutex
	entries map[string]*value.Object
}

func (m *memory) Get(key string) (*value.Object, time.Time, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.entries[key], time.Time{}, nil
}

func (m *memory) Put(key string, entry *value.Object) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.entries == nil {
		m.entries = map[string]*value.Object{}
	}
	m.entries[key] = entry
	return nil
}

// model is a provider of a Go program that answers everything with one text.
type model struct {
	id, text string
	asked    *int
}

func (m model) ID() string { return m.id }

func (m model) Answer(context.Context, proviso.Ask) (proviso.Output, error) {
	*m.asked++
	return proviso.Output{Value: m.text}, nil
}

const judgement = `{"results": [{"id": "a", "criteria": [{"n": 1, "reasoning": "It greets.", "evidence": ["Hello"], "verdict": "met"}]}]}`

// TestOwnCaches: a program's caches store the answers of its providers and the verdicts of its
// judge model.
func TestOwnCaches(t *testing.T) {
	t.Parallel()
	answers, verdicts := &memory{}, &memory{}
	asked, graded := 0, 0
	name := write(t, map[string]string{"proviso.yaml": "prompts: [p]\nproviders: [mine]\ntests: [{assert: [{type: judge, id: a, criteria: [greets]}]}]\n"})
	o := engine.Options{
		Judge: engine.Judge{Name: "grades"},
		Engines: engine.Engines{
			Answers: answers, Verdicts: verdicts,
			Providers: []proviso.Provider{model{"mine", "Hello", &asked}, model{"grades", judgement, &graded}},
		},
	}
	for range 2 {
		e, err := engine.OpenFile(t.Context(), name, o)
		if err != nil {
			t.Fatal(err)
		}
		if got := reasons(t, e, run.Task{}); got != "true null" {
			t.Errorf("%s", got)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
	if asked != 1 || graded != 1 || len(verdicts.entries) != 1 || len(answers.entries) == 0 {
		t.Errorf("%d answers and %d judgements, %d verdicts and %d answers kept", asked, graded, len(verdicts.entries), len(answers.entries))
	}
}

// TestRecord: a program records the answers of models, without keys and redacted texts, and
// replays them without keys.
func TestRecord(t *testing.T) {
	t.Parallel()
	const key, private = "sk-a-very-secret-key-1234567890", "Grandmother's recipe"
	server := fakemodel.New(fakemodel.Options{Reply: func(fakemodel.Request) fakemodel.Reply { return fakemodel.Reply{Text: private + " is fine"} }})
	stop := sync.OnceFunc(server.Close)
	defer stop()
	name := write(t, map[string]string{"proviso.yaml": "prompts: [p]\nproviders: [{id: 'openai:chat:gpt', config: {apiBaseUrl: '" + server.URL + "/v1'}}]\ntests: [{assert: [{type: contains, value: fine}]}]\n"})
	dir := t.TempDir()
	o := engine.Options{Policy: engine.Policy{Trusted: true}}
	o.Engines = engine.Engines{Env: proviso.EnvMap{"OPENAI_API_KEY": key}, Record: dir, Redact: []string{private}}
	for _, replays := range []bool{false, true} {
		if replays {
			stop()
			o.Engines = engine.Engines{Replay: dir}
		}
		e, err := engine.OpenFile(t.Context(), name, o)
		if err != nil {
			t.Fatal(err)
		}
		if got := reasons(t, e, run.Task{}); got != "true null" {
			t.Errorf("replays %v: %s", replays, got)
		}
		_ = e.Close()
	}
	for name, data := range filesBelow(t, dir) {
		if strings.Contains(data, key) || strings.Contains(data, private) {
			t.Errorf("%s has a secret", name)
		}
	}
}

// TestOwnGrader: every judged assertion goes to the program's grader, and what it cannot decide
// is an error, never a pass.
func TestOwnGrader(t *testing.T) {
	t.Parallel()
	o := engine.Options{Judge: engine.Judge{Grader: named{}}}
	request, err := judge.ReadRequest([]byte(`{"agent_input": "a", "agent_output": "b", "assertions": [{"id": "x", "criteria": ["c"]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	response, err := open(t, nil, o).Evaluate(t.Context(), request)
	if err != nil || response.Results[0].Status != "error" || response.Results[0].Reasoning != "no verdict today" {
		t.Errorf("a request: %+v, %v", response, err)
	}
	name := write(t, map[string]string{"proviso.yaml": "prompts: [p]\nproviders: [echo]\ntests: [{assert: [{type: not-llm-rubric, value: c}]}]\n"})
	e, err := engine.OpenFile(t.Context(), name, o)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if got := reasons(t, e, run.Task{}); got != `false "no verdict today"` {
		t.Errorf("a suite: %s", got)
	}
	if e.JudgedBy() != "mine 1" {
		t.Errorf("judged by %q", e.JudgedBy())
	}
}

// named is a grader with an identity but no verdict.
type named struct{}

func (named) Identity() string { return "mine 1" }

func (named) Grade(context.Context, proviso.Question) (proviso.Grade, error) {
	return proviso.Grade{Pass: true}, errors.New("no verdict today")
}

// ownCode is a code runner that returns true.
type ownCode struct{ compiled *[]string }

func (c ownCode) Compile(_ context.Context, src proviso.Source) (proviso.Function, error) {
	*c.compiled = append(*c.compiled, src.Language)
	return ownCode{}, nil
}

func (ownCode) Call(context.Context, ...any) (any, error) { return true, nil }

func (ownCode) Close() error { return nil }

// TestOwnCode: a program may run the code of suites that it trusts. Code of other suites still
// does not run.
func TestOwnCode(t *testing.T) {
	t.Parallel()
	var compiled []string
	o := engine.Options{Engines: engine.Engines{Code: ownCode{&compiled}}}
	assert := &proviso.Assertion{Type: "python", Value: "False"}
	if _, err := open(t, nil, o).Decide(t.Context(), text("a"), assert); err == nil || len(compiled) > 0 {
		t.Errorf("untrusted: %v, compiled %v", err, compiled)
	}
	o.Policy.Trusted = true
	r, err := open(t, nil, o).Decide(t.Context(), text("a"), assert)
	if err != nil || r.Aggregate.Status != proviso.Pass || len(compiled) != 1 {
		t.Errorf("trusted: %+v, %v", r, err)
	}
}

// TestEnginesOfItsOwn: a program can use templates and JavaScript itself.
func TestEnginesOfItsOwn(t *testing.T) {
	t.Parallel()
	e := open(t, nil, engine.Options{Policy: engine.Policy{Trusted: true, Sandbox: sandbox.Auto}})
	got, err := e.Templates().Render(t.Context(), "{{ name | upper }}", value.ObjectOf("name", "Ann"))
	if err != nil || got != "ANN" {
		t.Errorf("template: %q, %v", got, err)
	}
	fn, err := e.Code().Compile(t.Context(), proviso.Source{Language: "javascript", Text: "a + b", Params: []string{"a", "b"}})
	if err != nil {
		t.Fatal(err)
	}
	defer fn.Close()
	if sum, err := fn.Call(t.Context(), 1, 2); err != nil || sum != 3.0 {
		t.Errorf("JavaScript: %v, %v", sum, err)
	}
}

// TestOptionsMistakes: contradictory options are refused.
func TestOptionsMistakes(t *testing.T) {
	t.Parallel()
	asked := 0
	mine := model{"mine", "", &asked}
	for name, n := range map[string]engine.Engines{
		"record and replay": {Record: "a", Replay: "b"},
		"two of one id":     {Providers: []proviso.Provider{mine, mine}},
		"no provider":       {Providers: []proviso.Provider{nil}},
	} {
		_, err := engine.Open(t.Context(), nil, engine.Options{Engines: n})
		var e *proviso.Error
		if !errors.As(err, &e) || e.Code != proviso.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestOpenFileMistakes: all mistakes of a file are reported at once, with their positions.
func TestOpenFileMistakes(t *testing.T) {
	t.Parallel()
	name := write(t, map[string]string{"proviso.yaml": "prompts: [p]\nproviders: [echo]\npromts: [q]\ntests: [{vers: {}}]\n"})
	_, err := engine.OpenFile(t.Context(), name, engine.Options{})
	var all proviso.Mistakes
	if !errors.As(err, &all) || len(all) != 3 || all[0].Place.Line != 3 || all[2].Place.Line != 4 || all[2].Nearest != "vars" {
		t.Errorf("%v", err)
	}
	name = write(t, map[string]string{"proviso.yaml": "prompts: [p]\nproviders: [nobody]\ntests: [{assert: [{type: cointains}]}]\n"})
	e, err := engine.OpenFile(t.Context(), name, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if _, err := e.Run(t.Context(), run.Task{}); !errors.As(err, &all) || len(all) != 2 {
		t.Errorf("%v", err)
	}
}

// filesBelow returns the contents of all files below a folder.
func filesBelow(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		all[name] = string(data)
		return err
	})
	if err != nil || len(all) == 0 {
		t.Errorf("%d files, %v", len(all), err)
	}
	return all
}
