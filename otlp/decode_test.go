package otlp_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/proviso-eval/proviso/otlp"
	"github.com/proviso-eval/proviso/value"
)

// shown writes a record on one line.
func shown(r otlp.Record) string {
	s := r.Span
	took := "?"
	if !s.Start.IsZero() && !s.End.IsZero() {
		took = s.End.Sub(s.Start).String()
	}
	return fmt.Sprintf("%s %s<%s %q %s %d %q %s", r.TraceID, s.ID, s.ParentID, s.Name, took, s.StatusCode, s.StatusMessage, value.Stringify(s.Attributes))
}

func shownAll(b *otlp.Batch) []string {
	list := []string{}
	for _, r := range b.Records {
		list = append(list, shown(r))
	}
	return list
}

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestDecodeWhatSDKsSend reads a request of the exporter of the OpenTelemetry SDK for Go (1.47),
// and the same request as JSON.
func TestDecodeWhatSDKsSend(t *testing.T) {
	t.Parallel()
	const trace = "ab000000000000000000000000000001"
	want := []string{
		trace + ` cd00000000000002<cd00000000000001 "chat gpt-5" 290ms 0 "" {"gen_ai.operation.name":"chat","gen_ai.usage.input_tokens":123,"gen_ai.request.temperature":0.5,"gen_ai.response.finish_reasons":["tool_calls"]}`,
		trace + ` cd00000000000003<cd00000000000001 "execute_tool lookup" 110ms 2 "mailbox full" {"gen_ai.operation.name":"execute_tool","gen_ai.tool.name":"lookup","gen_ai.tool.call.arguments":"{\"order\":\"A1\",\"deep\":true}","cached":false}`,
		trace + ` cd00000000000001< "invoke_agent helper" 1s 1 "" {"gen_ai.operation.name":"invoke_agent","gen_ai.agent.name":"helper"}`,
	}
	for name, decode := range map[string]func([]byte) (*otlp.Batch, error){"go-sdk.pb": otlp.DecodeProto, "go-sdk.json": otlp.DecodeJSON} {
		b, err := decode(readFile(t, name))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, shownAll(b)); diff != "" || b.Rejected != 0 {
			t.Errorf("%s: %d rejected\n%s", name, b.Rejected, diff)
		}
		if start := b.Records[2].Span.Start; !start.Equal(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)) {
			t.Errorf("%s: it began at %v", name, start)
		}
	}
}

// TestDecodeProto reads messages that no SDK sends.
func TestDecodeProto(t *testing.T) {
	t.Parallel()
	one := spanOf{trace: 1, id: 2, name: "x"}
	with := func(change func(s *spanOf)) []byte {
		s := one
		change(&s)
		return request(s)
	}
	for _, tc := range []struct {
		name     string
		data     []byte
		want     string // the only span; "" if there is none
		rejected int
	}{
		{"nothing", nil, "", 0},
		{"no times", request(one), `"x" ? 0 "" {}`, 0},
		{"all kinds of value", with(func(s *spanOf) {
			s.attributes = value.ObjectOf("s", "a", "i", whole(-5), "f", 0.5, "b", true, "n", nil, "l", []any{"x", whole(1), []any{}}, "o", value.ObjectOf("k", "v"), "raw", raw{1, 2})
		}), `"x" ? 0 "" {"s":"a","i":-5,"f":0.5,"b":true,"n":null,"l":["x",1,[]],"o":{"k":"v"},"raw":"AQI="}`, 0},
		{"the last of equal names", with(func(s *spanOf) { s.more = append(keyValue(9, "a", whole(1)), keyValue(9, "a", whole(2))...) }), `"x" ? 0 "" {"a":2}`, 0},
		{"it ends before it begins", with(func(s *spanOf) { s.start, s.end = time.Second, time.Millisecond }), `"x" -999ms 0 "" {}`, 0},
		{"a time beyond what fits", with(func(s *spanOf) { s.start, s.more = 1, fixedField(8, 1<<64-1) }), `"x" 2562047h47m16.854775807s 0 "" {}`, 0},
		{"invalid UTF-8 and control characters", with(func(s *spanOf) { s.name = "a\xff\x1b[31m\x00" }), "\"a\ufffd\\x1b[31m\\x00\" ? 0 \"\" {}", 0},
		{"fields that are not known", with(func(s *spanOf) { s.more = append(textField(99, "?"), varintField(98, 7)...) }), `"x" ? 0 "" {}`, 0},
		{"a name that is a number", with(func(s *spanOf) { s.more = varintField(5, 7) }), `"x" ? 0 "" {}`, 0},
		{"an error without a message", with(func(s *spanOf) {
			s.more = append(bytesField(15, varintField(3, 2)), bytesField(11, textField(2, "exception"), keyValue(3, "exception.type", "IOError"))...)
		}), `"x" ? 2 "IOError" {}`, 0},
		{"what was said, in an event", with(func(s *spanOf) {
			s.more = bytesField(11, textField(2, "gen_ai.choice"), keyValue(3, "message", value.ObjectOf("content", "Nine.")))
		}), `"x" ? 0 "" {"gen_ai.completion.0.role":"assistant","gen_ai.completion.0.content":"Nine."}`, 0},
		{"no trace id", with(func(s *spanOf) { s.trace = 0 }), "", 1},
		{"no span id", with(func(s *spanOf) { s.id = 0 }), "", 1},
		{"a short span id", with(func(s *spanOf) { s.more = textField(2, "abc") }), "", 1},
	} {
		b, err := otlp.DecodeProto(tc.data)
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		got := ""
		if len(b.Records) > 0 {
			_, got, _ = strings.Cut(shown(b.Records[0]), "< ")
		}
		if got != tc.want || b.Rejected != tc.rejected {
			t.Errorf("%s: got %s, %d rejected; want %s, %d", tc.name, got, b.Rejected, tc.want, tc.rejected)
		}
	}
}

