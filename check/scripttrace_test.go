package check_test

import (
	"context"
	"errors"
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

// oneTrace has one trace; others never arrive.
type oneTrace struct {
	id    string
	asked *int
}

func (o oneTrace) Spans(_ context.Context, id string) ([]proviso.Span, error) {
	*o.asked++
	if !strings.Contains(id, o.id) {
		return nil, errors.New("no span came within 3s")
	}
	at := time.UnixMilli(1_700_000_000_000)
	return []proviso.Span{
		{ID: "aa", Name: "invoke_agent", Start: at, End: at.Add(1500 * time.Millisecond)},
		{ID: "bb", ParentID: "aa", Name: "execute_tool mail", Start: at, StatusCode: 2, StatusMessage: "mailbox full", Attributes: value.ObjectOf("gen_ai.tool.name", "mail")},
	}, nil
}

// TestScriptsSeeTraces runs scripts that read the trace of their row.
func TestScriptsSeeTraces(t *testing.T) {
	t.Parallel()
	const id = "0af7651916cd43dd8448eb211c80319c"
	code := script.New(script.Options{})
	t.Cleanup(func() { code.Close() })
	whole := `JSON.stringify(context.trace) === '{"traceId":"` + id + `","spans":[` +
		`{"spanId":"aa","name":"invoke_agent","startTime":1700000000000,"endTime":1700000001500,"attributes":{},"statusCode":0},` +
		`{"spanId":"bb","parentSpanId":"aa","name":"execute_tool mail","startTime":1700000000000,"attributes":{"gen_ai.tool.name":"mail"},"statusCode":2,"statusMessage":"mailbox full"}]}'`
	for _, tc := range []struct {
		name, code, trace string
		deaf              bool // tracing is off
		want              proviso.Status
		reason            string // part of the reason
		asked             int
	}{
		{"the whole", whole, id, false, proviso.Pass, "", 1},
		{"a traceparent", whole, "00-" + id + "-00f067aa0ba902b7-01", false, proviso.Pass, "", 1},
		{"another value", `context.trace.spans.length === 3`, id, false, proviso.Fail, "", 1},
		{"taken apart", "const { vars, trace } = context;\nreturn trace.spans.some((s) => s.name.startsWith('execute_tool'));", id, false, proviso.Pass, "", 1},
		{"by name", `context["trace"].spans[1].attributes['gen_ai.tool.name'] === "mail"`, id, false, proviso.Pass, "", 1},
		{"in a template", `context.trace.spans.length === {{ n }}`, id, false, proviso.Pass, "", 1},
		{"from a file", "file://tracing.js", id, false, proviso.Pass, "", 1},
		{"it never came", `context.trace.spans.length === 0`, "ff", false, proviso.Errored, "no span came", 1},
		{"no trace", `!context.trace`, "", false, proviso.Errored, "No trace data available for javascript", 0},
		{"nobody follows traces", `context.trace === undefined`, id, true, proviso.Pass, "", 0},
		{"a trace of another kind", `output.includes("trace") || context.vars.tracer || /stack trace/.test(output) || !("traces" in context)`, "ff", false, proviso.Pass, "", 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			asked := 0
			o := check.Options{Code: code, Templates: template.New(template.Options{}), Files: dirFiles("testdata/scripts"), Spans: oneTrace{id, &asked}}
			if tc.deaf {
				o.Spans = nil
			}
			c := check.New(o)
			raw := value.ObjectOf("type", "javascript", "value", tc.code)
			set, mistakes := c.Compile([]*proviso.Assertion{assertion.Of(raw, "/assert/0"), assertion.Of(raw.Clone(), "/assert/1")})
			if len(mistakes) > 0 {
				t.Fatal(mistakes[0])
			}
			vars := value.ObjectOf("n", 2.0)
			row := &check.Row{Output: &proviso.Output{Value: "x", TraceID: tc.trace}, Vars: vars, Case: &proviso.Case{Vars: vars}}
			for _, v := range set.Eval(t.Context(), row) {
				if v.Status != tc.want || !strings.Contains(v.Reason, tc.reason) {
					t.Errorf("%s: %s", v.Status, v.Reason)
				}
			}
			if asked != tc.asked {
				t.Errorf("spans were asked for %d times, want %d", asked, tc.asked)
			}
		})
	}
}

// TestNeeds checks which assertions use the trace of a row.
func TestNeeds(t *testing.T) {
	t.Parallel()
	c := check.New(check.Options{Code: &interpreter{}, Templates: template.New(template.Options{}), Files: dirFiles("testdata/scripts")})
	typed := func(kind, val string) *value.Object { return value.ObjectOf("type", kind, "value", val) }
	for _, tc := range []struct {
		assert *value.Object
		want   bool
	}{
		{typed("trace-error-spans", "0"), true},
		{typed("not-trajectory:tool-used", "refund"), true},
		{typed("contains", "context.trace"), false},
		{typed("javascript", "context.trace.spans.length"), true},
		{typed("javascript", "context?.trace?.spans"), true},
		{typed("javascript", "output.traces.trace_id"), false},
		{typed("javascript", "output.length > 0 // not context.trace"), false},
		{typed("javascript", "/* context.trace */ /.trace/.test(output)"), false},
		{typed("javascript", "'// ' + context.trace.spans"), true},
		{typed("javascript", "{{ code }} && context.trace"), true},
		{typed("javascript", "{{ code }}"), false},
		{typed("javascript", "file://tracing.js"), true},
		{typed("equals", "file://tracing.js:count"), true},
		{typed("python", `context["trace"]["spans"]`), true},
		{typed("python", `context.get('trace', {}).get('spans')`), true},
		{typed("python", `"trace" not in context`), true},
		{typed("python", `"trace" in output`), true}, // it costs only a wait
		{typed("python", `output.count("trace") > 1`), false},
		{typed("ruby", `context.dig("trace", "spans")`), true},
		{typed("ruby", `context[:trace]`), true},
		{value.ObjectOf("type", "assert-set", "assert", []any{typed("javascript", "context.trace")}), true},
		{value.ObjectOf("type", "judge", "check", typed("trace-error-spans", "0")), true},
		{value.ObjectOf("type", "judge", "check", typed("javascript", "context.trace")), true},
		{value.ObjectOf("type", "judge", "check", typed("word-count", "3")), false},
		{typed("no-such-type", "context.trace"), false},
	} {
		set, _ := c.Compile([]*proviso.Assertion{assertion.Of(tc.assert, "/assert/0")})
		if got := set.Needs()&check.NeedsTrace != 0; got != tc.want {
			t.Errorf("%s: %v", value.Stringify(tc.assert), got)
		}
	}
	var none *check.Set
	if none.Needs() != 0 {
		t.Error("no set needs something")
	}
}
