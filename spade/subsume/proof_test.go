package subsume_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/assertion"
	"github.com/proviso-eval/proviso/internal/template"
	"github.com/proviso-eval/proviso/spade/subsume"
	"github.com/proviso-eval/proviso/value"
)

// candidate makes a candidate of an assertion that is written as JSON.
func candidateOf(t testing.TB, name, text string) proviso.Candidate {
	t.Helper()
	v, err := value.ParseJSON(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return proviso.Candidate{Name: name, Assertion: assertion.Of(v.(*value.Object), "")}
}

func TestProves(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want subsume.ProofKind
	}{
		{`{"type":"contains","value":"a b"}`, `{"type":"contains","value":"a b","metric":"x","config":{"spade":{"version":1}}}`, "equal"},
		{`{"type":"contains","value":"Dear John"}`, `{"type":"contains","value":"John"}`, "phrases"},
		{`{"type":"contains","value":"John"}`, `{"type":"contains","value":"Dear John"}`, ""},
		{`{"type":"not-contains","value":"John"}`, `{"type":"not-contains","value":"Dear John"}`, "phrases"},
		{`{"type":"contains","value":"John"}`, `{"type":"icontains","value":"JOHN"}`, "phrases"},
		{`{"type":"icontains","value":"John"}`, `{"type":"contains","value":"John"}`, ""},
		{`{"type":"contains","value":"ΑΣ"}`, `{"type":"icontains","value":"ΑΣ"}`, ""}, // the last letter depends on what follows
		{`{"type":"contains-all","value":["a","b","c"]}`, `{"type":"contains-all","value":"a, c"}`, "phrases"},
		{`{"type":"contains-any","value":["a","b"]}`, `{"type":"contains-any","value":["a","b","c"]}`, "phrases"},
		{`{"type":"contains-any","value":["a","b","c"]}`, `{"type":"contains-any","value":["a","b"]}`, ""},
		{`{"type":"equals","value":"one two"}`, `{"type":"word-count","value":2}`, "value"},
		{`{"type":"equals","value":"one two"}`, `{"type":"not-word-count","value":2}`, ""},
		{`{"type":"word-count","value":2}`, `{"type":"not-equals","value":"one"}`, "value"},
		{`{"type":"equals","value":{"a":1}}`, `{"type":"is-json","value":{"required":["a"]}}`, "value"},
		{`{"type":"equals","value":"Dear John"}`, `{"type":"starts-with","value":"Dear"}`, "text"},
		{`{"type":"starts-with","value":"Dear John"}`, `{"type":"starts-with","value":"Dear"}`, "text"},
		{`{"type":"starts-with","value":"Dear"}`, `{"type":"not-starts-with","value":"Hi"}`, "text"},
		{`{"type":"ends-with","value":"x!"}`, `{"type":"contains","value":"!"}`, "text"},
		{`{"type":"ends-with","value":"ni","ignoreCase":true}`, `{"type":"icontains","value":"n"}`, "text"},
		{`{"type":"equals","value":"İ"}`, `{"type":"icontains","value":"i"}`, "text"}, // its lower case is i and a dot
		{`{"type":"equals","value":"İ"}`, `{"type":"ends-with","value":"i","ignoreCase":true}`, ""},
		{`{"type":"in-order","value":["a","b"]}`, `{"type":"contains-all","value":["b","a"]}`, "text"},
		{`{"type":"contains-all","value":["b","a"]}`, `{"type":"in-order","value":["a","b"]}`, ""},
		{`{"type":"regex","value":"^Dear (John|Mary),"}`, `{"type":"regex","value":"^Dear [A-Z]"}`, "text"},
		{`{"type":"regex","value":"^Dear [A-Z]"}`, `{"type":"regex","value":"^Dear (John|Mary),"}`, ""},
		{`{"type":"regex","value":"^(yes|no)$"}`, `{"type":"contains-any","value":["yes","no"]}`, "text"},
		{`{"type":"contains","value":"🎉"}`, `{"type":"regex","value":"^[^]*..?"}`, "text"},
		{`{"type":"regex","value":"\\bcat\\b"}`, `{"type":"contains","value":"cat"}`, "text"},
		{`{"type":"contains","value":"cat"}`, `{"type":"regex","value":"\\bcat\\b"}`, ""},
		{`{"type":"regex","value":"(?=a)a"}`, `{"type":"contains","value":"a"}`, ""}, // lookahead is not decided
		{`{"type":"count","value":{"text":"a","min":3}}`, `{"type":"count","value":{"text":"a","min":2}}`, "limit"},
		{`{"type":"count","value":{"text":"aa","min":2}}`, `{"type":"contains","value":"aaaa"}`, ""},
		{`{"type":"count","value":{"text":"ab","min":2}}`, `{"type":"contains","value":"ab"}`, "text"},
		{`{"type":"count","value":{"text":"ab","max":0}}`, `{"type":"not-contains","value":"ab"}`, "text"},
		{`{"type":"word-count","value":{"max":50}}`, `{"type":"word-count","value":{"max":100}}`, "limit"},
		{`{"type":"word-count","value":{"max":"{{ n }}"}}`, `{"type":"word-count","value":{"max":"{{ n }}"}}`, "equal"},
		{`{"type":"word-count","value":{"min":7,"max":"{{ n }}"}}`, `{"type":"word-count","value":{"min":5}}`, ""},
		{`{"type":"count","value":{"text":"{{ a }}","min":1}}`, `{"type":"contains","value":"{{"}`, ""},
		{`{"type":"word-count","value":"7"}`, `{"type":"not-word-count","value":{"min":8}}`, "limit"},
		{`{"type":"word-count","value":{"max":100}}`, `{"type":"sentence-count","value":{"max":100}}`, ""},
		{`{"type":"token-count","value":{"max":5}}`, `{"type":"token-count","value":{"max":6},"config":{"encoding":"cl100k_base"}}`, ""},
		{`{"type":"chars","value":"emoji"}`, `{"type":"chars","value":{"class":"emoji","max":2}}`, "limit"},
		{`{"type":"levenshtein","value":"abc","threshold":2}`, `{"type":"levenshtein","value":"abc"}`, "limit"},
		{`{"type":"not-levenshtein","value":"abc"}`, `{"type":"not-levenshtein","value":"abc","threshold":2}`, "limit"},
		{`{"type":"rouge-n","value":"abc","threshold":0.9}`, `{"type":"rouge-n","value":"abc"}`, "limit"},
		{`{"type":"rouge-l","value":"abc","threshold":0.9}`, `{"type":"rouge-l","value":["x","abc"],"threshold":0.8}`, "limit"},
		{`{"type":"bleu","value":"abc","threshold":0.9}`, `{"type":"bleu","value":["x","abc"],"threshold":0.8}`, ""},
		{`{"type":"cost","threshold":0.1}`, `{"type":"cost","threshold":0.2}`, "limit"},
		{`{"type":"latency","threshold":300}`, `{"type":"latency","threshold":200}`, ""},
		{`{"type":"finish-reason","value":"Stop"}`, `{"type":"finish-reason","value":"stop"}`, "equal"},
		{`{"type":"finish-reason","value":"stop"}`, `{"type":"not-finish-reason","value":"length"}`, "value"},
		{`{"type":"is-json","value":{"type":"object","required":["a"]}}`, `{"type":"is-json"}`, "schema"},
		{`{"type":"is-json"}`, `{"type":"contains-json"}`, ""},
		{`{"type":"is-json","value":{"type":"object","required":["a","b"],"properties":{"a":{"type":"integer","minimum":3}}}}`, `{"type":"is-json","value":{"required":["a"],"properties":{"a":{"type":["number","null"],"minimum":1}}}}`, "schema"},
		{`{"type":"is-json","value":{"properties":{"a":{"minimum":1}}}}`, `{"type":"is-json","value":{"properties":{"a":{"minimum":1}},"additionalProperties":false}}`, ""},
		{`{"type":"is-json","value":{"properties":{"a":true},"additionalProperties":false}}`, `{"type":"is-json","value":{"properties":{"a":true,"b":{"type":"string"}},"additionalProperties":false}}`, "schema"},
		{`{"type":"is-json","value":{"enum":[1,2]}}`, `{"type":"is-json","value":{"type":"number","anyOf":[{"minimum":1},{"const":0}]}}`, "schema"},
		{`{"type":"is-json","value":{"$ref":"#/definitions/a","definitions":{"a":{"type":"string"}}}}`, `{"type":"is-json","value":{"$ref":"#/definitions/a","definitions":{"a":{"type":"number"}}}}`, ""},
		{`{"type":"is-xml","value":"a.b,c"}`, `{"type":"is-xml","value":["c"]}`, "schema"},
		{`{"type":"not-contains","value":"x"}`, `{"type":"not-contains","value":"x","scope":{"each":"line"}}`, "part"},
		{`{"type":"icontains","value":"x","wholeWords":true}`, `{"type":"icontains","value":"x"}`, "phrases"},
		{`{"type":"icontains","value":"x"}`, `{"type":"icontains","value":"x","wholeWords":true}`, ""},
		{`{"type":"icontains","value":"x y","wholeWords":true}`, `{"type":"icontains","value":"x","wholeWords":true}`, ""},
		{`{"type":"not-icontains","value":"x"}`, `{"type":"not-icontains-any","value":["x"],"wholeWords":true}`, "phrases"},
		{`{"type":"starts-with","value":"x","wholeWords":true}`, `{"type":"starts-with","value":"x"}`, ""},
		{`{"type":"contains","value":"x y","scope":{"each":"line","match":"any"}}`, `{"type":"contains","value":"y"}`, "part"},
		{`{"type":"contains","value":"x y","scope":{"each":"line"}}`, `{"type":"contains","value":"y"}`, ""}, // there may be no line
		{`{"type":"contains","value":"x","scope":{"section":{"from":"# A"}}}`, `{"type":"contains","value":"x"}`, "part"},
		{`{"type":"contains","value":"x"}`, `{"type":"contains","value":"x","scope":{"of":"prompt"}}`, ""},
		{`{"type":"word-count","value":{"max":5},"scope":{"each":"line"}}`, `{"type":"word-count","value":{"max":6},"scope":{"each":"line","match":"all"}}`, "limit"},
		{`{"type":"word-count","value":{"max":6},"scope":{"each":"line","match":"none"}}`, `{"type":"word-count","value":{"max":5},"scope":{"each":"line","match":"none"}}`, "limit"},
		{`{"type":"word-count","value":{"max":6},"scope":{"each":"line","match":"none"}}`, `{"type":"not-word-count","value":{"max":5},"scope":{"each":"line"}}`, "limit"},
		{`{"type":"word-count","value":{"max":5},"scope":{"each":"line"}}`, `{"type":"word-count","value":{"max":6},"scope":{"each":"line","match":"any"}}`, ""},
		{`{"type":"contains","value":"ab","when":"vars.x == 1"}`, `{"type":"contains","value":"a","when":"vars.x == 1"}`, "phrases"},
		{`{"type":"contains","value":"ab"}`, `{"type":"contains","value":"a","when":"vars.x == 1"}`, ""},
		{`{"type":"contains","value":"{{x}} b"}`, `{"type":"contains","value":"{{x}}"}`, ""},
		{`{"type":"contains","value":"{{x}}"}`, `{"type":"contains","value":"{{x}}"}`, "equal"},
		{`{"type":"contains","value":"x","weight":0}`, `{"type":"contains","value":"x"}`, ""},
		{`{"type":"judge","criteria":["It is kind.","It is short."]}`, `{"type":"judge","criteria":["It is kind."]}`, "parts"},
		{`{"type":"judge","criteria":["It is kind."]}`, `{"type":"not-judge","criteria":["It is kind.","It is short."]}`, ""},
		{`{"type":"judge","criteria":["It is kind."],"check":{"type":"word-count","value":{"max":5}}}`, `{"type":"word-count","value":{"max":6}}`, "parts"},
		{`{"type":"judge","check":{"type":"word-count","value":{"max":5}}}`, `{"type":"word-count","value":{"max":5}}`, "equal"},
		{`{"type":"llm-rubric","value":"kind"}`, `{"type":"llm-rubric","value":"kind","threshold":0.5}`, ""},
	} {
		p := subsume.NewProver([]proviso.Candidate{candidateOf(t, "a", c.a), candidateOf(t, "b", c.b)}, nil)
		if got := p.Proves(0, 1); got != c.want {
			t.Errorf("%s → %s: %q, want %q", c.a, c.b, got, c.want)
		}
	}
}

