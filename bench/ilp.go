package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

// ilpOptions say how the optimiser is measured.
type ilpOptions struct {
	limit time.Duration
	spade string
	keep  string
}

func (o *ilpOptions) register(fs *flag.FlagSet) {
	fs.DurationVar(&o.limit, "limit", 20*time.Second, "ilp: how long a solver may take for an instance")
	fs.StringVar(&o.spade, "spade", "", "ilp: also select from the pipelines in `DIR`, a folder each with matrix.csv and subsumption.csv")
	fs.StringVar(&o.keep, "keep", "", "ilp: write the instances to `DIR` as JSON")
}

// none stands for a number that a solver did not find.
const none = -1

// outcome is what a solver made of an instance.
type outcome struct {
	figure
	solver, status   string
	objective, bound int // none if it found none
	nodes            int64
	millis           float64 // proviso: of the search, without reading the files
}

// proven tells whether nothing better is left to find.
func (o *outcome) proven() bool { return o.status == "optimal" }

// gap is how far the best answer may be from this one, as a share of it.
func (o *outcome) gap() float64 { return float64(o.objective-o.bound) / max(1, float64(o.objective)) }

// measure runs a solver and keeps what it took, also if it failed.
func (o *outcome) measure(cmd *exec.Cmd) (stdout []byte, err error) {
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	start := time.Now()
	err = cmd.Run()
	if cmd.ProcessState == nil {
		return nil, err
	}
	o.wall, o.cpu, o.rss = time.Since(start), cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime(), peak(cmd.ProcessState)
	if err != nil {
		err = fmt.Errorf("%w: %.500s", err, errs.Bytes())
	}
	return out.Bytes(), err
}

// check counts anew what a selection is worth. A selection that is not within the
// thresholds, or is worth something else than its solver says, is an error.
func (o *outcome) check(in *instance, method string, selected []int) error {
	objective, within := in.worth(method, selected)
	if !within || o.objective != none && o.objective != objective {
		return fmt.Errorf("%s on %s, %s: %d was answered; the selection is worth %d (within the thresholds: %v)", o.solver, in.name, method, o.objective, objective, within)
	}
	o.objective = objective
	if o.proven() {
		o.bound = objective
	}
	return nil
}

// ilpTarget is what the selection on one instance should reach.
type ilpTarget struct {
	seconds float64 // CPU to a proof; 0 asks for none
	first   float64 // seconds to a first answer; 0 asks for none
	gap     float64 // 0 asks for none
	greedy  int     // objective of a greedy selection that was recorded for the size; 0 if none was
}

var ilpTargets = map[string]ilpTarget{
	"200x500 sub": {seconds: 1}, "200x500 cov": {seconds: 5}, "500x2000 sub": {seconds: 10},
	"1000x10000 sub": {first: 1, gap: 0.03, greedy: 969}, "1000x10000 cov": {first: 1, greedy: 12},
}

// ilpMemory is what a selection may take, MiB.
const ilpMemory = 256

// optimiser measures the selection of assertions.
type optimiser struct {
	ilpOptions
	t    tool
	dir  string
	cbc  *cbc // nil if there is none
	runs int
}

// optimise measures spade select on made-up instances of three sizes, beside CBC
// if it is on the PATH and beside a greedy selection, and on exported pipelines.
func optimise(t tool, dir string, runs int, o ilpOptions) error {
	if o.limit <= 0 {
		return fmt.Errorf("-limit %v: a time above 0 is expected", o.limit)
	}
	matrices, err := o.matrices()
	if err != nil {
		return err
	}
	p := &optimiser{ilpOptions: o, t: t, dir: dir, runs: max(1, runs)}
	if exe, err := exec.LookPath("cbc"); err == nil {
		p.cbc = &cbc{exe: exe, dir: dir, limit: o.limit}
	} else {
		fmt.Println("ilp: there is no cbc on the PATH (Debian: coinor-cbc), so proviso stands alone")
	}
	fmt.Printf("%-24s %-4s %-16s %-10s %9s %6s %6s %8s %9s %9s %9s | target, or beside proviso\n",
		"ilp", "", "solver", "status", "objective", "bound", "gap %", "nodes", "CPU s", "wall s", "peak MiB")
	// The small ones come first: a process starts with the peak memory of the one
	// that starts it, and the instances are large.
	if err := p.pipelines(matrices); err != nil {
		return err
	}
	for _, size := range [][2]int{{200, 500}, {500, 2000}, {1000, 10000}} {
		if err := p.size(newShape(size[0], size[1], 1)); err != nil {
			return err
		}
	}
	return nil
}