// TestDecodeMalformed checks the error of malformed requests.
func TestDecodeMalformed(t *testing.T) {
	t.Parallel()
	good := request(spanOf{trace: 1, id: 2, name: "x"})
	nested := anyValue("x")
	for range 100 {
		nested = bytesField(5, bytesField(1, nested))
	}
	deep := bytesField(1, bytesField(2, bytesField(2, bytesField(9, textField(1, "k"), bytesField(2, nested)))))
	for name, data := range map[string][]byte{
		"cut off": good[:len(good)-1], "no tag": {0x00}, "text": []byte("resourceSpans: []"),
		"a length beyond the end": {0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f}, "too deep": deep,
	} {
		if b, err := otlp.DecodeProto(data); err == nil || !strings.HasPrefix(err.Error(), "malformed protobuf: ") {
			t.Errorf("%s: got %v, %v", name, b, err)
		}
	}
	deepJSON := strings.Repeat(`{"arrayValue":{"values":[`, 100) + strings.Repeat(`]}}`, 100)
	span := func(attributes string) string {
		return `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"` + traceHex(1) + `","spanId":"` + spanHex(2) + `","attributes":` + attributes + `}]}]}]}`
	}
	for _, data := range []string{
		"", "[]", "{", `{"resourceSpans":{}}`, `{"resourceSpans":[5]}`, `{"resourceSpans":[{"scopeSpans":"x"}]}`,
		span(`{}`), span(`[5]`), span(`[{"key":"k","value":` + deepJSON + `}]`),
	} {
		if b, err := otlp.DecodeJSON([]byte(data)); err == nil || !strings.HasPrefix(err.Error(), "malformed JSON: ") {
			t.Errorf("%s: got %v, %v", data, b, err)
		}
	}
}

// TestDecodeJSON reads spellings that the SDKs do not write.
func TestDecodeJSON(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		span, want string
		rejected   int
	}{
		{`"traceId":"` + strings.ToUpper(traceHex(171)) + `","spanId":"` + spanHex(2) + `","name":"x"`, traceHex(171) + ` ` + spanHex(2) + `< "x" ? 0 "" {}`, 0},
		{`"traceId":"` + traceHex(1) + `","spanId":"` + spanHex(2) + `","startTimeUnixNano":1000000,"endTimeUnixNano":"3000000","status":{"code":"STATUS_CODE_ERROR"}`,
			traceHex(1) + ` ` + spanHex(2) + `< "" 2ms 2 "" {}`, 0},
		{`"traceId":"` + traceHex(1) + `","spanId":"` + spanHex(2) + `","attributes":[{"key":"i","value":{"intValue":"7"}},{"key":"j","value":{"intValue":7}},{"key":"f","value":{"doubleValue":"NaN"}},
			{"key":"o","value":{"kvlistValue":{"values":[{"key":"a","value":{"boolValue":true}}]}}},{"key":"b","value":{"bytesValue":"AQI="}},{"key":"n","value":{}},{"key":"e"}]`,
			traceHex(1) + ` ` + spanHex(2) + `< "" ? 0 "" {"i":7,"j":7,"f":null,"o":{"a":true},"b":"AQI=","n":null,"e":null}`, 0},
		{`"traceId":"AAAAAAAAAAAAAAAAAAAAAQ==","spanId":"` + spanHex(2) + `"`, "", 1}, // base64, as in protobuf's own JSON form
		{`"traceId":"` + strings.Repeat("0", 32) + `","spanId":"` + spanHex(2) + `"`, "", 1},
		{`"traceId":"` + strings.Repeat("g", 32) + `","spanId":"` + spanHex(2) + `"`, "", 1},
		{`"spanId":5`, "", 1},
	} {
		b, err := otlp.DecodeJSON([]byte(`{"resourceSpans":[{"scopeSpans":[{"spans":[{` + tc.span + `}]}]}]}`))
		if err != nil {
			t.Errorf("%s: %v", tc.span, err)
			continue
		}
		if got := strings.Join(shownAll(b), "\n"); got != tc.want || b.Rejected != tc.rejected {
			t.Errorf("%s:\n got %s, %d rejected\nwant %s, %d", tc.span, got, b.Rejected, tc.want, tc.rejected)
		}
	}
}