func TestRefutes(t *testing.T) {
	t.Parallel()
	p := subsume.NewProver([]proviso.Candidate{
		candidateOf(t, "a", `{"type":"contains","value":"Dear 🎉"}`), candidateOf(t, "b", `{"type":"starts-with","value":"Dear 🎉"}`),
	}, nil)
	if text, ok := p.Refutes(0, 1); !ok || !strings.Contains(text, "Dear 🎉") || strings.HasPrefix(text, "Dear 🎉") {
		t.Errorf("%q, %v", text, ok)
	}
	if text, ok := p.Refutes(1, 0); ok {
		t.Errorf("refuted by %q", text)
	}
}

// coin is a judge that gives the same answer to the same question.
type coin struct{}

func (coin) Grade(_ context.Context, q proviso.Question) (proviso.Grade, error) {
	g := proviso.Grade{Pass: true}
	for _, c := range q.Criteria {
		h := fnv.New32a()
		_, _ = h.Write([]byte(c.Text + q.Output))
		v := proviso.CriterionVerdict{Criterion: c, Status: proviso.Pass}
		if h.Sum32()&4 != 0 {
			v.Status, g.Pass = proviso.Fail, false
		}
		g.Criteria = append(g.Criteria, v)
	}
	return g, nil
}

// strayed returns the proven pairs that an output contradicts.
func strayed(t testing.TB, list []proviso.Candidate, rows []*check.Row, proven func(a, b int) string) (found []string) {
	t.Helper()
	templates := template.New(template.Options{})
	t.Cleanup(func() { _ = templates.Close() })
	compiler := check.New(check.Options{Templates: templates, Grader: coin{}})
	sets := make([]*check.Set, len(list))
	cells := make([][]proviso.Status, len(list))
	for i := range list {
		set, mistakes := compiler.Compile([]*proviso.Assertion{list[i].Assertion})
		if len(mistakes) > 0 {
			t.Fatalf("%s: %v", value.Stringify(list[i].Assertion.Raw), mistakes[0])
		}
		sets[i] = set
	}
	for _, row := range rows {
		for i, set := range sets {
			fresh := *row
			cells[i] = append(cells[i], set.Eval(t.Context(), &fresh)[0].Status)
		}
	}
	for a := range list {
		for b := range list {
			kind := proven(a, b)
			if kind == "" {
				continue
			}
			for k, row := range rows {
				passes := cells[a][k] == proviso.Pass || cells[a][k] == proviso.Skip
				if passes && cells[b][k] == proviso.Fail {
					found = append(found, fmt.Sprintf("%s: %s → %s, but %s", kind,
						value.Stringify(list[a].Assertion.Raw), value.Stringify(list[b].Assertion.Raw), value.Stringify(row.Output.Value)))
					break
				}
			}
		}
	}
	return found
}

