package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/fakejudge"
	"github.com/proviso-eval/proviso/internal/fakemodel"
	"github.com/proviso-eval/proviso/value"
)

// reply answers as a judge if it is asked to judge, else as an agent. It understands no
// language: it compares words, and repeats what the prompt tells it to say.
func reply(r fakemodel.Request) fakemodel.Reply {
	messages := r.Body.At("messages")
	if c, err := fakejudge.Understand(proviso.Ask{Prompt: value.Stringify(messages)}); err == nil {
		return fakemodel.Reply{Text: judged(c)}
	}
	var prompt strings.Builder
	list, _ := messages.([]any)
	for _, m := range list {
		if o, ok := m.(*value.Object); ok {
			prompt.WriteString(value.Stringify(o.At("content")) + "\n")
		}
	}
	return fakemodel.Reply{Text: answer(prompt.String())}
}

var toSay = regexp.MustCompile(`Say that ([^.\n]+)\.`)

// answer returns what the prompt asks for with "Say that …".
func answer(prompt string) string {
	said := []string{"Thank you for your question."}
	for _, m := range toSay.FindAllStringSubmatch(prompt, -1) {
		said = append(said, strings.ToUpper(m[1][:1])+m[1][1:]+".")
	}
	return strings.Join(said, " ")
}

// judged returns the reply of a judge.
func judged(c fakejudge.Call) string {
	results := []any{}
	for _, a := range c.Assertions {
		criteria := []any{}
		for i, n := range a.N {
			met, why, quote := decide(a.Text[i], c.Output)
			verdict, evidence := "not_met", []any{}
			if met {
				verdict = "met"
			}
			if quote != "" {
				evidence = append(evidence, quote)
			}
			criteria = append(criteria, value.ObjectOf("n", float64(n), "evidence", evidence, "reasoning", why, "verdict", verdict))
		}
		results = append(results, value.ObjectOf("id", a.ID, "criteria", criteria))
	}
	return value.Stringify(value.ObjectOf("results", results))
}

var (
	quoted = regexp.MustCompile(`"([^"]+)"`)
	most   = regexp.MustCompile(`at most (\d+) words`)
	denied = regexp.MustCompile(`(?i)\b(?:not|no|never|without)\b`)
	word   = regexp.MustCompile(`[\pL\pN]{4,}`)
)

// common are words that do not identify the subject of a criterion.
const common = " output answer says said mentions names that with this does must from have long every "

// decide compares words: quoted ones if there are any, else the long words of the
// criterion.
func decide(criterion, output string) (met bool, why, quote string) {
	if m := most.FindStringSubmatch(criterion); m != nil {
		limit, _ := strconv.Atoi(m[1])
		n := len(strings.Fields(output))
		return n <= limit, fmt.Sprintf("The output has %d words.", n), ""
	}
	var wanted []string
	for _, m := range quoted.FindAllStringSubmatch(criterion, -1) {
		wanted = append(wanted, m[1])
	}
	if wanted == nil {
		for _, w := range word.FindAllString(criterion, -1) {
			if !strings.Contains(common, " "+strings.ToLower(w)+" ") {
				wanted = append(wanted, w)
			}
		}
	}
	absent := denied.MatchString(criterion)
	for _, w := range wanted {
		if at := strings.Index(strings.ToLower(output), strings.ToLower(w)); at >= 0 && at+len(w) <= len(output) {
			return !absent, fmt.Sprintf("The output has the word %q.", w), output[at : at+len(w)]
		}
	}
	return absent, "The output has none of the words " + strings.Join(wanted, ", ") + ".", ""
}
