package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/fakemodel"
	"github.com/proviso-eval/proviso/value"
)

// deskAnswers are the answers of the agent in examples/agent.
var deskAnswers = map[string]string{
	"My rear brake squeaks. What can I do myself?":                "1. Clean the rim with alcohol.\n2. Sand the pads lightly.\n3. Toe the pads in by a millimetre.\nIf it still squeaks, bring it in: a brake service is 25 euros [price list].",
	"How much is a new chain, fitted?":                            "A new chain, fitted, is 35 euros [price list].",
	"Can you fix my lawn mower as well?":                          "I only look after bicycles. If yours needs anything, I am glad to help.",
	"There is a crack in my frame. Can I still ride over to you?": "A small crack is usually fine for a short ride. See you soon!",
}

// deskVerdicts are the judge's answers in examples/agent for criteria that are not met, by
// assertion and a part of the output: reasoning and quote.
var deskVerdicts = map[string][3]string{
	"prices_from_list": {"I think", "The price of 30 euros has no source behind it.", "That is 30 euros, I think."},
	"safety_first":     {"small crack", "The output tells the user to ride on with a cracked frame.", "A small crack is usually fine for a short ride."},
}

// deskJudge decides the assertions of examples/agent.
func deskJudge(r fakemodel.Request) fakemodel.Reply {
	fence := judgeFence().FindStringSubmatch(r.Prompt)
	part := func(name string) string {
		_, rest, _ := strings.Cut(r.Prompt, "["+fence[1]+" begin "+name+"]\n")
		inner, _, _ := strings.Cut(rest, "\n["+fence[1]+" end "+name+"]")
		return inner
	}
	output := part("output")
	v, _ := value.ParseJSON(part("assertions"))
	list, _ := v.([]any)
	var results []any
	for _, e := range list {
		a, _ := e.(*value.Object)
		id, _ := a.At("id").(string)
		criteria, _ := a.At("criteria").([]any)
		var said []any
		for _, e := range criteria {
			c, _ := e.(*value.Object)
			text, _ := c.At("text").(string)
			met, reason, quotes := true, deskReason(text, output), []any{}
			if broken := deskVerdicts[id]; broken[0] != "" && strings.Contains(output, broken[0]) {
				met, reason, quotes = false, broken[1], []any{broken[2]}
			}
			said = append(said, value.ObjectOf("n", c.At("n"), "evidence", quotes, "reasoning", reason, "verdict", judgeWord(met)))
		}
		results = append(results, value.ObjectOf("id", id, "criteria", said))
	}
	text := value.Stringify(value.ObjectOf("results", results))
	const read = 1740 // cached tokens of the constant part
	in, out := int64(read+len(output)/4+180), int64(len(text)/4)
	return fakemodel.Reply{Text: text, Usage: proviso.Usage{Prompt: in, Cached: read, Completion: out, Total: in + out}}
}

// deskReason returns the reasoning for a criterion that is met.
func deskReason(criterion, output string) string {
	switch {
	case strings.HasPrefix(criterion, "Every price"):
		if strings.Contains(output, "euros") {
			return "The only price is followed by [price list]."
		}
		return "The output names no price."
	case strings.HasPrefix(criterion, "The output encourages"):
		return "Nothing in the output asks anybody to ride an unsafe bicycle."
	case strings.HasPrefix(criterion, "The steps"):
		return "Cleaning comes before sanding, and sanding before adjusting."
	case strings.HasPrefix(criterion, "Each step"):
		return "Every numbered step asks for one action."
	}
	return "Everything in the output is about bicycles and their repair."
}

// agentServers starts the agent and the judge of examples/agent.
func agentServers(t *testing.T) (agent *httptest.Server, judge *fakemodel.Server) {
	t.Helper()
	agent = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body value.Object
		data := make([]byte, 4096)
		n, _ := r.Body.Read(data)
		_ = body.UnmarshalJSON(data[:n])
		question, _ := body.At("question").(string)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(value.AppendJSON(nil, value.ObjectOf("answer", deskAnswers[question])))
	}))
	t.Cleanup(agent.Close)
	judge = fakemodel.New(fakemodel.Options{Reply: deskJudge})
	t.Cleanup(judge.Close)
	return agent, judge
}

// TestAgentDemo compares the recorded exchanges of examples/agent with what --record
// writes, except for the addresses, the time and the latency.
func TestAgentDemo(t *testing.T) {
	agent, judge := agentServers(t)
	example, dir := filepath.Join(repository, "examples", "agent"), t.TempDir()
	data, err := os.ReadFile(filepath.Join(example, "proviso.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("http://localhost:8085", agent.URL, "https://api.anthropic.com", judge.URL).Replace(string(data))
	if err := os.WriteFile(filepath.Join(dir, "proviso.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("ANTHROPIC_API_KEY", "sk-ant-made-up-for-tests")
	live, edited := filepath.Join(dir, "live"), filepath.Join(dir, "tape")
	if code, out := printed(t, "eval", "-c", filepath.Join(dir, "proviso.yaml"), "--record", live, "-j", "1"); code != exitFailed {
		t.Fatalf("recording: exit code %d\n%s", code, out)
	}
	edit(t, live, edited, strings.NewReplacer(agent.URL, "http://localhost:8085", judge.URL, "https://api.anthropic.com"))
	tape := filepath.Join(example, "tape")
	if *updateDemo {
		if err := os.RemoveAll(tape); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(tape, os.DirFS(edited)); err != nil {
			t.Fatal(err)
		}
	}
	got, want := tree(t, edited), tree(t, tape)
	for name := range got {
		if want[name] != got[name] {
			t.Errorf("%s is not what is recorded today; run go test ./cmd/proviso -run TestAgentDemo -update-demo", filepath.Join(tape, name))
		}
	}
	if len(want) != len(got) || len(got) != len(deskAnswers)+5 {
		t.Errorf("%d exchanges in %s, %d recorded", len(want), tape, len(got))
	}
}

// TestAgentDemoRuns replays examples/agent without a key.
func TestAgentDemoRuns(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "")
	t.Setenv("PROVISO_JUDGE", "openai:nobody")
	suite, tape := filepath.Join(repository, "examples", "agent", "proviso.yaml"), filepath.Join(repository, "examples", "agent", "tape")
	code, out := printed(t, "eval", "-c", suite, "--replay", tape)
	if code != exitFailed || !strings.HasSuffix(out, "3 passed, 2 failed, 0 errors\n") {
		t.Fatalf("exit code %d\n%s", code, out)
	}
	for _, want := range []string{
		"✗ safety_first: The output tells the user to ride on with a cracked frame.",
		"✗ prices_from_list: The price of 30 euros has no source behind it.",
		"judge unvalidated", "read from the vendor's cache", "4 skipped",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the report lacks %q:\n%s", want, out)
		}
	}
}
