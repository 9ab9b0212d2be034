package judge_test

import (
	"bufio"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/assertion"
	"github.com/proviso-eval/proviso/internal/script"
	"github.com/proviso-eval/proviso/internal/template"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/value"
)

// scripted is a model that returns its replies in turn and records the requests. It has
// every ability.
type scripted struct {
	id      string
	replies []string
	vectors *value.Object
	classes *value.Object
	flags   []any
	trace   trace

	mu   sync.Mutex
	asks []proviso.Ask
}

func (s *scripted) ID() string { return s.id }

func (s *scripted) Answer(_ context.Context, ask proviso.Ask) (proviso.Output, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asks = append(s.asks, ask)
	if len(s.asks) > len(s.replies) {
		return proviso.Output{}, fmt.Errorf("asked %d times, and there are %d replies", len(s.asks), len(s.replies))
	}
	cost := 0.25
	return proviso.Output{Value: s.replies[len(s.asks)-1], Cost: &cost, Usage: proviso.Usage{Total: 10, Requests: 1}}, nil
}

func (s *scripted) Embed(_ context.Context, texts []string) ([][]float64, proviso.Usage, error) {
	var out [][]float64
	for _, text := range texts {
		list, ok := s.vectors.At(text).([]any)
		if !ok {
			return nil, proviso.Usage{}, fmt.Errorf("there is no vector for %q", text)
		}
		v := make([]float64, len(list))
		for i, f := range list {
			v[i] = f.(float64)
		}
		out = append(out, v)
	}
	return out, proviso.Usage{Total: 3, Requests: 1}, nil
}

func (s *scripted) Classify(context.Context, string) (map[string]float64, error) {
	scores := map[string]float64{}
	for class, f := range s.classes.All() {
		scores[class] = f.(float64)
	}
	return scores, nil
}

func (s *scripted) Moderate(context.Context, string, string) ([]proviso.Flag, error) {
	var flags []proviso.Flag
	for _, f := range s.flags {
		flags = append(flags, proviso.Flag{Code: f.(string), Description: f.(string), Confidence: 1})
	}
	return flags, nil
}

// bench is a judge that calls a scripted model, and a compiler that calls the judge.
type bench struct {
	model    *scripted
	judge    *judge.Judge
	compiler *check.Compiler
	graded   []proviso.Grade // the judge's grades, in order
	errs     []error
}

// engines are shared by all tests, because they are slow to start.
var engines = sync.OnceValues(func() (*script.Engine, *template.Engine) {
	return script.New(script.Options{}), template.New(template.Options{Timeout: time.Minute, Env: func() *value.Object {
		return value.ObjectOf("SECRET", "hunter2")
	}})
})

// folder holds the files of a test by name.
type folder map[string]string

func (f folder) ReadFile(name string) ([]byte, error) {
	text, ok := f[name]
	if !ok {
		return nil, os.ErrNotExist
	}
	return []byte(text), nil
}

