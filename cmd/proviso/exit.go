package main

import (
	"errors"
	"fmt"

	"github.com/proviso-eval/proviso"
)

// The exit codes of every command; docs/eval.md has the same table.
const (
	exitOK           = 0
	exitFailed       = 1   // the failures alone miss the threshold, whatever is undecided
	exitUsage        = 2   // the command line or the suite is wrong; nothing was run
	exitUndecided    = 3   // errors left cases without a verdict
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

// verdictCode returns the exit code of a finished run: threshold is the share of
// rows, in percent, that must pass.
func verdictCode(t proviso.Totals, threshold float64, failed int) int {
	decided := t.Passed + t.Failed + t.Errors
	if best := 100 * float64(t.Passed+t.Errors); decided > 0 && best < threshold*float64(decided) {
		return failed
	}
	if t.Errors > 0 {
		return exitUndecided
	}
	return exitOK
}
