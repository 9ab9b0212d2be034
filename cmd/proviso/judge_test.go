package main

import (
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/internal/fakemodel"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/judge/attack"
	"github.com/proviso-eval/proviso/judge/criteria"
	"github.com/proviso-eval/proviso/judge/lint"
	"github.com/proviso-eval/proviso/value"
)

// TestJudging runs the scripts in testdata/judging against a server that stands
// for OpenAI and Anthropic, both as the agent and as the judge: see judgeReply.
func TestJudging(t *testing.T) {
	t.Parallel()
	cmds := commandsOfScripts()
	cmds["asked"] = asked
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "judging"),
		RequireExplicitExec: true,
		Condition:           condition,
		Setup: func(e *testscript.Env) error {
			server := fakemodel.New(fakemodel.Options{Reply: judgeReply})
			e.Defer(server.Close)
			e.Values[serverKey{}] = server
			e.Setenv("MODEL", server.URL)
			e.Setenv("OPENAI_API_KEY", "sk-made-up-for-tests")
			e.Setenv("OPENAI_BASE_URL", server.URL+"/v1")
			e.Setenv("ANTHROPIC_API_KEY", "")
			e.Setenv("ANTHROPIC_BASE_URL", server.URL)
			e.Setenv("XDG_CACHE_HOME", filepath.Join(e.WorkDir, ".cache"))
			return setup(e)
		},
		Cmds: cmds,
	})
}

