package mutate

import (
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/proviso-eval/proviso/internal/pattern"
)

var (
	citationWords = pattern.Of(`(?i)\b(?:at least one |each |every )?(?:sources?|references?|citations?|footnotes?)(?: as \[1\])?`)
	truthWords    = pattern.Of(`(?i)\b(?:accurate(?:ly)?|factual(?:ly)?|faithful(?:ly)?|true to the (?:text|source|facts)|truthful(?:ly)?|correct(?:ly)?)\b`)
	inventWords   = pattern.Of(`(?i)\b(?:invent(?:ing)?|mak(?:e|ing) up|fabricat(?:e|ing)|hallucinat(?:e|ing)|chang(?:e|ing)|alter(?:ing)?)(?: (?:any|the|your own|facts|figures|numbers|prices|dates|amounts|names|information|details|data|anything|or|and|things))*\b`)
	citations     = pattern.Of(`[ \t]?\[(?:\d{1,3}(?:\s*[,–-]\s*\d{1,3})*|[A-Z][^\[\]\n]{0,60}\d{4}[a-z]?)\]|[ \t]?\([A-Z][^()\n]{0,60},? \d{4}[a-z]?\)|[ \t]?\(?https?://[^\s)]+\)?|[ \t]?<cite[^>]*>|</cite>|[ \t]?\[\^\w{1,20}\]`)
	sourceLines   = pattern.Of(`(?im)^[ \t]*(?:[-*][ \t]*)?(?:sources?|references?|source:|see also)\b.*$`)
	numbers       = pattern.Of(`\d+(?:[.,]\d+)*`)
)

// asksTruth reports whether an instruction demands correct facts.
func asksTruth(in *Instruction) bool {
	return demandForm.says(in.Text, truthWords) || banForm.says(in.Text, inventWords)
}

func wantsCitations(in *Instruction) bool { return demandForm.says(in.Text, citationWords) }

// dropCitation removes all citations and all lines that name sources, because a single
// remaining one could be enough.
func dropCitation(w *work) {
	w.put(sourceLines.Get().ReplaceAllString(citations.Get().ReplaceAllString(w.body, ""), ""))
}

// changeNumber changes one number at a time: first one that occurs in a variable of the
// case, then one that does not.
func changeNumber(w *work) {
	found := numbers.Get().FindAllStringIndex(w.body, 1000)
	if len(found) == 0 {
		return
	}
	given := w.givenBy()
	order := w.rng.Perm(len(found))
	for _, fromCase := range []bool{true, false} {
		for _, i := range order {
			at := span{found[i][0], found[i][1]}
			if strings.Contains(given, at.of(w.body)) == fromCase && !isMarker(w.body, at) {
				w.put(replace(w.body, at, otherNumber(at.of(w.body))))
				break
			}
		}
	}
}

// isMarker reports whether a number belongs to a list marker.
func isMarker(text string, at span) bool {
	start := strings.LastIndexByte(text[:at.start], '\n') + 1
	line, _, _ := strings.Cut(text[start:], "\n")
	return start+marker(line) > at.start
}

// otherNumber changes one digit of a number: the first, or the first after the first byte
// if the text is longer than two bytes.
func otherNumber(text string) string {
	at := 0
	if len(text) > 2 {
		at = 1
	}
	for text[at] < '0' || text[at] > '9' {
		at++
	}
	digit := (int(text[at]-'0') + 3) % 10
	if at == 0 && digit == 0 {
		digit = 4
	}
	return text[:at] + strconv.Itoa(digit) + text[at+1:]
}

// givenBy returns the texts of the case's variables.
func (w *work) givenBy() string {
	var b strings.Builder
	for key := range w.out.Vars.All() {
		if text, ok := w.variable(key); ok && b.Len()+len(text) < MaxText {
			b.WriteString(text + "\n")
		}
	}
	return b.String()
}

