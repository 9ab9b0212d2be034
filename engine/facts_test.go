package engine_test

import (
	"bytes"
	"context"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/internal/assertion"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/suite"
	"github.com/proviso-eval/proviso/value"
)

// more are tables with rows that only this test names.
func more() proviso.Facts {
	types := slices.Concat(check.Facts(), proviso.Types{
		{Type: "lua", Code: true, Cell: proviso.CellFacts{Prefixes: "l:", Scripts: ".lua"}},
		{Type: "probe", Address: true},
		{Type: "shout", Match: proviso.MatchPart, FoldsCase: true, Cell: proviso.CellFacts{Form: proviso.CellList, Threshold: 0.5}},
		{Type: "silence", Cell: proviso.CellFacts{Form: proviso.CellNone}},
	})
	slices.SortFunc(types, func(a, b proviso.TypeFacts) int { return strings.Compare(a.Type, b.Type) })
	providers := slices.Concat(provider.Facts(), proviso.Providers{
		{Name: "caller:", Tools: proviso.ToolsOpenAI},
		{Name: "hook:", URL: true},
		{Name: "plain:"},
		{Name: "robot:", Code: true, OpenEnded: true},
		{Name: "scholar:", Search: func(spec *proviso.ProviderSpec) bool {
			spec.ID += ":search"
			return true
		}},
		{Name: "tape:", File: true},
	})
	slices.SortFunc(providers, func(a, b proviso.ProviderFacts) int { return strings.Compare(a.Name, b.Name) })
	return proviso.Facts{Types: types, Providers: providers}
}

// TestNewTypeInCells: the row of a type determines how a cell names it.
func TestNewTypeInCells(t *testing.T) {
	t.Parallel()
	cells := suite.Cells(more().Types)
	for cell, want := range map[string]string{
		"shout: a, b":     `{"type":"shout","value":["a","b"],"threshold":0.5}`,
		"not-shout(1): a": `{"type":"not-shout","value":["a"],"threshold":1}`,
		"l: x":            `{"type":"lua","value":"x"}`,
		"file://x.lua":    `{"type":"lua","value":"file://x.lua"}`,
		"silence: x":      `{"type":"equals","value":"silence: x"}`,
		"whisper: x":      `{"type":"equals","value":"whisper: x"}`,
	} {
		if got := value.Stringify(cells.ParseExpected(cell)); got != want {
			t.Errorf("%s is read as %s, want %s", cell, got, want)
		}
	}
}

// TestNewRowsInUntrustedSuite: the rows determine what an untrusted suite must not use.
func TestNewRowsInUntrustedSuite(t *testing.T) {
	t.Parallel()
	const head = "prompts: [p]\nproviders: [echo]\n"
	for text, want := range map[string]string{
		head + "tests: [{assert: [{type: lua, value: x}]}]":                         "lua is code",
		head + "tests: [{assert: [{type: not-lua, value: x}]}]":                     "lua is code",
		head + "tests: [{assert: [{type: probe, value: 'https://evil.example/'}]}]": "the host evil.example",
		head + "tests: [{assert: [{type: shout, value: 'https://evil.example/'}]}]": "",
		"prompts: [p]\nproviders: ['robot:x']":                                      "the provider robot:x is code",
		"prompts: [p]\nproviders: ['hook:https://evil.example']":                    "the host evil.example",
		"prompts: [p]\nproviders: ['plain:https://evil.example']":                   "",
		"prompts: [p]\nproviders: ['tape:../secret.json']":                          "../secret.json",
		"prompts: [p]\nproviders: ['plain:../secret.json']":                         "",
	} {
		policy := engine.Policy{}
		s, mistakes := suite.Read(t.Context(), []string{write(t, map[string]string{"proviso.yaml": text})}, suite.Options{
			Facts: more(), Trust: policy.Suite(proviso.EnvMap{}), Files: policy.Files(),
		})
		i := slices.IndexFunc(mistakes, func(m proviso.Mistake) bool { return m.Code == proviso.Refused })
		switch {
		case s == nil || want == "" && i >= 0:
			t.Errorf("%s: %v", text, mistakes)
		case want != "" && (i < 0 || !strings.Contains(mistakes[i].Message, want)):
			t.Errorf("%s: %v, want %q", text, mistakes, want)
		}
	}
}

// TestNoTablesRefuseAll: without tables, an untrusted suite may use nothing that might be code.
func TestNoTablesRefuseAll(t *testing.T) {
	t.Parallel()
	name := write(t, map[string]string{"proviso.yaml": "prompts: [p]\nproviders: [echo]\ntests: [{assert: [{type: contains, value: x}]}]"})
	_, mistakes := suite.Read(t.Context(), []string{name}, suite.Options{Trust: &suite.Trust{}})
	refused := 0
	for _, m := range mistakes {
		if m.Code == proviso.Refused {
			refused++
		}
	}
	if refused != 2 {
		t.Errorf("got %v, want the provider and the type to be refused", mistakes)
	}
}

