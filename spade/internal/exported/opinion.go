package exported

import (
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/value"
)

// What people say of an output, in the words of the tools.
var (
	goodWords = [...]string{"good", "pass", "passed", "true", "yes", "correct", "positive", "thumbs_up", "thumbs up", "up", "1"}
	badWords  = [...]string{"bad", "fail", "failed", "false", "no", "incorrect", "negative", "thumbs_down", "thumbs down", "down", "0"}
)

// opinion collects what people say of an output.
type opinion struct{ good, bad int }

// of adds a number, a truth value or a word.
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

// label puts what people agree on into an output.
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

// slip is what is probably meant as a label, and is none: who wrote it believes that the
// output is labelled.
type slip struct {
	at      string // pointer in the entry
	key     bool   // it is the key there
	message string
	meant   string // what was probably meant instead
	score   string // it is one only if this score of people holds labels elsewhere; "" if it is in any case
}

// labelIn takes the label that people put into an object under a key, and what is probably
// meant as one; at is the pointer to the object. With strict, every text under label has
// to be a label.
func (o *Output) labelIn(from *value.Object, at string, strict bool, said *opinion, keys ...string) {
	if from == nil {
		return
	}
	for _, key := range keys {
		if v := from.At(key); v != nil && *said == (opinion{}) {
			said.of(v)
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

// score takes a word or a number that people gave under the name of a score.
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

// nearLabel returns the word of a label that a text is nearly; "" if it is none.
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

// slips are those of a file.
type slips struct {
	list   []slip
	places []func() proviso.Place
	scored map[string]bool
}

// take adds those of an output of an entry.
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

// mistakes returns them, each with its place.
func (s *slips) mistakes() (list proviso.Mistakes) {
	for i, wrong := range s.list {
		if (wrong.score == "" || s.scored[wrong.score]) && len(list) < maxMistakes {
			list = append(list, proviso.Mistake{Place: s.places[i](), Code: proviso.Invalid, Message: wrong.message, Nearest: wrong.meant})
		}
	}
	return list
}
