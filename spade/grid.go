package spade

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
)

// Grid is what candidates say of trials; [Grid.CSV] writes it as the matrix that
// [ReadMatrix] reads.
type Grid struct {
	Names  []string
	Trials []Trial
	Cells  [][]Cell   // by trial, then by candidate
	Why    [][]string // of undecided cells, by candidate: up to three different reasons
}

// Rate is how often a candidate did what.
type Rate struct {
	Passed, Failed, Undecided int
}

// TryOptions say how candidates are tried.
type TryOptions struct {
	Compiler    *check.Compiler
	Concurrency int // trials at a time; 0 is one for each processor
}

// TryAll decides every candidate on every trial. An assertion that does not apply
// to an output passes it; one that could not be decided is undecided, everywhere if
// this version or machine cannot run it. Candidates that are wrong, or that compare
// several outputs, are an error that names them all. If ctx ends, the cells that
// are left are undecided and the error is that of ctx.
func TryAll(ctx context.Context, list []proviso.Candidate, trials []Trial, o TryOptions) (*Grid, error) {
	sets, err := compileAll(list, o.Compiler)
	if err != nil {
		return nil, err
	}
	g := &Grid{Trials: trials, Cells: make([][]Cell, len(trials)), Why: make([][]string, len(list))}
	for i := range list {
		g.Names = append(g.Names, list[i].Name)
	}
	workers := o.Concurrency
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	var mu sync.Mutex // of Why
	next := make(chan int)
	var wait sync.WaitGroup
	for range workers {
		wait.Go(func() {
			for i := range next {
				g.Cells[i] = tryOne(ctx, sets, &trials[i], func(j int, reason string) {
					mu.Lock()
					defer mu.Unlock()
					g.why(j, reason)
				})
			}
		})
	}
	for i := range trials {
		next <- i
	}
	close(next)
	wait.Wait()
	return g, ctx.Err()
}

func (g *Grid) why(j int, reason string) {
	for _, r := range g.Why[j] {
		if r == reason {
			return
		}
	}
	if len(g.Why[j]) < 3 {
		g.Why[j] = append(g.Why[j], reason)
	}
}

// compileAll compiles each candidate by itself.
func compileAll(list []proviso.Candidate, c *check.Compiler) ([]*check.Set, error) {
	sets := make([]*check.Set, len(list))
	var wrong []string
	for i := range list {
		a := list[i].Assertion
		set, mistakes := c.Compile([]*proviso.Assertion{a})
		sets[i] = set
		for _, e := range mistakes {
			if e.Code == proviso.Unsupported || e.Code == proviso.Unavailable {
				continue // undecided on every trial, with this reason
			}
			wrong = append(wrong, fmt.Sprintf("%s: %v", list[i].Name, e))
		}
		if kind, ok := check.Lookup(strings.TrimPrefix(a.Type, "not-")); ok && kind.Needs&check.NeedsGroup != 0 {
			wrong = append(wrong, fmt.Sprintf("%s: %s compares several outputs and cannot be tried on one", list[i].Name, a.Type))
		}
	}
	if len(wrong) > 0 {
		return nil, proviso.Errorf(proviso.Invalid, "%s", strings.Join(wrong, "\n"))
	}
	return sets, nil
}

// tryOne decides all candidates on one trial.
func tryOne(ctx context.Context, sets []*check.Set, t *Trial, why func(j int, reason string)) []Cell {
	cells := make([]Cell, len(sets))
	for j := range cells {
		if cells[j] = Undecided; ctx.Err() != nil {
			continue
		}
		row := &check.Row{Output: &proviso.Output{Value: t.Output}, Prompt: t.Prompt, HasPrompt: t.HasPrompt, Vars: t.Vars}
		for _, v := range sets[j].Eval(ctx, row) {
			switch v.Status {
			case proviso.Pass, proviso.Skip:
				cells[j] = Passed
			case proviso.Fail:
				cells[j] = Failed
			default:
				why(j, v.Reason)
			}
		}
	}
	return cells
}

// Rates counts the cells of each candidate.
func (g *Grid) Rates() []Rate {
	rates := make([]Rate, len(g.Names))
	for _, row := range g.Cells {
		for j, cell := range row {
			switch cell {
			case Passed:
				rates[j].Passed++
			case Failed:
				rates[j].Failed++
			default:
				rates[j].Undecided++
			}
		}
	}
	return rates
}

// CSV writes the grid: id, label and a column for each candidate, 1 for pass, 0 for
// fail and nothing for undecided.
func (g *Grid) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	record := append([]string{"id", "label"}, g.Names...)
	if err := out.Write(record); err != nil {
		return err
	}
	for i, t := range g.Trials {
		record = append(record[:0], t.ID, t.Label)
		for _, cell := range g.Cells[i] {
			record = append(record, [...]string{Failed: "0", Passed: "1", Undecided: ""}[cell])
		}
		if err := out.Write(record); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}
