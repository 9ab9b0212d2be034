package rules_test

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/template"
	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/spade/delta"
	"github.com/proviso-eval/proviso/spade/internal/spadetest"
	"github.com/proviso-eval/proviso/spade/rules"
	"github.com/proviso-eval/proviso/value"
)

func propose(t *testing.T, o rules.Options, texts ...string) *rules.Proposed {
	t.Helper()
	var versions []delta.Version
	for _, text := range texts {
		versions = append(versions, delta.Version{Text: text})
	}
	h, err := delta.HistoryOf(versions)
	if err != nil {
		t.Fatal(err)
	}
	if o.Compiler == nil {
		o.Compiler = spadetest.Compiler(t)
	}
	p, err := rules.Propose(context.Background(), h, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestRules compares each sentence with its assertions; a minus before a reason means that
// there are none.
func TestRules(t *testing.T) {
	t.Parallel()
	c := spadetest.Compiler(t)
	for _, x := range []struct{ text, want string }{
		// Quantities.
		{"Answer in at most 3 sentences.", `sentence-count {"max":3}`},
		{"Keep it under 100 words.", `word-count {"max":99}`},
		{"Use no more than 1,000 characters", `char-count {"max":1000}`},
		{"The summary shouldn't be longer than a couple of sentences.", `sentence-count {"max":2}`},
		{"Your answer must not exceed 50 words.", `word-count {"max":50}`},
		{"Give exactly five bullet points.", `item-count 5`},
		{"Write between 2 and 4 paragraphs.", `count {"regex":"(?:^|\\n[ \\t\\r]*\\n)\\s*\\S","min":2,"max":4}`},
		{"Provide 3-5 short bullet points.", `item-count {"min":3,"max":5}`},
		{"Write a 100-word summary.", `word-count {"min":75,"max":125}`},
		{"Answer in one sentence.", `sentence-count 1`},
		{"Elaborate in about 200 words.", `word-count {"min":150,"max":250}`},
		{"Limit your answer to 2 lines.", `line-count {"max":2}`},
		{"Use 80 words or fewer.", `word-count {"max":80}`},
		{"List 3 or more items.", `item-count {"min":3}`},
		{"More than two sentences, please.", `sentence-count {"min":3}`},
		{"Each bullet point should have at most 10 words.", `word-count {"max":10} {"each":"item"}`},
		{"Ask exactly one question.", `count {"regex":"\\?","min":1,"max":1}`},
		{"Use at most two emojis.", `chars {"class":"emoji","max":2}`},
		{"Answer in {{ n }} sentences.", `sentence-count "{{ n }}"`},
		{"Use no more than {n} words.", "-Quantity the limit is the variable {n}"},
		{"The title must have at most 5 words.", "-Quantity it is about a part of the output that the rules cannot find (title)"},
		{"Give at least 3 concrete examples.", "-Quantity the rules cannot count concrete examples"},
		// Formats.
		{"Return only valid JSON.", `is-json undefined`},
		{`Respond in JSON with the keys "name" and "age".`, `contains-json {"type":"object","required":["name","age"]}`},
		{"Use bullet points.", `regex`},
		{"Do not use bullet points.", `not-regex`},
		{"Do not use Markdown.", `not-regex`},
		{"Use neither emojis nor exclamation marks.", `not-chars {"class":"emoji","min":1}; not-contains "!"`},
		{"Do not\nuse any bullet points.", `not-regex`},
		{"Answer as a numbered list.", `regex`},
		{"Respond with HTML.", `contains-html undefined`},
		{"Don't use any emojis.", `not-chars {"class":"emoji","min":1}`},
		{"Never use exclamation marks!", `not-contains "!"`},
		{"Answer in Japanese.", `regex`},
		{"Answer in French.", "-ResponseFormat a language that shares its letters with others (french)"},
		// Phrases.
		{`Include the phrase "As always".`, `icontains "As always"`},
		{"Mention “refund” and “warranty”.", `icontains-all ["refund","warranty"]`},
		{"Use the word 'yes' or 'no'.", `icontains-any ["yes","no"]`},
		{`Never use words like: "Feature", "Religion"`, `not-icontains-any ["Feature","Religion"]`},
		{`Do not say "cheap", say "affordable" instead.`, `not-icontains-any ["cheap"]`},
		{`"Sorry" must not be used.`, `not-icontains-any ["Sorry"]`},
		{"Include the {city} in your answer.", `icontains "{{ city }}"`},
		{`Write "Dear {name}," first.`, `icontains "Dear {{ name }},"`},
		{`Use the sections "Intro" and "End" in this order.`, `in-order ["Intro","End"]`},
		{`Summarize the text between "BEGIN" and "END".`, `-DataIntegration “BEGIN”, “END” marks the input`},
		{`If you do not know, say "unknown".`, `-Exclusion it applies only sometimes ("If")`},
		{`Include words such as "great".`, "-Inclusion “great” is an example or a choice"},
		// Starts and ends.
		{`Begin your answer with "Sure:".`, `starts-with "Sure:"`},
		{`Do not start with "As an AI".`, `not-starts-with "As an AI"`},
		{`End with "Best regards".`, `ends-with "Best regards"`},
		{"End with a follow-up question.", `regex`},
		// No check by rules.
		{"Be concise.", "-QualitativeCriteria quality is not counted"},
		{"You are a teacher.", "-PromptClarification it says who the model is"},
		{"{question}", "-DataIntegration it brings data"},
		{"Do not mention competitors.", "-Exclusion what must not be there is described, not quoted"},
		{"```\nUse \"x\".\n```", "-ExampleDemonstration a block of code"},
		{"You will receive text in JSON.", "-"},
	} {
		prompt := x.text + "\nThe data: {n} {city} {name}"
		p := propose(t, rules.Options{Compiler: c}, prompt)
		var got []string
		for _, cand := range p.Candidates {
			if cand.Delta.Line == 1 {
				got = append(got, shownAssertion(cand.Assertion))
			}
		}
		for _, u := range p.Unproposed {
			if len(got) == 0 && u.Delta.Line == 1 {
				got = append(got, "-"+u.Category+" "+u.Reason)
			}
		}
		text := strings.Join(got, "; ")
		if !strings.HasPrefix(text, x.want) || strings.Count(text, ";") != strings.Count(x.want, ";") {
			t.Errorf("%s\ngot  %s\nwant %s", x.text, text, x.want)
		}
	}
}

// TestForeignRules compares each sentence of a prompt in another language with its assertions.
func TestForeignRules(t *testing.T) {
	t.Parallel()
	c := spadetest.Compiler(t)
	for _, x := range []struct{ text, want string }{
		{"Antworte in höchstens drei Sätzen und sei freundlich.", `sentence-count {"max":3}`},
		{"Schreibe mindestens 100, aber weniger als 1.000 Wörter und nicht mehr.", "-Quantity the rules do not understand"},
		{"Verwende genau 5 Stichpunkte für die Antwort.", `item-count 5`},
		{"Verwende kein Markdown und keine Emojis.", `not-regex; not-chars {"class":"emoji","min":1}`},
		{"Verwende weder Markdown noch Emojis für die Antwort an den Kunden.", `not-regex; not-chars {"class":"emoji","min":1}`},
		{"Verwende weder Markdown noch Emojis, die nicht jeder in höchstens 3 Sekunden und 2 Sätzen liest.", "-"},
		{"Antworte in höchstens vier Sätzen und sei freundlich zu dem Kunden.", `sentence-count {"max":4}`},
		{"Antworte dem Kunden immer als JSON.", `contains-json undefined`},
		{"Sage nie „leider“ und nicht „unmöglich“ zu dem Kunden.", `not-icontains-any ["leider"]; not-icontains-any ["unmöglich"]`},
		{"Beende die Antwort mit „Ihre Bäckerei“.", `ends-with "Ihre Bäckerei"`},
		{"Der Titel hat höchstens 5 Wörter und ist kurz.", "-Quantity it is about a part of the output that the rules cannot find (Titel)"},
		{"Wenn der Kunde fragt, antworte in 2 Sätzen.", `-Other it applies only sometimes ("Wenn")`},
		{"Sei freundlich zu den Kunden und nicht zu kurz.", "-Other the rules read English, and of German only counts"},
		{"Réponds au client en trois phrases au maximum et sois gentil.", `sentence-count {"max":3}`},
		{"N'utilise jamais le mot « gratuit » pour les clients.", `not-icontains-any ["gratuit"]`},
		{"Écris entre 50 et 80 mots pour le client.", `word-count {"min":50,"max":80}`},
		{"Termine par « À bientôt » pour les clients.", `ends-with "À bientôt"`},
		{"Responde en un máximo de 3 frases para el cliente.", `sentence-count {"max":3}`},
		{"No uses nunca la palabra «barato» con los clientes.", `not-icontains-any ["barato"]`},
		{"Menciona siempre «garantía» y «envío» en la respuesta para el cliente.", `icontains-all ["garantía","envío"]`},
		{"Rispondi in italiano con al massimo tre frasi per il cliente.", `sentence-count {"max":3}`},
		{"Responda em no máximo 3 frases e seja gentil com o cliente.", `sentence-count {"max":3}`},
		{"Antwoord in maximaal drie zinnen en wees vriendelijk voor de klant.", `sentence-count {"max":3}`},
		{"Trả lời ngắn gọn, không quá 3 câu.", "-Other the rules read English; pass --model for Vietnamese"},
	} {
		p := propose(t, rules.Options{Compiler: c}, x.text)
		var got []string
		for _, cand := range p.Candidates {
			got = append(got, shownAssertion(cand.Assertion))
		}
		for _, u := range p.Unproposed {
			if len(got) == 0 {
				got = append(got, "-"+u.Category+" "+u.Reason)
			}
		}
		text := strings.Join(got, "; ")
		if parts := strings.Split(x.want, "; "); !strings.HasPrefix(text, parts[0]) || !strings.Contains(text, parts[len(parts)-1]) {
			t.Errorf("%s\ngot  %s\nwant %s", x.text, text, x.want)
		}
	}
}

func shownAssertion(a *proviso.Assertion) string {
	s := a.Type + " "
	if _, none := a.Value.(value.Undefined); none {
		s += "undefined"
	} else {
		s += value.Stringify(a.Value)
	}
	if scope := a.Raw.At("scope"); scope != nil {
		s += " " + value.Stringify(scope)
	}
	return s
}

func TestRulesFollowTheHistory(t *testing.T) {
	t.Parallel()
	texts := []string{"Answer in 2 sentences.\nBe kind.", "Answer in 3 sentences.\nBe kind.", "Be kind.\nAnswer in 3 sentences.\nUse exactly 3 sentences."}
	p := propose(t, rules.Options{}, texts...)
	if len(p.Candidates) != 1 || p.Candidates[0].Delta.Version != 2 || p.Candidates[0].Name != "sentences_exactly_3" || p.Candidates[0].Category != delta.Quantity {
		t.Errorf("%+v", p.Candidates)
	}
	var reasons []string
	for _, u := range p.Unproposed {
		reasons = append(reasons, u.Reason)
	}
	want := []string{"a later version does not say it any more", "quality is not counted: a judge has to decide", "it asks for the same as a sentence before"}
	if !reflect.DeepEqual(reasons, want) {
		t.Errorf("%q", reasons)
	}
	if p := propose(t, rules.Options{Dropped: true}, texts...); len(p.Candidates) != 2 {
		t.Errorf("with what was dropped: %+v", p.Candidates)
	}
}

// TestRulesRoundTrip writes what rules propose and reads it.
func TestRulesRoundTrip(t *testing.T) {
	t.Parallel()
	p := propose(t, rules.Options{}, "Return only valid JSON with the keys \"a\" and \"b\".\nEach line must have at most 3 words.\nUse Markdown and a table. Say \"x\\n: # {{ y }}\".\n{y}")
	if len(p.Candidates) < 4 {
		t.Fatalf("%+v", p)
	}
	text := candidate.YAML(p.Candidates, nil)
	got, mistakes := candidate.Read("c.yaml", text)
	if err := mistakes.Err(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if got, want := checks(got), checks(p.Candidates); !reflect.DeepEqual(got, want) {
		t.Errorf("%s\ngot  %q\nwant %q", text, got, want)
	}
}

func FuzzRules(f *testing.F) {
	f.Add("Never say \"a\" or 'b', use at most {n} words, in JSON with keys `x`. {n}")
	f.Add("End with “x„ each bullet under 3 words or 2-4 lines")
	c := check.New(check.Options{Templates: template.New(template.Options{})})
	f.Fuzz(func(t *testing.T, text string) {
		h, err := delta.HistoryOf([]delta.Version{{Text: text}})
		if err != nil {
			return
		}
		p, err := rules.Propose(context.Background(), h, rules.Options{Compiler: c})
		if err != nil {
			t.Fatal(err)
		}
		names := map[string]bool{}
		for _, cand := range p.Candidates {
			if names[cand.Name] {
				t.Errorf("two candidates are called %q", cand.Name)
			}
			names[cand.Name] = true
		}
	})
}

// TestRulesRefuseLong: text that is longer than any sentence costs no work.
func TestRulesRefuseLong(t *testing.T) {
	t.Parallel()
	p := propose(t, rules.Options{}, "Answer in at most 3 sentences "+strings.Repeat("a, ", 300_000))
	if len(p.Candidates) != 0 || len(p.Unproposed) != 1 || !strings.Contains(p.Unproposed[0].Reason, "sentences of at most 8192") {
		t.Errorf("%+v", p.Unproposed)
	}
}

// checks returns what must survive writing and reading.
func checks(list []proviso.Candidate) []string {
	var out []string
	for i := range list {
		c := &list[i]
		out = append(out, c.Name+"|"+c.Description+"|"+c.Category+"|"+c.Delta.Text+"|"+candidate.Check(c))
	}
	return out
}