func newBench(t *testing.T, model *scripted, files folder) *bench {
	t.Helper()
	code, templates := engines()
	if model.id == "" {
		model.id = "test:judge"
	}
	o := check.Options{Code: code, Templates: templates, Files: files, Spans: &model.trace}
	seat := judge.Seat{Provider: model, Spec: proviso.ProviderSpec{ID: model.id}}
	j, err := judge.New(judge.Options{
		Providers: provider.Facts(),
		Judges:    []judge.Seat{seat}, Check: o,
		Open: func(any, judge.Role) (judge.Seat, error) { return seat, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{model: model, judge: j}
	o.Grader = b
	b.compiler = check.New(o)
	return b
}

// Grade records the judge's grade.
func (b *bench) Grade(ctx context.Context, q proviso.Question) (proviso.Grade, error) {
	g, err := b.judge.Grade(ctx, q)
	b.graded, b.errs = append(b.graded, g), append(b.errs, err)
	return g, err
}

// TestGradedFixtures runs the model fixtures in check/testdata through the judge, and
// compares the grade and the verdict.
func TestGradedFixtures(t *testing.T) {
	t.Parallel()
	for _, k := range check.Kinds() {
		file := filepath.Join("..", "check", "testdata", strings.ReplaceAll(k.Type, ":", "_")+".jsonl")
		if k.Needs&(check.NeedsJudge|check.NeedsEmbedder|check.NeedsClassifier|check.NeedsModerator) == 0 || k.New == nil || k.Type == "judge" {
			continue
		}
		t.Run(k.Type, func(t *testing.T) {
			t.Parallel()
			for _, o := range records(t, file) {
				t.Run(text(o, "id"), func(t *testing.T) { playFixture(t, o) })
			}
		})
	}
}

func playFixture(t *testing.T, o *value.Object) {
	model := &scripted{}
	for _, v := range list(o, "replies") {
		model.replies = append(model.replies, v.(string))
	}
	model.vectors, _ = o.At("vectors").(*value.Object)
	model.classes, _ = o.At("classes").(*value.Object)
	model.flags = list(o, "flags")
	model.trace = traceOf(o)
	b := newBench(t, model, nil)
	a := assertion.Of(o.At("assert").(*value.Object), "")
	v := b.compiler.Decide(t.Context(), a, rowOf(o))

	want, grade := o.At("expect").(*value.Object), o.At("grade").(*value.Object)
	if want.Has("error") != (v.Status == proviso.Errored) {
		t.Fatalf("got %s: %s", v.Status, v.Reason)
	}
	if len(model.asks) != len(model.replies) {
		t.Errorf("asked %d times, with %d replies", len(model.asks), len(model.replies))
	}
	if problem, ok := grade.At("error").(string); ok {
		if !strings.Contains(v.Reason, problem) && len(b.errs) > 0 {
			t.Errorf("the error is %q, want one with %q", v.Reason, problem)
		}
		return
	}
	if want.At("pass") != (v.Status == proviso.Pass) || math.Abs(want.At("score").(float64)-v.Score) > 1e-9 {
		t.Errorf("got %s with score %v (%s)", v.Status, v.Score, v.Reason)
	}
	if g := b.graded[0]; g.Pass != grade.At("pass") || math.Abs(grade.At("score").(float64)-g.Score) > 1e-9 || grade.Has("reason") && g.Reason != grade.At("reason") {
		t.Errorf("the grade is %v, %v, %q", g.Pass, g.Score, g.Reason)
	}
	if n := len(model.replies); n > 0 && (v.Cost != 0.25*float64(n) || v.Usage.Requests < int64(n)) || v.Judge == "" {
		t.Errorf("%d calls cost %v and %v by %q", n, v.Cost, v.Usage, v.Judge)
	}
}

// trace holds the spans of a fixture.
type trace []proviso.Span

// Spans implements proviso.Spans.
func (t *trace) Spans(context.Context, string) ([]proviso.Span, error) { return *t, nil }

// traceOf reads the trace of a fixture: spans with a name, attributes and a status.
func traceOf(o *value.Object) trace {
	traced, _ := o.At("trace").(*value.Object)
	var out trace
	for _, v := range list(traced, "spans") {
		s := v.(*value.Object)
		attributes, _ := s.At("attributes").(*value.Object)
		code, _ := s.At("statusCode").(float64)
		out = append(out, proviso.Span{Name: text(s, "name"), Attributes: attributes, StatusCode: int(code)})
	}
	return out
}

// rowOf returns the row of a fixture.
func rowOf(o *value.Object) *check.Row {
	vars, _ := o.At("vars").(*value.Object)
	row := &check.Row{Output: &proviso.Output{Value: o.At("output")}, Prompt: text(o, "prompt"), HasPrompt: true, Vars: vars.Clone()}
	if o.Has("trace") {
		row.Output.TraceID = "fixture"
	}
	if options, ok := o.At("options").(*value.Object); ok {
		row.Case = &proviso.Case{Vars: row.Vars, Options: proviso.CaseOptions{Grader: options.At("provider"), RubricPrompt: options.At("rubricPrompt"), Extra: options}}
	}
	return row
}

func text(o *value.Object, key string) string {
	s, _ := o.At(key).(string)
	return s
}

func list(o *value.Object, key string) []any {
	l, _ := o.At(key).([]any)
	return l
}

func records(t *testing.T, file string) []*value.Object {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []*value.Object
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		v, err := value.ParseJSON(sc.Text())
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		out = append(out, v.(*value.Object))
	}
	return out
}
