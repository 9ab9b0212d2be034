package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/server/proposal"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/store/sqlite"
)

const bakery = `"versions": [{"name": "v1", "text": "You answer questions of customers of a bakery.\r\n{{question}}"},
	{"name": "v2", "text": "You answer questions of customers of a bakery. 🥐\nAnswer in at most 3 sentences.\nNever say \"unfortunately\".\nBe friendly.\n{{question}}"}]`

const bakeryOutputs = `"examples": [{"id": "o1", "label": "pass", "output": "We open at six."}, {"id": "o2", "label": "pass", "output": "Yes. On Sundays, too."},
	{"id": "o3", "label": "fail", "output": "Unfortunately, no."}, {"id": "o4", "label": "fail", "output": "A. B is it. C is it. D is it. E is it.", "vars": {"question": "?"}}, {"id": "o5", "output": "Unfortunately."}]`

// spade asks for assertions.
func (f *fixture) spade(body string, headers ...string) proposal.SpadeAnswer {
	f.t.Helper()
	a := f.ask("POST", "/v1/spade", "{"+body+"}", headers...)
	var out proposal.SpadeAnswer
	if err := json.Unmarshal([]byte(a.body), &out); a.status != http.StatusOK || err != nil {
		f.t.Fatalf("%d %s %v", a.status, a.body, err)
	}
	return out
}

// named returns the candidate with a name, or a zero candidate.
func named(list []proposal.SpadeCandidate, name string) proposal.SpadeCandidate {
	i := slices.IndexFunc(list, func(c proposal.SpadeCandidate) bool { return c.Name == name })
	if i < 0 {
		return proposal.SpadeCandidate{}
	}
	return list[i]
}

func TestSpade(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Open: true})
	out := f.spade(bakery + "," + bakeryOutputs)
	if len(out.History) != 2 || len(out.History[1].Changes) == 0 || out.History[1].Name != "v2" || out.History[1].Changes[1].Category == "" {
		t.Errorf("history: %+v", out.History)
	}
	newest := out.History[1].Text
	for _, s := range out.Sentences {
		if got := unitsBetween(newest, s.Start, s.End); got != s.Text {
			t.Errorf("%d to %d is %q, and the sentence %q", s.Start, s.End, got, s.Text)
		}
	}
	c := named(out.Candidates, "excludes_unfortunately")
	if !slices.Equal(c.Caught, []string{"o3"}) || !slices.Equal(c.Failed, []string{"o5"}) || len(c.False) != 0 || c.Fate != "selected" || c.Assertion.Text("type") == "" || c.Version != 2 {
		t.Errorf("%+v", c)
	}
	s := out.Selection
	if s == nil || s.Method != "sub" || !s.Proven || len(s.Chosen) != 2 || s.Caught != 2 || s.Of != 2 || s.FailedGood != 0 || s.Good != 2 {
		t.Errorf("selection: %+v", s)
	}
	if len(out.Unchecked) != 2 || out.Unchecked[1].Text != "Be friendly." || out.Unchecked[1].Reason == "" || out.Unchecked[1].Version != 2 {
		t.Errorf("unchecked: %+v", out.Unchecked)
	}
	if !strings.Contains(out.Assertions, "excludes_unfortunately") || !slices.Equal(out.Examples[2].CaughtBy, []string{"excludes_unfortunately"}) || out.Examples[4].Label != "" {
		t.Errorf("%s %+v", out.Assertions, out.Examples)
	}

	out = f.spade(bakery + "," + bakeryOutputs + `, "reject": ["excludes_unfortunately"], "alpha": 0.5`)
	if named(out.Candidates, "excludes_unfortunately").Fate != "rejected" || !slices.Equal(named(out.Candidates, "excludes_unfortunately").Caught, []string{"o3"}) ||
		out.Selection == nil || slices.Contains(out.Selection.Chosen, "excludes_unfortunately") || strings.Contains(out.Assertions, "excludes_unfortunately") {
		t.Errorf("rejected: %+v", out)
	}
	out = f.spade(bakery + "," + bakeryOutputs + `, "keep": ["excludes_unfortunately"], "alpha": 0, "labels": {"o3": "pass", "o5": "fail"}`)
	if s := out.Selection; s == nil || s.Found || len(s.Chosen) != 0 || s.Good != 3 || !strings.Contains(out.Assertions, "assertions: []") {
		t.Errorf("kept beyond tau: %+v", s)
	}
	out = f.spade(bakery + "," + bakeryOutputs + `, "keep": ["excludes_unfortunately"], "alpha": 0, "tau": 0.5, "labels": {"o3": "pass", "o5": "fail"}`)
	if s := out.Selection; !s.Found || !slices.Contains(s.Chosen, "excludes_unfortunately") || s.FailedGood != 1 || s.Caught < 1 {
		t.Errorf("kept: %+v", s)
	}
	out = f.spade(bakery) // without outputs
	if out.Selection == nil || out.Selection.Method != "none" || len(out.Selection.Chosen) != 2 || len(out.Examples) != 0 {
		t.Errorf("without outputs: %+v", out.Selection)
	}
	out = f.spade(`"versions": [{"text": "Be friendly."}]`)
	if out.Selection != nil || len(out.Candidates) != 0 || len(out.Unchecked) != 1 || !strings.Contains(out.Assertions, "assertions: []") {
		t.Errorf("nothing to select: %+v", out)
	}
	out = f.spade(`"versions": [{"name": "\ud800", "text": "Never say \"\ud800\" or \"\u0000\"."}], "examples": [{"id": "1", "output": "\ud800", "label": "fail"}, {"id": "2", "output": "", "label": "pass"}]`)
	if out.Selection == nil || out.Examples[0].Output != "\ufffd" {
		t.Errorf("lone surrogates: %+v", out)
	}
	if out = f.spade(`"versions": [{"text": "Never say \"a\"."}], "reject": ["excludes_a"]`); out.Selection != nil || len(out.Candidates) != 1 {
		t.Errorf("all rejected: %+v", out)
	}
}

