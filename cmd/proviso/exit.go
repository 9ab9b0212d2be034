package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/suite"
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

// exitWith returns an error that ends a command with a code, or nil for 0.
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

// verdictCode returns the exit code of a finished run in which a given share of the rows must pass.
// The run fails if too few rows would pass even if all undecided rows passed. It succeeds if enough
// rows pass even if all undecided rows failed. Shares are compared as float64, so that a decimal
// share in the suite means exactly what it says.
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

// passRateVariable is promptfoo's variable, in percent.
const passRateVariable = "PROMPTFOO_PASS_RATE_THRESHOLD"

// passRateOf returns the share of rows that must pass: from the command line, or else the
// environment, or else the suite. An untrusted suite cannot set it.
func (a *app) passRateOf(f *evalFlags, s *loaded) (float64, error) {
	if f.failUnder != nil {
		return *f.failUnder, nil
	}
	if text, set := s.env.Lookup(passRateVariable); set && strings.TrimSpace(text) != "" {
		return a.percentOf(passRateVariable, strings.TrimSpace(text))
	}
	switch own := s.Options.PassRate; {
	case own == nil:
	case f.trust.untrusted:
		a.warn("evaluateOptions.passRate is ignored with --untrusted; use --fail-under")
	default:
		return *own, nil
	}
	return 1, nil
}

// percentOf reads a variable with a percentage.
func (a *app) percentOf(name, text string) (float64, error) {
	share, err := suite.ParseShare(text + "%")
	if err != nil {
		hint := "--fail-under takes a number from 0 to 1, or a percentage such as 90%"
		if number := strings.TrimSpace(strings.TrimRight(text, "%")); number != text {
			if _, err := suite.ParseShare(number + "%"); err == nil {
				hint = "did you mean " + number + "?"
			}
		}
		return 0, usageError{fmt.Errorf("%s: expected a percentage from 0 to 100, found %s", name, strconv.Quote(text)), hint}
	}
	if 0 < share && share <= 0.01 {
		a.warn(fmt.Sprintf("%s=%s means %s %% of the rows, because the value is a percentage; for %.6g %%, write %.6g", name, text, text, share*1e4, share*1e4))
	}
	return share, nil
}
