package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/fakemodel"
	"github.com/proviso-eval/proviso/value"
)

// TestProposing runs the scripts in testdata/proposing against a server that stands
// for OpenAI and proposes and classifies: see proposeReply.
func TestProposing(t *testing.T) {
	t.Parallel()
	runWithModel(t, "proposing", proposeReply)
}

// runWithModel runs the scripts in a folder of testdata against a server that stands
// for OpenAI and replies as reply does.
func runWithModel(t *testing.T, dir string, reply func(fakemodel.Request) fakemodel.Reply) {
	cmds := commandsOfScripts()
	cmds["asked"] = asked
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", dir),
		RequireExplicitExec: true,
		Condition:           condition,
		Setup: func(e *testscript.Env) error {
			server := fakemodel.New(fakemodel.Options{Reply: reply})
			e.Defer(server.Close)
			e.Values[serverKey{}] = server
			e.Setenv("OPENAI_API_KEY", "sk-made-up-for-tests")
			e.Setenv("OPENAI_BASE_URL", server.URL+"/v1")
			e.Setenv("ANTHROPIC_API_KEY", "")
			return setup(e)
		},
		Cmds: cmds,
	})
}

var (
	someWords  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(\d+) words`) })
	someQuoted = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"([^"]*)"`) })
)

// proposeReply finds a criterion in each sentence except those with "You are" and with
// variables, and an assertion for each criterion. The model prose writes prose;
// stubborn and unsteady use an unknown type, the latter only once.
func proposeReply(r fakemodel.Request) fakemodel.Reply {
	usage := proviso.Usage{Prompt: 2000, Completion: 100, Cached: 1500, Total: 2100}
	messages, _ := r.Body.At("messages").([]any)
	first := ""
	if len(messages) > 1 {
		first, _ = messages[1].(*value.Object).At("content").(string)
	}
	fence := judgeFence().FindStringSubmatch(first)
	if fence == nil || r.Model == "prose" {
		return fakemodel.Reply{Text: "Once upon a time.", Usage: usage}
	}
	lines := func(name string) []*value.Object {
		_, rest, _ := strings.Cut(first, "["+fence[1]+" begin "+name+"]\n")
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
	var list, whole []any
	key := "criteria"
	switch {
	case strings.Contains(first, " begin sentences]"):
		for _, o := range lines("sentences") {
			if text := value.ToString(o.At("text")); !strings.HasPrefix(text, "You are") && !strings.HasPrefix(text, "{") {
				list = append(list, value.ObjectOf("n", o.At("n"), "quote", text, "category", categoryFor(text), "criterion", "It keeps: "+text, "vague", strings.Contains(text, "friendly")))
			}
		}
	case strings.Contains(first, " begin criteria]"):
		key = "candidates"
		for _, o := range lines("criteria") {
			list = append(list, candidateFor(o, r.Model == "stubborn" || r.Model == "unsteady" && len(messages) == 2)...)
		}
	default:
		key = "changes"
		for _, o := range lines("changes") {
			category := categoryFor(value.ToString(o.At("text")))
			list = append(list, value.ObjectOf("n", o.At("n"), "category", category))
			whole = append(whole, category)
		}
	}
	return fakemodel.Reply{Text: value.Stringify(value.ObjectOf(key, list, "whole", whole)), Usage: usage}
}

func categoryFor(text string) string {
	switch {
	case someWords().MatchString(text):
		return "Quantity"
	case strings.Contains(text, "Never"):
		return "Exclusion"
	case strings.Contains(text, "friendly"):
		return "QualitativeCriteria"
	case strings.HasPrefix(text, "{"):
		return "DataIntegration"
	}
	return "Inclusion"
}

func candidateFor(o *value.Object, wrong bool) []any {
	text := value.ToString(o.At("sentence"))
	c := value.ObjectOf("name", "keeps", "description", text, "covers", []any{o.At("n")})
	words, quoted := someWords().FindStringSubmatch(text), someQuoted().FindStringSubmatch(text)
	switch {
	case wrong:
		c.Set("type", "wrod-count")
	case words != nil:
		c.Set("type", "word-count")
	case quoted != nil && strings.Contains(text, "Never"):
		c.Set("type", "not-icontains")
		c.Set("text", quoted[1])
	default:
		c.Set("type", "judge")
		c.Set("questions", []any{"The answer is right about this: " + text})
	}
	if words != nil {
		c.Set("max", value.ToNumber(words[1]))
	}
	if o.At("vague") != true {
		return []any{c}
	}
	c.Set("name", "asked")
	return []any{c, value.ObjectOf("name", "counted", "description", fmt.Sprintf("Counted: %s", text), "covers", []any{o.At("n")}, "type", "sentence-count", "max", 6.0)}
}
