package script_test

import (
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/script"
	"github.com/proviso-eval/proviso/value"
)

// BenchmarkCallExpression measures the cost of one `javascript` assertion.
func BenchmarkCallExpression(b *testing.B) {
	context := value.ObjectOf("prompt", "Say hi to Ann", "vars", value.ObjectOf("name", "Ann", "n", 3.0, "topic", "greetings"),
		"test", value.ObjectOf("vars", value.ObjectOf("name", "Ann", "n", 3.0), "assert", []any{value.ObjectOf("type", "javascript", "value", "output.length > 2")}))
	for _, bench := range []struct{ name, text string }{
		{"boolean", "return output.length > 2 && output.includes('ell')"},
		{"object", "return {pass: output.length > 2, score: 0.5, reason: 'because'}"},
		{"json", "return JSON.parse(context.vars.json || '{\"a\":[1,2,3]}').a.length === 3"},
		{"promise", "return Promise.resolve(true)"},
	} {
		b.Run(bench.name, func(b *testing.B) {
			e := script.New(script.Options{MaxVMs: 1})
			defer e.Close()
			f, err := e.Compile(b.Context(), proviso.Source{Language: "javascript", Text: bench.text, Form: proviso.Body, Params: []string{"output", "context"}})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := f.Call(b.Context(), "hello there, Ann", context); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkNewVM measures the cost of an engine's first call.
func BenchmarkNewVM(b *testing.B) {
	for b.Loop() {
		e := script.New(script.Options{})
		if _, err := e.Compile(b.Context(), proviso.Source{Language: "javascript", Text: "1"}); err != nil {
			b.Fatal(err)
		}
		if err := e.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLibraryCall measures the cost of crossing into a library and back.
func BenchmarkLibraryCall(b *testing.B) {
	l := newLibrary(b, script.LibraryOptions{})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := l.Call(b.Context(), "echo", "text"); err != nil {
			b.Fatal(err)
		}
	}
}
