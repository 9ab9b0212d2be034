package report_test

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/value"
)

// detailOf is the detail of a result, as a page has it.
func detailOf(t testing.TB, m *report.Meta, r *proviso.Result, limit int) *report.Detail {
	t.Helper()
	d, err := report.NewDetail(m, report.AppendRow(nil, 3, r, m), limit)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// marked returns what the evidence of a detail marks in its output.
func marked(d *report.Detail) string {
	units := utf16.Encode([]rune(*d.Output))
	var list []string
	for _, a := range d.Assertions {
		for _, e := range a.Evidence {
			text := "–"
			if e.Start != nil {
				text = string(utf16.Decode(units[*e.Start:*e.End]))
			}
			list = append(list, text)
		}
	}
	return strings.Join(list, "|")
}

func TestDetail(t *testing.T) {
	t.Parallel()
	m, _, results := judgedRun(t)
	r := results[2]
	r.Output.Value = "\U0001f375 é A drink [1]. [1]"
	c := &r.SetVerdict[0].Criteria[0]
	c.Evidence = []proviso.Evidence{{Quote: "[1]", Start: 16}, {Quote: "[2]", Start: 16}, {Quote: "drink", Start: 99}}
	d := detailOf(t, m, r, 1000)
	if got := marked(d); got != "[1]|–|drink" {
		t.Errorf("the output is marked at %s", got)
	}
	a := d.Assertions[0]
	if d.Index != 3 || d.Score != "0.5 (threshold 1)" || a.Name != "cites" || a.Asks != "Cite sources." || a.Status != "fail" || a.Reason != "No source is named." || a.Judge != judgeID ||
		len(a.Criteria) != 1 || a.Criteria[0].Why != "It does. (votes: 2 met, 1 not) (one quote does not occur in the output)" || d.Assertions[1].Value != "20" {
		t.Errorf("%+v", d)
	}
	if p := d.Preview(); p.Input != "q=What is tea?" || p.Why != "No source is named." || p.Assertion != "cites" || p.Score != d.Score || !strings.Contains(p.Output, "A drink") {
		t.Errorf("%+v", p)
	}
}

// TestDetailDiffers: text that the output lacks is shown beside what it has instead, and
// forbidden text is marked in it.
func TestDetailDiffers(t *testing.T) {
	t.Parallel()
	m, _, results := sample(t)
	diff := ""
	for _, p := range detailOf(t, m, results[1], 1000).Assertions[0].Diff {
		diff += p.Kind + ":" + p.Text + "|"
	}
	if want := "same:The capital of France is |expected:Paris|actual:Rome|same:, of course.|"; diff != want {
		t.Errorf("got %s, want %s", diff, want)
	}
	d := detailOf(t, m, results[2], 10000)
	if got := marked(d); got != "Bob" {
		t.Errorf("the output is marked at %s", got)
	}
	if p := d.Preview(); !strings.Contains(p.Output, "Bob") || p.Assertion != "not-contains Bob" {
		t.Errorf("the preview is %+v", p)
	}
}

// TestDetailIsBounded: every text has its limit, and the shortened texts are named. A quote
// that was cut away is not marked.
func TestDetailIsBounded(t *testing.T) {
	t.Parallel()
	m, _, results := judgedRun(t)
	r := results[2]
	long := strings.Repeat("日本語 ", 1<<20)
	r.Output.Value, r.Rendered, r.Vars = long+"[9]", long, value.ObjectOf("q", long)
	r.SetVerdict[0].Criteria[0].Evidence = []proviso.Evidence{{Quote: "[9]", Start: len(long)}}
	r.SetVerdict[0].Reason, r.SetVerdict[0].Criteria[0].Reasoning = long, long
	d := detailOf(t, m, r, 1000)
	text, err := json.Marshal(d)
	if err != nil || len(text) > 6000 || marked(d) != "–|–" {
		t.Errorf("%d bytes, %v, marked %s", len(text), err, marked(d))
	}
	if got := strings.Join(d.Cut, " "); got != "output prompt vars assertions criteria" {
		t.Errorf("cut: %s", got)
	}
}

// TestDetailOfATrace: parents come before children, and a cycle of spans ends. Only
// attributes that describe the operation are kept.
func TestDetailOfATrace(t *testing.T) {
	t.Parallel()
	m, _, results := sample(t)
	r, at := results[0], time.Date(2026, 11, 21, 11, 0, 0, 0, time.UTC)
	span := func(id, parent, name string, from, to int) proviso.Span {
		return proviso.Span{ID: id, ParentID: parent, Name: name, Start: at.Add(time.Duration(from) * time.Millisecond), End: at.Add(time.Duration(to) * time.Millisecond)}
	}
	r.Output.Spans = []proviso.Span{span("c", "b", "query", 30, 40), span("a", "", "agent", 0, 100), span("b", "a", "tool", 20, 50), span("d", "gone", "late", 200, 210), span("e", "f", "x", 1, 2), span("f", "e", "y", 1, 2)}
	r.Output.Spans[0].StatusCode, r.Output.Spans[0].StatusMessage, r.Output.Spans[0].Attributes = 2, "timeout", value.ObjectOf("span.kind", "client", "password", "x", "gen_ai.tool.name", "db")
	tree := ""
	for _, s := range detailOf(t, m, r, 1000).Spans {
		tree += s.Parent + ">" + s.Name + s.Status + " "
	}
	if want := ">agent a>tool b>queryerror: timeout >late "; tree != want {
		t.Errorf("got %s, want %s", tree, want)
	}
	if s := detailOf(t, m, r, 1000).Spans[2]; s.StartMS != 30 || s.DurationMS != 10 || s.Kind != "client" || len(s.Attributes) != 1 || s.Attributes[0] != [2]string{"gen_ai.tool.name", "db"} {
		t.Errorf("%+v", s)
	}
}

// TestDetailIsThatOfTheFrontEnd compares the members with the types in the front end.
func TestDetailIsThatOfTheFrontEnd(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("../web/src/api.ts")
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range map[string]any{"Detail": report.Detail{}, "DetailAssertion": report.DetailAssertion{}, "Preview": report.Preview{}, "Span": report.DetailSpan{}, "Evidence": report.DetailEvidence{}, "DiffPart": report.DiffPart{}} {
		_, body, _ := strings.Cut(string(source), "export interface "+name+" {")
		body = regexp.MustCompile(`//.*|\{[^{}]*\}`).ReplaceAllString(body, "")
		body, _, found := strings.Cut(body, "}")
		var want []string
		for _, match := range regexp.MustCompile(`(\w+\??):`).FindAllStringSubmatch(regexp.MustCompile(`\[name:[^\]]*\]`).ReplaceAllString(body, ""), -1) {
			want = append(want, match[1])
		}
		if got := strings.Join(membersIn(v), " "); !found || got != strings.Join(want, " ") {
			t.Errorf("%s has %s, and api.ts has %s", name, got, strings.Join(want, " "))
		}
	}
}

// membersIn returns the members of a type in JSON, with ? after optional ones.
func membersIn(v any) []string {
	var list []string
	for f := range reflect.TypeOf(v).Fields() {
		name, option, _ := strings.Cut(f.Tag.Get("json"), ",")
		if option == "omitempty" {
			name += "?"
		}
		list = append(list, name)
	}
	return list
}

// TestDetailOfManyQuotes: the total number of a row's quotes is limited, and each is
// compared only with the shown ones.
func TestDetailOfManyQuotes(t *testing.T) {
	t.Parallel()
	m, _, results := judgedRun(t)
	r := results[2]
	one := r.SetVerdict[0].Criteria[0]
	r.SetVerdict[0].Criteria = nil
	for i := range 2000 {
		c := one
		c.Evidence = nil
		for j := range 10 {
			c.Evidence = append(c.Evidence, proviso.Evidence{Quote: fmt.Sprint(i, j)})
		}
		r.SetVerdict[0].Criteria = append(r.SetVerdict[0].Criteria, c)
	}
	d := detailOf(t, m, r, 1000)
	if n := len(d.Assertions[0].Evidence); n != 2000 || !slices.Contains(d.Cut, "evidence") {
		t.Errorf("%d quotes, cut %s", n, d.Cut)
	}
}
