package language_test

import (
	"testing"

	"github.com/proviso-eval/proviso/internal/language"
)

func TestOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"You answer questions of customers. Never say unfortunately.":                   "English",
		"Answer in at most 3 sentences.":                                                "English",
		"Antworte in höchstens drei Sätzen. Verwende kein Markdown und sei freundlich.": "German",
		"Réponds en trois phrases au maximum. N'utilise jamais de listes à puces.":      "French",
		"Responde en un máximo de 3 frases y sé amable con el cliente.":                 "Spanish",
		"Rispondi in italiano con al massimo tre frasi. Non usare mai elenchi puntati.": "Italian",
		"Responda em no máximo 3 frases e seja gentil com o cliente. Não use listas.":   "Portuguese",
		"Je bent een behulpzame assistent. Antwoord in maximaal drie zinnen.":           "Dutch",
		"Bạn là trợ lý của cửa hàng. Trả lời ngắn gọn, không quá 3 câu.":                "Vietnamese",
		"你是一个助手，请用三句话回答。":                                                               "Chinese",
		"あなたは親切なアシスタントです。三文以内で答えてください。":                                                 "Japanese",
		"Отвечай кратко, не более трёх предложений.":                                    "Russian",
		"Відповідай стисло, не більше трьох речень, і завжди ввічливо.":                 "Ukrainian",
		"أجب في ثلاث جمل على الأكثر.":                                                   "Arabic",
		"Odpowiedz w trzech zdaniach i nie używaj list, jesteś asystentem.":             "Polish",
		"{{ question }}": "",
		"3 + 4 = 7":      "",
		"JSON":           "",
		"":               "",
	} {
		if got := language.Of(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

func FuzzOf(f *testing.F) {
	f.Add("der die das 日本 the")
	f.Fuzz(func(t *testing.T, text string) {
		if one, two := language.Of(text), language.Of(text); one != two {
			t.Errorf("%q is %q and %q", text, one, two)
		}
	})
}
