package exported

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/value"
)

// People's opinions of an output, in the words of the tools.
var (
	goodWords = [...]string{"good", "pass", "passed", "true", "yes", "correct", "positive", "thumbs_up", "thumbs up", "up", "1"}
	badWords  = [...]string{"bad", "fail", "failed", "false", "no", "incorrect", "negative", "thumbs_down", "thumbs down", "down", "0"}
)

// opinion counts people's opinions of an output.
type opinion struct{ good, bad int }

// of counts a number, a boolean or a word.
func (p *opinion) of(v any) {
	switch v := v.(type) {
	case bool:
		p.add(v)
	case float64:
		if v == 0 || v == 1 {
			p.add(v == 1)
		}
	case string:
		switch word := strings.ToLower(strings.TrimSpace(v)); {
		case slices.Contains(goodWords[:], word):
			p.add(true)
		case slices.Contains(badWords[:], word):
			p.add(false)
		}
	}
}

func (p *opinion) add(good bool) {
	if good {
		p.good++
	} else {
		p.bad++
	}
}

// label sets an output's label to the opinion on which people agree.
func (p opinion) label(out *Output) {
	switch {
	case p.good > 0 && p.bad > 0:
		out.Split = true
	case p.good > 0:
		out.Label = "1"
	case p.bad > 0:
		out.Label = "0"
	}
}

// slip is a value that is probably meant as a label and is none: its author believes that the
// output is labelled.
type slip struct {
	at      string // pointer in the entry
	key     bool   // at means the key there, not the value
	message string
	meant   string // what was probably meant
	score   string // a mistake only if this score of people holds labels elsewhere; "" if it always is one
}

// labelIn reads people's label in an object under a key, and values that are probably meant as
// one; at is the pointer to the object. With strict, every text under label must be a label.
func (o *Output) labelIn(from *value.Object, at string, strict bool, keys ...string) {
	if from == nil {
		return
	}
	for _, key := range keys {
		if v := from.At(key); v != nil && o.said == (opinion{}) {
			o.said.of(v)
		}
	}
	for key, v := range from.All() {
		text, isText := v.(string)
		switch known := isLabel(v); {
		case key == "label" && isText && strings.TrimSpace(text) != "" && !known && (strict || nearLabel(text) != ""):
			o.slips = append(o.slips, wrongWord(text, document.Join(at, key), ""))
		case key != "label" && known && isText && isNearlyLabel(key):
			o.slips = append(o.slips, slip{at: document.Join(at, key), key: true, message: "the key " + value.Stringify(key) + " holds a label", meant: "label"})
		}
	}
}

// score reads a word or a number that people gave under the name of a score.
func (o *Output) score(name string, v any, at string, key bool) {
	o.scores = append(o.scores, score{name, v})
	text, isText := v.(string)
	switch {
	case isLabel(v):
		o.scored = append(o.scored, name)
	case isText && nearLabel(text) != "":
		wrong := wrongWord(text, at, name)
		wrong.key = key
		if low := strings.ToLower(name); strings.Contains(low, "thumb") || strings.Contains(low, "label") || strings.Contains(low, "feedback") {
			wrong.score = ""
		}
		o.slips = append(o.slips, wrong)
	}
}

func wrongWord(text, at, score string) slip {
	return slip{at: at, message: "the label is " + value.Stringify(text) + "; 1 or good, 0 or bad is expected", meant: nearLabel(text), score: score}
}

// nearLabel returns the label word that a text almost is; "" if there is none.
func nearLabel(text string) string {
	return nearest(strings.TrimSpace(text), slices.Concat(goodWords[:], badWords[:]))
}

// isNearlyLabel reports whether a name is probably meant to be label.
func isNearlyLabel(name string) bool {
	return len(name) > 3 && name != "label" && nearest(name, []string{"label"}) != ""
}

// isLabel reports whether a value is a label.
func isLabel(v any) bool {
	var said opinion
	said.of(v)
	return said != opinion{}
}

// slips collects the slips of a file.
type slips struct {
	list   []slip
	places []func() proviso.Place
	scored map[string]bool
}

// take adds the slips of an entry's output.
func (s *slips) take(e *Entry, o *Output) {
	for _, wrong := range o.slips {
		s.list = append(s.list, wrong)
		s.places = append(s.places, func() proviso.Place { return e.in(wrong.at, wrong.key) })
	}
	for _, name := range o.scored {
		if s.scored == nil {
			s.scored = map[string]bool{}
		}
		s.scored[name] = true
	}
}

