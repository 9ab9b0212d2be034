package mutate

import (
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/pattern"
	"github.com/proviso-eval/proviso/internal/textlist"
	"github.com/proviso-eval/proviso/value"
)

// maxPhrase limits the phrases and values to search for, in bytes.
const maxPhrase = 1000

// phrases returns the texts that a check looks for, with the values of the case's variables
// filled in.
func (w *work) phrases(a *proviso.Assertion) []string {
	var list []string
	add := func(v any) {
		switch v.(type) {
		case nil, value.Undefined:
			return
		}
		if text := w.filled(value.ToString(v)); text != "" && len(text) <= maxPhrase {
			list = append(list, text)
		}
	}
	switch v := a.Value.(type) {
	case []any:
		for _, e := range v {
			add(e)
		}
	case *value.Object:
		if text := v.Text("text"); text != "" {
			add(text)
		}
	case string:
		if takesList(a) {
			if parts, err := textlist.Split(v); err == nil {
				for _, e := range parts {
					add(e)
				}
				break
			}
		}
		add(v)
	case float64:
		add(v)
	}
	return list
}

var variablePattern = pattern.Of(`\{\{-?\s*([A-Za-z_]\w*)\s*-?\}\}|\{([A-Za-z_]\w*)\}`)

// takesList reports whether a text given instead of a list has members separated by commas.
func takesList(a *proviso.Assertion) bool {
	kind, ok := check.Lookup(strings.TrimPrefix(a.Type, "not-"))
	return ok && (kind.Match == proviso.MatchEvery || kind.Match == proviso.MatchAnyOne || kind.Match == proviso.MatchInOrder)
}

// filled fills variables into a template that uses nothing else; "" if a variable is
// unknown.
func (w *work) filled(text string) string {
	known := true
	out := variablePattern.Get().ReplaceAllStringFunc(text, func(v string) string {
		got, ok := w.variable(strings.Trim(v, "{}- "))
		known = known && ok
		return got
	})
	if !known {
		return ""
	}
	return out
}

// variable returns a variable's text.
func (w *work) variable(name string) (string, bool) {
	switch v := w.out.Vars.At(name).(type) {
	case string:
		return v, true
	case float64, bool:
		return value.ToString(v), true
	}
	return "", false
}

// addPhrase writes a forbidden phrase into a sentence, at the beginning of a sentence, and
// as a sentence of its own.
func addPhrase(w *work) {
	list := sentencesOf(w.body)
	if len(list) == 0 {
		return
	}
	for _, c := range w.in.Checks {
		for _, phrase := range w.phrases(c) {
			i := w.rng.IntN(len(list))
			w.put(insert(w.body, insideOf(w.body, list[i]), " "+phrase))
			w.put(insert(w.body, contentStart(w.body, list[i]), upperFirst(phrase)+", "))
			w.put(before(w.body, list, len(list)-1, upperFirst(phrase)+"."))
		}
	}
}

// dropPhrase removes each required phrase, and in another mutant all of them.
func dropPhrase(w *work) {
	for _, c := range w.in.Checks {
		phrases := w.phrases(c)
		all := w.body
		for _, i := range w.rng.Perm(len(phrases)) {
			w.put(dropAll(w.body, phrases[i]))
			all = dropAll(all, phrases[i])
		}
		w.put(all)
	}
}

// dropAll removes every occurrence of a phrase, ignoring case.
func dropAll(text, phrase string) string {
	if strings.TrimSpace(phrase) == "" {
		return text
	}
	var b strings.Builder
	at := 0
	for {
		s := fold(text, phrase, at)
		if s.end == 0 {
			b.WriteString(text[at:])
			return b.String()
		}
		b.WriteString(text[at:s.start])
		if at = s.end; strings.HasPrefix(text[at:], " ") && (b.Len() == 0 || strings.HasSuffix(b.String(), " ")) {
			at++
		}
	}
}

// swapOrder exchanges two adjacent phrases of a required order.
func swapOrder(w *work) {
	for _, c := range w.in.Checks {
		var found []span
		from := 0
		for _, phrase := range w.phrases(c) {
			s := fold(w.body, phrase, from)
			if s.end == 0 {
				break
			}
			found, from = append(found, s), s.end
		}
		for i := 1; i < len(found); i++ {
			a, b := found[i-1], found[i]
			w.put(w.body[:a.start] + b.of(w.body) + w.body[a.end:b.start] + a.of(w.body) + w.body[b.end:])
		}
	}
}

// dropStart removes a required beginning, or writes something before it.
func dropStart(w *work) {
	for _, c := range w.in.Checks {
		for _, phrase := range w.phrases(c) {
			at := fold(w.body, phrase, 0)
			if at.end > 0 && strings.TrimSpace(w.body[:at.start]) == "" {
				w.put(strings.TrimLeft(w.body[at.end:], " ,:"))
			}
		}
	}
	w.put("Well: " + w.body)
	w.put(dropEach(w, false))
}

// dropEnd removes a required end, or writes something after it.
func dropEnd(w *work) {
	text := strings.TrimRight(w.body, " \t\r\n")
	for _, c := range w.in.Checks {
		for _, phrase := range w.phrases(c) {
			phrase = strings.TrimSpace(phrase)
			if n := len(text) - len(phrase); n >= 0 && strings.EqualFold(text[n:], phrase) {
				w.put(strings.TrimRight(text[:n], " ,\n"))
			}
		}
	}
	w.put(text + " indeed")
	w.put(dropEach(w, true))
}

// dropEach adds a word before the beginning or after the end of one line. It breaks
// instructions about the beginning or the end of every part.
func dropEach(w *work, end bool) string {
	parts := linesOf(w.body)
	if len(parts) == 0 {
		return w.body
	}
	s := parts[w.rng.IntN(len(parts))]
	if end {
		return w.body[:s.end] + " indeed" + w.body[s.end:]
	}
	at := s.start + marker(s.of(w.body))
	return w.body[:at] + "Well: " + w.body[at:]
}

func addStart(w *work) {
	for _, c := range w.in.Checks {
		for _, phrase := range w.phrases(c) {
			w.put(upperFirst(phrase) + " " + w.body)
			w.put(upperFirst(phrase) + ". " + w.body)
		}
	}
}

func addEnd(w *work) {
	text := strings.TrimRight(w.body, " \t\r\n")
	for _, c := range w.in.Checks {
		for _, phrase := range w.phrases(c) {
			w.put(text + " " + phrase)
			w.put(strings.TrimRight(text, ".!?") + ", " + phrase)
		}
	}
}

// upperFirst capitalises the first letter of a phrase.
func upperFirst(phrase string) string {
	for i, r := range phrase {
		if i > 0 {
			return strings.ToUpper(phrase[:i]) + phrase[i:]
		}
		_ = r
	}
	return strings.ToUpper(phrase)
}
