package suite_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/suite"
)

// read reads a suite made of the given files in a folder of its own.
func read(t testing.TB, o suite.Options, files map[string]string) *proviso.Suite {
	t.Helper()
	o.Dir = t.TempDir()
	for name, text := range files {
		writeFile(t, filepath.Join(o.Dir, name), []byte(text))
	}
	s, mistakes := suite.Read(context.Background(), nil, o)
	if s == nil {
		t.Fatal(mistakes)
	}
	return s
}

// names returns the description of each case, or its id, and the errors.
func names(source proviso.CaseSource) (list, errs []string) {
	for c, err := range source.Cases() {
		switch {
		case err != nil:
			errs = append(errs, err.Error())
		case c.Description != "":
			list = append(list, c.Description)
		default:
			list = append(list, c.ID)
		}
	}
	return list, errs
}

// ten are ten cases in a file and three inline.
var ten = func() map[string]string {
	var lines strings.Builder
	for i := range 10 {
		fmt.Fprintf(&lines, `{"description":"c%d","vars":{"q":"%d"},"metadata":{"kind":"%s","tags":["t%d","all"]}}`+"\n", i, i, []string{"even", "odd"}[i%2], i)
	}
	return map[string]string{
		"tests.jsonl": lines.String(),
		"proviso.yaml": `{prompts: ['{{q}}'], providers: [echo], tests: [{description: first, vars: {q: [x, y]}}, tests.jsonl,
			{description: last, vars: {q: z}}]}`,
	}
}()

func TestFilter(t *testing.T) {
	t.Parallel()
	s := read(t, suite.Options{}, ten)
	tests := []struct {
		name   string
		filter suite.Filter
		want   string
		err    string
	}{
		{name: "all", want: "first first c0 c1 c2 c3 c4 c5 c6 c7 c8 c9 last"},
		{name: "pattern", filter: suite.Filter{Pattern: "^c[3-5]$"}, want: "c3 c4 c5"},
		{name: "metadata", filter: suite.Filter{Metadata: []string{"kind=odd", "tags=t1"}}, want: "c1"},
		{name: "metadata part", filter: suite.Filter{Metadata: []string{"kind=ve"}}, want: "c0 c2 c4 c6 c8"},
		{name: "first", filter: suite.Filter{First: 2}, want: "first first c0"},
		{name: "range", filter: suite.Filter{Range: "1:3"}, want: "c0 c1"},
		{name: "open range", filter: suite.Filter{Range: "10:"}, want: "c9 last"},
		{name: "range then first", filter: suite.Filter{Range: "2:8", First: 2}, want: "c1 c2"},
		{name: "pattern then range", filter: suite.Filter{Pattern: "^c", Range: ":2"}, want: "c0 c1"},
		{name: "none", filter: suite.Filter{Pattern: "nothing"}, err: `none of 12 cases matches the pattern "nothing"`},
		{name: "beyond", filter: suite.Filter{Range: "50:60"}, err: "none of 12 cases matches the range"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			source, err := suite.Select(s.CaseSource, tt.filter)
			if err != nil {
				t.Fatal(err)
			}
			got, errs := names(source)
			if strings.Join(got, " ") != tt.want || (tt.err == "") != (len(errs) == 0) {
				t.Errorf("got %v, %v, want %s", got, errs, tt.want)
			}
			if tt.err != "" && !strings.Contains(strings.Join(errs, ""), tt.err) {
				t.Errorf("got %v, want %s", errs, tt.err)
			}
		})
	}
}

func TestFilterMistakes(t *testing.T) {
	t.Parallel()
	s := read(t, suite.Options{}, ten)
	for _, f := range []suite.Filter{
		{Pattern: "("}, {Range: "a:b"}, {Range: "3"}, {Range: "5:2"}, {Range: "-1:2"}, {Metadata: []string{"kind"}}, {First: -1},
	} {
		if _, err := suite.Select(s.CaseSource, f); err == nil {
			t.Errorf("%+v is accepted", f)
		}
	}
}