func FuzzDecodeProto(f *testing.F) {
	f.Add(readFile(f, "go-sdk.pb"))
	f.Add(request(spanOf{trace: 1, id: 2, name: "x", attributes: value.ObjectOf("l", []any{"a", value.ObjectOf("k", whole(1))})}))
	f.Add([]byte{0x0a, 0x02, 0x12, 0x00})
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := otlp.DecodeProto(data)
		if err != nil {
			return
		}
		checkBatch(t, b, len(data))
	})
}

func FuzzDecodeJSON(f *testing.F) {
	f.Add(readFile(f, "go-sdk.json"))
	f.Add([]byte(`{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"01","attributes":[{"key":"a","value":{"arrayValue":{"values":[{}]}}}]}]}]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := otlp.DecodeJSON(data)
		if err != nil {
			return
		}
		checkBatch(t, b, len(data))
		if two, err := otlp.DecodeRecorded(string(data) + "\n" + string(bytes.TrimSpace(data))); err != nil || len(two.Records) != 2*len(b.Records) {
			t.Fatalf("recorded twice: %v", err)
		}
	})
}

// checkBatch checks properties of every batch.
func checkBatch(t *testing.T, b *otlp.Batch, size int) {
	t.Helper()
	if (b.Rejected > 0) != (b.Reason != "") {
		t.Fatalf("%d rejected: %q", b.Rejected, b.Reason)
	}
	for _, r := range b.Records {
		if len(r.TraceID) != 32 || len(r.Span.ID) != 16 || len(r.Span.ParentID)%16 != 0 || r.Span.Attributes == nil || r.Size <= 0 {
			t.Fatalf("a record of %d bytes: %s", size, shown(r))
		}
	}
}

func BenchmarkDecodeProto(b *testing.B) { benchmarkDecode(b, many(1000), otlp.DecodeProto) }

func BenchmarkDecodeJSON(b *testing.B) {
	var spans []string
	for i := range 1000 {
		spans = append(spans, fmt.Sprintf(`{"traceId":%q,"spanId":%q,"parentSpanId":%q,"name":"execute_tool search_orders","kind":1,"startTimeUnixNano":"1767323045010000000","endTimeUnixNano":"1767323045300000000","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"execute_tool"}},{"key":"gen_ai.tool.name","value":{"stringValue":"search_orders"}},{"key":"gen_ai.tool.call.id","value":{"stringValue":"call_0123456789"}},{"key":"gen_ai.tool.call.arguments","value":{"stringValue":"{\"order\":\"A1\",\"deep\":true}"}},{"key":"server.port","value":{"intValue":"443"}},{"key":"gen_ai.usage.input_tokens","value":{"intValue":"1234"}},{"key":"gen_ai.request.temperature","value":{"doubleValue":0.5}},{"key":"cached","value":{"boolValue":false}}],"status":{}}`,
			traceHex(1), spanHex(uint64(i+2)), spanHex(1)))
	}
	benchmarkDecode(b, []byte(`{"resourceSpans":[{"scopeSpans":[{"spans":[`+strings.Join(spans, ",")+`]}]}]}`), otlp.DecodeJSON)
}

// benchmarkDecode decodes and stores requests of 1000 spans with eight attributes.
func benchmarkDecode(b *testing.B, data []byte, decode func([]byte) (*otlp.Batch, error)) {
	b.ReportAllocs()
	b.SetBytes(int64(len(data)))
	n := 0
	for b.Loop() {
		batch, err := decode(data)
		if err != nil {
			b.Fatal(err)
		}
		otlp.NewStore(otlp.StoreOptions{}).Add(batch)
		n += len(batch.Records)
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "spans/s")
}
