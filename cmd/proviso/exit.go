package main

import (
	"errors"
	"fmt"

	"github.com/proviso-eval/proviso"
)

// The exit codes of every command; docs/eval.md has the same table.
const (
	exitOK           = 0
	exitFailed       = 1   // the failures alone miss the pass rate, whatever is undecided
	exitUsage        = 2   // the command line or the suite is wrong; nothing was run
	exitUndecided    = 3   // what errors left undecided decides
	exitInconclusive = 4   // too few cases to tell (gate, if asked for)
	exitInterrupted  = 130 // stopped by the user; what was finished is kept
)

// exitError ends a command that has said everything already.
type exitError struct{ code int }

func (e exitError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// codeOf returns the exit code for an error that ends a command.
func codeOf(err error) int {
	var e *proviso.Error
	if errors.As(err, &e) {
		return proviso.MeaningOf(e.Code).Exit
	}
	return exitUsage
}

// coded gives an error a code, unless it has one: something that a command needs
// is not there.
func coded(err error) error {
	var e *proviso.Error
	if errors.As(err, &e) {
		return err
	}
	return proviso.Errorf(proviso.Unavailable, "%w", err)
}

// verdictCode returns the exit code of a finished run, of which a share of the rows
// has to pass: failed if it is missed even if all that is undecided passed, 0 if it
// is met even if all of that failed. A share is compared as the float64 nearest to
// it, which is what a share that is written as a decimal is read as.
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
