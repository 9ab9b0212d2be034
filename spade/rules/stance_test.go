package rules_test

import (
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/template"
	"github.com/proviso-eval/proviso/spade/internal/spadetest"
	"github.com/proviso-eval/proviso/spade/rules"
	"github.com/proviso-eval/proviso/value"
)

// turned are sentences that negate, allow, describe, count or make exceptions. Each has the
// right assertions or none: never the opposite.
var turned = []struct{ text, want string }{
	// English.
	{`Do not use more than 3 sentences.`, `sentence-count {"max":3}`},
	{`Never use more than 3 sentences.`, `sentence-count {"max":3}`},
	{`Do not write more than 100 words.`, `word-count {"max":100}`},
	{`Do not go over 50 words.`, `word-count {"max":50}`},
	{`Do not include more than two exclamation marks.`, `count {"regex":"!","max":2}`},
	{`Nothing longer than 5 lines.`, `line-count {"max":5}`},
	{`Do not include more than 1 question mark.`, `count {"regex":"\\?","max":1}`},
	{`Do not write fewer than 100 words.`, `word-count {"min":100}`},
	{`Avoid answers under 10 words.`, `word-count {"min":10}`},
	{`Don't exceed 50 words.`, `word-count {"max":50}`},
	{`Use not more than 3 sentences.`, `sentence-count {"max":3}`},
	{`It should not be longer than 40 words.`, `word-count {"max":40}`},
	{`Never omit "X".`, ""},
	{`Never leave out "X".`, ""},
	{`Do not skip "X".`, ""},
	{`Do not forget to mention "X".`, ""},
	{`Do not fail to mention "X".`, ""},
	{`Do not end without "Bye".`, ""},
	{`Don't begin with anything but "Hello".`, ""},
	{`Do not say anything other than "yes" or "no".`, ""},
	{`Never answer with just "yes".`, ""},
	{`The output must contain neither "a" nor "b".`, `not-icontains-any ["a","b"]`},
	{`Use the word "refund" at most twice.`, ""},
	{`The word "urgent" may appear only once.`, ""},
	{`"urgent" may appear only once.`, ""},
	{`It is fine to say "maybe".`, ""},
	{`Users often say "cancel my order".`, ""},
	{`The product is called "X".`, ""},
	{`Start with a greeting, e.g. "Hi Anna,".`, ""},
	{`Begin your answer with a greeting (e.g. "Hi Anna,").`, ""},
	{`Avoid words longer than 12 characters.`, ""},
	{`Use exactly 2 sentences or exactly 3.`, ""},
	{`Summarize the 5 paragraphs below in 2 sentences.`, `sentence-count 2`},
	{`Use Markdown except for bullet points.`, ""},
	{`You may use up to 2 emojis.`, `chars {"class":"emoji","max":2}`},
	{`You can write more than 100 words.`, ""},
	{`It is fine to use fewer than 3 sentences.`, ""},
	{`Never use at most 2 emojis.`, ""},
	{`Do not use at most 3 sentences.`, ""},
	{`Do not answer in exactly 3 sentences.`, ""},
	{`Do not write 3 sentences.`, ""},
	{`No more than 3 sentences.`, `sentence-count {"max":3}`},
	{`Never less than 3 bullet points.`, `item-count {"min":3}`},
	{`Do not write no more than 3 sentences.`, ""},
	{`Use emojis, hashtags, and links.`, `chars {"class":"emoji","min":1}; regex "(?:^|\\s)#[A-Za-z_]\\w*"; regex "https?://\\S"`},
	{`Never use emojis, hashtags, and links.`, `not-chars {"class":"emoji","min":1}; not-regex "(?:^|\\s)#[A-Za-z_]\\w*"; not-regex "https?://\\S"`},
	{`Do not use emojis or write bullet points.`, `not-regex "(?:^|\\n)[ \\t]*[-*+•–‣◦][ \\t]"; not-chars {"class":"emoji","min":1}`},
	{`Do not apologise and say "sorry".`, ""},
	{`Do not apologise, and say "thanks".`, `icontains "thanks"`},
	{`Do not use Markdown but HTML.`, ""},
	{`Do not say "x" but "y".`, ""},
	{`Under no circumstances, use "free".`, ""},
	{`Never, ever, use emojis.`, `not-chars {"class":"emoji","min":1}`},
	{`No matter what, say "thank you".`, `icontains "thank you"`},
	{`Do not always say "hi".`, ""},
	{`You do not have to say "hi".`, ""},
	{`There is no need to mention "hi".`, ""},
	{`Do not translate "foo".`, ""},
	{`Do not change the word "foo".`, ""},
	{`Do not answer questions about "politics".`, ""},
	{`Do not be afraid to say "no".`, ""},
	{`Do not use emojis in the subject line.`, ""},
	{`Do not use emojis in your answer.`, `not-chars {"class":"emoji","min":1}`},
	{`Do not use bullet points for short answers.`, ""},
	{`Do not use too many emojis.`, ""},
	{`Do not overuse emojis.`, ""},
	{`Do not use only bullet points.`, ""},
	{`Use only bullet points.`, `regex "(?:^|\\n)[ \\t]*[-*+•–‣◦][ \\t]"`},
	{`Do not use both emojis and hashtags.`, ""},
	{`Do not use bullet points without a heading.`, ""},
	{`"Sorry" must not be omitted.`, ""},
	{`"Sorry" must be omitted.`, `not-icontains-any ["Sorry"]`},
	{`"Sorry" may be omitted.`, ""},
	{`"Sorry" is not required.`, ""},
	{`"Sorry" is forbidden.`, ""},
	{`"Thanks" must appear at least once.`, `icontains "Thanks"`},
	{`"Thanks" must appear exactly once.`, ""},
	{`The words "cheap" and "free" are not allowed.`, `not-icontains-any ["cheap","free"]`},
	{`The words "cheap" and "free" must appear.`, `icontains-all ["cheap","free"]`},
	{`Replace "a" with "b".`, ""},
	{`Say "a" instead of "b".`, `not-icontains-any ["b"]`},
	{`Use "a" rather than "b".`, `not-icontains-any ["b"]`},
	{`Say "a" and not "b".`, `not-icontains-any ["b"]`},
	{`Do not use "a" instead of "b".`, ""},
	{`Respond in JSON without the key "debug".`, ""},
	{`Do not use plain text.`, ""},
	{`Never answer without JSON.`, ""},
	{`Do not respond in JSON.`, `not-contains-json undefined`},
	{`Do not respond in Japanese.`, ""},
	{`Never fail to end with a question.`, ""},
	{`Do not end with a question.`, `not-regex "\\?[\"'”’)*_\\s]*$"`},
	{`Never end without a question.`, ""},
	{`Never omit the {city}.`, ""},
	{`Do not forget to mention the {city}.`, ""},
	{`Do not mention the {city}.`, ""},
	{`Include the {city}.`, `icontains "{{ city }}"`},
	{`Passwords must be longer than 8 characters.`, ""},
	{`Write titles of at most 60 characters.`, ""},
	{`Give 3 examples with at most 10 words.`, ""},
	{`Customers should get at most 3 emojis.`, ""},
	{`Users write at most 3 sentences.`, ""},
	{`Answer the 3 questions below.`, ""},
	{`Read the first 2 paragraphs and answer in 1 sentence.`, ""},
	{`Answer in 2 sentences, or 3 at most.`, ""},
	{`Use at least 2 but no more than 4 sentences.`, `sentence-count {"min":2,"max":4}`},
	{`Use at most 2 sentences or at most 20 words.`, ""},
	{`Use at most 2 sentences or at most 3 sentences.`, ""},
	{`Write a 100-word summary.`, `word-count {"min":75,"max":125}`},
	{`Summarize the 500-word text below.`, ""},
	{`Do not write a 100-word summary.`, ""},
	{`Refrain from using more than 3 emojis.`, `chars {"class":"emoji","max":3}`},
	{`Not a single emoji.`, ""},
	{`Emojis are not allowed.`, `not-chars {"class":"emoji","min":1}`},
	{`Emojis are allowed.`, ""},
	{`Emojis are not required.`, ""},
	{`Do not avoid emojis.`, ""},
	{`Avoid using no emojis.`, ""},
	{`Ignore emojis in the input.`, ""},
	{`Avoid Markdown unless it helps.`, ""},
	{`Do not hesitate to use emojis.`, ""},
	{`Never say "no" without "thank you".`, ""},
	{`Say "please" without exclamation marks.`, `not-contains "!"; icontains "please"`},
	{`Answer without Markdown in at most 3 sentences.`, ""},
	{`Do not ramble and use at most 3 sentences.`, ""},
	{`Do not ramble, and use at most 3 sentences.`, `sentence-count {"max":3}`},
	{`Feel free to use emojis.`, ""},
	{`You might add "PS".`, ""},
	{`Consider adding "PS".`, ""},
	{`Nobody says "moin".`, ""},
	{`Say nothing but "ok".`, ""},
	{`Always say "ok".`, `icontains "ok"`},
	{`Please always mention "ok".`, `icontains "ok"`},
	{`Make sure to mention "ok".`, `icontains "ok"`},
	{`Your answer must contain "ok".`, `icontains "ok"`},
	{`The answer starts with "ok".`, `starts-with "ok"`},
	{`The company's motto is "Think".`, ""},
	{`Include a section called "Intro".`, `icontains "Intro"`},
	{`Never write "TODO" more than once.`, ""},
	{`Do not write more than 100 words in the title.`, ""},
	{`The title should not have more than 5 words.`, ""},
	{`Avoid lines over 80 characters.`, ""},
	{`Each line must not have more than 80 characters.`, `char-count {"max":80} {"each":"line"}`},
	{`Do not use more than 3 colourful emojis.`, ""},
	{`Do not send fewer than 2 or more than 4 sentences.`, ""},
	{`Do not use more than 3 sentences or fewer than 2 sentences.`, ""},
	{`Neither emojis nor hashtags are allowed.`, ""},
	{`Use neither more than 3 sentences nor more than 20 words.`, `sentence-count {"max":3}; word-count {"max":20}`},
	{`Rarely use emojis.`, ""},
	{`Do not merely say "yes".`, ""},
	{`Do not say "yes" twice.`, ""},
	{`Do not say "yes" first.`, ""},
	{`Say "yes" no more than once.`, ""},
	{`Do not use fewer than 2 emojis.`, `chars {"class":"emoji","min":2}`},
	{`Never exceed 40 words.`, `word-count {"max":40}`},
	{`Never go below 20 words.`, `word-count {"min":20}`},
	{`Avoid using more than 5 lines.`, `line-count {"max":5}`},
	{`No answers longer than 30 words.`, `word-count {"max":30}`},
	{`Don't make it longer than 4 sentences.`, `sentence-count {"max":4}`},
	{`You must not write more than 6 lines.`, `line-count {"max":6}`},
	{`Do not write more or fewer than 3 sentences.`, ""},
	{`Do not use more than 3 sentences unless asked.`, ""},
	{`Do not leave "Yours" out.`, ""},
	{`Do not neglect to say "thanks".`, ""},
	{`Never stop saying "thanks".`, ""},
	{`Do not refuse to say "thanks".`, ""},
	{`Do not avoid the word "refund".`, ""},
	{`Do not exclude "refund".`, ""},
	{`Without exception, say "refund".`, `icontains "refund"`},
	{`Avoid saying "refund".`, `not-icontains-any ["refund"]`},
	{`Do not use the words "cheap" or "free".`, `not-icontains-any ["cheap","free"]`},
	{`Never end with "Bye".`, `not-ends-with "Bye"`},
	{`Never start without "Hi".`, ""},
	{`Do not only say "yes".`, ""},
	{`Do not say "yes" without "please".`, ""},
	{`Do not use JSON except for errors.`, ""},
	{`Do not use anything but JSON.`, ""},
	{`Use nothing but JSON.`, ""},
	{`Never forget the emojis.`, ""},
	{`Do not leave out the bullet points.`, ""},
	{`Never skip the numbered list.`, ""},
	{`Avoid tables, but use bullet points.`, `regex "(?:^|\\n)[ \\t]*[-*+•–‣◦][ \\t]"; not-regex "\\|[ \\t]*:?-{3,}"`},
	{`Do not use tables; use bullet points.`, `regex "(?:^|\\n)[ \\t]*[-*+•–‣◦][ \\t]"; not-regex "\\|[ \\t]*:?-{3,}"`},
	{`Do not use tables or bullet points.`, `not-regex "(?:^|\\n)[ \\t]*[-*+•–‣◦][ \\t]"; not-regex "\\|[ \\t]*:?-{3,}"`},
	{`Answer with neither tables nor bullet points.`, `not-regex "(?:^|\\n)[ \\t]*[-*+•–‣◦][ \\t]"; not-regex "\\|[ \\t]*:?-{3,}"`},
	{`Emojis must not be missing.`, ""},
	{`Emojis must be avoided.`, `not-chars {"class":"emoji","min":1}`},
	{`You may use emojis.`, ""},
	{`You can answer in JSON.`, ""},
	{`Users often send JSON.`, ""},
	{`Bullet points are optional.`, ""},
	{`Never translate into Japanese.`, ""},
	{`The customer says "thanks".`, ""},
	{`Most people begin with "Hi".`, ""},
	{`Our shop is named "Moon".`, ""},
	{`Say something like "of course".`, ""},
	{`Say "of course" or similar.`, ""},
	{`Mention "refund" at least once.`, `icontains "refund"`},
	{`Mention "refund" only once.`, ""},
	{`Avoid sentences longer than 20 words.`, ""},
	{`Names with more than 3 words are rare.`, ""},
	{`Do not use sentences of more than 20 words.`, ""},
	{`Translate these 3 sentences.`, ""},
	{`Fix the 2 questions from the input.`, ""},
	{`Write 2 or 3 sentences.`, `sentence-count {"min":2,"max":3}`},
	{`Use either 2 sentences or 5 bullet points.`, ""},
	{`For example, answer in 2 sentences.`, ""},
	{`Use bullet points or a table.`, ""},
	{`Say "yes" or use emojis.`, ""},
	{`Output "N/A" for missing values.`, ""},
	{`Use a maximum of 3 bullet points, each with no more than 10 words.`, `item-count {"max":3}`},
	{`Do not repeat "thank you".`, ""},
	{`Never ask more than one question.`, `count {"regex":"\\?","max":1}`},
	{`Under no circumstances use more than 3 sentences.`, `sentence-count {"max":3}`},
	{`Make sure you never say "no".`, `not-icontains-any ["no"]`},
	{`Instead of "problem", say "challenge".`, `not-icontains-any ["problem"]`},
	{`Reply only with "yes" or "no".`, ""},
	{`Use emojis sparingly.`, ""},
	{`Keep it under 100 words, and never use emojis.`, `word-count {"max":99}; not-chars {"class":"emoji","min":1}`},
	// Other languages.
	{`Schreibe nicht mehr als 100 Wörter für den Kunden.`, `word-count {"max":100}`},
	{`Verwende für die Antwort keine mehr als 3 Sätze.`, `sentence-count {"max":3}`},
	{`Antworte dem Kunden nie in weniger als 3 Sätzen.`, `sentence-count {"min":3}`},
	{`Schreibe dem Kunden nie mehr als 3 Sätze.`, `sentence-count {"max":3}`},
	{`Antworte dem Kunden nicht in genau 3 Sätzen.`, ""},
	{`Antworte dem Kunden nicht in höchstens 3 Sätzen.`, ""},
	{`Vergiss nicht, dem Kunden „danke“ zu sagen.`, ""},
	{`Lass den Gruß „Hallo“ an den Kunden nie weg.`, ""},
	{`Beende die Antwort an den Kunden nie ohne „Tschüss“.`, ""},
	{`Sage dem Kunden nichts anderes als „ja“ oder „nein“.`, ""},
	{`Verwende das Wort „Rabatt“ für den Kunden höchstens zweimal.`, ""},
	{`Du darfst dem Kunden „vielleicht“ sagen.`, ""},
	{`Die Kunden sagen oft „Hilfe“ zu dem Bot.`, ""},
	{`Das Produkt heißt „Alpha“ und ist für die Kunden.`, ""},
	{`Verwende Markdown außer für die Überschriften.`, ""},
	{`Übersetze das Wort „Alpha“ nicht für den Kunden.`, ""},
	{`Verwende keine Emojis und Hashtags für die Kunden.`, ""},
	{`Verwende nicht zu viele Emojis für die Kunden.`, ""},
	{`Du darfst für die Kunden bis zu 3 Emojis verwenden.`, `chars {"class":"emoji","max":3}`},
	{`N'écris pas plus de 100 mots pour le client.`, `word-count {"max":100}`},
	{`N'écris jamais moins de 100 mots pour le client.`, `word-count {"min":100}`},
	{`N'oublie pas de dire « merci » au client et aux autres.`, ""},
	{`Ne termine jamais sans « À bientôt » pour le client.`, ""},
	{`Utilise le mot « offre » au plus deux fois pour le client.`, ""},
	{`Tu peux dire « peut-être » au client et aux autres.`, ""},
	{`Ne dis rien d'autre que « oui » au client.`, ""},
	{`Les clients disent souvent « aide » dans les messages.`, ""},
	{`N'utilise pas Markdown sauf pour les titres des pages.`, ""},
	{`No escribas más de 100 palabras para el cliente.`, `word-count {"max":100}`},
	{`No escribas menos de 100 palabras para el cliente.`, `word-count {"min":100}`},
	{`No olvides decir «gracias» al cliente en la respuesta.`, ""},
	{`Nunca termines sin «adiós» para el cliente y los demás.`, ""},
	{`Usa la palabra «oferta» una sola vez para el cliente.`, ""},
	{`Puedes decir «quizás» al cliente en la respuesta.`, ""},
	{`Los clientes suelen decir «ayuda» en los mensajes.`, ""},
	{`Non scrivere più di 100 parole per il cliente.`, `word-count {"max":100}`},
	{`Non dimenticare di dire «grazie» al cliente nella risposta.`, ""},
	{`Non finire mai senza «ciao» per il cliente.`, ""},
	{`Puoi dire «forse» al cliente nella risposta.`, ""},
	{`Não escreva mais de 100 palavras para o cliente.`, `word-count {"max":100}`},
	{`Não esqueça de dizer «obrigado» ao cliente na resposta.`, ""},
	{`Você pode dizer «talvez» ao cliente na resposta.`, ""},
	{`Schrijf niet meer dan 100 woorden voor de klant.`, `word-count {"max":100}`},
	{`Schrijf nooit minder dan 100 woorden voor de klant.`, `word-count {"min":100}`},
	{`Vergeet niet om «dank u» te zeggen tegen de klant.`, ""},
	{`Eindig nooit zonder «tot ziens» voor de klant.`, ""},
	{`Je mag «misschien» zeggen tegen de klant.`, ""},
	{`Gebruik het woord «korting» hoogstens twee keer voor de klant.`, ""},
}

