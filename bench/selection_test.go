package main

import (
	"bufio"
	"bytes"
	"strings"
	"testing"
)

// TestProblems checks that spade select reads the problem that was generated.
func TestProblems(t *testing.T) {
	t.Parallel()
	p := newProblem(40, 100)
	var b bytes.Buffer
	w := bufio.NewWriter(&b)
	p.writeMatrix(w)
	w.Flush()
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	if len(lines) != 101 || len(p.fails) != 40 || len(p.implies) == 0 {
		t.Fatalf("%d lines, %d candidates, %d implications", len(lines), len(p.fails), len(p.implies))
	}
	for i, line := range lines[1:] {
		cells := strings.Split(line, ",")
		if len(cells) != 42 || (cells[1] == "1") != p.good[i] {
			t.Fatalf("line %d: %s", i, line)
		}
		for j, cell := range cells[2:] {
			if (cell == "0") != p.fails[j][i] {
				t.Errorf("example %d, candidate %d: %s", i, j, cell)
			}
		}
	}
	for _, pair := range p.implies {
		for i, fails := range p.fails[pair[1]] {
			if fails && !p.fails[pair[0]][i] {
				t.Fatalf("%v: example %d contradicts it", pair, i)
			}
		}
	}
}
