package mutate

import (
	"strings"

	"github.com/proviso-eval/proviso/internal/pattern"
)

var (
	languageWords = pattern.Of(`(?i)\b(?:only )?(?:(?:the )?(?:same |user's |customer's )language(?: (?:as|of) the (?:user|customer|question|message))?|english|german|french|spanish|italian|portuguese|dutch|polish|turkish|swedish|vietnamese|japanese|chinese|korean|arabic|russian|hindi|greek|hebrew|thai|ukrainian)(?: only)?\b`)
	brevityWords  = pattern.Of(`(?i)\b(?:concise(?:ly)?|brief(?:ly)?|short|succinct(?:ly)?|to the point|terse(?:ly)?|crisp|compact)\b`)
	repeatWords   = pattern.Of(`(?i)\b(?:repeat(?:ing)? (?:yourself|sentences|anything|the same thing)|redundan\w+|repetitions?)\b`)
)

func namesLanguage(in *Instruction) bool { return demandForm.says(in.Text, languageWords) }

func wantsBrevity(in *Instruction) bool {
	return demandForm.says(in.Text, brevityWords) || banForm.says(in.Text, repeatWords)
}

// languages are sentences that replace those of an output. The common words and letters
// show whether the output is already in that language.
var languages = []struct {
	name      string
	common    string // common words, with blanks around each
	letters   string // letters that only this language has among those listed here
	sentences []string
}{
	{"german", " der das den dem und ist nicht ein eine einen wir sie uns ihr auf mit für zu von im wird haben sind auch bitte ", "äöüß", []string{"Das lässt sich heute noch nicht sagen.", "Wir melden uns, sobald es etwas Neues gibt.", "Bitte haben Sie noch etwas Geduld."}},
	{"spanish", " el la los las un una es está para con por que de en su le del al gracias ", "ñ¿¡", []string{"Todavía no se puede decir nada más.", "Le avisaremos en cuanto haya algo nuevo.", "Gracias por su paciencia."}},
	{"english", " the and is of to it you your we our for that not are with this be can have please ", "", []string{"There is nothing more to say about this yet.", "We will tell you as soon as there is news.", "Thank you for your patience."}},
	{"japanese", "", "のはをにがです", []string{"まだ何も言えません。", "何かわかり次第お知らせします。", "もうしばらくお待ちください。"}},
}

// switchLanguage replaces the sentences of the output by sentences in another language: all
// of them, and all but the last.
func switchLanguage(w *work) {
	list := sentencesOf(w.body)
	if len(list) == 0 {
		return
	}
	words := map[string]bool{}
	for word := range strings.FieldsSeq(strings.ToLower(w.body)) {
		words[strings.Trim(word, ".,;:!?")] = true
	}
	asked := strings.ToLower(w.in.Text)
	for _, l := range languages {
		shared := 0
		for word := range words {
			if strings.Contains(l.common, " "+word+" ") {
				shared++
			}
		}
		if shared >= 2 || strings.ContainsAny(w.body, l.letters) || strings.Contains(asked, l.name) {
			continue
		}
		w.put(inLanguage(w.body, list, l.sentences, 0))
		if len(list) > 1 {
			w.put(inLanguage(w.body, list, l.sentences, 1))
		}
	}
}

// inLanguage replaces the sentences of a text, except for the last spared ones. It keeps
// the label before a colon at the beginning of a sentence.
func inLanguage(text string, list []span, by []string, spared int) string {
	var b strings.Builder
	at := 0
	for i, s := range list[:len(list)-spared] {
		b.WriteString(text[at:contentStart(text, s)] + by[i%len(by)])
		at = s.end
	}
	return b.String() + text[at:]
}
