package attacks_test

import (
	"context"
	"encoding/hex"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/jsonschema"
	"github.com/proviso-eval/proviso/internal/regex"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/otlp"
	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/value"
)

const (
	largest = 8<<20 - 4096           // size of the largest body that a server accepts, in bytes
	given   = 30 * time.Millisecond  // deadline of a reader
	late    = 250 * time.Millisecond // processor time that a reader may take beyond it, including garbage collection
)

// ofSize returns a family's text of at most size bytes, and not much less.
func ofSize(f family, size int) string {
	n, text := 1000, f.text(1000)
	// The numbers in a text get longer as it grows. The first sizes are small, because
	// the full text takes long to build.
	for _, share := range []float64{1. / 16, 1, 1, 1} {
		if len(text) <= size && len(text) > size/20*19 {
			break
		}
		n = int(float64(n) * float64(size) * share / float64(len(text)) * 0.97)
		text = f.text(n)
	}
	return text
}

// TestReadersStop: code that reads input under a deadline stops when the deadline passes,
// even with the largest body that a server accepts. The test measures processor time, so
// that a busy machine makes no difference.
func TestReadersStop(t *testing.T) {
	ctx := t.Context()
	x := serve(t, server.Options{})
	patterns := regex.New(regex.Options{})
	defer patterns.Close()
	schema := func(s string) func(context.Context) error {
		v, err := value.ParseJSON(s)
		if err != nil {
			t.Fatal(err)
		}
		return func(ctx context.Context) error {
			_, err := jsonschema.Compile(v, jsonschema.Options{Context: ctx, Pattern: func(pattern, flags string) (jsonschema.Matcher, error) {
				re, err := patterns.Compile(pattern, flags)
				if err != nil {
					return nil, err
				}
				return re.Match, nil
			}})
			return err
		}
	}
	match := func(pattern, text string) func(context.Context) error {
		re, err := patterns.Compile(pattern, "")
		if err != nil {
			t.Fatal(err)
		}
		return func(ctx context.Context) error {
			_, err := re.Match(ctx, text)
			return err
		}
	}
	list := make([]any, 400_000)
	for i := range list {
		list[i] = value.ObjectOf("a", float64(i))
	}
	var branches []any
	for i := range 1000 {
		branches = append(branches, value.ObjectOf("const", float64(-i-1)))
	}
	branches = append(branches, value.ObjectOf("type", "object")) // all satisfy this branch, after all others were tried
	many, err := jsonschema.Compile(value.ObjectOf("items", value.ObjectOf("anyOf", branches)), jsonschema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	cases := func(s string) func(context.Context) error {
		return func(ctx context.Context) error {
			_, _ = x.suites.Check(ctx, &server.Bundle{Suite: s}, server.RunOptions{})
			return ctx.Err()
		}
	}
	for name, read := range map[string]func(context.Context) error{
		"JSON with many keys":       parsesJSON(jsonFamilies()[0]),
		"JSON with many numbers":    parsesJSON(jsonFamilies()[2]),
		"JSON with many members":    parsesJSON(jsonFamilies()[3]),
		"JSON with many objects":    parsesJSON(repeated("", "[", `{"a#":{"b":[#]}},`, "1]")),
		"a document":                parsesDocument("a.json", repeated("", "[", `{"a#":{"b":[#]}},`, "1]")),
		"YAML keys":                 parsesDocument("a.yaml", yamlFamilies()[0]),
		"YAML keys in one line":     parsesDocument("a.yaml", yamlFamilies()[1]),
		"YAML members":              parsesDocument("a.yaml", yamlFamilies()[3]),
		"YAML anchors":              parsesDocument("a.yaml", yamlFamilies()[4]),
		"spans":                     spansInJSON(otlpFamilies()[0]),
		"attributes":                spansInJSON(otlpFamilies()[1]),
		"events":                    spansInJSON(otlpFamilies()[3]),
		"protobuf spans":            spansInProto(1, 60_000),
		"protobuf attributes":       spansInProto(400_000, 1),
		"schema of many properties": schema(ofSize(schemaFamilies()[0], largest)),
		"schema of many choices":    schema(ofSize(repeated("", `{"enum":[`, `{"a":#},`, `-1]}`), largest)),
		"schema of patterns": schema(repeated("", `{"type":"object","properties":{`, `"p#":{},`, `"last":{}},"patternProperties":{`).text(9_000) +
			strings.TrimSuffix(repeated("", "", `"^q#$":{"type":"string"},`, "").text(9_000), ",") + "}}"),
		"values against a schema": func(ctx context.Context) error {
			_, err := many.ValidateContext(ctx, list)
			return err
		},
		"pattern":                match("(a|b|ab)*c$", strings.Repeat("ab", 1<<20)),
		"pattern that is large":  match("((a{1,30}){1,30})b", strings.Repeat("a", 1<<21)),
		"request":                requests(requestFamilies()[3]),
		"fields of an assertion": requests(requestFamilies()[4]),
		"keys of a check":        requests(requestFamilies()[5]),
		"variables":              requests(requestFamilies()[7]),
		"cases in YAML":          cases(ofSize(suiteFamilies()[1], largest*6/10)),
		"cases that are wrong":   cases(ofSize(suiteFamilies()[2], largest*6/10)),
		"assertions in YAML":     cases(ofSize(suiteFamilies()[5], largest*6/10)),
	} {
		t.Run(name, func(t *testing.T) {
			best := time.Hour
			for range 3 {
				short, cancel := context.WithTimeout(ctx, given)
				before := processorTime()
				err := read(short)
				best = min(best, processorTime()-before)
				if best > 2*given*time.Duration(runtime.GOMAXPROCS(0)) && err == nil { // a reader that finishes at about this time may finish just after it
					t.Error("it was read to its end, after its deadline")
				}
				if err != nil && short.Err() != nil && !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%.200v", err)
				}
				cancel()
				if best < given+late {
					break
				}
			}
			t.Logf("%v of the processor", best)
			if best > given+late {
				t.Errorf("it had %v, and took %v of the processor", given, best)
			}
		})
	}
}

