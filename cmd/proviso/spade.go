package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/spade/matrix"
)

func newSpade(a *app) *cobra.Command {
	return group("spade", "Go from a prompt's history to the smallest set of assertions that catches its failures",
		"spade has a command for each step; each reads and writes plain files, so that every step can\n"+
			"be looked at, changed, and done again by itself.",
		newSpadeCoverage(a), newSpadeDeltas(a), newSpadeFrontier(a), newSpadeLabel(a), newSpadeMatrix(a), newSpadePropose(a), newSpadeRun(a), newSpadeSelect(a), newSpadeSubsume(a), newSpadeUpdate(a))
}

// readMatrix reads a matrix; its mistakes are printed.
func (a *app) readMatrix(name string) (*matrix.Matrix, error) {
	f, err := a.openInput(name, holdsMatrix)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, mistakes := matrix.Read(shownName(name), f)
	return m, a.mistakes(mistakes)
}

// readCandidates reads candidates; their mistakes are printed.
func (a *app) readCandidates(name string) ([]proviso.Candidate, error) {
	data, err := a.readInput(name, holdsCandidates)
	if err != nil {
		return nil, err
	}
	list, mistakes := candidate.Read(shownName(name), data)
	return list, a.mistakes(inOrder(mistakes))
}

// readSelected reads assertions, with the provenance of candidates of the same name if a file
// of those is given.
func (a *app) readSelected(name, candidates string) ([]proviso.Candidate, error) {
	list, err := a.readCandidates(name)
	if err != nil || candidates == "" {
		return list, err
	}
	others, err := a.readCandidates(candidates)
	if err != nil {
		return nil, err
	}
	candidate.TakeProvenance(list, others)
	return list, nil
}

// invalidCandidates returns an error of trying candidates as the mistakes of their file,
// each with its place.
func (a *app) invalidCandidates(err error, name string) error {
	var invalid *matrix.InvalidError
	if ext := strings.ToLower(filepath.Ext(name)); !errors.As(err, &invalid) || ext == ".py" || ext == ".jsonl" {
		return err
	}
	data, unread := a.readInput(name, holdsCandidates)
	if unread != nil {
		return err
	}
	doc, unread := document.Parse(shownName(name), data)
	if unread != nil {
		return err
	}
	var list proviso.Mistakes
	for _, w := range invalid.Wrong {
		pointer, key := strings.CutSuffix(w.Err.Pointer, "#")
		m := proviso.Mistake{Place: doc.Place(pointer), Code: w.Err.Code, Message: w.Name + ": " + w.Err.Message, Nearest: w.Nearest}
		if key {
			m.Place = doc.KeyPlace(pointer)
		}
		list = append(list, m)
	}
	return a.mistakes(inOrder(list))
}

// notOver refuses to write over an input file or into an input folder: labels or text
// of people would be lost, or the output would be read as a version of the prompt.
func notOver(out string, inputs ...string) error {
	if out == "" || out == "-" {
		return nil
	}
	written, _ := os.Stat(out) // nil if it does not exist yet
	folder, _ := os.Stat(filepath.Dir(out))
	for _, name := range inputs {
		if name == "" || name == "-" {
			continue
		}
		read, err := os.Stat(name)
		switch {
		case err != nil:
		case read.IsDir() && os.SameFile(read, folder):
			return usageError{fmt.Errorf("-o %s is in %s, which is read", out, name), "name a file outside of it"}
		case read.Mode().IsRegular() && os.SameFile(read, written):
			return usageError{fmt.Errorf("-o %s is a file that is read, and would be gone", out), "name another one"}
		}
	}
	return nil
}

// missingFlag is the error of a command without an input flag.
func missingFlag(cmd *cobra.Command, flag, hint string) error {
	return usageError{fmt.Errorf("--%s is missing", flag), hint + "; " + seeHelp(cmd)}
}