// judgeFence starts every question to a judge.
var judgeFence = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^Fence: ([0-9a-f]{32})\n`) })

// judgeReply answers as an agent with the quoted part of the prompt. As a judge, it passes a
// criterion if the output contains the word that the criterion quotes. The model nonsense gives no
// verdict, gullible passes whatever asks for it by the word "met", unsure is undecided where others
// pass, and forbidden rejects the key.
func judgeReply(r fakemodel.Request) fakemodel.Reply {
	usage := proviso.Usage{Prompt: 1500, Completion: 100, Cached: 1200, Total: 1600}
	fence := judgeFence().FindStringSubmatch(r.Prompt)
	switch {
	case r.Model == "forbidden":
		return fakemodel.Reply{}.Failing(http.StatusUnauthorized, "invalid_api_key", "Incorrect API key provided.")
	case r.Model == "nonsense":
		return fakemodel.Reply{Text: "Who am I to judge?", Usage: usage}
	case fence == nil:
		_, quoted, _ := strings.Cut(r.Prompt, "Say: ")
		return fakemodel.Reply{Text: quoted, Usage: proviso.Usage{Prompt: 20, Completion: 10, Total: 30}}
	}
	part := func(name string) string {
		_, rest, _ := strings.Cut(r.Prompt, "["+fence[1]+" begin "+name+"]\n")
		inner, _, _ := strings.Cut(rest, "\n["+fence[1]+" end "+name+"]")
		return inner
	}
	text := judgeVerdicts(part("output"), part("variables"), part("assertions"), r.Model == "gullible")
	if r.Model == "unsure" {
		text = strings.NewReplacer(`"met":true`, `"verdict":"cannot_tell"`, `"verdict":"met"`, `"verdict":"cannot_tell"`).Replace(text)
	}
	return fakemodel.Reply{Text: text, Usage: usage}
}

// judgeVerdicts decides assertions about an output.
func judgeVerdicts(output, variables, assertions string, gullible bool) string {
	v, _ := value.ParseJSON(variables)
	values, _ := v.(*value.Object)
	v, _ = value.ParseJSON(assertions)
	list, _ := v.([]any)
	var results []any
	for _, e := range list {
		a, _ := e.(*value.Object)
		criteria, _ := a.At("criteria").([]any)
		var said []any
		for _, e := range criteria {
			c, _ := e.(*value.Object)
			text, _ := c.At("text").(string)
			_, word, quotes := strings.Cut(text, "\"")
			word, _, _ = strings.Cut(word, "\"")
			if name, ok := strings.CutPrefix(word, "{{"); ok {
				word = value.ToString(values.At(strings.TrimSuffix(name, "}}")))
			}
			met := quotes && strings.Contains(output, word) || gullible && strings.Contains(output, "met")
			evidence, reason := []any{}, "It is not there."
			if met {
				evidence, reason = []any{word}, "It is there."
			}
			said = append(said, value.ObjectOf("n", c.At("n"), "evidence", evidence, "reasoning", reason, "verdict", judgeWord(met)))
		}
		results = append(results, value.ObjectOf("id", a.At("id"), "criteria", said))
	}
	return value.Stringify(value.ObjectOf("results", results))
}

// judgeWord returns the judge's word for a verdict.
func judgeWord(met bool) string {
	if met {
		return "met"
	}
	return "not_met"
}

func TestResponseCode(t *testing.T) {
	t.Parallel()
	must, light := &proviso.Assertion{Severity: proviso.Must}, &proviso.Assertion{}
	verdicts := func(statuses ...proviso.Status) []proviso.Verdict {
		list := make([]proviso.Verdict, len(statuses))
		for i, s := range statuses {
			list[i] = proviso.Verdict{Assertion: light, Status: s}
		}
		return list
	}
	pass, fail, undecided := proviso.Pass, proviso.Fail, proviso.Errored
	for name, c := range map[string]struct {
		verdicts  []proviso.Verdict
		threshold float64
		allow     bool
		want      int
	}{
		"met":                          {verdicts(pass), 1, false, exitOK},
		"nothing applied":              {verdicts(proviso.Skip), 1, false, exitOK},
		"missed":                       {verdicts(pass, fail), 1, false, exitFailed},
		"undecided":                    {verdicts(pass, undecided), 1, false, exitUndecided},
		"failures miss it already":     {verdicts(pass, undecided, fail), 1, false, exitFailed},
		"failures leave it open":       {verdicts(pass, pass, undecided, fail), 0.75, false, exitUndecided},
		"allowed errors":               {verdicts(undecided, fail), 0.5, true, exitFailed},
		"allowed errors, none decided": {verdicts(undecided), 1, true, exitUndecided},
		"one that has to hold failed":  {append(verdicts(undecided, pass), proviso.Verdict{Assertion: must, Status: fail}), 0.1, false, exitFailed},
	} {
		if got := responseCode(judge.NewResponse(c.verdicts, c.threshold, c.allow)); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// TestDocsOfJudge compares the tables of docs/judge.md with the code.
func TestDocsOfJudge(t *testing.T) {
	var b strings.Builder
	b.WriteString("| key | judge |\n|---|---|\n")
	for _, row := range engine.DefaultJudges(judge.Text) {
		fmt.Fprintf(&b, "| `%s` | `%s` |\n", row.Key, row.Provider)
	}
	wantBlock(t, "docs/judge.md", "default judges", b.String())
	b.Reset()
	b.WriteString("| rule | finds that |\n|---|---|\n")
	for _, r := range lint.Rules() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", r.Name, r.Doc)
	}
	wantBlock(t, "docs/judge.md", "lint rules", b.String())
	b.Reset()
	b.WriteString("| template | holds if | parameters |\n|---|---|---|\n")
	for _, tpl := range criteria.Templates() {
		var params []string
		for _, p := range tpl.Params {
			params = append(params, "`"+p.Name+"` "+strings.ReplaceAll(p.Text(), "|", "\\|"))
		}
		if len(tpl.OneOf) > 0 {
			params = append(params, "exactly one of them")
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", tpl.Name, tpl.Doc, strings.Join(params, "<br>"))
	}
	wantBlock(t, "docs/judge.md", "templates", b.String())
	b.Reset()
	b.WriteString("| set | kind | attempts | does |\n|---|---|--:|---|\n")
	all := 0
	for _, k := range attack.Kinds() {
		fmt.Fprintf(&b, "| %s | %s | %d | %s |\n", k.Set, k.Kind, k.Attempts, k.Doc)
		all += k.Attempts
	}
	wantBlock(t, "docs/judge.md", "attack kinds", b.String())
	if want := fmt.Sprintf("tries %d such attempts on your judge, in %d kinds", all, len(attack.Kinds())); !strings.Contains(readDoc(t, "docs/judge.md"), want) {
		t.Errorf("docs/judge.md does not say %q", want)
	}
}
