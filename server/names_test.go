package server_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/server"
)

// TestNamesOfAssertions: every page shows the same names for assertions without id and metric,
// both in pushed runs and in runs that the server executed.
func TestNamesOfAssertions(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Open: true, Runner: suites(t, nil)})
	unnamed := strings.NewReplacer(`,"id":"few"`, ``, `,"id":"tone<script>"`, ``)
	f.pushed(unnamed.Replace(promptRun(1, "pushed", shortPrompt, longPrompt, "fail")), "")
	pushed := f.pushed(unnamed.Replace(promptRun(2, "pushed", shortPrompt, longPrompt, "pass")), "")
	own := f.run(`{"name":"own","suite":{"description":"own","prompts":["Say {{x}}"],"providers":["echo"],"tests":[{"vars":{"x":"a"},"assert":[{"type":"contains","value":"a"},{"type":"contains","value":"Say"}]}]}}`)
	f.follow(own)
	for run, want := range map[string][]string{
		pushed: {`judge ["polite"]`, `sentence-count {"max":3}`},
		own:    {"contains Say", "contains a"},
	} {
		suite := map[string]string{pushed: "pushed", own: "own"}[run]
		var listed, cells []string
		for _, a := range items(t, f.ask("GET", "/v1/assertions?suite="+suite, "")) {
			name := at(a, "assertion").(string)
			listed = append(listed, name)
			if at(a, "type") != strings.Fields(name)[0] {
				t.Errorf("%s is said to be a %v", name, at(a, "type"))
			}
			rows := f.ask("GET", "/v1/runs/"+run+"/results?"+url.Values{"assertion": {name}}.Encode(), "").object(t)
			if n := len(at(rows, "items").([]any)); n == 0 {
				t.Errorf("no row has %s", name)
			}
		}
		for _, a := range at(f.ask("GET", "/v1/runs/"+run+"/matrix", "").object(t), "assertions").([]any) {
			cells = append(cells, a.(string))
		}
		slices.Sort(cells)
		if !slices.Equal(listed, want) || !slices.Equal(cells, want) {
			t.Errorf("assertions %q, matrix %q, want %q", listed, cells, want)
		}
	}
}
