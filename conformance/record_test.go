package conformance

import (
	"bufio"
	"context"
	"fmt"
	"math"
	"os"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/value"
)

// record is one case: the input of an assertion and its recorded verdict.
type record struct{ *value.Object }

func readRecords(file string) ([]record, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var list []record
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 64<<20)
	for n := 1; sc.Scan(); n++ {
		if len(sc.Bytes()) == 0 {
			continue
		}
		v, err := value.ParseJSON(sc.Text())
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, n, err)
		}
		o, ok := revive(v).(*value.Object)
		if !ok {
			return nil, fmt.Errorf("%s:%d: expected an object", file, n)
		}
		list = append(list, record{o})
	}
	return list, sc.Err()
}

// revive turns {"$js": name} into the JavaScript value with that name.
func revive(v any) any {
	switch v := v.(type) {
	case []any:
		for i, e := range v {
			v[i] = revive(e)
		}
	case *value.Object:
		if name, ok := v.At("$js").(string); ok && v.Len() == 1 {
			return map[string]any{"NaN": math.NaN(), "Infinity": math.Inf(1), "-Infinity": math.Inf(-1), "undefined": value.Undefined{}}[name]
		}
		for k, e := range v.All() {
			v.Set(k, revive(e))
		}
	}
	return v
}

func (r record) text(key string) string {
	s, _ := r.At(key).(string)
	return s
}

func (r record) object(key string) *value.Object {
	o, _ := r.At(key).(*value.Object)
	return o
}

// row returns the output on which the record's assertions are decided.
func (r record) row() *check.Row {
	row := &check.Row{Output: r.output(), Vars: r.object("vars")}
	if row.Vars == nil {
		row.Vars = value.NewObject(0)
	}
	row.Prompt, row.HasPrompt = r.At("prompt").(string)
	if p := r.object("provider"); p != nil {
		row.Provider = &proviso.ProviderSpec{}
		row.Provider.ID, _ = p.At("id").(string)
		row.Provider.Config, _ = p.At("config").(*value.Object)
	}
	return row
}

func (r record) output() *proviso.Output {
	resp := r.object("providerResponse")
	out := &proviso.Output{Value: r.At("output"), Raw: resp}
	if !r.Has("output") {
		out.Value = value.Undefined{}
	}
	out.FinishReason, _ = resp.At("finishReason").(string)
	out.Guardrails, _ = resp.At("guardrails").(*value.Object)
	out.Metadata, _ = resp.At("metadata").(*value.Object)
	if cost, ok := resp.At("cost").(float64); ok {
		out.Cost = &cost
	}
	if list, ok := resp.At("logProbs").([]any); ok {
		out.LogProbs = make([]float64, len(list))
		for i, p := range list {
			out.LogProbs[i] = value.ToNumber(p)
			if _, text := p.(string); text {
				out.LogProbs[i] = math.NaN() // the result of a sum with texts in promptfoo
			}
		}
	}
	if r.object("trace") != nil {
		out.TraceID = r.text("id")
	}
	if r.Has("latencyMs") {
		ms := value.ToNumber(r.At("latencyMs"))
		d := time.Duration(ms * float64(time.Millisecond))
		out.Latency = &d
	}
	return out
}

// traces are the spans of records, by their ids. They are read from the records
// before any decision.
type traces map[string][]proviso.Span

// Spans implements proviso.Spans.
func (t traces) Spans(_ context.Context, id string) ([]proviso.Span, error) { return t[id], nil }

// spans reads the trace of a record, whose times are in milliseconds.
func (r record) spans() []proviso.Span {
	list, _ := r.object("trace").At("spans").([]any)
	at := func(v any) time.Time {
		if ms, ok := v.(float64); ok {
			return time.UnixMicro(int64(ms * 1000))
		}
		return time.Time{}
	}
	out := make([]proviso.Span, len(list))
	for i, e := range list {
		o := record{e.(*value.Object)}
		code, _ := o.At("statusCode").(float64)
		out[i] = proviso.Span{
			ID: o.text("spanId"), ParentID: o.text("parentSpanId"), Name: o.text("name"), Start: at(o.At("startTime")), End: at(o.At("endTime")),
			Attributes: o.object("attributes"), StatusCode: int(code), StatusMessage: o.text("statusMessage"),
		}
	}
	return out
}
