package main

import (
	"fmt"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/runfile"
	"github.com/proviso-eval/proviso/judge/lint"
	"github.com/proviso-eval/proviso/report"
)

// lintedRun is a finding in a run as --format json shows it.
type lintedRun struct {
	Assertion  string `json:"assertion"`
	Rule       string `json:"rule"`
	Pointer    string `json:"pointer"`
	Message    string `json:"message"`
	Suggestion string `json:"suggestion,omitempty"`
}

// judgeLintRun reports probable mistakes in the judged assertions of a kept run.
func (a *app) judgeLintRun(name, format string) error {
	if name == latest {
		name = ""
	}
	path, err := findRun(a.stateDir(), name)
	if err != nil {
		return err
	}
	r, err := runfile.Open(path)
	if err != nil {
		return proviso.Errorf(proviso.NotFound, "%w", err)
	}
	defer r.Close()
	list, err := lint.Run(r)
	if err != nil {
		return err
	}
	found := []lintedRun{}
	for _, l := range list {
		found = append(found, lintedRun{l.Assertion, l.Rule, l.Pointer, l.Message, l.Suggestion})
		if format != formatJSON {
			fmt.Fprintf(a.err, "%s%s: warning: %s\n", printable(l.Assertion), printable(l.Pointer), printable(report.OneLine(l.Text())))
		}
	}
	if format == formatJSON {
		if err := a.printJSON(found); err != nil {
			return proviso.Errorf(proviso.Unavailable, "%w", err)
		}
	} else if len(found) == 0 {
		fmt.Fprintln(a.out, "nothing to say about the judged assertions of the run")
	}
	if len(found) > 0 {
		return exitError{exitFailed}
	}
	return nil
}