// size measures one made-up instance.
func (p *optimiser) size(shape ilpShape) error {
	in := shape.generate()
	if p.keep != "" {
		if err := os.MkdirAll(p.keep, 0o755); err != nil {
			return err
		}
		if err := writeFile(filepath.Join(p.keep, in.name+".json"), in.writeJSON); err != nil {
			return err
		}
	}
	matrix, implications := filepath.Join(p.dir, "matrix.csv"), filepath.Join(p.dir, "implications.csv")
	defer os.Remove(matrix)
	defer os.Remove(implications)
	if err := errors.Join(writeFile(matrix, in.writeMatrix), writeFile(implications, in.writeImplications)); err != nil {
		return err
	}
	for _, method := range []string{"sub", "cov"} {
		name := fmt.Sprintf("%dx%d", shape.candidates, shape.examples)
		if err := p.instance(name, in, method, []string{"--matrix", matrix, "--implications", implications}); err != nil {
			return err
		}
	}
	return nil
}

// instance prints a row for each solver.
func (p *optimiser) instance(name string, in *instance, method string, args []string) error {
	target := ilpTargets[name+" "+method]
	if target.first > 0 {
		if err := p.first(name, in, method, args, target.first); err != nil {
			return err
		}
	}
	ours, err := p.ours(in, method, args)
	if err != nil {
		return err
	}
	ours.print(name, method, target.verdict(&ours))
	start := time.Now()
	greedy := outcome{solver: "greedy", status: "no answer", objective: none, bound: none}
	if sel := newGreed(in).run(method); sel != nil {
		greedy.status = "feasible"
		if err := greedy.check(in, method, sel); err != nil {
			return err
		}
	}
	greedy.wall = time.Since(start)
	greedy.print(name, method, greedy.beside(&ours))
	if p.cbc == nil {
		return nil
	}
	for _, lean := range []bool{false, true} {
		o, err := p.cbc.solve(in, method, lean)
		if err != nil {
			return err
		}
		if o.proven() && ours.proven() && o.objective != ours.objective {
			return fmt.Errorf("%s, %s: both are proven, and differ: %d by proviso, %d by %s", in.name, method, ours.objective, o.objective, o.solver)
		}
		o.print(name, method, o.beside(&ours))
	}
	return nil
}

// firsts is how often the first answer is measured.
const firsts = 3

// first prints the fastest search that ends as soon as it has an answer.
func (p *optimiser) first(name string, in *instance, method string, args []string, target float64) error {
	var best outcome
	for i := range firsts {
		o, err := p.ours(in, method, append(slices.Clone(args), "--work", "1"))
		if err != nil {
			return err
		}
		if i == 0 || o.search() < best.search() {
			best = o
		}
	}
	best.solver = "proviso --work 1"
	best.print(name, method, fmt.Sprintf("search about %.2f s of it, target %g: %s", best.search(), target, verdict(best.objective != none && best.search() < target)))
	return nil
}

// search is the CPU time of the search, without reading the files: its share of
// the process, as the clock saw it. The clock alone would measure what else the
// machine does.
func (o *outcome) search() float64 {
	return o.cpu.Seconds() * o.millis / 1000 / o.wall.Seconds()
}

