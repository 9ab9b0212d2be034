package exported_test

import (
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/spade/internal/exported"
	"github.com/proviso-eval/proviso/value"
)

// TestResponsesOfOpenAI reads the Responses API, with and without the request beside the
// response; a failed line of a batch is left out.
func TestResponsesOfOpenAI(t *testing.T) {
	t.Parallel()
	const output = `"object":"response","output":[{"type":"reasoning","summary":[]},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"At nine."}]}]`
	for _, c := range []struct{ name, lines, want, note string }{
		{"with the request", `{"request":{"instructions":"Be brief.","input":"Open?"},"response":{"id":"r1",` + output + `}}`, `r1 "At nine." {"input":"Open?"} Be brief.`, ""},
		{"messages as the input", `{"request":{"input":[{"role":"system","content":"Be brief."},{"role":"user","content":[{"type":"input_text","text":"Open?"}]}]},"response":{"id":"r1",` + output + `}}`,
			`r1 "At nine." {"input":"Open?"} Be brief.`, ""},
		{"alone", `{"id":"r1","instructions":"Be brief.",` + output + `}`, `r1 "At nine." {} Be brief.`, ""},
		{"a failed line", `{"id":"b1","custom_id":"c1","response":{"status_code":200,"body":{"id":"r1",` + output + `}},"error":null}` + "\n" +
			`{"id":"b2","custom_id":"c2","response":null,"error":{"code":"server_error"}}`, `c1 "At nine." {} `, "1 of the chat completions of OpenAI left out: they ended with an error"},
	} {
		entries := entriesOf("log.jsonl", []byte(c.lines))
		kind := exported.Of(entries[0].Value)
		if kind == nil {
			t.Errorf("%s is not recognised", c.name)
			continue
		}
		list, notes, mistakes := kind.Outputs(entries)
		if err := mistakes.Err(); err != nil || len(list) != 1 {
			t.Errorf("%s: %d outputs, %v", c.name, len(list), err)
			continue
		}
		o := list[0]
		if got := o.ID + " " + value.Stringify(o.Value) + " " + value.Stringify(o.Vars) + " " + o.System; got != c.want || strings.Join(notes, "; ") != c.note {
			t.Errorf("%s: %s, %q; want %s, %q", c.name, got, notes, c.want, c.note)
		}
	}
}
