package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso/suite"
)

// passRateVariable is promptfoo's, in percent.
const passRateVariable = "PROMPTFOO_PASS_RATE_THRESHOLD"

// passRateOf returns the share of rows that must pass: from the command line, else
// the environment, else the suite. An untrusted suite cannot set it.
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
