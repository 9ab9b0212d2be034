package server_test

import (
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/value"
)

// TestUnevaluatedAssertions: storing a watch reports the assertions that the server cannot
// evaluate, and their errors do not affect the other assertions.
func TestUnevaluatedAssertions(t *testing.T) {
	t.Parallel()
	j, err := judge.New(judge.Options{Check: check.Options{}})
	if err != nil {
		t.Fatal(err)
	}
	f := watched(t, server.Options{Judge: j}, plainWatch)
	set := `{"assertions": [{"id": "code", "check": {"type": "python", "value": "True"}}, {"id": "tone", "check": {"type": "not-contains", "value": "sorry"}}]}`
	watch := `{"match": {"agent": "support"}, "assertions": "set:mixed", "sample": {"rate": 1}}`
	checked := f.wants("POST", "/v1/watches/mixed/check", `{"watch": `+watch+`, "set": `+set+`}`, 200)
	f.wants("PUT", "/v1/assertion-sets/mixed", set, 201)
	stored := f.wants("PUT", "/v1/watches/mixed", watch, 201)
	for _, got := range []answer{checked, stored} {
		if w, _ := got.object(t).At("warnings").([]any); len(w) != 1 || !strings.Contains(w[0].(string), `"code" cannot be evaluated on this server`) {
			t.Errorf("%s", got.body)
		}
	}
	f.events(0, 30, func(i int) string { return []string{"I am sorry.", "Within 30 days."}[i%2] })
	w := f.eventually("/v1/watches/mixed", "all are evaluated", func(o *value.Object) bool {
		charts, _ := o.At("charts").([]any)
		return len(charts) == 2 && charts[0].(*value.Object).At("n") == 30.0 && charts[1].(*value.Object).At("errors") == 30.0
	})
	if !strings.Contains(w.Text("error"), "code: ") || w.Text("last_verdict") == "" {
		t.Errorf("%s", value.AppendJSON(nil, w))
	}
}
