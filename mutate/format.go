package mutate

import (
	"encoding/json"
	"strings"
	"unicode"

	"github.com/proviso-eval/proviso/internal/pattern"
	"github.com/proviso-eval/proviso/value"
)

// signs are the signs that addSign tries. Signs within a sentence come first because they
// change the least.
var signs = []struct {
	text string
	line bool // on a line of its own
}{
	{" \U0001F600", false}, {"!", false}, {"?", false}, {";", false}, {" — so to speak", false}, {" #reply", false},
	{" https://example.com/more", false}, {" **indeed**", false}, {" `indeed`", false}, {" <b>indeed</b>", false}, {" 7", false},
	{" INDEED", false}, {" indeed", false}, {" [more](https://example.com)", false}, {" (a, b)", false}, {` {"more": 1}`, false}, {" и", false},
	{"## More", true}, {"- one more", true}, {"1. one more", true}, {"> one more", true}, {"```\none more\n```", true}, {"| a | b |\n|---|---|\n| c | d |", true},
}

// addSign adds each sign, in a sentence or on a line of its own.
func addSign(w *work) {
	list := sentencesOf(w.body)
	if len(list) == 0 {
		return
	}
	for _, sign := range signs {
		s := list[w.rng.IntN(len(list))]
		at := insideOf(w.body, s)
		if !sign.line {
			w.put(w.body[:at] + sign.text + w.body[at:])
			continue
		}
		lines := linesOf(w.body)
		last := lines[len(lines)-1].start
		w.put(w.body[:last] + sign.text + "\n" + w.body[last:])
	}
	end := list[len(list)-1]
	w.put(strings.TrimRight(end.of(w.body[:end.end]), ".!?") + "?")
	w.put(w.body[:end.end] + "?" + w.body[end.end:])
}

// strip is a way to remove signs from a text.
type strip struct {
	pattern *pattern.Lazy
	by      string
}

// strips are what stripSign tries, the smallest changes first.
var strips = []strip{
	{pattern.Of(`(?m)^([ \t]*)(?:[-*+•–‣◦]|\(?\d{1,3}[.)])[ \t]+`), "$1"},
	{pattern.Of(`(?m)^#{1,6}[ \t]+`), ""},
	{pattern.Of("\\*\\*|__|`+"), ""},
	{pattern.Of(`\[([^\]\n]+)\]\([^)\n]+\)`), "$1"},
	{pattern.Of(`</?[A-Za-z][^>\n]*>`), ""},
	{pattern.Of(`(?m)^[ \t]*\|?[ \t]*:?-{3,}.*$`), ""},
	{pattern.Of(`\|`), " "},
	{pattern.Of(`https?://\S+`), ""},
	{pattern.Of(`#(\w)`), "$1"},
	{pattern.Of(`!`), "."},
	{pattern.Of(`\?`), "."},
	{pattern.Of(`,`), ""},
	{pattern.Of(`;`), ","},
	{pattern.Of(`—`), ","},
	{pattern.Of(`[.!?]+(\s|$)`), "$1"},
	{pattern.Of(`\d`), ""},
	{pattern.Of(`[^\x00-\x7F]`), ""},
	{pattern.Of(`[A-Za-z]`), ""},
}

// stripSign removes signs or changes the case, one kind of change per mutant.
func stripSign(w *work) {
	for _, s := range strips {
		w.put(s.pattern.Get().ReplaceAllString(w.body, s.by))
	}
	w.put(strings.ToLower(w.body))
	w.put(strings.ToUpper(w.body))
	w.put(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.So, r) {
			return -1
		}
		return r
	}, w.body))
	if w.body != w.out.Text {
		return
	}
	w.put("It is so.")
}

// breakJSON makes JSON invalid.
func breakJSON(w *work) {
	text := strings.TrimRight(w.out.Text, " \t\r\n")
	w.whole("Sure! Here is the answer:\n" + w.out.Text)
	if end := strings.LastIndexAny(text, "}]"); end >= 0 {
		w.whole(text[:end] + text[end+1:])
	}
	w.whole(strings.ReplaceAll(w.out.Text, `"`, "'"))
	if at := strings.IndexByte(text, ':'); at >= 0 {
		w.whole(text[:at] + text[at+1:])
	}
	w.whole(strings.Join(strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(`{}[]"`, r) }), " "))
}

// dropKey changes keys of the outermost object, in random order: it removes a key, renames
// it, or gives it a value of another kind.
func dropKey(w *work) {
	text := w.out.Text
	start, end := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}')
	if start < 0 || end < start || !json.Valid([]byte(text[start:end+1])) {
		return
	}
	v, err := value.ParseJSON(text[start : end+1])
	o, ok := v.(*value.Object)
	if err != nil || !ok || o.Len() == 0 {
		return
	}
	keys := o.Keys()
	again := func(change func(key string, v any, into *value.Object)) {
		into := value.NewObject(o.Len())
		for key, v := range o.All() {
			change(key, v, into)
		}
		w.whole(text[:start] + value.Stringify(into) + text[end+1:])
	}
	order := w.rng.Perm(len(keys))
	for _, i := range order[:min(len(order), maxMade)] {
		again(func(key string, v any, into *value.Object) {
			if key != keys[i] {
				into.Set(key, v)
			}
		})
		again(func(key string, v any, into *value.Object) {
			if key == keys[i] {
				key += "_1"
			}
			into.Set(key, v)
		})
		again(func(key string, v any, into *value.Object) {
			if key == keys[i] {
				v = []any{v}
			}
			into.Set(key, v)
		})
	}
}
