package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/proviso-eval/proviso/internal/blobs"
	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/spade/matrix"
	"github.com/proviso-eval/proviso/spade/selection"
	"github.com/proviso-eval/proviso/spade/show"
)

// runOptions is the file in which spade run keeps the options of a selection.
const runOptions = "options.json"

// sayShifts prints the differences from the selection before, with their causes. Then
// it keeps the input of this selection for the next time.
func (a *app) sayShifts(ctx context.Context, f *spadeRun, s show.Selection) error {
	now := selection.Problem{Matrix: s.Matrix, Implications: s.Implications, Options: s.Options}
	before, ok := lastProblem(f.file(runLast))
	if ok {
		shifts, err := selection.Explain(ctx, before, now)
		if err != nil {
			return a.orStopped(ctx, err)
		}
		a.showShifts(shifts)
	} else if s.Found() {
		fmt.Fprintf(a.err, "proviso: a suite takes them with assertions: file://%s\n", printable(filepath.ToSlash(f.file(runSuite))))
	}
	if err := keepProblem(f); err != nil {
		a.warn(fmt.Sprintf("what changes the next time will not be explained: %v", err))
	}
	return nil
}

func (a *app) showShifts(shifts []selection.Shift) {
	if len(shifts) == 0 {
		fmt.Fprintln(a.out, "\nThe selection is that of the last time.")
		return
	}
	fmt.Fprintln(a.out, "\nSince the last time")
	for _, c := range shifts {
		sign := "-"
		if c.Selected {
			sign = "+"
		}
		fmt.Fprintf(a.out, "  %s %s  %s; %s\n", sign, printable(c.Name), c.Cause, printable(c.Because))
	}
}

// lastProblem reads the input of the selection before; ok is false if it is missing or
// unreadable.
func lastProblem(dir string) (p selection.Problem, ok bool) {
	data, err := os.ReadFile(filepath.Join(dir, runOptions))
	if err != nil || json.Unmarshal(data, &p.Options) != nil || p.Options.Valid() != nil {
		return p, false
	}
	in, err := os.Open(filepath.Join(dir, runMatrix))
	if err != nil {
		return p, false
	}
	defer in.Close()
	m, mistakes := matrix.Read(runMatrix, in)
	if mistakes.Err() != nil {
		return p, false
	}
	implications, err := os.Open(filepath.Join(dir, runImplications))
	if err != nil {
		return p, false
	}
	defer implications.Close()
	p.Matrix = m
	p.Implications, mistakes = candidate.ReadImplications(runImplications, implications, "final", m.Names)
	return p, mistakes.Err() == nil
}

// keepProblem keeps the input of the selection. The options are written last: without
// them a partially written problem does not count.
func keepProblem(f *spadeRun) error {
	dir := f.file(runLast)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	options := filepath.Join(dir, runOptions)
	if err := os.Remove(options); err != nil && !os.IsNotExist(err) {
		return err
	}
	for _, name := range []string{runMatrix, runImplications} {
		data, err := os.ReadFile(f.file(name))
		if err != nil {
			return err
		}
		if err := blobs.Replace(filepath.Join(dir, name), data, 0o644); err != nil {
			return err
		}
	}
	data, err := json.Marshal(f.choice.Options)
	if err != nil {
		return err
	}
	return blobs.Replace(options, data, 0o644)
}