// TestNewRowsInSuite: a provider's row says that its file is relative to the suite file, and a
// type's row that its value may hold a password.
func TestNewRowsInSuite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"a.yaml":     "prompts: [p]\nproviders: [echo]\n",
		"sub/b.yaml": "providers: ['tape:x.json', 'plain:x.json']\ntests: [{assert: [{type: probe, value: 'https://u:sesame@h.example/'}]}]\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, mistakes := suite.Read(t.Context(), []string{"a.yaml", "sub/b.yaml"}, suite.Options{Dir: dir, Facts: more()})
	if err := mistakes.Err(); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, p := range s.Providers {
		ids = append(ids, p.ID)
	}
	if want := []string{"echo", "tape:sub/x.json", "plain:x.json"}; !slices.Equal(ids, want) {
		t.Errorf("got %q, want %q", ids, want)
	}
	for c, err := range s.Cases() {
		if err != nil {
			t.Fatal(err)
		}
		if shown := value.Stringify(c.Assert[0].Raw); strings.Contains(shown, "sesame") {
			t.Errorf("a report shows %s", shown)
		}
	}
}

// TestNewProvidersAtJudge: the rows determine which provider searches and which is an agent.
func TestNewProvidersAtJudge(t *testing.T) {
	t.Parallel()
	var opened []any
	j, err := judge.New(judge.Options{Providers: more().Providers, Open: func(grader any, _ judge.Role) (judge.Seat, error) {
		opened = append(opened, grader)
		return judge.Seat{Provider: silent{}}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ kind, grader, opens string }{
		{"agent-rubric", "robot:x", "robot:x"}, {"agent-rubric", "plain:x", ""}, {"agent-rubric", "scholar:x", ""},
		{"search-rubric", "robot:y", "robot:y"}, {"search-rubric", "plain:x", ""}, {"search-rubric", "scholar:x", "scholar:x:search"},
	} {
		opened = nil
		err := j.Prepare(proviso.Question{Type: tc.kind, Value: "v", Grader: tc.grader})
		if (err == nil) != (tc.opens != "") || err == nil && !slices.Equal(opened, []any{tc.opens}) {
			t.Errorf("%s by %s: %v, opened %v", tc.kind, tc.grader, err, opened)
		}
	}
}

// silent is a model that is never called.
type silent struct{}

func (silent) ID() string { return "silent" }

func (silent) Answer(context.Context, proviso.Ask) (proviso.Output, error) {
	return proviso.Output{}, nil
}

// TestNewProviderCallsFunctions: the row of a provider says how it calls functions.
func TestNewProviderCallsFunctions(t *testing.T) {
	t.Parallel()
	c := check.New(check.Options{Providers: more().Providers})
	defer c.Close()
	for id, want := range map[string]bool{"caller:x": true, "plain:x": false} {
		v := c.Decide(t.Context(), assertion.Of(value.ObjectOf("type", "is-valid-function-call"), ""), &check.Row{
			Output: &proviso.Output{Value: "x"}, Provider: &proviso.ProviderSpec{ID: id},
		})
		if got := !strings.Contains(v.Reason, "does not have functionality"); got != want {
			t.Errorf("%s: %s", id, v.Reason)
		}
	}
}

// oneRow returns a run of one row.
type oneRow []byte

func (r oneRow) Rows() iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) { yield(0, r) }
}
func (oneRow) Err() error                { return nil }
func (r oneRow) Row(int) ([]byte, error) { return r, nil }

// TestNewTypeInReport: the row of a type determines what a report marks.
func TestNewTypeInReport(t *testing.T) {
	t.Parallel()
	for kind, marked := range map[string]bool{"shout": true, "probe": false} {
		a := &proviso.Assertion{Type: kind, Value: "HELLO WORLD", Raw: value.ObjectOf("type", kind, "value", "HELLO WORLD")}
		r := &proviso.Result{
			Case: &proviso.Case{Repeats: 1}, Prompt: &proviso.Prompt{Raw: "p"}, Provider: &proviso.ProviderSpec{ID: "echo"},
			Output:    proviso.Output{Value: "hello ward"},
			Verdicts:  []proviso.Verdict{{Assertion: a, Status: proviso.Fail, Reason: "no"}},
			Aggregate: proviso.Aggregate{Status: proviso.Fail, Reason: "no"},
		}
		meta := &report.Meta{Types: more().Types, Columns: []report.Column{report.NewColumn(r.Prompt, r.Provider)}}
		sum := report.NewSummary(1)
		sum.Add(0, r)
		var b bytes.Buffer
		if err := report.Terminal(&b, report.TerminalOptions{}, meta, sum, oneRow(report.AppendRow(nil, 0, r, meta))); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(b.String(), "^"); got != marked {
			t.Errorf("%s: a difference is marked: %v\n%s", kind, got, b.String())
		}
	}
}
