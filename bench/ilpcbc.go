package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// cbc is the solver of COIN-OR, as the program on the PATH.
type cbc struct {
	exe   string
	dir   string
	limit time.Duration
}

// grace is how long after its limit a solver may still take to say what it has.
const grace = 15 * time.Second

// solve runs CBC on an instance, on the plain program or on the lean one.
func (c cbc) solve(in *instance, method string, lean bool) (outcome, error) {
	o := outcome{solver: "cbc", objective: none, bound: none}
	if lean {
		o.solver = "cbc, lean"
	}
	model, solution := filepath.Join(c.dir, "cbc.lp"), filepath.Join(c.dir, "cbc.txt")
	defer os.Remove(model)
	defer os.Remove(solution)
	p := newProgram(in, method, lean)
	if err := writeFile(model, p.write); err != nil {
		return o, err
	}
	ctx, stop := context.WithTimeout(context.Background(), c.limit+grace)
	defer stop()
	cmd := exec.CommandContext(ctx, c.exe, model, "timeMode", "elapsed", "seconds", strconv.Itoa(int(math.Ceil(c.limit.Seconds()))),
		"branch", "printingOptions", "all", "solution", solution)
	out, err := o.measure(cmd)
	if err != nil && ctx.Err() == nil {
		return o, fmt.Errorf("cbc: %w", err)
	}
	if ctx.Err() != nil {
		o.status = "no end" // it was killed
		return o, nil
	}
	o.readLog(out, p.offset)
	selected, err := o.readSolution(solution)
	if err != nil || selected == nil {
		return o, err
	}
	return o, o.check(in, method, selected)
}

// readLog takes nodes and bound from what CBC prints.
func (o *outcome) readLog(out []byte, offset int) {
	for line := range strings.Lines(string(out)) {
		name, text, _ := strings.Cut(line, ":")
		v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		switch {
		case err != nil:
		case name == "Enumerated nodes":
			o.nodes = int64(v)
		case name == "Lower bound":
			o.bound = int(math.Ceil(v-1e-6)) + offset
		}
	}
}

// readSolution takes status and selection from the file that CBC writes: a line such as
// "Optimal - objective value 7.00000000", then a line for each variable.
func (o *outcome) readSolution(file string) (selected []int, err error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		o.status = "no answer"
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Scan()
	status, _, _ := strings.Cut(lines.Text(), " - ")
	switch {
	case strings.Contains(status, "no integer solution"):
		o.status = "no answer"
		return nil, nil
	case strings.HasSuffix(strings.ToLower(status), "infeasible"):
		o.status = "infeasible"
		return nil, nil
	case status == "Optimal":
		o.status = "optimal"
	default:
		o.status = "feasible"
	}
	selected = []int{}
	for lines.Scan() {
		fields := strings.Fields(strings.TrimPrefix(strings.TrimSpace(lines.Text()), "**"))
		if len(fields) < 3 || !strings.HasPrefix(fields[1], "x") {
			continue
		}
		j, err1 := strconv.Atoi(fields[1][1:])
		v, err2 := strconv.ParseFloat(fields[2], 64)
		if err := errors.Join(err1, err2); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if v > 0.5 {
			selected = append(selected, j)
		}
	}
	return selected, lines.Err()
}
