package main

import (
	"context"
	"fmt"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/judge/lint"
	"github.com/proviso-eval/proviso/report"
)

// judgeLintRun reports probable mistakes in the judged assertions of a kept run.
func (a *app) judgeLintRun(ctx context.Context, name, format string) error {
	r, err := a.openRun(ctx, "", name)
	if err != nil {
		return err
	}
	defer r.Close()
	found, unread, err := lint.Run(r.Reader)
	if err != nil {
		return err
	}
	for _, l := range found {
		if format != formatJSON {
			fmt.Fprintf(a.err, "%s%s: warning: %s\n", printable(l.Assertion), printable(l.Pointer), printable(report.OneLine(l.Text())))
		}
	}
	return a.linted(found, len(found), unread, "the judged assertions of the run", format)
}

// linted ends a search for mistakes that found n. Any finding is exit code 1, so that a build
// can fail on it.
func (a *app) linted(found any, n int, unread, what, format string) error {
	if unread != "" {
		fmt.Fprintln(a.err, "proviso: "+unread)
	}
	if format == formatJSON {
		if err := a.printJSON(found); err != nil {
			return coded(err)
		}
	} else if n == 0 && unread == "" {
		fmt.Fprintln(a.out, "nothing to say about "+what)
	}
	if n > 0 {
		return exitError{exitFailed}
	}
	return nil
}

// lintJSON is a finding as --format json shows it.
type lintJSON struct {
	Rule       string `json:"rule"`
	Pointer    string `json:"pointer"`
	Line       int    `json:"line"`
	Column     int    `json:"column"`
	Message    string `json:"message"`
	Suggestion string `json:"suggestion,omitempty"`
}

// judgeLint reports probable mistakes in the wording of a request's assertions.
func (a *app) judgeLint(req *judge.Request, doc *document.Document, format string) error {
	found := []lintJSON{}
	list, _ := req.Decode() // requests with mistakes are refused before
	for _, x := range list {
		for _, l := range lint.Assertion(x) {
			at := doc.Place(l.Pointer)
			found = append(found, lintJSON{l.Rule, l.Pointer, at.Line, at.Column, l.Message, l.Suggestion})
			if format != formatJSON {
				a.mistake("warning", proviso.Mistake{Place: at, Message: l.Text(), Warning: true})
			}
		}
	}
	return a.linted(found, len(found), lint.Unread(list), plural(len(req.Assertions), "assertion"), format)
}
