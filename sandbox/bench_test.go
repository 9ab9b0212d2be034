package sandbox_test

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/sandbox"
)

const oneLine = "len(output) > 10 and 'item-' in output"

// BenchmarkCall calls a one-line assertion on 200 bytes, on one worker.
func BenchmarkCall(b *testing.B) {
	for _, policy := range []sandbox.Policy{sandbox.Require, sandbox.Off} {
		for _, c := range []struct {
			name string
			form proviso.Form
			text string
		}{
			{"line", proviso.Expression, oneLine},
			{"module", proviso.Module, "import re\nasync def get_assert(output, context):\n    return bool(re.search('item-[0-9]', output))"},
			{"ask", proviso.Module, "async def get_assert(output, context):\n    return await ask_llm('p', output, 'yes')"},
		} {
			b.Run(policy.String()+"/"+c.name, func(b *testing.B) {
				s := open(b, sandbox.Options{Policy: policy, Workers: 1, Ask: asker})
				f := compileIn(b, s, c.form, c.text)
				output := fmt.Sprintf("%-200s", "the answer is item-7")
				var times []time.Duration
				for b.Loop() {
					start := time.Now()
					if _, err := f.Call(b.Context(), output, nil); err != nil {
						b.Fatal(err)
					}
					times = append(times, time.Since(start))
				}
				slices.Sort(times)
				b.ReportMetric(float64(times[len(times)/2].Microseconds()), "us-p50")
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
			})
		}
	}
}

// BenchmarkStart measures a new sandbox up to its first verdict.
func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		s := open(b, sandbox.Options{})
		f := compileIn(b, s, proviso.Expression, oneLine)
		if v, err := f.Call(b.Context(), "the answer is item-7", nil); v != true || err != nil {
			b.Fatal(v, err)
		}
		_ = s.Close()
	}
}

// BenchmarkSources measures a new source: compiled, called once and closed.
func BenchmarkSources(b *testing.B) {
	s := open(b, sandbox.Options{})
	i := 0
	for b.Loop() {
		i++
		f := compileIn(b, s, proviso.Expression, fmt.Sprintf("len(output) > %d", i))
		if _, err := f.Call(b.Context(), "the answer is item-7", nil); err != nil {
			b.Fatal(err)
		}
		_ = f.Close()
	}
}

// BenchmarkFiftySources calls fifty sources in turn, like fifty assertions on the rows of a
// suite.
func BenchmarkFiftySources(b *testing.B) {
	s := open(b, sandbox.Options{})
	functions := make([]proviso.Function, 50)
	for i := range functions {
		functions[i] = compileIn(b, s, proviso.Expression, fmt.Sprintf("len(output) > %d", i))
	}
	i := 0
	for b.Loop() {
		i++
		if _, err := functions[i%50].Call(b.Context(), "the answer is item-7", nil); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkConcurrentRows evaluates rows of a suite with fifty assertions, several at a time.
// It prints the time as a multiple of that of one row at a time.
func BenchmarkConcurrentRows(b *testing.B) {
	const rows, assertions = 100, 50
	var one time.Duration
	for _, n := range []int{1, 2, 8, 32} {
		b.Run(fmt.Sprintf("j%d", n), func(b *testing.B) {
			s := open(b, sandbox.Options{Workers: n})
			functions := make([]proviso.Function, assertions)
			for i := range functions {
				functions[i] = compileIn(b, s, proviso.Expression, fmt.Sprintf("len(output) > %d", i))
			}
			for b.Loop() {
				var next atomic.Int64
				var wait sync.WaitGroup
				for range n {
					wait.Go(func() {
						for next.Add(1) <= rows {
							for _, f := range functions {
								if _, err := f.Call(b.Context(), "the answer is item-7", nil); err != nil {
									b.Error(err)
								}
							}
						}
					})
				}
				wait.Wait()
			}
			each := b.Elapsed() / time.Duration(b.N)
			if n == 1 {
				one = each
			}
			b.ReportMetric(float64(each)/float64(max(one, 1)), "of-j1")
		})
	}
}

func compileIn(b *testing.B, s *sandbox.Sandbox, form proviso.Form, text string) proviso.Function {
	b.Helper()
	f, err := s.Compile(b.Context(), source(form, text))
	if err != nil {
		b.Fatal(err)
	}
	return f
}
