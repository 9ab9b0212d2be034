package check_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/assertion"
	"github.com/proviso-eval/proviso/internal/script"
	"github.com/proviso-eval/proviso/internal/template"
	"github.com/proviso-eval/proviso/value"
)

// compiler returns a compiler with everything that works without a network.
func compiler(t testing.TB) *check.Compiler {
	t.Helper()
	return compilerWith(t, script.Options{})
}

func compilerWith(t testing.TB, o script.Options) *check.Compiler {
	t.Helper()
	code := script.New(o)
	t.Cleanup(func() { code.Close() })
	return check.New(check.Options{
		Code:      code,
		Templates: template.New(template.Options{}),
		Files:     dirFiles("testdata"),
		Spans:     inlineTraces{},

		CommandTools: []string{"Bash"},
		Providers: proviso.Providers{
			{Name: "azure:", Tools: proviso.ToolsOpenAI}, {Name: "google:", Tools: proviso.ToolsGoogle},
			{Name: "openai:", Tools: proviso.ToolsOpenAI}, {Name: "vertex:", Tools: proviso.ToolsGoogle},
		},
	})
}

// graded returns a compiler like c, with a grader that answers everything with a
// grade, or with an error that it holds. Package judge, which reads the same
// fixtures, tests how a grade is made.
func graded(c *check.Compiler, grade *value.Object) *check.Compiler {
	o := c.Options
	o.Grader = graderFunc(func(proviso.Question) (proviso.Grade, error) {
		if text, ok := grade.At("error").(string); ok {
			return proviso.Grade{}, errors.New(text)
		}
		g := proviso.Grade{Pass: grade.At("pass") == true}
		g.Score, _ = grade.At("score").(float64)
		g.Reason, _ = grade.At("reason").(string)
		return g, nil
	})
	return check.New(o)
}

// graderFunc is a grader made of a function.
type graderFunc func(q proviso.Question) (proviso.Grade, error)

func (f graderFunc) Grade(_ context.Context, q proviso.Question) (proviso.Grade, error) { return f(q) }

// inlineTraces reads the spans of a trace from its id, which is the trace of a
// fixture as JSON; times are in milliseconds. A trace without spans never arrived.
type inlineTraces struct{}

// Spans implements proviso.Spans.
func (inlineTraces) Spans(_ context.Context, id string) ([]proviso.Span, error) {
	v, err := value.ParseJSON(id)
	trace, _ := v.(*value.Object)
	list, ok := trace.At("spans").([]any)
	if err != nil || !ok {
		return nil, errors.New("no span came within 3s")
	}
	at := func(v any) time.Time {
		if ms, ok := v.(float64); ok {
			return time.UnixMicro(int64(ms * 1000))
		}
		return time.Time{}
	}
	spans := make([]proviso.Span, len(list))
	for i, e := range list {
		o := fixture{e.(*value.Object)}
		s := proviso.Span{Name: o.text("name"), Start: at(o.At("startTime")), End: at(o.At("endTime")), StatusMessage: o.text("statusMessage")}
		s.Attributes, _ = o.At("attributes").(*value.Object)
		code, _ := o.At("statusCode").(float64)
		s.StatusCode = int(code)
		spans[i] = s
	}
	return spans, nil
}

// dirFiles reads files of one folder.
type dirFiles string

func (d dirFiles) ReadFile(name string) ([]byte, error) {
	return os.ReadFile(filepath.Join(string(d), name))
}

// TestFixtures decides the cases of testdata/<type>.jsonl, one file per type.
func TestFixtures(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	c, hasty := compiler(t), compilerWith(t, script.Options{Timeout: 100 * time.Millisecond})
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".jsonl"), func(t *testing.T) {
			for _, rec := range readFixtures(t, file) {
				c := c
				if want, _ := rec.At("expect").(*value.Object); want.At("error") == "no result in time" {
					c = hasty
				}
				if grade, ok := rec.At("grade").(*value.Object); ok {
					c = graded(c, grade)
				}
				if rec.Has("returns") || rec.Has("throws") || rec.Has("error") {
					c = returning(c, rec)
				}
				if err := rec.compare(rec.decide(t, c)); err != nil {
					t.Errorf("%s: %v", rec.text("id"), err)
				}
			}
		})
	}
}