// TestTurnedMeaning: a sentence with a reversed meaning has the right checks or none.
func TestTurnedMeaning(t *testing.T) {
	t.Parallel()
	c := spadetest.Compiler(t)
	for _, x := range turned {
		p := propose(t, rules.Options{Compiler: c}, x.text+"\nThe data: {n} {city} {name}")
		var got []string
		for _, cand := range p.Candidates {
			if cand.Delta.Line == 1 {
				got = append(got, shownAssertion(cand.Assertion))
			}
		}
		if text := strings.Join(got, "; "); text != x.want {
			t.Errorf("%s\ngot  %s\nwant %s", x.text, text, x.want)
		}
		if len(got) == 0 && !strings.Contains(reasons(p), " ") {
			t.Errorf("%s\nhas neither a check nor a reason", x.text)
		}
	}
}

func reasons(p *rules.Proposed) string {
	var b strings.Builder
	for _, u := range p.Unproposed {
		b.WriteString(u.Reason + "\n")
	}
	return b.String()
}

// TestNegatedSentences: the check of a negated sentence passes no output that follows the
// original sentence.
func TestNegatedSentences(t *testing.T) {
	t.Parallel()
	c := check.New(check.Options{Templates: template.New(template.Options{})})
	outputs := []string{"", "Yes.", "One. Two. Three. Four. Five.", "Sure: yes, the refund! Best regards", "- a\n- b\n- c\n- d\n- e\n- f", `{"name": "a", "age": 1}`,
		"# Title\n\n1. **one** 😀 #tag https://example.com?\n\n| a |\n|---|", strings.Repeat("word ", 120), "As an AI, I say no. Sorry! Bye", "a\n\nb\n\nc\n\nd", "<b>x</b>; y — z?"}
	passes := func(list []proviso.Candidate, output string) (all bool) {
		all = true
		for i := range list {
			set, wrong := c.Compile([]*proviso.Assertion{list[i].Assertion})
			if len(wrong) > 0 {
				t.Fatal(wrong)
			}
			row := &check.Row{Output: &proviso.Output{Value: output}, Prompt: "p", HasPrompt: true, Vars: value.NewObject(0)}
			for _, v := range set.Eval(t.Context(), row) {
				all = all && v.Status == proviso.Pass
			}
		}
		return all
	}
	for _, s := range []string{
		"use at most 3 sentences.", "answer in at least 3 sentences.", "use exactly 3 sentences.", "use more than 3 sentences.", "use fewer than 3 sentences.", "write over 100 words.",
		"write under 100 words.", "answer in 3 sentences.", "use 80 words or fewer.", "use 3 or more bullet points.", "write 2-4 paragraphs.", "write a 100-word summary.", "write about 100 words.",
		"exceed 100 words.", "use at most two emojis.", "use more than two emojis.", "use emojis.", "use bullet points.", "use Markdown.", "respond in JSON.", "return only valid JSON.", "use a table.",
		"answer as a numbered list.", "respond with HTML.", "use exclamation marks.", "answer in Japanese.", "use plain text.", "answer without Markdown.", "use no emojis.", "avoid emojis.",
		`say "sorry".`, `include the phrase "refund".`, `use the words "yes" or "no".`, `mention "refund" and "yes".`, `begin with "Sure:".`, `end with "Best regards".`, "end with a question.",
		`avoid "sorry".`, `omit "sorry".`, `say "yes" instead of "no".`, `respond in JSON with the keys "name" and "age".`, "limit your answer to 2 lines.", "ask exactly one question.",
		"use no more than 3 sentences.", "use neither emojis nor bullet points.", `end without "Bye".`, "use at least 2 emojis.", "go over 50 words.",
	} {
		plain := propose(t, rules.Options{Compiler: c}, strings.ToUpper(s[:1])+s[1:]).Candidates
		for _, negation := range []string{"Do not ", "Never ", "You must not ", "Don't ", "Under no circumstances ", "You do not have to ", "You may ", "There is no need to "} {
			negated := propose(t, rules.Options{Compiler: c}, negation+s).Candidates
			if len(plain) == 0 || len(negated) == 0 {
				continue
			}
			for _, output := range outputs {
				allowed := strings.HasPrefix(negation, "You may") // a limit may stay a limit
				if !allowed && passes(plain, output) && passes(negated, output) {
					t.Errorf("%q passes %q and %q: %s", output, s, negation+s, shownAssertion(negated[0].Assertion))
				}
				if allowed && passes(plain, output) && !passes(negated, output) {
					t.Errorf("%q passes %q, and not %q", output, s, negation+s)
				}
			}
		}
	}
}
