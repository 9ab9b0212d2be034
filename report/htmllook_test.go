package report_test

import (
	"fmt"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/report"
)

// wideRun is a run of two prompts at two providers with all statuses.
func wideRun(t testing.TB, cases int) (*report.Meta, *report.Summary, report.Rows) {
	m := meta()
	m.Suite, m.RunFile = "Support bot: refunds and delays", "runs/20261121-113015-k3f9/run.jsonl"
	m.Columns = nil
	providers := []*proviso.ProviderSpec{{ID: "openai:chat:gpt-5-mini"}, {ID: "anthropic:messages:claude-sonnet-4-5", Label: "Sonnet"}}
	prompts := []*proviso.Prompt{{ID: "a", Label: "v13", Raw: "You are support.\n{{message}}"}, {ID: "b", Label: "v14: You are a kind support agent. Answer {{name}} in two sentences, cite the policy, and never promise a date.", Raw: "x"}}
	for _, p := range prompts {
		for _, q := range providers {
			m.Columns = append(m.Columns, report.NewColumn(p, q))
		}
	}
	sum := report.NewSummary(4)
	var kept memoryRows
	for i := range cases {
		c := caseOf(t, i, fmt.Sprintf(`{"description":"refund %d, angry customer","vars":{"name":"Ann","message":"Where is my money? Order %d. This is the third time I write."},"assert":[
			{"type":"contains","value":"I am sorry that your refund is late","metric":"apology"},{"type":"llm-rubric","value":"keeps a polite tone","metric":"tone"},{"type":"not-contains","value":"guarantee"},{"type":"latency","threshold":2000},{"type":"is-json"}]}`, i, i*37))
		for col := range 4 {
			statuses := []proviso.Status{proviso.Pass, proviso.Pass, proviso.Pass, proviso.Pass, proviso.Skip}
			out := "I am sorry that your refund is late, Ann. It was sent on Monday and the policy (section 4) allows five days."
			switch (i*7 + col*3) % 11 {
			case 0:
				statuses[0], out = proviso.Fail, "I am sorry that your parcel is late, Ann. It was sent on Monday.\nThe policy (section 4) allows five days."
			case 1:
				statuses[1], out = proviso.Fail, "I already told you that. "+out
			case 2:
				statuses[1] = proviso.Errored
			case 3:
				statuses[2], out = proviso.Fail, out+" We guarantee that it arrives tomorrow."
			}
			r := resultOf(c, out, statuses...)
			r.PromptIdx, r.Prompt, r.Provider, r.Rendered = col, prompts[col/2], providers[col%2], "You are support.\nWhere is my money?"
			if statuses[1] == proviso.Fail {
				r.Verdicts[1].Reason, r.Verdicts[1].Judge = "Addresses the customer curtly in the first sentence.", "claude-sonnet rubric 3"
				r.Verdicts[1].Evidence = []proviso.Evidence{{Quote: "I already told you that."}}
			}
			sum.Add(i*4+col, r)
			kept = append(kept, report.AppendRow(nil, i*4+col, r, m))
		}
	}
	return m, sum, kept
}

// TestHTMLLooks takes screenshots for people, and checks that nothing is wider than
// the window.
func TestHTMLLooks(t *testing.T) {
	b := openBrowser(t)
	type view struct {
		width  int
		scheme string
	}
	for _, v := range []view{{1440, "light"}, {1440, "dark"}, {768, "light"}, {320, "light"}} {
		b.size(v.width, 900, v.scheme)
		for name, make := range map[string]func() (*report.Meta, *report.Summary, report.Rows){
			"wide": func() (*report.Meta, *report.Summary, report.Rows) { return wideRun(t, 30) },
			"one": func() (*report.Meta, *report.Summary, report.Rows) {
				m, sum, results := sample(t)
				return m, sum, keep(t, m, sum, results)
			},
		} {
			m, sum, rows := make()
			page := shown(t, "html", m, sum, rows)
			for _, script := range []bool{false, true} {
				b.call("Emulation.setScriptExecutionDisabled", map[string]any{"value": !script}, nil)
				b.open(page)
				kind := "plain"
				if script {
					kind = "script"
					b.until("document.documentElement.classList.contains('live') && document.querySelector('#app h2')")
				}
				b.screenshot(fmt.Sprintf("%s-%d-%s-%s", name, v.width, v.scheme, kind))
				b.want("document.documentElement.scrollWidth <= innerWidth", true)
			}
		}
	}
}