// fixture is one line of a fixture file, in the format of conformance/corpus.
type fixture struct{ *value.Object }

func readFixtures(t testing.TB, file string) []fixture {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var list []fixture
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 64<<20)
	for sc.Scan() {
		if strings.TrimSpace(sc.Text()) == "" {
			continue
		}
		v, err := value.ParseJSON(sc.Text())
		if err != nil {
			t.Fatalf("%s:%d: %v", file, len(list)+1, err)
		}
		list = append(list, fixture{v.(*value.Object)})
	}
	if err := sc.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

func (f fixture) text(key string) string {
	s, _ := f.At(key).(string)
	return s
}

func (f fixture) decide(t testing.TB, c *check.Compiler) proviso.Verdict {
	t.Helper()
	o, ok := f.At("assert").(*value.Object)
	if !ok {
		t.Fatalf("%s: no assertion", f.text("id"))
	}
	return c.Decide(t.Context(), assertion.Of(o, ""), f.row())
}

func (f fixture) row() *check.Row {
	resp, _ := f.At("providerResponse").(*value.Object)
	out := &proviso.Output{Value: f.At("output"), Raw: resp}
	if !f.Has("output") {
		out.Value = value.Undefined{}
	}
	out.FinishReason, _ = resp.At("finishReason").(string)
	out.Guardrails, _ = resp.At("guardrails").(*value.Object)
	out.Metadata, _ = resp.At("metadata").(*value.Object)
	out.Refused, _ = resp.At("isRefusal").(bool)
	out.Cached, _ = resp.At("cached").(bool)
	if cost, ok := resp.At("cost").(float64); ok {
		out.Cost = &cost
	}
	if list, ok := resp.At("logProbs").([]any); ok {
		for _, p := range list {
			f, _ := p.(float64)
			out.LogProbs = append(out.LogProbs, f)
		}
	}
	if trace, ok := f.At("trace").(*value.Object); ok {
		out.TraceID = value.Stringify(trace)
	}
	if ms, ok := f.At("latencyMs").(float64); ok {
		d := time.Duration(ms * float64(time.Millisecond))
		out.Latency = &d
	}
	row := &check.Row{Output: out}
	row.Vars, _ = f.At("vars").(*value.Object)
	if row.Vars == nil {
		row.Vars = value.NewObject(0)
	}
	row.Prompt, row.HasPrompt = f.At("prompt").(string)
	if o, ok := f.At("options").(*value.Object); ok {
		row.Case = &proviso.Case{Vars: row.Vars, Options: proviso.CaseOptions{Grader: o.At("provider"), RubricPrompt: o.At("rubricPrompt"), Extra: o}}
	}
	if p, ok := f.At("provider").(*value.Object); ok {
		row.Provider = &proviso.ProviderSpec{}
		row.Provider.ID, _ = p.At("id").(string)
		row.Provider.Config, _ = p.At("config").(*value.Object)
	}
	return row
}

func (f fixture) compare(v proviso.Verdict) error {
	want, _ := f.At("expect").(*value.Object)
	if want.Has("error") {
		if v.Status != proviso.Errored {
			return fmt.Errorf("got %s (%s), want an error", v.Status, v.Reason)
		}
		return nil
	}
	if got := v.Status == proviso.Pass; v.Status == proviso.Errored || got != want.At("pass") {
		return fmt.Errorf("got %s (%s), want pass %v", v.Status, v.Reason, want.At("pass"))
	}
	if score, ok := want.At("score").(float64); ok && math.Abs(score-v.Score) > 1e-6 {
		return fmt.Errorf("score %v, want %v", v.Score, score)
	}
	if evidence, ok := want.At("evidence").([]any); ok {
		var got []any
		for _, e := range v.Evidence {
			got = append(got, e.Quote+": "+e.Note)
		}
		if value.Stringify(got) != value.Stringify(evidence) {
			return fmt.Errorf("evidence %s, want %s", value.Stringify(got), value.Stringify(evidence))
		}
	}
	if reason, ok := want.At("reason").(string); ok && reason != v.Reason {
		return fmt.Errorf("reason %q, want %q", v.Reason, reason)
	}
	return nil
}
