package exported

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// score is a value that somebody gave an output under a name.
type score struct {
	name string
	v    any
}

// Words in the names of scores. peoplesWords say that people gave it: scores of models are
// never labels. otherWords say that 1 is not good, or that it is a measurement.
var (
	peoplesWords = [...]string{"user", "users", "human", "humans", "thumb", "thumbs", "label", "labels", "labeled", "labelled",
		"annotation", "annotations", "annotated", "annotator", "annotators"}
	otherWords = [...]string{"toxic", "toxicity", "hallucination", "hallucinations", "hallucinated", "harm", "harmful", "bias", "biased", "error", "errors",
		"wrong", "incorrect", "bad", "violation", "violations", "refusal", "refused", "unsafe", "offensive", "rude", "spam", "pii", "leak", "risk", "issue", "issues",
		"fail", "failed", "failure", "dislike", "disliked", "down", "negative", "flag", "flagged", "report", "reported", "complaint", "escalated", "escalation", "edited", "edit", "edits", "fix", "fixed", "corrected", "correction",
		"regenerated", "retried", "retry", "abandoned",
		"count", "latency", "length", "tokens", "cost", "duration", "time", "seconds", "number", "index", "turns", "retries", "id"}
)

// starWords are in the names of scores that may have more than two steps.
var starWords = [...]string{"star", "stars", "rating", "ratings", "rated", "points", "nps", "csat"}

// wordsOf splits a name at what is no letter, and before capitals: user_rating and userRating
// have the same words.
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

// byPeople reports whether a score of a name is what people say.
func byPeople(name string) bool { return hasWord(name, peoplesWords[:]) }

// labelByScores labels outputs by the scores that people gave them, and by what stands
// under label where no score does. A score labels nothing if 1 may not be good: one with
// other numbers, such as stars, and one whose name says so. The notes say which scores are
// taken, and which are not.
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
