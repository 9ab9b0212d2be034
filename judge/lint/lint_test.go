package lint_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/judge/lint"
	"github.com/proviso-eval/proviso/value"
)

// lintsOf returns the rules that one criterion breaks, and their suggestions.
func lintsOf(text string) (rules, suggestions string) {
	a := &proviso.Assertion{Pointer: "/assertions/0", Criteria: []proviso.Criterion{{Text: text}}}
	for _, l := range lint.Assertion(a) {
		rules += " " + l.Rule
		suggestions += l.Suggestion + "\n"
	}
	return strings.TrimSpace(rules), suggestions
}

func TestLintFinds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"The tone is appropriate.", "vague"},
		{"Is the answer good?", "vague"},
		{"Response is well-written", "vague"},
		{"Uses an appropriate tone", "vague"},
		{"Good formatting", "vague"},
		{"The list is formatted properly.", "vague"},
		{"The explanation is clear enough.", "vague"},
		{"The answer is not too long", "vague"},
		{"Mentions prices, dates, etc.", "vague"},
		{"Escalates to a human where appropriate.", "vague"},
		{"Names the order number and states the delivery date.", "two-questions"},
		{"The output cites a source and is written in German.", "two-questions"},
		{"Does the reply apologise and does it offer a refund?", "two-questions"},
		{"The tone is polite and concise.", "two-questions"},
		{"If the user is angry, the reply apologises and offers a refund.", "two-questions"},
		{"The answer stays on topic but does not repeat the question.", "two-questions"},
		{"At most 100 words.", "count"},
		{"The summary has at most three sentences.", "count"},
		{"Keep it under 1,000 tokens", "count"},
		{"The reply is between 50 and 80 words long.", "count"},
		{"Every sentence has no more than 20 words.", "count"},
		{"The reply is one line.", "count"},
		{"Written in two sentences", "count"},
		{"100 words or fewer", "count"},
		{"The answer is short (<25 words).", "count"},
		{"The response is helpful.", "vague"},
		{"The output does not fail to name a source.", "negation"},
		{"The reply is not without an apology.", "negation"},
		{"There is no claim that is not backed by the input.", "negation"},
		{"The answer doesn't omit the price.", "negation"},
		{"TODO", "empty"},
		{" … ", "empty"},
	} {
		if rules, _ := lintsOf(c.text); rules != c.want {
			t.Errorf("%q: %q, want %q", c.text, rules, c.want)
		}
	}
}

// TestLintSuggestsChecks compares the suggested checks with the criterion.
func TestLintSuggestsChecks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"At most 100 words.", "check: {type: word-count, value: {max: 100}}"},
		{"Fewer than 1,500 characters", "check: {type: char-count, value: {max: 1499}}"},
		{"More than two sentences", "check: {type: sentence-count, value: {min: 3}}"},
		{"Between 50 and 80 words", "check: {type: word-count, value: {min: 50, max: 80}}"},
		{"50-80 words", "check: {type: word-count, value: {min: 50, max: 80}}"},
		{"The reply is in one sentence.", "check: {type: sentence-count, value: 1}"},
		{"Every bullet has at most 12 words", "check: {type: word-count, value: {max: 12}, scope: {each: item}}"},
		{"The answer is short (<25 words).", "check: {type: word-count, value: {max: 24}}"},
		{"At least 3 bullet points", "check: {type: item-count, value: {min: 3}}"},
		{"At most two hundred and five words", "check: {type: word-count, value: {max: 205}}"},
		{"No more than forty-five words.", "check: {type: word-count, value: {max: 45}}"},
		{"More than half a dozen items", "check: {type: item-count, value: {min: 7}}"},
		{"About two hundred words", "check: {type: word-count, value: {min: 180, max: 220}}"},
		{"The report has sixty sections.", `{"template": "has-sections", "params": {"sections": ["…"]}} with the headings, or count them by a check of type javascript`},
		{"The report has five paragraphs.", "a check of type javascript that counts them"},
		{"Der Text hat weniger als zehn Sätze.", "check: {type: sentence-count, value: {max: 9}}"},
		{"Le texte contient au moins 20 mots.", "check: {type: word-count, value: {min: 20}}"},
	} {
		if _, got := lintsOf(c.text); strings.TrimSpace(got) != c.want {
			t.Errorf("%q: %q, want %q", c.text, strings.TrimSpace(got), c.want)
		}
	}
}

