package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/judge/criteria"
	"github.com/proviso-eval/proviso/judge/lint"
	"github.com/proviso-eval/proviso/report"
)

// responseText is an evaluation for a person.
func responseText(req *judge.Request, resp *judge.Response, o report.TerminalOptions) string {
	var b strings.Builder
	list := make([]report.Judgement, len(resp.Results))
	for i := range resp.Results {
		list[i] = judgementOf(&resp.Results[i])
		if i < len(req.Assertions) {
			list[i].Instruction = req.Assertions[i].Instruction
		}
	}
	_ = report.Judgements(&b, o, list, req.Output) // a Builder never fails
	score := "undecided"
	if resp.Score != nil {
		score = fmt.Sprintf("score %.4g", *resp.Score)
	} else if resp.Total == 0 {
		score = "nothing applied"
	} else if resp.Status == proviso.Fail.String() {
		score = fmt.Sprintf("%d undecided", len(resp.Errors))
	}
	if resp.WeightedScore != nil {
		score += fmt.Sprintf(", weighted %.4g", *resp.WeightedScore)
	}
	verdict := "missed"
	if resp.PassedThreshold {
		verdict = "met"
	}
	fmt.Fprintf(&b, "%d of %d hold, %s; threshold %.4g %s\n", resp.Passed, resp.Total, score, resp.Threshold, verdict)
	b.WriteString(spentText(resp))
	return b.String()
}

// judgementOf turns a verdict into the form of reports.
func judgementOf(r *judge.Result) report.Judgement {
	j := report.Judgement{Name: oneLine(r.ID), Status: r.Status, Reasoning: oneLine(r.Reasoning)}
	for i := range r.Criteria {
		c := &r.Criteria[i]
		one := report.CriterionJudgement{Text: c.Criterion, Status: c.Status, Reasoning: c.Reasoning, Note: c.Note}
		if v := c.Votes; v != nil {
			one.Votes = proviso.Votes{Met: v.Met, Unmet: v.Unmet, CannotTell: v.CannotTell, Failed: v.Failed}
		}
		for _, quote := range c.Evidence {
			one.Evidence = append(one.Evidence, proviso.Evidence{Quote: quote, Start: -1})
		}
		j.Criteria = append(j.Criteria, one)
	}
	return j
}

// spentText names the judge and its usage.
func spentText(resp *judge.Response) string {
	var u judge.Usage
	var cost float64
	who := ""
	for _, r := range resp.Results {
		if r.Judge != "" {
			who = r.Judge
		}
		if r.Usage != nil {
			u.Prompt, u.Cached, u.Total = u.Prompt+r.Usage.Prompt, u.Cached+r.Usage.Cached, u.Total+r.Usage.Total
		}
		if r.Cost != nil {
			cost += *r.Cost
		}
	}
	if who == "" {
		return ""
	}
	return "judge " + printable(who) + tookText(u, cost) + "\n"
}

// tookText lists the usage, each item with a comma before it.
func tookText(u judge.Usage, cost float64) string {
	text := ""
	if u.Total > 0 {
		text += ", " + plural(int(u.Total), "token")
	}
	if u.Cached > 0 && u.Prompt > 0 {
		text += fmt.Sprintf(" (%.0f %% of the prompts read from the vendor's cache)", 100*float64(u.Cached)/float64(u.Prompt))
	}
	if cost > 0 {
		text += fmt.Sprintf(", $%.4g", cost)
	}
	return text
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// judgeTemplates lists the shipped criteria.
func (a *app) judgeTemplates(format string) error {
	if format == formatJSON {
		return a.printJSON(criteria.Templates())
	}
	_, err := io.WriteString(a.out, criteria.Text(criteria.Templates()))
	return err
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

// judgeLint reports probable mistakes in the wording of a request's assertions. Any
// finding is exit code 1, so that a build can fail on it.
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
	if unread := lint.Unread(list); unread != "" {
		fmt.Fprintln(a.err, "proviso: "+unread)
	}
	if format == formatJSON {
		if err := a.printJSON(found); err != nil {
			return proviso.Errorf(proviso.Unavailable, "%w", err)
		}
	} else if len(found) == 0 {
		fmt.Fprintf(a.out, "nothing to say about %s\n", plural(len(req.Assertions), "assertion"))
	}
	if len(found) > 0 {
		return exitError{exitFailed}
	}
	return nil
}