// TestSpadeOfRemovedText: text that only an earlier version had is proposed as well. Sentences
// have their former wording and their condition, and sentences that rules do not read are
// reported.
func TestSpadeOfRemovedText(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Open: true})
	const versions = `"versions": [{"text": "Never say \"unfortunately\".\nAnswer in at most 3 sentences."},
		{"text": "Answer in at most 2 sentences.\n{% if vip %}\nEnd with \"Thank you\".\n{% endif %}"}]`
	out := f.spade(versions)
	c := named(out.Candidates, "excludes_unfortunately")
	if c.Version != 1 || c.Removed != 2 || c.Fate != "aside" || slices.Contains(out.Selection.Chosen, c.Name) || len(out.Former) != 0 {
		t.Errorf("without labels: %+v %+v", c, out.Selection)
	}
	i := slices.IndexFunc(out.History[1].Changes, func(d proposal.SpadeDelta) bool { return d.Text == "Answer in at most 2 sentences." })
	if d := out.History[1].Changes[i]; d.Former != "Answer in at most 3 sentences." || d.From != 2 {
		t.Errorf("%+v", d)
	}
	i = slices.IndexFunc(out.Sentences, func(s proposal.SpadeSentence) bool { return strings.HasPrefix(s.Text, "End with") })
	if s := out.Sentences[i]; s.Condition != "vip" || s.When == "" || len(s.Candidates) != 1 {
		t.Errorf("%+v", s)
	}
	out = f.spade(versions + "," + bakeryOutputs + `, "tau": 0, "alpha": 0.5`)
	if c := named(out.Candidates, "excludes_unfortunately"); c.Fate != "selected" || !slices.Equal(out.Former, []string{c.Name}) {
		t.Errorf("with labels: %+v %v", c, out.Former)
	}
	if out = f.spade(`"versions": [{"text": "Antworte dem Kunden immer freundlich und hilfsbereit. Schreibe nicht mehr, als er wissen will, und bleibe dabei sachlich."}]`); !strings.Contains(out.Unread, "German") {
		t.Errorf("unread: %q", out.Unread)
	}
	if out = f.spade(`"versions": [{"text": "Never say \"a\"."}, {"text": "Hello."}]`); out.Selection != nil || out.Candidates[0].Fate != "aside" {
		t.Errorf("nothing else: %+v", out)
	}
}

// unitsBetween returns a part of a text by UTF-16 offsets.
func unitsBetween(text string, start, end int) string {
	var out []rune
	at := 0
	for _, r := range text {
		if at >= start && at < end {
			out = append(out, r)
		}
		at++
		if r > 0xffff {
			at++
		}
	}
	return string(out)
}

