package main

import (
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/fakemodel"
	"github.com/proviso-eval/proviso/value"
)

// TestSubsuming runs the scripts in testdata/subsuming against a server that
// stands for OpenAI and judges implications: see subsumeReply.
func TestSubsuming(t *testing.T) {
	t.Parallel()
	runWithModel(t, "subsuming", subsumeReply)
}

// subsumeReply finds that a check implies another if its name contains the other's
// name, and confirms that unless the name begins with "not". The model prose writes
// prose; unsteady names an unknown candidate the first time; silent never gives a
// readable confirmation.
func subsumeReply(r fakemodel.Request) fakemodel.Reply {
	usage := proviso.Usage{Prompt: 1000, Completion: 100, Total: 1100}
	messages, _ := r.Body.At("messages").([]any)
	text := ""
	if len(messages) > 1 {
		text, _ = messages[1].(*value.Object).At("content").(string)
	}
	fence := judgeFence().FindStringSubmatch(text)
	if fence == nil || r.Model == "prose" {
		return fakemodel.Reply{Text: "The stricter one implies the other.", Usage: usage}
	}
	lines := func(name string) []*value.Object {
		_, rest, _ := strings.Cut(text, "["+fence[1]+" begin "+name+"]\n")
		inner, _, _ := strings.Cut(rest, "\n["+fence[1]+" end "+name+"]")
		var list []*value.Object
		for line := range strings.Lines(inner) {
			v, _ := value.ParseJSON(strings.TrimSpace(line))
			if o, ok := v.(*value.Object); ok {
				list = append(list, o)
			}
		}
		return list
	}
	var list []any
	if claims := lines("claims"); len(claims) > 0 {
		for _, c := range claims {
			a, _ := c.At("a").(string)
			counter, implied := "", any(!strings.HasPrefix(a, "not"))
			if implied == false {
				counter = "a cold answer"
			}
			if r.Model == "silent" {
				implied = "perhaps"
			}
			list = append(list, value.ObjectOf("n", c.At("n"), "counterexample", counter, "reasoning", "The words say so.", "implied", implied))
		}
		return fakemodel.Reply{Text: value.Stringify(value.ObjectOf("claims", list)), Usage: usage}
	}
	checks := lines("checks")
	for _, a := range checks {
		for _, b := range checks {
			x, y := value.ToString(a.At("name")), value.ToString(b.At("name"))
			if x != y && strings.Contains(x, y) {
				if r.Model == "unsteady" && len(messages) == 2 {
					y = "nobody"
				}
				list = append(list, value.ObjectOf("a", x, "b", y, "why", "The one has the other in it."))
			}
		}
	}
	return fakemodel.Reply{Text: value.Stringify(value.ObjectOf("pairs", list)), Usage: usage}
}
