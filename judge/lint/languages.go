package lint

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/language"
)

// languages describes the languages that the lint reads.
const languages = "English, and in German, French and Spanish only lengths and vague words"

// foreign holds the patterns for one language other than English.
type foreign struct {
	vague, reported, count *regexp.Regexp // reported matches the opening of a clause about what the output says
	more, less, exact      []string       // words before a number
	below, above           []string       // "fewer than" and "more than"
	units                  map[string]string
	numbers                []string // one to ten
	small                  []string // function words; nearly every sentence has some of them
}

func (f *foreign) compiled() *foreign {
	alternatives := func(list ...[]string) string { return "(" + strings.Join(slices.Concat(list...), "|") + ")" }
	units := make([]string, 0, len(f.units))
	for u := range f.units {
		units = append(units, u)
	}
	slices.Sort(units)
	f.count = regexp.MustCompile(`(?:^|\s)` + alternatives(f.more, f.less, f.exact, f.below, f.above) + `\s+(\d+|` + strings.Join(f.numbers, "|") + `)\s+` + alternatives(units) + `(?:$|[\s.,;!?])`)
	return f
}

var foreignLanguages = sync.OnceValue(func() []*foreign {
	german := &foreign{
		vague:    regexp.MustCompile(`\s(?:ist|sind|wirkt|wirken|klingt|bleibt)\s+(?:(?:sehr|gut|klar|leicht|recht)\s+)*(?:angemessen|passend|geeignet|gut|hilfreich|nützlich|verständlich|klar|professionell|freundlich|ausführlich|ansprechend|natürlich|übersichtlich|prägnant|sinnvoll|zufriedenstellend)(?:\s+und\s+\pL+)?\s*[.!?]?$`),
		reported: regexp.MustCompile(`\s(?:dass|ob|wie|warum|wenn|falls)\s`),
		more:     []string{"mindestens", "wenigstens"}, less: []string{"höchstens", "maximal", "nicht mehr als", "bis zu"}, exact: []string{"genau"},
		below: []string{"weniger als"}, above: []string{"mehr als"},
		units: map[string]string{"wörter": "word", "wörtern": "word", "worte": "word", "zeichen": "character", "sätze": "sentence", "sätzen": "sentence",
			"zeilen": "line", "absätze": "paragraph", "absätzen": "paragraph", "abschnitte": "section", "stichpunkte": "item", "aufzählungspunkte": "item"},
		numbers: strings.Fields("einen zwei drei vier fünf sechs sieben acht neun zehn"),
		small:   strings.Fields("der die das den dem ein eine einen und ist sind nicht mit für im auf zu wird werden hat von dass kein keine nennt"),
	}
	french := &foreign{
		vague:    regexp.MustCompile(`\s(?:est|sont|semble|reste|paraît)\s+(?:(?:très|bien|assez|suffisamment)\s+)*(?:approprié|adapté|clair|bon|utile|pertinent|professionnel|compréhensible|convenable|satisfaisant|agréable|naturel|complet|détaillé|concis)(?:e|s|es|le|les|ne|nes)?(?:\s+et\s+\pL+)?\s*[.!?]?$`),
		reported: regexp.MustCompile(`\s(?:que|si|pourquoi|comment)\s|\squ['’]`),
		more:     []string{"au moins", "au minimum", "minimum"}, less: []string{"au maximum", "au plus", "maximum", "pas plus de", "jusqu'à"}, exact: []string{"exactement"},
		below: []string{"moins de"}, above: []string{"plus de"},
		units:   map[string]string{"mots": "word", "caractères": "character", "phrases": "sentence", "lignes": "line", "paragraphes": "paragraph", "sections": "section", "puces": "item"},
		numbers: strings.Fields("une deux trois quatre cinq six sept huit neuf dix"),
		small:   strings.Fields("le la les un une des du de et est sont ne pas avec pour dans sur au aux il elle que qui ce cette nomme"),
	}
	spanish := &foreign{
		vague:    regexp.MustCompile(`\s(?:es|son|está|están|parece|suena|resulta)\s+(?:(?:muy|bastante|suficientemente)\s+)*(?:adecuad[oa]|apropiad[oa]|clar[oa]|buen[oa]|útil|pertinente|profesional|comprensible|satisfactori[oa]|natural|complet[oa]|detallad[oa]|concis[oa])(?:s|es)?(?:\s+y\s+\pL+)?\s*[.!?]?$`),
		reported: regexp.MustCompile(`\s(?:que|si|cómo|por qué)\s`),
		more:     []string{"al menos", "como mínimo", "por lo menos"}, less: []string{"como máximo", "a lo sumo", "máximo", "no más de", "hasta"}, exact: []string{"exactamente"},
		below: []string{"menos de"}, above: []string{"más de"},
		units:   map[string]string{"palabras": "word", "caracteres": "character", "frases": "sentence", "oraciones": "sentence", "líneas": "line", "párrafos": "paragraph", "secciones": "section"},
		numbers: strings.Fields("una dos tres cuatro cinco seis siete ocho nueve diez"),
		small:   strings.Fields("el la los las un una de del y es son no con para en por al se su que este esta nombra"),
	}
	return []*foreign{german.compiled(), french.compiled(), spanish.compiled()}
})

