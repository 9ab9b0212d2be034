package matrix_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/spade/internal/spadetest"
	"github.com/proviso-eval/proviso/spade/matrix"
	"github.com/proviso-eval/proviso/spade/trial"
)

// TestTryAllWritesAMatrix tries candidates and reads the resulting matrix.
func TestTryAllWritesAMatrix(t *testing.T) {
	t.Parallel()
	list := candidates(t, "c.yaml", "assertions:\n- {id: short, type: word-count, value: {max: 2}}\n- {id: 'a, \"b\"', type: contains, value: '{{ x }}'}\n- {id: asked, criteria: [The answer is kind.]}\n")
	var text strings.Builder
	for i := range 50 {
		fmt.Fprintf(&text, "{\"id\":%d,\"label\":%d,\"output\":%q,\"vars\":{\"x\":\"7\"}}\n", i, i%2, strings.Repeat(fmt.Sprint(i, " "), 1+i%3))
	}
	trials, mistakes := trial.Read("t.jsonl", []byte(text.String()))
	if err := mistakes.Err(); err != nil {
		t.Fatal(err)
	}
	g, err := matrix.Try(context.Background(), list, trial.List(trials), matrix.Options{Compiler: spadetest.Compiler(t), Concurrency: 4})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := g.CSV(&b); err != nil {
		t.Fatal(err)
	}
	m := read(t, b.String())
	good, bad := m.Count()
	if good != 25 || bad != 25 || strings.Join(m.Names, "|") != `short|a, "b"|asked` {
		t.Fatalf("%d good, %d bad, %q", good, bad, m.Names)
	}
	for i, e := range m.Examples {
		want := [2]matrix.Cell{matrix.Failed, matrix.Failed}
		if i%3 < 2 {
			want[0] = matrix.Passed
		}
		if strings.Contains(e.ID, "7") {
			want[1] = matrix.Passed
		}
		if got := [2]matrix.Cell{m.Cells[0][i], m.Cells[1][i]}; got != want || m.Cells[2][i] != matrix.Undecided {
			t.Errorf("output %s: %v, want %v, and %v", e.ID, got, want, m.Cells[2][i])
		}
	}
	if r := g.Rates()[2]; r.Undecided != 50 || len(g.Columns[2].Why) != 1 {
		t.Errorf("asked: %+v because of %q", r, g.Columns[2].Why)
	}

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	g, err = matrix.Try(ctx, list, trial.List(trials), matrix.Options{Compiler: spadetest.Compiler(t)})
	if err == nil || g.Rates()[0].Undecided != 50 {
		t.Errorf("after a cancellation: %v", err)
	}
}

func TestTryAllRefuses(t *testing.T) {
	t.Parallel()
	list := candidates(t, "c.yaml", "assertions:\n- {id: best, type: select-best, value: the best}\n- {id: broken, type: regex, value: '('}\n")
	_, err := matrix.Try(context.Background(), list, trial.List([]trial.Trial{{ID: "1"}}), matrix.Options{Compiler: spadetest.Compiler(t)})
	if err == nil || !strings.Contains(err.Error(), "best: select-best compares several outputs") || !strings.Contains(err.Error(), "broken: ") {
		t.Error(err)
	}
}

func candidates(t *testing.T, file, text string) []proviso.Candidate {
	t.Helper()
	list, mistakes := candidate.Read(file, []byte(text))
	if err := mistakes.Err(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return list
}

func read(t *testing.T, text string) *matrix.Matrix {
	t.Helper()
	m, mistakes := matrix.Read("matrix.csv", strings.NewReader(text))
	if err := mistakes.Err(); err != nil {
		t.Fatal(err)
	}
	return m
}