// addTo adds the slips as mistakes, each with its place.
func (s *slips) addTo(list *proviso.Mistakes) {
	for i, wrong := range s.list {
		if wrong.score == "" || s.scored[wrong.score] {
			list.AddAt(s.places[i], proviso.Mistake{Code: proviso.Invalid, Message: wrong.message, Nearest: wrong.meant})
		}
	}
}

// score is a named value that somebody gave an output.
type score struct {
	name string
	v    any
}

// Words in the names of scores. peoplesWords mean that people gave the score: scores of models
// are never labels. otherWords mean that 1 is not good, or that the score is a measurement.
var (
	peoplesWords = [...]string{"user", "users", "human", "humans", "thumb", "thumbs", "label", "labels", "labeled", "labelled",
		"annotation", "annotations", "annotated", "annotator", "annotators"}
	otherWords = [...]string{"toxic", "toxicity", "hallucination", "hallucinations", "hallucinated", "harm", "harmful", "bias", "biased", "error", "errors",
		"wrong", "incorrect", "bad", "violation", "violations", "refusal", "refused", "unsafe", "offensive", "rude", "spam", "pii", "leak", "risk", "issue", "issues",
		"fail", "failed", "failure", "dislike", "disliked", "down", "negative", "flag", "flagged", "report", "reported", "complaint", "escalated", "escalation", "edited", "edit", "edits", "fix", "fixed", "corrected", "correction",
		"regenerated", "retried", "retry", "abandoned",
		"count", "latency", "length", "tokens", "cost", "duration", "time", "seconds", "number", "index", "turns", "retries", "id"}
)

// starWords are in the names of scores that may have more than two levels.
var starWords = [...]string{"star", "stars", "rating", "ratings", "rated", "points", "nps", "csat"}

// wordsOf splits a name at characters that are not letters, and before capitals: user_rating
// and userRating have the same words.
func wordsOf(name string) []string {
	var b strings.Builder
	small := false
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r):
			r = ' '
		case unicode.IsUpper(r) && small:
			b.WriteByte(' ')
		}
		small = unicode.IsLower(r)
		b.WriteRune(unicode.ToLower(r))
	}
	return strings.Fields(b.String())
}

func hasWord(name string, words []string) bool {
	return slices.ContainsFunc(wordsOf(name), func(w string) bool { return slices.Contains(words, w) })
}

// byPeople reports whether a score's name means that people gave it.
func byPeople(name string) bool { return hasWord(name, peoplesWords[:]) }

// labelByScores labels outputs by people's scores, and by the value under label where no score
// does. A score labels nothing if 1 may not be good: if it has other numbers, such as stars,
// or its name says so. The notes list the scores that are used and those that are not.
func labelByScores(list []Output) (notes []string) {
	why := map[string]string{}
	zero, one := map[string]bool{}, map[string]bool{}
	for i := range list {
		for _, s := range list[i].scores {
			n, isNumber := s.v.(float64)
			zero[s.name], one[s.name] = zero[s.name] || isNumber && n == 0, one[s.name] || isNumber && n == 1
			if isNumber && n != 0 && n != 1 {
				why[s.name] = "has numbers other than 0 and 1"
			} else if hasWord(s.name, otherWords[:]) && isLabel(s.v) {
				why[s.name] = "may be high for what is bad"
			}
		}
	}
	for name := range one {
		if one[name] && !zero[name] && why[name] == "" && hasWord(name, starWords[:]) {
			why[name] = "is nowhere 0, and 1 may be the lowest of several steps"
		}
	}
	taken := map[string]*opinion{}
	for i := range list {
		o := &list[i]
		var said opinion
		for _, s := range o.scores {
			if why[s.name] != "" || !isLabel(s.v) {
				continue
			}
			said.of(s.v)
			if taken[s.name] == nil {
				taken[s.name] = &opinion{}
			}
			taken[s.name].of(s.v)
		}
		if said == (opinion{}) {
			said = o.said
		}
		if said != (opinion{}) {
			said.label(o)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(taken)) {
		notes = append(notes, fmt.Sprintf("labels from the score %q: %d good, %d bad", name, taken[name].good, taken[name].bad))
	}
	for _, name := range slices.Sorted(maps.Keys(why)) {
		notes = append(notes, fmt.Sprintf("the score %q %s, so it labels nothing", name, why[name]))
	}
	return notes
}