// foreignVague finds vague words in languages other than English.
func foreignVague(text string) string {
	words := strings.TrimSpace(plainWords(text))
	for _, f := range foreignLanguages() {
		if at := f.vague.FindStringIndex(words); at != nil && !f.reported.MatchString(words[:at[0]]+" ") {
			return strings.Trim(words[at[0]:at[1]], " .!?")
		}
	}
	return ""
}

// foreignCount finds lengths in languages other than English. It returns the
// phrase, the unit and the bounds; -1 means no bound.
func foreignCount(text string) (phrase, unit string, low, high float64) {
	words := strings.TrimSpace(plainWords(text))
	for _, f := range foreignLanguages() {
		m := f.count.FindStringSubmatchIndex(words)
		if m == nil || f.reported.MatchString(words[:m[0]]+" ") {
			continue
		}
		how, unit := words[m[2]:m[3]], f.units[words[m[6]:m[7]]]
		n := numberIn(words[m[4]:m[5]])
		if i := slices.Index(f.numbers, words[m[4]:m[5]]); i >= 0 {
			n = float64(i + 1)
		}
		low, high = -1, -1
		switch {
		case slices.Contains(f.exact, how):
			low, high = n, n
		case slices.Contains(f.more, how):
			low = n
		case slices.Contains(f.above, how):
			low = n + 1
		case slices.Contains(f.below, how):
			high = n - 1
		default:
			high = n
		}
		return words[m[2]:m[7]], unit, low, high
	}
	return "", "", 0, 0
}

// englishSmall are English function words; nearly every sentence has some of them.
var englishSmall = strings.Fields("the a an of to in is are and or not no with for on at by it its that which be has have as from does do every each all any only at most least than user output says names")

// Reads reports whether a text is probably in a language that the lint reads. Texts of
// fewer than five words in Latin letters always count as read.
func Reads(text string) bool {
	letters, latin := 0, 0
	for _, r := range text {
		if unicode.IsLetter(r) {
			letters++
			// U+1E00 to U+1EFF are Latin letters of languages such as Vietnamese.
			if unicode.Is(unicode.Latin, r) && (r < 0x1E00 || r > 0x1EFF) {
				latin++
			}
		}
	}
	if letters-latin > letters/5 {
		return false
	}
	words := strings.FieldsFunc(plainWords(text), func(r rune) bool { return !unicode.IsLetter(r) })
	if len(words) < 5 {
		return true
	}
	known := func(small []string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(small, w) })
	}
	return known(englishSmall) || slices.ContainsFunc(foreignLanguages(), func(f *foreign) bool { return known(f.small) })
}

// Unread returns a message with the number of criteria in languages that the lint does
// not read, and the names of these languages if they are known, or "" if it reads all
// criteria.
func Unread(list []*proviso.Assertion) string {
	var texts []string
	for _, a := range list {
		for _, c := range a.Criteria {
			if c.Template == "" {
				texts = append(texts, c.Text)
			}
		}
	}
	return unreadOf(texts)
}

func unreadOf(texts []string) string {
	n, names := 0, map[string]bool{}
	for _, text := range texts {
		if Reads(text) {
			continue
		}
		n++
		if name := language.Of(text); name != "" {
			names[name] = true
		}
	}
	in := "in languages that the lint does not read"
	if len(names) > 0 {
		in = "in " + strings.Join(slices.Sorted(maps.Keys(names)), ", ") + ", which the lint does not read"
	}
	switch n {
	case 0:
		return ""
	case 1:
		return "1 criterion is " + strings.Replace(in, "languages that", "a language that", 1) + "; it reads " + languages
	}
	return fmt.Sprintf("%d criteria are %s; it reads %s", n, in, languages)
}
