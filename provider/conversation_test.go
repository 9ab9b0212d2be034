package provider_test

import (
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

func TestRecordedConversation(t *testing.T) {
	t.Parallel()
	const messages = `[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello"}]`
	f := files{
		"a.json":   messages,
		"b.jsonl":  `{"role":"user","content":"Hi"}` + "\n" + `{"role":"assistant","content":"Hello"}` + "\n",
		"c.json":   `[{"role":"user"},{"role":"assistant","content":"Hello"}]`,
		"d.jsonl":  `{"output":` + messages + `}` + "\n" + `{"output":"two"}` + "\n",
		"e.json":   `[]`,
		"one.json": `[{"output":{"role":"user","content":"x"},"id":"k"}]`,
	}
	for _, c := range []struct {
		file   string
		number int
		want   string
	}{
		{"a.json", 0, messages}, {"a.json", 7, messages}, {"b.jsonl", 3, messages},
		{"c.json", 0, `{"role":"user"}`}, // no conversation: one output per case
		{"d.jsonl", 0, messages}, {"d.jsonl", 1, `"two"`},
		{"e.json", 0, ""}, {"one.json", 0, ""},
	} {
		out, err := open(t, "recorded:"+c.file, f).Answer(t.Context(), proviso.Ask{Case: &proviso.Case{Number: c.number}})
		if got := value.Stringify(out.Value); (err == nil) != (c.want != "") || err == nil && got != c.want {
			t.Errorf("%s, case %d: %s, %v", c.file, c.number, got, err)
		}
	}
}