func (m maker) rows(list []proviso.Candidate, n int) []*check.Row {
	var parts []string
	for i := range list {
		switch v := list[i].Assertion.Value.(type) {
		case string:
			parts = append(parts, v)
		case []any:
			for _, e := range v {
				parts = append(parts, value.ToString(e))
			}
		}
	}
	parts = append(parts, "a")
	rows := make([]*check.Row, n)
	for i := range rows {
		out := &proviso.Output{Value: m.output(parts), FinishReason: m.pick("stop", "length", "")}
		cost, latency := m.Float64(), time.Duration(m.IntN(400))*time.Millisecond
		out.Cost, out.Latency = &cost, &latency
		if m.IntN(2) == 0 {
			out.LogProbs = []float64{-m.Float64()}
		}
		rows[i] = &check.Row{Output: out, Prompt: m.output(parts), HasPrompt: true, Vars: value.ObjectOf("x", m.pick("a", "b"))}
	}
	return rows
}

// TestProofsHold: if it is proven that a implies b, the engine finds no output that
// passes a and fails b.
func TestProofsHold(t *testing.T) {
	t.Parallel()
	kinds := map[string]int{}
	proofs := 0
	for seed := range uint64(80) {
		m := maker{rand.New(rand.NewPCG(seed, 1)), max(0, int(seed%4)-1)}
		var list []proviso.Candidate
		for i := range 60 {
			list = append(list, candidateOf(t, fmt.Sprint(i), m.assertion()))
		}
		p := subsume.NewProver(list, nil)
		for _, text := range strayed(t, list, m.rows(list, 80), func(a, b int) string {
			kind := p.Proves(a, b)
			if kind != "" {
				kinds[string(kind)]++
				proofs++
			}
			return string(kind)
		}) {
			t.Errorf("seed %d: %s", seed, text)
		}
	}
	for _, kind := range []subsume.ProofKind{subsume.ByEquality, subsume.ByPhrases, subsume.ByLimit, subsume.BySchema, subsume.ByValue, subsume.ByText, subsume.ByPart, subsume.ByCriteria} {
		if kinds[string(kind)] < 10 {
			t.Errorf("%d proofs by %s; the test says nothing of it", kinds[string(kind)], kind)
		}
	}
	t.Logf("%d proofs: %v", proofs, kinds)
}

