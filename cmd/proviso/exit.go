package main

import (
	"errors"
	"fmt"

	"github.com/proviso-eval/proviso"
)

// The exit codes of every command; docs/eval.md has the same table.
const (
	exitOK           = 0
	exitFailed       = 1   // the failures alone miss the pass rate, however the rest turns out
	exitUsage        = 2   // the command line or the suite is invalid; nothing was run
	exitUndecided    = 3   // the rows left undecided by errors make the difference; nothing could be compared
	exitInconclusive = 4   // too few cases to decide (gate, if requested)
	exitInterrupted  = 130 // stopped by the user; finished work is kept
)

// exitError ends a command that has already printed everything.
type exitError struct{ code int }

func (e exitError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// exitWith ends a command with a code, which is no error if it is 0.
func exitWith(code int) error {
	if code == exitOK {
		return nil
	}
	return exitError{code}
}

// codeOf returns the exit code for an error that ends a command.
func codeOf(err error) int {
	var e *proviso.Error
	if errors.As(err, &e) {
		return proviso.MeaningOf(e.Code).Exit
	}
	return exitUsage
}

// coded gives an error a code, unless it has one or is nil: something that a command needs is
// missing, or cannot be written.
func coded(err error) error {
	var e *proviso.Error
	if err == nil || errors.As(err, &e) {
		return err
	}
	return proviso.Errorf(proviso.Unavailable, "%w", err)
}

// verdictCode returns the exit code of a finished run when a given share of its rows
// must pass. The run fails if too few rows pass even if all undecided rows passed,
// and succeeds if enough pass even if all undecided rows failed. Shares are compared
// as float64, so that a decimal share in the suite means exactly what it says.
func verdictCode(t proviso.Totals, passRate float64, failed int) int {
	rows := float64(t.Passed + t.Failed + t.Errors)
	switch {
	case rows == 0:
		return exitOK
	case float64(t.Passed+t.Errors+t.MayPass)/rows < passRate:
		return failed
	case float64(t.Passed+t.WillPass)/rows < passRate:
		return exitUndecided
	}
	return exitOK
}
