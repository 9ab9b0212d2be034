package otlp_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/otlp"
)

// indexed is a span with n attributes whose keys are array indices, in the worst order, in both
// encodings of OTLP.
func indexed(n int) (proto, json []byte) {
	var attributes []byte
	var text strings.Builder
	for i := n; i > 0; i-- {
		attributes = append(attributes, keyValue(9, strconv.Itoa(i), "x")...)
		fmt.Fprintf(&text, `,{"key":"%d","value":{"stringValue":"x"}}`, i)
	}
	return request(spanOf{trace: 1, id: 1, more: attributes}), []byte(`{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"` + traceHex(1) + `","spanId":"` + spanHex(1) +
		`","name":"a","attributes":[` + text.String()[1:] + `]}]}]}]}`)
}

// TestDecodeManyIndices reads a span with so many attributes that quadratic cost would time out.
func TestDecodeManyIndices(t *testing.T) {
	t.Parallel()
	const n = 200_000
	proto, json := indexed(n)
	for name, decode := range map[string]func() (*otlp.Batch, error){
		"proto": func() (*otlp.Batch, error) { return otlp.DecodeProto(proto) },
		"json":  func() (*otlp.Batch, error) { return otlp.DecodeJSON(json) },
	} {
		b, err := decode()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(b.Records) != 1 {
			t.Fatalf("%s: %d spans", name, len(b.Records))
		}
		if keys := b.Records[0].Span.Attributes.Keys(); len(keys) != n || keys[0] != "1" || keys[n-1] != strconv.Itoa(n) {
			t.Errorf("%s: %d attributes", name, len(keys))
		}
	}
}

// BenchmarkDecodeIndices shows that ns/attribute does not grow with the number of
// attributes.
func BenchmarkDecodeIndices(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		proto, _ := indexed(n)
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			for b.Loop() {
				if _, err := otlp.DecodeProto(proto); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/attribute")
		})
	}
}