// TestSpadeOfRuns: the prompt and the outputs come from a run, with its human labels.
func TestSpadeOfRuns(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Runner: suites(t, nil)})
	secret, _ := f.key(store.NewKey{Scopes: []store.Scope{store.Read, store.Evaluate, store.Edit, store.Labelling}})
	other, _ := f.key(store.NewKey{Scopes: []store.Scope{store.Labelling}})
	auth := bearer(secret)
	run := f.run(exampleSuite, auth)
	f.follow(run, auth)
	label := func(key string, index int, word string) {
		t.Helper()
		if a := f.ask("POST", "/v1/labels", fmt.Sprintf(`{"run": %q, "index": %d, "assertion": "", "label": %q}`, run, index, word), bearer(key)); a.status != 201 {
			t.Fatalf("%d %s", a.status, a.body)
		}
	}
	label(secret, 0, "fail")
	label(secret, 1, "pass")
	prompts := f.ask("GET", "/v1/prompts", "", auth).object(t)
	items, _ := prompts.At("items").([]any)
	if len(items) != 1 {
		t.Fatalf("%v", prompts)
	}
	body := fmt.Sprintf(`"prompt": "prompt 1", "run": %q`, run)
	out := f.spade(body, auth)
	if len(out.Examples) != 2 || out.Examples[0].Label != "fail" || out.Examples[1].Label != "pass" || out.Examples[1].Index == nil || *out.Examples[1].Index != 1 {
		t.Errorf("%+v", out.Examples)
	}
	if len(out.Candidates) == 0 || out.Selection == nil {
		t.Errorf("%+v", out)
	}
	label(other, 0, "pass") // people disagree
	if out = f.spade(body, auth); out.Examples[0].Label != "" {
		t.Errorf("people disagree, and the label is %q", out.Examples[0].Label)
	}
	if a := f.ask("POST", "/v1/spade", "{"+body+"}", bearer(other)); a.status != http.StatusForbidden {
		t.Errorf("without the scope read: %d %s", a.status, a.body)
	}
	for _, c := range []struct{ body, pointer, says string }{
		{`"prompt": "promt 1"`, "/prompt", `did you mean "prompt 1"`},
		{`"prompt": "prompt 1", "suite": "x"`, "/prompt", "no prompt"},
		{`"prompt": "prompt 1", "run": "run_x"`, "/run", "no run"},
	} {
		p := f.ask("POST", "/v1/spade", "{"+c.body+"}", auth).problem(t)
		if len(p.Errors) != 1 || p.Errors[0].Pointer != c.pointer || !strings.Contains(p.Errors[0].Message, c.says) {
			t.Errorf("%s: %+v", c.body, p)
		}
	}
}

// TestSpadeMistakes: a mistake gets one message with its position.
func TestSpadeMistakes(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Open: true})
	many := func(n int, one string) string { return strings.TrimSuffix(strings.Repeat(one+",", n), ",") }
	for _, c := range []struct{ body, pointer, says string }{
		{``, "/versions", "a version of the prompt is missing"},
		{`"versions": []`, "/versions", "is missing"},
		{`"versions": [{"text": " \n"}]`, "/versions", "no version of the prompt has any text"},
		{`"versions": [{"text": "a"}], "prompt": "p"`, "/prompt", "exclude each other"},
		{`"versions": [{"text": "a"}], "suite": "p"`, "/suite", "prompt is missing"},
		{`"versions": [` + many(201, `{"text": "a"}`) + `]`, "/versions", "201 versions, more than 200"},
		{`"versions": [{"text": "` + strings.Repeat("a", 70_000) + `"}]`, "/versions/0/text", "more than 65536"},
		{`"versions": [` + many(20, `{"text": "`+strings.Repeat("a", 60_000)+`"}`) + `]`, "/versions", "together, more than"},
		{bakery + `, "examples": [` + many(1001, `{"id": "a", "output": "b"}`) + `]`, "/examples", "1001 examples"},
		{bakery + `, "examples": [{"id": "a", "output": "b"}, {"id": "a", "output": "b"}]`, "/examples/1/id", "example 1 has the id"},
		{bakery + `, "examples": [{"id": "", "output": "b"}]`, "/examples/0/id", "an id has to be"},
		{bakery + `, "examples": [{"id": "\ud800", "output": "b"}]`, "/examples/0/id", "in UTF-8"},
		{bakery + `, "examples": [{"id": "a", "output": "b", "label": "good"}]`, "/examples/0/label", "pass, fail or unsure"},
		{bakery + `, "examples": [{"id": "a", "output": "` + strings.Repeat("b", 300_000) + `"}]`, "/examples/0/output", "more than 262144"},
		{bakery + `, "examples": [{"id": "a", "output": "b"}], "run": "r"`, "/run", "exclude each other"},
		{bakery + `, "labels": {"a": "pass"}`, "/labels/a", "no output"},
		{bakery + `, "labels": {"a": "ok"}`, "/labels/a", "pass, fail or unsure"},
		{bakery + `, "reject": ["excludes_unfortunatly"]`, "/reject/0", `did you mean "excludes_unfortunately"`},
		{bakery + `, "keep": ["zzzzzzz"]`, "/keep/0", "no candidate"},
		{bakery + `, "keep": ["a"], "reject": ["a"]`, "/keep/0", "under reject, too"},
		{bakery + `, "alpha": 2`, "/alpha", "not a share"},
		{bakery + `, "exampels": []`, "/exampels", `did you mean "examples"`},
	} {
		p := f.ask("POST", "/v1/spade", "{"+c.body+"}").problem(t)
		if len(p.Errors) != 1 || p.Errors[0].Pointer != c.pointer || !strings.Contains(p.Errors[0].Message, c.says) || p.Status >= 500 {
			t.Errorf("%.100s: %+v", c.body, p)
		}
	}
}

