package judge

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/internal/usd"
	"github.com/proviso-eval/proviso/report"
)

// Text formats the evaluation of a request for a person.
func (resp *Response) Text(req *Request, o report.TerminalOptions) string {
	var b strings.Builder
	list := make([]report.Judgement, len(resp.Results))
	for i := range resp.Results {
		list[i] = judgementOf(&resp.Results[i])
		if i < len(req.Assertions) {
			list[i].Instruction = req.Assertions[i].Instruction
		}
	}
	_ = report.Judgements(&b, o, list, req.Output) // a Builder never fails
	score := plural.Of(len(resp.Errors), "error")
	if resp.Score != nil {
		score = fmt.Sprintf("score %.4g", *resp.Score)
	} else if resp.Total == 0 {
		score = "nothing applied"
	}
	if resp.WeightedScore != nil {
		score += fmt.Sprintf(", weighted %.4g", *resp.WeightedScore)
	}
	verdict := "missed"
	if resp.PassedThreshold {
		verdict = "met"
	}
	fmt.Fprintf(&b, "%d of %d hold, %s; threshold %.4g %s\n", resp.Passed, resp.Total, score, resp.Threshold, verdict)
	b.WriteString(resp.spent())
	return b.String()
}

// judgementOf converts a result to the form for reports.
func judgementOf(r *Result) report.Judgement {
	j := report.Judgement{Name: report.OneLine(r.ID), Status: r.Status, Reasoning: report.OneLine(r.Reasoning)}
	for i := range r.Criteria {
		c := &r.Criteria[i]
		one := report.CriterionJudgement{Text: c.Criterion, Status: c.Status, Reasoning: c.Reasoning, Note: c.Note}
		if c.Votes != nil {
			one.Votes = *c.Votes
		}
		for _, quote := range c.Evidence {
			one.Evidence = append(one.Evidence, proviso.Evidence{Quote: quote, Start: -1})
		}
		j.Criteria = append(j.Criteria, one)
	}
	return j
}

// spent describes the judge and its usage.
func (resp *Response) spent() string {
	var u Usage
	var cost float64
	who := ""
	for _, r := range resp.Results {
		who = cmp.Or(r.Judge, who)
		if r.Usage != nil {
			u.Add(*r.Usage)
		}
		if r.Cost != nil {
			cost += *r.Cost
		}
	}
	if who == "" {
		return ""
	}
	return "judge " + report.Message(who) + UsageText(u, cost) + "\n"
}

// UsageText lists a usage and its cost, each item preceded by a comma.
func UsageText(u Usage, cost float64) string {
	text := ""
	if u.Total > 0 {
		text += ", " + plural.Of(int(u.Total), "token")
	}
	if u.Cached > 0 && u.Prompt > 0 {
		text += fmt.Sprintf(" (%.0f %% of the prompts read from the vendor's cache)", 100*float64(u.Cached)/float64(u.Prompt))
	}
	if cost > 0 {
		text += ", " + usd.Text(cost)
	}
	return text
}
