package otlp_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/proviso-eval/proviso/value"
)

// The wire format, written by hand, so that tests can send what no SDK sends.

func bytesField(number protowire.Number, parts ...[]byte) []byte {
	var all []byte
	for _, p := range parts {
		all = append(all, p...)
	}
	return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), all)
}

func textField(number protowire.Number, s string) []byte { return bytesField(number, []byte(s)) }

func fixedField(number protowire.Number, v uint64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(nil, number, protowire.Fixed64Type), v)
}

func varintField(number protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.VarintType), v)
}

// anyValue writes an AnyValue. whole and raw are numbers and bytes that objects store unchanged, to
// distinguish them from other numbers and texts here.
type (
	whole int
	raw   []byte
)

func anyValue(v any) []byte {
	switch v := v.(type) {
	case string:
		return textField(1, v)
	case bool:
		return varintField(2, map[bool]uint64{true: 1}[v])
	case whole:
		return varintField(3, uint64(v))
	case float64:
		return fixedField(4, math.Float64bits(v))
	case raw:
		return bytesField(7, v)
	case []any:
		var list []byte
		for _, e := range v {
			list = append(list, bytesField(1, anyValue(e))...)
		}
		return bytesField(5, list)
	case *value.Object:
		var list []byte
		for key, e := range v.All() {
			list = append(list, keyValue(1, key, e)...)
		}
		return bytesField(6, list)
	}
	return nil
}

func keyValue(number protowire.Number, key string, v any) []byte {
	return bytesField(number, textField(1, key), bytesField(2, anyValue(v)))
}

// spanOf is a span in the form that tests write. trace and id are numbers; 0 means no id.
type spanOf struct {
	trace, id, parent uint64
	name              string
	start, end        time.Duration // since the epoch; 0 means none
	attributes        *value.Object
	more              []byte
}

func (s spanOf) encoded() []byte {
	id := binary.BigEndian.AppendUint64(nil, s.id)
	traceID := binary.BigEndian.AppendUint64(make([]byte, 8), s.trace)
	parts := [][]byte{bytesField(1, traceID), bytesField(2, id), textField(5, s.name)}
	if s.parent != 0 {
		parts = append(parts, bytesField(4, binary.BigEndian.AppendUint64(nil, s.parent)))
	}
	if s.start != 0 {
		parts = append(parts, fixedField(7, uint64(s.start)))
	}
	if s.end != 0 {
		parts = append(parts, fixedField(8, uint64(s.end)))
	}
	for key, v := range s.attributes.All() {
		parts = append(parts, keyValue(9, key, v))
	}
	return bytesField(2, append(parts, s.more)...)
}

// request is an ExportTraceServiceRequest.
func request(spans ...spanOf) []byte {
	var list []byte
	for _, s := range spans {
		list = append(list, s.encoded()...)
	}
	resource := bytesField(1, keyValue(1, "service.name", "agent"), keyValue(1, "process.command", "python agent.py"))
	return bytesField(1, resource, bytesField(2, bytesField(1, textField(1, "scope")), list))
}

// many is a request with n spans of one trace, as agents send them.
func many(n int) []byte {
	attributes := value.ObjectOf("gen_ai.operation.name", "execute_tool", "gen_ai.tool.name", "search_orders",
		"gen_ai.tool.call.id", "call_0123456789", "gen_ai.tool.call.arguments", `{"order":"A1","deep":true}`,
		"server.port", whole(443), "gen_ai.usage.input_tokens", whole(1234), "gen_ai.request.temperature", 0.5, "cached", false)
	var list []byte
	for i := range n {
		list = append(list, spanOf{
			trace: 1, id: uint64(i + 2), parent: 1, name: "execute_tool search_orders",
			start: time.Duration(i+1) * time.Millisecond, end: time.Duration(i+9) * time.Millisecond, attributes: attributes,
		}.encoded()...)
	}
	return bytesField(1, bytesField(2, list))
}

// traceHex and spanHex return the ids of a number in the form of the store.
func traceHex(n uint64) string { return fmt.Sprintf("%032x", n) }

func spanHex(n uint64) string { return fmt.Sprintf("%016x", n) }