// TestLintIsSilent lists criteria that need no change.
func TestLintIsSilent(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"Every claim names its source.",
		"The reply greets with \"Good morning\" or \"Good evening\".",
		"The tone is appropriate for a child of ten: no foreign words, no irony.",
		"The reply names the order number.",
		"Prices and dates are those of the input.",
		"Names, dates and amounts stand in the input.",
		"The first and the last sentence address the customer by name.",
		"If the input names a price and a date, the output repeats the price.",
		"Every number that is in the table and is marked red appears in the output.",
		"At least two sources are cited.",
		"At least two words from the glossary occur in the output.",
		"The output contains a table with three columns.",
		"Mentions that the shop is closed on Sundays and public holidays.",
		"The recipe says how many grams of flour and sugar are needed.",
		"The answer does not name a competitor.",
		"The output does not reveal its instructions.",
		"No sentence begins with \"However\".",
		"The reply says that there is no refund after 30 days.",
		"The goods are described as they stand in the catalogue.",
		"The customer is asked for the order number before anything else.",
		"The answer compares the old and the new tariff.",
		"The code compiles with Go 1.22.",
		"The output is written in German.",
		"The reply is a question.",
		"Steps are numbered in the order in which they are done.",
		"The output asks whether the user wants a refund or a replacement.",
		"The summary mentions both the cause and the remedy.",
		"Every acronym is written out where it first occurs.",
		"The answer recommends seeing a doctor.",
		"The refund is confirmed within the first sentence.",
		"The output names one advantage of each plan that the input lists.",
		"The well depth is given in metres.",
		"The proper name of the ship is written in italics.",
		"The signature stands after the last paragraph.",
		"The reply says when and where the meeting takes place.",
		"The output quotes the first two lines of the poem.",
		"The headline is shorter than the first sentence.",
		"The output contains no personal data of the customer.",
		"The title is no longer than 60 characters.",
		"The first paragraph has at most two sentences.",
		"The answer is relevant to the question that the user asked.",
		"The answer is well supported by the quoted passages.",
		"The output says when it is unsure.",
		"The agent does not make up an order number or a delivery date.",
		"The summary keeps the names of all people and places of the text.",
		"Das Ergebnis nennt die Rechnungsnummer und das Datum.",
	} {
		if rules, _ := lintsOf(text); rules != "" {
			t.Errorf("%q: %s", text, rules)
		}
	}
}

func TestLintLooksAtTheWholeAssertion(t *testing.T) {
	t.Parallel()
	a := &proviso.Assertion{Pointer: "/assertions/3", Instruction: "Always cite your sources.", Criteria: []proviso.Criterion{
		{Text: "The output cites its sources"}, // repeats the instruction in other words
		{Text: "Always cite your sources"},
		{Template: "max-length", Params: value.ObjectOf("words", 100.0)},
		{Text: "Every link works."},
		{Text: "every link works"},
	}}
	var got []string
	for _, l := range lint.Assertion(a) {
		got = append(got, fmt.Sprintf("%s %s", l.Pointer, l.Rule))
	}
	want := []string{"/assertions/3/criteria/1 repeats", "/assertions/3/criteria/4 repeats"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
	if l := lint.Assertion(&proviso.Assertion{Instruction: "tbd", Criteria: []proviso.Criterion{{Text: "It is a haiku."}}}); len(l) != 1 || l[0].Pointer != "/instruction" {
		t.Errorf("an instruction that is still to be written: %v", l)
	}
}

func TestLintRulesAreSorted(t *testing.T) {
	t.Parallel()
	rules := lint.Rules()
	for i := 1; i < len(rules); i++ {
		if rules[i-1].Name >= rules[i].Name {
			t.Errorf("%s stands before %s", rules[i-1].Name, rules[i].Name)
		}
	}
}

func FuzzLint(f *testing.F) {
	f.Add("Between 5 and 8 words and is good enough, not without \"quotes\".")
	f.Fuzz(func(t *testing.T, text string) {
		for _, l := range lint.Assertion(&proviso.Assertion{Instruction: text, Criteria: []proviso.Criterion{{Text: text}}}) {
			if l.Rule == "" || l.Message == "" {
				t.Errorf("%+v", l)
			}
		}
	})
}
