package rules_test

import (
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/spade/internal/spadetest"
	"github.com/proviso-eval/proviso/spade/rules"
)

// TestNarrowed: the text around a sentence may narrow it, and then it gets no check. The other
// sentences keep theirs.
func TestNarrowed(t *testing.T) {
	t.Parallel()
	c := spadetest.Compiler(t)
	for prompt, want := range map[string]string{
		// A replacement for something forbidden is not in every output.
		"Don't guess. Say \"I am not sure\".":                       "",
		"Do not leave a field empty. Write \"none\" instead.":       "",
		"Do not give tax advice, say \"please ask an accountant\".": "",
		"Never say \"me\". Say \"the team\" instead.":               `not-icontains-any ["me"]`,
		"Nenne keine Namen. Sag \"das weiß ich nicht\".":            "",
		"- No emojis.\n- Say \"thank you\".":                        `not-chars {"class":"emoji","min":1}; icontains "thank you"`,
		// One phrase contains the other.
		"Say \"Lake Geneva\" rather than \"Lake\".":                                     "",
		"Never say \"log\". Say \"log in\".":                                            "",
		"Never say \"cheap,\" \"low cost,\" or \"budget.\"":                             `not-icontains-any ["cheap","low cost","budget"]`,
		"Never say \"we're sorry\".":                                                    `not-icontains-any ["we're sorry","we’re sorry"]`,
		"Mention \"women's sizes\".":                                                    `icontains-any ["women's sizes","women’s sizes"]`,
		"Return JSON with the keys \"id\" and \"note\".":                                `contains-json {"type":"object","required":["id","note"]}`,
		"Return JSON with the keys \"id\" and \"note\". If \"note\" is empty, omit it.": "",
		// The following sentence allows or requires more.
		"Answer in JSON. On errors answer with plain text.":                     "",
		"At most 4 sentences. Refunds may have 6.":                              "",
		"At most 4 sentences. Longer answers are okay for engineers.":           "",
		"No emojis! (But in greetings they are fine.)":                          "",
		"- At most 4 sentences.\n- No emojis.\n- Staff are exempt from rule 1.": "",
		"1. At most 4 sentences.\n2. Rule 1 does not apply to recipes.":         "",
		"- No emojis.\n\n## Exceptions\n\n- Greetings.":                         "",
		"Summarize it in 1 sentence. Then list 3 actions.":                      "",
		"At most 4 sentences. If you do not know the answer, say so.":           `sentence-count {"max":4}`,
		"At most 4 sentences. Be friendly.":                                     `sentence-count {"max":4}`,
		// Parts, and only some outputs.
		"List 5 items, no more than 10 words.":                            "",
		"- subject: at most 6 words\n- answer: at most 2 sentences":       "",
		"Length: at most 4 sentences":                                     `sentence-count {"max":4}`,
		"Start with \"Dear\" in emails.":                                  "",
		"Start letters with \"Dear\".":                                    "",
		"<rules for=\"vip\">\nNo emojis.\n</rules>":                       "",
		"<rules>\nNo emojis.\n</rules>":                                   `not-chars {"class":"emoji","min":1}`,
		"[VIP ONLY]\nNo emojis.":                                          "",
		"{{#each rules}}\nNo emojis.\n{{/each}}":                          "",
		"You grade letters. The letter must contain \"invoice\".":         "",
		"You moderate posts. A post must not have more than 4 sentences.": "",
		"You help customers. The answer must contain \"invoice\".":        `icontains "invoice"`,
		"Good answer: \"Never give up. Use at most 4 sentences.\"":        "",
	} {
		p := propose(t, rules.Options{Compiler: c}, prompt)
		var got []string
		for i := range p.Candidates {
			got = append(got, shownAssertion(p.Candidates[i].Assertion))
		}
		if strings.Join(got, "; ") != want {
			t.Errorf("%q\n  gives %s\n  want  %s", prompt, strings.Join(got, "; "), want)
		}
	}
}