func TestSample(t *testing.T) {
	t.Parallel()
	s := read(t, suite.Options{}, ten)
	seed := uint64(7)
	draw := func(n int, seed *uint64) []string {
		source, err := suite.Select(s.CaseSource, suite.Filter{Pattern: "^c", Range: "2:", Sample: n, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		first, errs := names(source)
		if again, _ := names(source); !slices.Equal(first, again) || len(errs) > 0 {
			t.Errorf("two passes give %v and %v, %v", first, again, errs)
		}
		return first
	}
	if got := draw(3, &seed); len(got) != 3 || !slices.Equal(got, draw(3, &seed)) {
		t.Errorf("got %v with a seed", got)
	}
	if got := draw(100, nil); len(got) != 8 {
		t.Errorf("a sample larger than what there is gives %v", got)
	}
	seen := map[string]bool{}
	for range 60 {
		for _, name := range draw(2, nil) {
			seen[name] = true
		}
	}
	if len(seen) != 8 || seen["c0"] || seen["c1"] {
		t.Errorf("samples are drawn among %v", seen)
	}
}

func TestFilterRows(t *testing.T) {
	t.Parallel()
	s := read(t, suite.Options{}, ten)
	const rows = `{"success":true,"vars":{"q":"1"}},{"success":false,"failureReason":1,"vars":{"q":"2"}},
		{"success":false,"failureReason":2,"vars":{"q":"rendered"},"testCase":{"vars":{"q":"y"}}}`
	reports := map[string]string{
		"promptfoo": `{"results":{"results":[` + rows + `]}}`,
		"lines":     strings.ReplaceAll(strings.ReplaceAll(rows, "\n", ""), "},\t\t{", "}\n{"),
		"list":      "[" + rows + "]",
	}
	reports["lines"] = strings.ReplaceAll(reports["lines"], `},{"success"`, "}\n"+`{"success"`)
	for name, report := range reports {
		for kind, want := range map[suite.RowKind]string{
			suite.NotPassed: "first c2", suite.Failures: "c2", suite.Errors: "first",
		} {
			set, err := suite.ReadRows(name, strings.NewReader(report), kind)
			if err != nil {
				t.Fatal(err)
			}
			source, err := suite.Select(s.CaseSource, suite.Filter{Rows: set})
			if err != nil {
				t.Fatal(err)
			}
			if got, errs := names(source); strings.Join(got, " ") != want || len(errs) > 0 {
				t.Errorf("%s %d: got %v, %v, want %s", name, kind, got, errs, want)
			}
		}
	}
	for _, report := range []string{"", "{", `"text"`, "[1]\n{"} {
		if _, err := suite.ReadRows("r", strings.NewReader(report), suite.NotPassed); err == nil {
			t.Errorf("%q is read as a report", report)
		}
	}
}

func TestRepeat(t *testing.T) {
	t.Parallel()
	s := read(t, suite.Options{}, map[string]string{"proviso.yaml": `
prompts: [hi]
providers: [echo]
evaluateOptions: {repeat: {n: 2, pass: 1}}
tests: [{vars: {q: [a, b]}}, {vars: {q: c}, repeat: 1}]
`})
	var got []string
	for c, err := range s.Cases() {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%d:%s:%d/%d:%d", c.Index, c.Vars.At("q"), c.Repeat, c.Repeats, c.RepeatPass))
	}
	want := []string{"0:a:0/2:1", "1:b:0/2:1", "2:a:1/2:1", "3:b:1/2:1", "4:c:0/1:0"}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	source, err := suite.Repeat(s.CaseSource, 3, 0)
	if err != nil {
		t.Fatal(err)
	}
	if list, _ := names(source); len(list) != 7 {
		t.Errorf("--repeat 3 gives %d cases, want 7", len(list))
	}
	for _, n := range [][2]int{{0, 0}, {2, 3}, {1 << 20, 0}} {
		if _, err := suite.Repeat(s.CaseSource, n[0], n[1]); err == nil {
			t.Errorf("repeating %v is accepted", n)
		}
	}
}

func TestMatchName(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		pattern, name string
		want          bool
	}{
		{"echo", "echo", true}, {"openai", "openai:gpt-5", true}, {"openai", "openaix", false}, {"openai:*", "openai:gpt-5", true},
		{"*mini*", "openai:gpt-5-mini:x", true}, {"*mini", "openai:gpt-5-mini:x", false}, {"a*b*c", "a1b2c", true},
		{"a*b*c", "acb", false}, {"", "", false}, {"", ":x", false}, {"*", "", true},
	} {
		if got := suite.MatchName(tt.pattern, tt.name); got != tt.want {
			t.Errorf("MatchName(%q, %q) = %t", tt.pattern, tt.name, got)
		}
	}
}