// FuzzProves: if one pattern is proven to imply another, no text matches only the
// first.
func FuzzProves(f *testing.F) {
	f.Add("^a[bc]", "a", "abc")
	f.Add("(a|b){2}", ".b?", "ab\n")
	f.Add(`\bi`, "I", "İ i")
	f.Fuzz(func(t *testing.T, a, b, text string) {
		if len(a)+len(b) > 60 || strings.Contains(a+b, "{{") || strings.Contains(a+b, "{%") || strings.Contains(a+b, "{#") {
			return
		}
		list := []proviso.Candidate{
			{Name: "a", Assertion: assertion.Of(value.ObjectOf("type", "regex", "value", a), "")},
			{Name: "b", Assertion: assertion.Of(value.ObjectOf("type", "regex", "value", b, "ignoreCase", len(text)%2 == 0), "")},
		}
		if subsume.NewProver(list, nil).Proves(0, 1) == "" {
			return
		}
		c := check.New(check.Options{})
		row := func() *check.Row { return &check.Row{Output: &proviso.Output{Value: text}, Vars: value.NewObject(0)} }
		first, second := c.Decide(t.Context(), list[0].Assertion, row()), c.Decide(t.Context(), list[1].Assertion, row())
		if first.Status == proviso.Pass && second.Status == proviso.Fail {
			t.Fatalf("/%s/ is proven to imply /%s/, but %q", a, b, text)
		}
	})
}
