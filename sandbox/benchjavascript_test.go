package sandbox_test

import (
	"fmt"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/script"
	"github.com/proviso-eval/proviso/sandbox"
)

const oneLineJavaScript = "output.length > 10 && output.includes('item-')"

// BenchmarkJavaScript calls a one-line assertion on 200 bytes: in process, in a worker, and in
// a file that Node runs; and the same in Ruby.
func BenchmarkJavaScript(b *testing.B) {
	here := script.New(script.Options{MaxVMs: 1})
	defer here.Close()
	for _, c := range []struct {
		name string
		src  proviso.Source
	}{
		{"process", inline(proviso.Expression, oneLineJavaScript)},
		{"worker", inline(proviso.Expression, oneLineJavaScript)},
		{"node", nodeSource("a.js", "require('fs'); module.exports = (output) => "+oneLineJavaScript, "")},
		{"module", nodeSource("a.mjs", "import 'node:fs'; export default (output) => "+oneLineJavaScript, "")},
		{"ruby", ruby(proviso.Expression, "output.length > 10 && output.include?('item-')")},
	} {
		b.Run(c.name, func(b *testing.B) {
			var code proviso.Code = here
			if c.name != "process" {
				code = openFor(b, sandbox.Options{Workers: 1})
			}
			f, err := code.Compile(b.Context(), c.src)
			if err != nil {
				b.Skip(err)
			}
			output := fmt.Sprintf("%-200s", "the answer is item-7")
			for b.Loop() {
				if v, err := f.Call(b.Context(), output, nil); v != true || err != nil {
					b.Fatal(v, err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
		})
	}
}

// BenchmarkJavaScriptStart measures a new sandbox up to its first verdict.
func BenchmarkJavaScriptStart(b *testing.B) {
	for _, src := range []proviso.Source{inline(proviso.Expression, "1"), nodeSource("a.js", "require('fs'); module.exports = () => 1", ""), ruby(proviso.Expression, "1")} {
		b.Run(src.Language+src.File, func(b *testing.B) {
			for b.Loop() {
				s := openFor(b, sandbox.Options{})
				if v, err := once(b, s, src); v != 1.0 || err != nil {
					b.Fatal(v, err)
				}
				_ = s.Close()
			}
		})
	}
}

// BenchmarkJavaScriptSources measures new inline JavaScript sources.
func BenchmarkJavaScriptSources(b *testing.B) {
	s := openFor(b, sandbox.Options{})
	i := 0
	for b.Loop() {
		i++
		if _, err := once(b, s, inline(proviso.Expression, fmt.Sprint(i))); err != nil {
			b.Fatal(err)
		}
	}
}