// TestSpadeIsBounded: a request that exceeds its CPU budget ends with a problem.
func TestSpadeIsBounded(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Open: true, CPUBudget: time.Millisecond})
	var text strings.Builder
	for i := range 1500 {
		fmt.Fprintf(&text, `Never say \"word%d\".\n`, i)
	}
	a := f.ask("POST", "/v1/spade", `{"versions": [{"text": "`+text.String()+`"}]}`)
	if p := a.problem(t); p.Status != 422 && p.Status != 413 && p.Status != 429 || !strings.Contains(p.Detail, "--cpu-budget") {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// FuzzSpade: every request for assertions gets one response, which reports no defect.
func FuzzSpade(f *testing.F) {
	for _, seed := range []string{
		"{" + bakery + "," + bakeryOutputs + "}", "{" + bakery + `, "reject": ["excludes_unfortunately"], "keep": ["x"]}`,
		`{"versions": [{"text": "Begin with \"{\". End with \"}\". Use 5 to 3 words. Mention {{x}}."}], "examples": [{"id": "\"", "output": "a\u0000", "label": "fail"}, {"id": ",", "output": "", "label": "pass"}]}`,
		`{"versions": [{"text": "Never say \"\ud800\"\u0000.\u2028Say \ufffe."}], "examples": [{"id": "1\u0001", "output": "\udc00"}]}`, `{"prompt": "a", "run": "b"}`, `{"versions": [{"text": "Answer as JSON with the keys \"a\" and \"b\"."}], "examples": [{"id": "1", "output": "{", "vars": {"a": {}}}], "tau": 1}`,
	} {
		f.Add(seed)
	}
	db, err := sqlite.Open(f.Context(), filepath.Join(f.TempDir(), "proviso.db"), sqlite.Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { db.Close() })
	s, err := server.New(server.Options{Store: db, Jobs: db, Judge: evaluator(passing), Open: true})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body string) {
		req := httptest.NewRequest(http.MethodPost, "http://localhost/v1/spade", strings.NewReader(body))
		req.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, req)
		if w.Code >= 500 || !json.Valid(w.Body.Bytes()) {
			t.Errorf("%q: %d %s", body, w.Code, w.Body)
		}
		var out proposal.SpadeAnswer
		if w.Code != http.StatusOK || json.Unmarshal(w.Body.Bytes(), &out) != nil {
			return
		}
		for _, x := range out.Sentences {
			placed := unitsBetween(out.History[len(out.History)-1].Text, x.Start, x.End)
			if strings.Join(strings.Fields(placed), " ") != strings.Join(strings.Fields(x.Text), " ") { // a wrapped sentence is one line
				t.Errorf("%q: %d to %d is not %q", body, x.Start, x.End, x.Text)
			}
		}
	})
}
