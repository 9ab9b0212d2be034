package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/proviso-eval/proviso/suite"
)

// passRateVariable is promptfoo's, in percent.
const passRateVariable = "PROMPTFOO_PASS_RATE_THRESHOLD"

// passRateOf returns the share of rows that must pass: from the command line, else
// the environment, else the suite. An untrusted suite cannot set it.
func (a *app) passRateOf(f *evalFlags, s *loaded) (float64, error) {
	if f.failUnder.set {
		return f.failUnder.value, nil
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

// shareFlag is a flag that holds a share: a number from 0 to 1, or N%.
type shareFlag struct {
	text  string
	value float64
	set   bool
}

// Set keeps the text; check reads it, so that every mistake names the flag in the
// same way.
func (s *shareFlag) Set(text string) error {
	s.text, s.set = text, true
	return nil
}

func (s *shareFlag) String() string { return s.text }

// Type is not shown: the usage of the flag names its value.
func (*shareFlag) Type() string { return "share" }

// check reads the flag, if it is given.
func (s *shareFlag) check(name, hint string) (err error) {
	if !s.set {
		return nil
	}
	if s.value, err = suite.ParseShare(s.text); err != nil {
		return usageError{fmt.Errorf("%s: %w", name, err), hint}
	}
	return nil
}

// shareVar adds a flag that holds a share, as --fail-under does, and has a default.
func shareVar(fs *pflag.FlagSet, to *float64, name string, usual float64, usage string) {
	*to = usual
	fs.Var(&shareValue{to, strconv.FormatFloat(usual, 'g', -1, 64)}, name, usage)
}

// shareValue is a share that is read where it stands on the command line.
type shareValue struct {
	to   *float64
	text string
}

// Set reads the share.
func (s *shareValue) Set(text string) error {
	v, err := suite.ParseShare(text)
	if err != nil {
		return err
	}
	*s.to, s.text = v, text
	return nil
}

func (s *shareValue) String() string { return s.text }

// Type is not shown: the usage of the flag names its value.
func (*shareValue) Type() string { return "share" }

// percentOf reads a variable that holds a percentage.
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