// ours runs proviso as a whole process; after the limit it is interrupted as a
// person would and says what it has.
func (p *optimiser) ours(in *instance, method string, args []string) (outcome, error) {
	o := outcome{solver: "proviso", objective: none, bound: none}
	ctx, stop := context.WithTimeout(context.Background(), p.limit)
	defer stop()
	cmd := exec.CommandContext(ctx, p.t.exe, append([]string{"spade", "select", "--method", method, "--format", "json",
		"--alpha", pyFloat(in.alpha), "--tau", pyFloat(in.tau)}, args...)...)
	cmd.Env = append(os.Environ(), p.t.env...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = grace
	out, err := o.measure(cmd)
	var answer struct {
		Status     string
		Objective  *int
		LowerBound *int `json:"lower_bound"`
		Selected   []string
		Nodes      int64
		Millis     float64
	}
	if broken := json.Unmarshal(out, &answer); broken != nil {
		return o, fmt.Errorf("proviso on %s, %s: %w", in.name, method, errors.Join(err, broken))
	}
	o.status, o.nodes, o.millis = answer.Status, answer.Nodes, answer.Millis
	if answer.Objective == nil || answer.LowerBound == nil {
		return o, nil
	}
	o.objective, o.bound = *answer.Objective, *answer.LowerBound
	selected := make([]int, len(answer.Selected))
	for k, name := range answer.Selected {
		if selected[k] = in.number(name); selected[k] < 0 {
			return o, fmt.Errorf("proviso on %s selected %q, which is no candidate", in.name, name)
		}
	}
	return o, o.check(in, method, selected)
}

// verdict holds an outcome against its target.
func (t ilpTarget) verdict(o *outcome) string {
	var parts []byte
	add := func(ok bool, format string, args ...any) {
		parts = fmt.Appendf(parts, format+": %s; ", append(args, verdict(ok))...)
	}
	if t.seconds > 0 {
		add(o.proven() && o.cpu.Seconds() < t.seconds, "proven in %g s", t.seconds)
	}
	if t.gap > 0 {
		add(o.bound != none && o.gap() <= t.gap, "gap %g %%", 100*t.gap)
	}
	if t.greedy > 0 {
		add(o.objective != none && o.objective <= t.greedy, "at most %d, a recorded greedy", t.greedy)
	}
	add(o.rss < ilpMemory, "%d MiB", ilpMemory)
	return string(bytes.TrimSuffix(parts, []byte("; ")))
}

// beside compares another solver with proviso.
func (o *outcome) beside(ours *outcome) string {
	s := ""
	switch {
	case o.objective == none || ours.objective == none:
		s = "nothing to compare"
	case o.objective == ours.objective:
		s = "as good"
	default:
		s = fmt.Sprintf("%+.1f %%", 100*(float64(o.objective)/float64(ours.objective)-1))
	}
	if o.cpu > 0 {
		s += fmt.Sprintf(", CPU %.1f×, peak %.1f×", o.cpu.Seconds()/ours.cpu.Seconds(), o.rss/ours.rss)
	}
	return s
}

func (o *outcome) print(name, method, note string) {
	number := func(ok bool, format string, v any) string {
		if !ok {
			return ""
		}
		return fmt.Sprintf(format, v)
	}
	measured := o.cpu > 0
	fmt.Printf("%-24s %-4s %-16s %-10s %9s %6s %6s %8s %9s %9.3f %9s | %s\n", name, method, o.solver, o.status,
		number(o.objective != none, "%d", o.objective), number(o.bound != none, "%d", o.bound), number(o.objective != none && o.bound != none, "%.1f", 100*o.gap()),
		number(measured, "%d", o.nodes), number(measured, "%.3f", o.cpu.Seconds()), o.wall.Seconds(), number(measured, "%.1f", o.rss), note)
}

// writeFile writes a file as write does.
func writeFile(file string, write func(io.Writer) error) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

// number returns the candidate of a name, -1 if there is none.
func (in *instance) number(name string) int {
	if in.names != nil {
		if j, ok := in.names[name]; ok {
			return j
		}
		return -1
	}
	if j, err := strconv.Atoi(name[min(1, len(name)):]); err == nil && name == candidateName(j) && j < len(in.fails) {
		return j
	}
	return -1
}

func candidateName(j int) string { return "c" + strconv.Itoa(j) }
