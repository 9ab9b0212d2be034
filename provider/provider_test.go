package provider_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/value"
)

type files map[string]string

func (f files) ReadFile(name string) ([]byte, error) {
	if data, ok := f[name]; ok {
		return []byte(data), nil
	}
	return nil, fmt.Errorf("%s: no such file", name)
}

func open(t *testing.T, id string, f files) proviso.Provider {
	t.Helper()
	p, err := provider.Open(proviso.ProviderSpec{ID: id}, provider.Options{Files: f})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestEcho(t *testing.T) {
	t.Parallel()
	out, err := open(t, "echo", nil).Answer(t.Context(), proviso.Ask{Prompt: "hi"})
	if err != nil || out.Value != "hi" || out.Cost == nil || *out.Cost != 0 {
		t.Errorf("echo answered %+v, %v", out, err)
	}
}

func TestOpenUnknown(t *testing.T) {
	t.Parallel()
	_, err := provider.Open(proviso.ProviderSpec{ID: "ecco", Pointer: "0#/providers/0"}, provider.Options{})
	e, ok := err.(*proviso.Error)
	if !ok || e.Code != proviso.Unsupported || e.Pointer == "" || len(e.Valid) == 0 {
		t.Errorf("Open = %#v", err)
	}
	if _, err := provider.Open(proviso.ProviderSpec{ID: "recorded:missing.json"}, provider.Options{Files: files{}}); err == nil || !strings.Contains(err.Error(), "missing.json") {
		t.Errorf("a missing file gives %v", err)
	}
}

func TestRecorded(t *testing.T) {
	t.Parallel()
	f := files{
		"a.jsonl": `{"id":"one","output":"first","cost":0.5,"latencyMs":120,"finishReason":"stop","logProbs":[-0.5],"tokenUsage":{"total":7},"extra":1}` + "\n" +
			`{"vars":{"q":"x"},"output":{"tool_calls":[{"function":{"name":"f"}}]}}` + "\n" + `"third"` + "\n" + `{"prompt":"P","output":"by prompt"}`,
		"b.json": `["zero", {"output": "one", "error": "overloaded"}]`,
		"c.csv":  "description,output,cost\nd one,\"a, b\",0.25\n",
	}
	lines := open(t, "recorded:a.jsonl", f)
	for _, tc := range []struct {
		p    proviso.Provider
		ask  proviso.Ask
		want string
	}{
		{lines, proviso.Ask{Case: &proviso.Case{ID: "one"}}, "first"},
		{lines, proviso.Ask{Case: &proviso.Case{Vars: value.ObjectOf("q", "x"), Number: 9}}, `{"tool_calls":[{"function":{"name":"f"}}]}`},
		{lines, proviso.Ask{Prompt: "P"}, "by prompt"},
		{lines, proviso.Ask{Case: &proviso.Case{Number: 0}}, "third"},
		{open(t, "recorded:b.json", f), proviso.Ask{Case: &proviso.Case{Number: 1}}, "one"},
		{open(t, "recorded:c.csv", f), proviso.Ask{Case: &proviso.Case{Description: "d one"}}, "a, b"},
	} {
		out, err := tc.p.Answer(t.Context(), tc.ask)
		if err != nil || out.Text() != tc.want {
			t.Errorf("%s: %q, %v; want %q", tc.p.ID(), out.Text(), err, tc.want)
		}
	}
	out, _ := lines.Answer(t.Context(), proviso.Ask{Case: &proviso.Case{ID: "one"}})
	if *out.Cost != 0.5 || out.Latency.Milliseconds() != 120 || out.FinishReason != "stop" || out.LogProbs[0] != -0.5 || out.Usage.Total != 7 || out.Raw.At("extra") != 1.0 {
		t.Errorf("response fields are lost: %+v", out)
	}
	if _, err := lines.Answer(t.Context(), proviso.Ask{Case: &proviso.Case{ID: "two", Number: 5}}); err == nil {
		t.Error("a case without a record was answered")
	}
}

// TestRecordedFieldsOfTheWrongKind: the message gives their positions.
func TestRecordedFieldsOfTheWrongKind(t *testing.T) {
	t.Parallel()
	f := files{
		"a.jsonl": `{"output":"x","cost":0.5}` + "\n" + `{"output":"x","cost":"0.5"}`,
		"b.yaml":  "- output: x\n  latencyMs: fast\n- output: y\n  tokenUsage: {total: \"7\"}\n",
		"c.csv":   "output,cost,logProbs\nx,free,[1]\n",
		"d.json":  `[{"output":1,"cost":null,"latencyMs":null,"error":null,"tool_calls":null,"metadata":null}]`,
		"e.jsonl": strings.Repeat(`{"output":1,"cached":1}`+"\n", 9),
	}
	for name, want := range map[string][]string{
		"a.jsonl": {"a.jsonl:2:22: cost: expected a number, got \"0.5\""},
		"b.yaml":  {"b.yaml:2:14: latencyMs: expected a number, got \"fast\"", "b.yaml:4:15: tokenUsage: expected an object of numbers"},
		"c.csv":   {"c.csv:2: cost: expected a number, got \"free\""},
		"e.jsonl": {"e.jsonl:5:22: cached: expected true or false, got 1", "and 4 more like these"},
		"d.json":  nil,
	} {
		_, err := provider.Open(proviso.ProviderSpec{ID: "recorded:" + name, Pointer: "/p"}, provider.Options{Files: f})
		if want == nil {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		e := coded(t, err, proviso.Invalid)
		for _, w := range want {
			if !strings.Contains(e.Error(), w) || e.Pointer != "/p" {
				t.Errorf("%s: %v, want %s", name, e, w)
			}
		}
	}
}

// refusing are files that may not be read.
type refusing struct{}

func (refusing) ReadFile(name string) ([]byte, error) {
	return nil, proviso.Errorf(proviso.Refused, "%s lies outside of the folder of the suite", name)
}

// TestCodesOfCauses checks that an error keeps the reason why a file cannot be read.
func TestCodesOfCauses(t *testing.T) {
	t.Parallel()
	for id, config := range map[string]string{
		"recorded:../x.json": `{}`, "openai:gpt-4o": `{"tools":"file://../x.json"}`, "http://x.test": `{"body":{},"transformResponse":"file://../x.js"}`,
		"vertex:gemini": `{"credentials":"file://../x.json"}`,
	} {
		_, err := provider.Open(proviso.ProviderSpec{ID: id, Config: parse(t, config)},
			provider.Options{Files: refusing{}, Env: proviso.EnvMap{"OPENAI_API_KEY": secret}, Code: httpOptions(t).Code})
		if e := coded(t, err, proviso.Refused); !strings.Contains(e.Error(), "outside") {
			t.Errorf("%s: %v", id, e)
		}
	}
}

// TestEchoHasMetadata lets a script set context.metadata.x, as in promptfoo.
func TestEchoHasMetadata(t *testing.T) {
	t.Parallel()
	p, err := provider.Open(proviso.ProviderSpec{ID: "echo"}, provider.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.Answer(t.Context(), proviso.Ask{Prompt: "p"})
	if err != nil || out.Metadata == nil || out.Metadata.Len() != 0 {
		t.Errorf("metadata is %v, %v", out.Metadata, err)
	}
}