// changeName replaces a name by another name of the output, or by "Elsewhere". Unless the
// instruction demands that all facts are right, it changes only names that a variable of
// the case contains.
func changeName(w *work) {
	names := namesIn(w.body)
	given, all, made := w.givenBy(), truthWords.Matches(w.in.Text), 0
	for _, i := range w.rng.Perm(len(names)) {
		name, other := names[i], "Elsewhere"
		if !all && !strings.Contains(given, name) {
			continue
		}
		for _, n := range names {
			if n != name {
				other = n
			}
		}
		if w.put(replaceWord(w.body, name, other)) {
			made++
		}
		if made == 2 {
			return
		}
	}
}

// namesIn returns the distinct capitalised words that do not begin a sentence. In most
// languages these are names.
func namesIn(text string) []string {
	var list []string
	seen := map[string]bool{}
	for _, s := range sentencesOf(text) {
		s.start = contentStart(text, s)
		words := wordsAt(s.of(text))
		if isTitle(s.of(text), words) {
			continue
		}
		for i, at := range words {
			word := strings.Trim(at.of(s.of(text)), ".,;:!?()[]\"'“”‘’*_")
			word = strings.TrimSuffix(strings.TrimSuffix(word, "'s"), "’s")
			first, size := utf8.DecodeRuneInString(word)
			rest := word[size:]
			if i == 0 || seen[word] || datePart(word) || !unicode.IsUpper(first) || len(rest) < 2 || strings.ToLower(rest) != rest || len(list) == 100 {
				continue
			}
			if strings.IndexFunc(rest, func(r rune) bool { return !unicode.IsLetter(r) && r != '-' }) < 0 {
				seen[word], list = true, append(list, word)
			}
		}
	}
	return list
}

// datePart reports whether a word is a month or a day of the week, which is part of a date
// and not a name.
func datePart(word string) bool {
	for m := time.January; m <= time.December; m++ {
		if name := m.String(); word == name || word == name[:3] {
			return true
		}
	}
	for d := time.Sunday; d <= time.Saturday; d++ {
		if name := d.String(); word == name || word == name[:3] {
			return true
		}
	}
	return word == "Sept"
}

// isTitle reports whether most words of a sentence are capitalised, as in a title.
func isTitle(sentence string, words []span) bool {
	capitals := 0
	for _, at := range words {
		if r, _ := utf8.DecodeRuneInString(at.of(sentence)); unicode.IsUpper(r) {
			capitals++
		}
	}
	return capitals > 2 && 2*capitals > len(words)
}

// replaceWord replaces every occurrence of a word by another word.
func replaceWord(text, word, by string) string {
	letter := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	var b strings.Builder
	for {
		at := strings.Index(text, word)
		if at < 0 {
			b.WriteString(text)
			return b.String()
		}
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[at+len(word):])
		b.WriteString(text[:at])
		if letter(before) && at > 0 || letter(after) && at+len(word) < len(text) {
			b.WriteString(word)
		} else {
			b.WriteString(by)
		}
		text = text[at+len(word):]
	}
}

// variablesOf returns the names of the variables in an instruction.
func variablesOf(in *Instruction) []string {
	var names []string
	for _, m := range variablePattern.Get().FindAllStringSubmatch(in.Text, 20) {
		if m[1] != "" {
			names = append(names, m[1])
		} else {
			names = append(names, m[2])
		}
	}
	return names
}

// hasVariable reports whether an instruction plainly demands the value of a variable.
func hasVariable(in *Instruction) bool { return demandForm.says(in.Text, variablePattern) }

// dropVariable removes a variable's value wherever it occurs, and in another mutant changes
// a number in it.
func dropVariable(w *work) {
	for _, name := range variablesOf(w.in) {
		text, ok := w.variable(name)
		if text = strings.TrimSpace(text); !ok || text == "" || len(text) > maxPhrase {
			continue
		}
		w.put(dropAll(w.body, text))
		if at := numbers.Get().FindStringIndex(text); at != nil {
			other := text[:at[0]] + otherNumber(text[at[0]:at[1]]) + text[at[1]:]
			w.put(strings.ReplaceAll(w.body, text, other))
		}
	}
}
