package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/spade/matrix"
)

// writeMatrix writes what every candidate says of every example, as spade select
// reads it.
func (in *instance) writeMatrix(w io.Writer) error {
	b := bufio.NewWriter(w)
	b.WriteString("id,label")
	for j := range in.fails {
		b.WriteByte(',')
		b.WriteString(candidateName(j))
	}
	b.WriteByte('\n')
	at := make([]int, len(in.fails)) // how many of each candidate's failures are written
	for i, good := range in.good {
		fmt.Fprintf(b, "e%d,%c", i, bit(good))
		for j, fails := range in.fails {
			cell := ",1"
			if k := at[j]; k < len(fails) && int(fails[k]) == i {
				cell = ",0"
				at[j]++
			}
			b.WriteString(cell)
		}
		b.WriteByte('\n')
	}
	return b.Flush()
}

func (in *instance) writeImplications(w io.Writer) error {
	b := bufio.NewWriter(w)
	b.WriteString("a,b\n")
	for _, p := range in.implies {
		fmt.Fprintf(b, "%s,%s\n", candidateName(p[0]), candidateName(p[1]))
	}
	return b.Flush()
}

// pipelineSet are the implications that the published results used.
const pipelineSet = "final"

// pipelineMillis is how long a search in an exported pipeline may take.
const pipelineMillis = 10

// matrices are the pipelines' in the folder that the flag names.
func (o *ilpOptions) matrices() ([]string, error) {
	if o.spade == "" {
		return nil, nil
	}
	files, err := filepath.Glob(filepath.Join(o.spade, "*", "matrix.csv"))
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("-spade %s: no folder there has a matrix.csv", o.spade)
	}
	return files, err
}

// pipelines measures exported pipelines.
func (p *optimiser) pipelines(matrices []string) error {
	for _, matrix := range matrices {
		dir := filepath.Dir(matrix)
		implications := filepath.Join(dir, "subsumption.csv")
		in, err := readPipeline(matrix, implications)
		if err != nil {
			return err
		}
		for _, method := range []string{"sub", "cov"} {
			if err := p.pipeline(in, method, []string{"--matrix", matrix, "--implications", implications, "--implications-set", pipelineSet}); err != nil {
				return err
			}
		}
	}
	return nil
}

// pipeline prints a row with the median search, and CBC's.
func (p *optimiser) pipeline(in *instance, method string, args []string) error {
	var all []outcome
	for range p.runs {
		o, err := p.ours(in, method, args)
		if err != nil {
			return err
		}
		all = append(all, o)
	}
	slices.SortFunc(all, func(a, b outcome) int { return cmp.Compare(a.millis, b.millis) })
	ours := all[len(all)/2]
	ours.print(in.name, method, fmt.Sprintf("search %.2f ms (longest of %d: %.2f), target %d, proven: %s", ours.millis, len(all), all[len(all)-1].millis,
		pipelineMillis, verdict(ours.proven() && ours.millis < pipelineMillis)))
	if p.cbc == nil {
		return nil
	}
	for _, lean := range []bool{false, true} {
		o, err := p.cbc.solve(in, method, lean)
		if err != nil {
			return err
		}
		o.print(in.name, method, o.beside(&ours))
	}
	return nil
}

// readPipeline reads an exported pipeline.
func readPipeline(file, implications string) (*instance, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, mistakes := matrix.Read(file, f)
	if m == nil {
		return nil, mistakes.Err()
	}
	g, err := os.Open(implications)
	if err != nil {
		return nil, err
	}
	defer g.Close()
	pairs, mistakes := candidate.ReadImplications(implications, g, pipelineSet, m.Names)
	if err := mistakes.Err(); err != nil {
		return nil, err
	}
	usual := newShape(0, 0, 0)
	in := &instance{name: filepath.Base(filepath.Dir(file)), alpha: usual.alpha, tau: usual.tau, names: map[string]int{}, fails: make([][]int32, len(m.Names))}
	for j, name := range m.Names {
		in.names[name] = j
		for i, cell := range m.Cells[j] {
			if cell != matrix.Passed {
				in.fails[j] = append(in.fails[j], int32(i))
			}
		}
	}
	for _, e := range m.Examples {
		in.good = append(in.good, e.Good)
	}
	for _, pair := range pairs {
		in.implies = append(in.implies, [2]int{in.names[pair.A], in.names[pair.B]})
	}
	if len(in.good) == 0 {
		return nil, errors.New(file + " has no labelled examples")
	}
	return in, nil
}
