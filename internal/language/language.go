// Package language detects the language of a text by its letters and its most
// frequent words. Start at [Of].
package language

import (
	"slices"
	"strings"
	"sync"
	"unicode"
)

// longest is the maximum number of bytes of a text that are read.
const longest = 64 << 10

// Of returns the English name of the language of most of a text, such as "German"; ""
// if it is unknown, as for a text with few words. It does not exclude template
// variables and code. It is safe for concurrent use.
func Of(text string) string {
	text = text[:min(len(text), longest)]
	letters, latin := 0, 0
	count := map[string]int{}
	vietnamese := 0
	for _, r := range text {
		if !unicode.IsLetter(r) {
			continue
		}
		letters++
		if unicode.Is(unicode.Latin, r) {
			latin++
			if r >= 0x1EA0 && r <= 0x1EF9 || strings.ContainsRune("đĐơƠưƯ", r) {
				vietnamese++
			}
			continue
		}
		for _, s := range scripts() {
			if unicode.Is(s.table, r) {
				count[s.language]++
				break
			}
		}
	}
	switch {
	case letters == 0:
		return ""
	case vietnamese*20 > letters:
		return "Vietnamese"
	case latin*2 > letters:
		return byWords(text)
	}
	return byScript(text, count, letters-latin)
}

// script is a language, or the best known of several, with its own letters.
type script struct {
	language string
	table    *unicode.RangeTable
}

var scripts = sync.OnceValue(func() []script {
	return []script{
		{"Japanese", unicode.Hiragana}, {"Japanese", unicode.Katakana}, {"Chinese", unicode.Han}, {"Korean", unicode.Hangul},
		{"Russian", unicode.Cyrillic}, {"Arabic", unicode.Arabic}, {"Greek", unicode.Greek}, {"Hebrew", unicode.Hebrew}, {"Thai", unicode.Thai},
		{"Hindi", unicode.Devanagari}, {"Bengali", unicode.Bengali}, {"Tamil", unicode.Tamil}, {"Telugu", unicode.Telugu}, {"Georgian", unicode.Georgian}, {"Armenian", unicode.Armenian},
	}
})

// byScript returns the language of a text in mostly non-Latin letters.
func byScript(text string, count map[string]int, others int) string {
	switch {
	case count["Japanese"]*10 > others:
		return "Japanese"
	case count["Russian"]*2 > others && strings.ContainsAny(text, "іїєґІЇЄҐ"):
		return "Ukrainian"
	case count["Arabic"]*2 > others && strings.ContainsAny(text, "پچژگ"):
		return "Persian"
	}
	for name, n := range count {
		if n*2 > others {
			return name
		}
	}
	return ""
}

// small holds frequent words of languages in Latin letters, with the languages of
// each. Words common to several of them are left out. English has more words,
// because its prompts are full of short commands.
var small = sync.OnceValue(func() map[string][]string {
	out := map[string][]string{}
	for name, words := range map[string]string{
		"English":    "the and of to is are you your be not with for that this it as or if from do don't any should must when which what how will can have has at most no more than use write answer only never always give each every",
		"German":     "der die das und ist sind nicht ein eine einen einer mit für von den dem auf im zu sich wird werden kein keine du sie bei oder wenn nur als auch höchstens mindestens sei bist deine ihre antworte verwende schreibe",
		"French":     "le la les et est sont pas un une des du en pour dans avec sur vous tu ne que qui ou votre ce cette au aux par plus si réponds répondez utilise utilisez jamais toujours n'utilise",
		"Spanish":    "el los las y es son no una para con del que por su sus como más eres usted tu o si en responde responda usa utiliza nunca siempre debe al cliente",
		"Italian":    "il lo gli e è sono non una per con del della che di nel più sei tuo tua o se rispondi usa mai sempre deve alla massimo",
		"Portuguese": "o os as e é são não uma para com do da que em no na mais você seu sua ou se responda use nunca sempre deve ao máximo",
		"Dutch":      "de het een en is zijn niet met voor van op te je jij geen of als dat die bij maximaal antwoord gebruik altijd nooit moet wordt",
		"Polish":     "i w nie na jest są się z do że jako lub dla po twoje odpowiedz używaj zawsze nigdy jesteś nie",
		"Turkish":    "ve bir bu için ile değil olarak en çok kullan yanıt yaz asla her sen cevap daha",
		"Swedish":    "och är inte en ett för med på av som du din svara använd alltid aldrig högst eller om ska",
		"Danish":     "og er ikke en et for med på af som du din svar brug altid aldrig højst eller hvis skal",
		"Czech":      "a je ne jsou se na v pro s jako nebo odpověz používej vždy nikdy jsi ve tvé být",
		"Romanian":   "și este nu sunt un o pentru cu din la care sau răspunde folosește întotdeauna niciodată ești",
		"Indonesian": "dan yang di tidak adalah untuk dengan dalam anda ini itu jangan gunakan jawab selalu maksimal atau",
		"Finnish":    "ja on ei ole että tai käytä vastaa aina koskaan sinä olet kanssa enintään",
		"Hungarian":  "és a az nem egy hogy van vagy használj válaszolj mindig soha legfeljebb",
	} {
		for w := range strings.FieldsSeq(words) {
			if !slices.Contains(out[w], name) {
				out[w] = append(out[w], name)
			}
		}
	}
	return out
})

// Thresholds for detecting a language: the least number of its words in a text, and
// their least share.
const (
	leastWords = 2
	leastShare = 0.1
)

// byWords returns the language of a text in Latin letters.
func byWords(text string) string {
	words := strings.FieldsFunc(strings.ToLower(strings.ReplaceAll(text, "’", "'")), func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' })
	count := map[string]int{}
	for _, w := range words {
		for _, name := range small()[w] {
			count[name]++
		}
	}
	best, second := "", ""
	for name, n := range count {
		switch {
		case n > count[best]:
			best, second = name, best
		case n > count[second]:
			second = name
		}
	}
	if n := count[best]; n < leastWords || float64(n) < leastShare*float64(len(words)) || n == count[second] {
		return ""
	}
	return best
}
