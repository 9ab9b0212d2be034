package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
)

// selection is a problem of selecting assertions, with targets for proviso.
type selection struct {
	candidates, examples int
	method               string
	proof                float64 // CPU seconds until a proof; 0 ends the search at its first answer
	gap                  float64 // gap to the best possible answer, as a share; 0 means not checked
}

// selections start with the small ones: a process starts with the peak memory of its parent.
var selections = []selection{
	{candidates: 200, examples: 500, method: "sub", proof: 1},
	{candidates: 200, examples: 500, method: "cov", proof: 5},
	{candidates: 500, examples: 2000, method: "sub", proof: 10},
	{candidates: 1000, examples: 10000, method: "sub", gap: 0.03},
	{candidates: 1000, examples: 10000, method: "cov"},
}

const (
	selectionMemory = 256 // MiB limit of a selection
	firstAnswer     = 1   // CPU seconds limit of the search for its first answer
)

// selecting measures spade select on generated problems, which are always the same.
func selecting(t tool, dir string, runs int) error {
	for _, s := range selections {
		if err := s.measure(t, dir, runs); err != nil {
			return fmt.Errorf("select from %d × %d: %w", s.candidates, s.examples, err)
		}
	}
	return nil
}

func (s selection) measure(t tool, dir string, runs int) error {
	matrix, implications := filepath.Join(dir, "matrix.csv"), filepath.Join(dir, "implications.csv")
	p := newProblem(s.candidates, s.examples)
	if err := errors.Join(writeFile(matrix, p.writeMatrix), writeFile(implications, p.writeImplications)); err != nil {
		return err
	}
	args := []string{"spade", "select", "--method", s.method, "--format", "json", "--alpha", "0.6", "--tau", "0.25", "--matrix", matrix, "--implications", implications}
	if s.proof == 0 {
		args = append(args, "--work", "1")
	}
	all, err := repeat(runs, func() (figure, error) { return t.run(args...) })
	if err != nil {
		return err
	}
	var answer struct {
		Status    string
		Objective int
		Gap       float64
		Millis    float64
	}
	if err := json.Unmarshal(all[0].out, &answer); err != nil {
		return err
	}
	m := median(all)
	// The search's share of the process, by wall-clock time. Wall-clock time alone would
	// measure other load, too.
	search := all[0].cpu.Seconds() * answer.Millis / 1000 / all[0].wall.Seconds()
	want := fmt.Sprintf("first answer after %.2f s: %s", search, verdict(search < firstAnswer))
	if s.proof > 0 {
		want = fmt.Sprintf("proven in %g s: %s", s.proof, verdict(answer.Status == "optimal" && m.cpu.Seconds() < s.proof))
	}
	if s.gap > 0 {
		want += fmt.Sprintf("; gap %g: %s", s.gap, verdict(answer.Gap <= s.gap))
	}
	m.print(fmt.Sprintf("select-%dx%d %s", s.candidates, s.examples, s.method), all, fmt.Sprintf("          | %s %d, gap %.3f; %s; %d MiB: %s",
		answer.Status, answer.Objective, answer.Gap, want, selectionMemory, verdict(m.rss < selectionMemory)))
	return nil
}

// problem is the input of a selection.
type problem struct {
	good    []bool   // by example
	fails   [][]bool // by candidate and example
	implies [][2]int
}

// newProblem makes groups of candidates that look for one failure each, in stricter, weaker and
// rewritten versions, and some candidates that fail everything, nothing, or outputs at random.
func newProblem(candidates, examples int) *problem {
	r := rand.New(rand.NewPCG(uint64(candidates), uint64(examples)))
	p := &problem{good: make([]bool, examples)}
	failures := make([]int, examples) // for bad examples: the kind of failure
	for i := range p.good {
		p.good[i] = r.Float64() >= 0.45
		failures[i] = r.IntN(2 + candidates/8)
	}
	some := func(share func(example int) float64) []bool {
		row := make([]bool, examples)
		for i := range row {
			row[i] = r.Float64() < share(i)
		}
		return row
	}
	for len(p.fails) < candidates*7/10 {
		reason, wrong, first := failures[r.IntN(examples)], []float64{0, 0.01, 0.03, 0.08, 0.2}[r.IntN(5)], len(p.fails)
		for range 1 + r.IntN(8) {
			parent := first + r.IntN(max(1, len(p.fails)-first))
			if j := len(p.fails); j > first && r.Float64() < 0.65 {
				p.fails = append(p.fails, some(func(i int) float64 { return 0.8 * number(p.fails[parent][i]) }))
				if r.Float64() < 0.6 {
					p.implies = append(p.implies, [2]int{parent, j})
				}
				continue
			}
			p.fails = append(p.fails, some(func(i int) float64 {
				if p.good[i] {
					return wrong
				}
				return 0.05 + 0.85*number(failures[i] == reason)
			}))
		}
	}
	p.fails = p.fails[:min(len(p.fails), candidates)]
	p.implies = slices.DeleteFunc(p.implies, func(pair [2]int) bool { return pair[1] >= candidates })
	for len(p.fails) < candidates {
		share := []float64{0, 1, 0.2 + 0.4*r.Float64()}[r.IntN(3)]
		p.fails = append(p.fails, some(func(int) float64 { return share }))
	}
	return p
}

// number returns 1 for true and 0 for false.
func number(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// writeMatrix writes the result of every candidate on every example in the format of spade
// select.
func (p *problem) writeMatrix(b *bufio.Writer) {
	b.WriteString("id,label")
	for j := range p.fails {
		fmt.Fprintf(b, ",c%d", j)
	}
	for i, good := range p.good {
		fmt.Fprintf(b, "\ne%d,%.0f", i, number(good))
		for _, fails := range p.fails {
			fmt.Fprintf(b, ",%.0f", number(!fails[i]))
		}
	}
	b.WriteByte('\n')
}

func (p *problem) writeImplications(b *bufio.Writer) {
	b.WriteString("a,b\n")
	for _, pair := range p.implies {
		fmt.Fprintf(b, "c%d,c%d\n", pair[0], pair[1])
	}
}
