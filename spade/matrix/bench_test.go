package matrix_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/sandbox"
	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/spade/matrix"
	"github.com/proviso-eval/proviso/spade/trial"
	"github.com/proviso-eval/proviso/value"
)

func TestMain(m *testing.M) {
	sandbox.Main()
	os.Exit(m.Run())
}

// confined returns Python in the sandbox of this machine.
func confined(t testing.TB, workers int) proviso.Code {
	t.Helper()
	python := ""
	for _, path := range []string{"/usr/bin/python3", "/usr/local/bin/python3"} {
		if _, err := os.Stat(path); err == nil && python == "" {
			python = path
		}
	}
	s := sandbox.New(sandbox.Options{Workers: workers, Env: proviso.EnvMap{"PATH": os.Getenv("PATH"), "HOME": os.Getenv("HOME"), "PROMPTFOO_PYTHON": python}})
	t.Cleanup(func() { _ = s.Close() })
	_, err := s.Compile(t.Context(), proviso.Source{Language: "python", Text: "True", Form: proviso.Expression})
	if err != nil {
		t.Skip(err)
	}
	return s
}

// pythonChecks returns Python functions, and outputs for them.
func pythonChecks(t testing.TB, functions, outputs int) ([]proviso.Candidate, []trial.Trial) {
	t.Helper()
	var file strings.Builder
	file.WriteString("import re\n\nMARKS = '!?'\n")
	for i := range functions {
		fmt.Fprintf(&file, "\n\nasync def check_%d(example: dict, prompt: str, response: str) -> bool:\n"+
			"    \"\"\"Words that begin with s, and item %[1]d.\"\"\"\n"+
			"    words = [w for w in response.split() if w.lower().startswith('s')]\n"+
			"    return len(words) > %d and bool(re.search(r'item %[1]d\\b', response)) == (%[1]d %% 3 == 0)\n", i, i%7)
	}
	list, mistakes := candidate.Read("checks.py", []byte(file.String()))
	if err := mistakes.Err(); err != nil {
		t.Fatal(err)
	}
	var trials []trial.Trial
	for i := range outputs {
		trials = append(trials, trial.Trial{
			ID: fmt.Sprint(i), Prompt: "Write to the customer.", HasPrompt: true, Vars: value.ObjectOf("n", float64(i)),
			Output: strings.Repeat("some of what was sent ", i%20+5) + fmt.Sprintf("item %d", i%functions),
		})
	}
	return list, trials
}

// TestLanes: more lanes decide the same, in the sandbox, with more functions than processes.
func TestLanes(t *testing.T) {
	t.Parallel()
	list, trials := pythonChecks(t, 70, 70)
	var want string
	for _, lanes := range []int{1, 5} {
		g, err := matrix.Try(t.Context(), list, trial.List(trials), matrix.Options{Compiler: check.New(check.Options{}), Code: confined(t, lanes), Concurrency: lanes})
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprint(g.Cells, g.Rates())
		if want == "" {
			want = got
		}
		if got != want || !strings.Contains(got, fmt.Sprint(matrix.Failed)) || strings.Contains(got, fmt.Sprint(matrix.Undecided)) {
			t.Errorf("%d lanes: %s\none: %s", lanes, got, want)
		}
	}
}

// BenchmarkPython tries Python functions on outputs, and prints how long more lanes take, as a
// multiple of the time of one lane.
func BenchmarkPython(b *testing.B) {
	for _, size := range []struct{ functions, outputs int }{{50, 200}, {100, 2000}} {
		var one time.Duration
		for _, lanes := range []int{1, 2, 8, 32} {
			b.Run(fmt.Sprintf("%dx%d/j%d", size.functions, size.outputs, lanes), func(b *testing.B) {
				list, trials := pythonChecks(b, size.functions, size.outputs)
				code := confined(b, lanes)
				for b.Loop() {
					_, err := matrix.Try(context.Background(), list, trial.List(trials), matrix.Options{Compiler: check.New(check.Options{}), Code: code, Concurrency: lanes})
					if err != nil {
						b.Fatal(err)
					}
				}
				each := b.Elapsed() / time.Duration(b.N)
				if lanes == 1 {
					one = each
				}
				b.ReportMetric(float64(each)/float64(max(one, 1)), "of-j1")
				b.ReportMetric(float64(each.Nanoseconds())/float64(size.functions*size.outputs), "ns/cell")
			})
		}
	}
}