func parsesJSON(f family) func(context.Context) error {
	text := ofSize(f, largest)
	return func(ctx context.Context) error {
		_, err := value.ParseJSONContext(ctx, text)
		return err
	}
}

func parsesDocument(name string, f family) func(context.Context) error {
	text := []byte(ofSize(f, largest))
	return func(ctx context.Context) error {
		_, err := document.ParseContext(ctx, name, text)
		return err
	}
}

func requests(f family) func(context.Context) error {
	text := []byte(ofSize(f, largest))
	return func(ctx context.Context) error {
		_, err := judge.ReadRequestWith(ctx, text, nil)
		return err
	}
}

func spansInJSON(f family) func(context.Context) error {
	text := []byte(ofSize(f, largest))
	return func(ctx context.Context) error {
		_, err := otlp.DecodeJSONContext(ctx, text)
		return err
	}
}

// spansInProto returns a protobuf request with the given number of spans, each with the
// given number of attributes.
func spansInProto(attributes, spans int) func(context.Context) error {
	message := func(out []byte, number protowire.Number, inside []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(out, number, protowire.BytesType), inside)
	}
	trace, _ := hex.DecodeString("5b8efff798038103d269b633813fc60c")
	span := message(message(nil, 1, trace), 2, []byte("spanspan"))
	for i := range attributes {
		key := []byte(string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + string(rune('a'+i/676%26)) + string(rune('a'+i/17576%26)))
		span = message(span, 9, message(message(nil, 1, key), 2, message(nil, 1, []byte("x"))))
	}
	var scope []byte
	for range spans {
		scope = message(scope, 2, span)
	}
	data := message(nil, 1, message(nil, 2, scope))
	return func(ctx context.Context) error {
		_, err := otlp.DecodeProtoContext(ctx, data)
		return err
	}
}
