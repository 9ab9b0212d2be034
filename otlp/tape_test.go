package otlp_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/blobs"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/otlp"
	"github.com/proviso-eval/proviso/value"
)

// TestTape records two traces and replays them in another process.
func TestTape(t *testing.T) {
	t.Parallel()
	folder, about := blobs.Open(t.TempDir()), value.ObjectOf("prompt", "hi")
	silent := func(text string) { t.Errorf("it warns: %s", text) }
	s := listening(otlp.StoreOptions{Wait: 50 * time.Millisecond})
	tape := otlp.NewTape(s, transport.Record(folder, transport.CassetteOptions{}), silent)
	second := proviso.Sample{Repeat: 1}
	id, tc, ok := tape.BeginRow("exec:agent", about, second, true)
	if !ok || tc.Parent == "" {
		t.Fatalf("%q %+v %v", id, tc, ok)
	}
	if _, _, ok := tape.BeginRow("exec:other", about, proviso.Sample{}, false); !ok {
		t.Fatal("a row that nobody looks at has no trace")
	}
	b := batch(t, spanOf{trace: 1, id: 1, name: "root", start: time.Second, end: 2 * time.Second, attributes: value.ObjectOf("api_key", "k", "n", 2.5)},
		spanOf{trace: 1, id: 2, parent: 1, name: "child", start: time.Second + 1})
	b.Records[1].Span.StatusCode, b.Records[1].Span.StatusMessage = 2, "broken"
	s.Add(b)
	came, err := tape.Spans(t.Context(), traceHex(1))
	if err != nil || len(came) != 2 {
		t.Fatalf("%v, %v", came, err)
	}
	_, missing := tape.Spans(t.Context(), traceHex(2))
	if codeOf(missing) != proviso.Timeout {
		t.Fatalf("no span came, and the error is %v", missing)
	}

	var warned []string
	again := otlp.NewTape(otlp.NewStore(otlp.StoreOptions{}), transport.Replay(folder, transport.CassetteOptions{}), func(text string) { warned = append(warned, text) })
	if got, tc, ok := again.BeginRow("exec:agent", about, second, true); !ok || got != id || tc.Endpoint != "" {
		t.Errorf("the row has the trace %q %+v %v, want %q", got, tc, ok, id)
	}
	spans, err := again.Spans(t.Context(), traceHex(1))
	object := cmp.Comparer(func(a, b *value.Object) bool { return value.Stringify(a) == value.Stringify(b) })
	if diff := cmp.Diff(came, spans, object); diff != "" || err != nil {
		t.Errorf("%v (-recorded +replayed):\n%s", err, diff)
	}
	if _, err := again.Spans(t.Context(), traceHex(2)); codeOf(err) != proviso.Timeout || err.Error() != missing.Error() {
		t.Errorf("what did not come: %v", err)
	}
	if _, err := again.Spans(t.Context(), traceHex(3)); codeOf(err) != proviso.NotFound {
		t.Errorf("what was not recorded: %v", err)
	}
	for _, needed := range []bool{false, true, true} {
		if _, _, ok := again.BeginRow("exec:other", about, proviso.Sample{}, needed); ok {
			t.Error("a row that was not recorded has a trace")
		}
	}
	if len(warned) != 1 {
		t.Errorf("it warns %q", warned)
	}
}

// codeOf is the code of an error, "" if it has none.
func codeOf(err error) string {
	var e *proviso.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}
