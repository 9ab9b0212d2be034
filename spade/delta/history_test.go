package delta_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/proviso-eval/proviso/spade/delta"
)

func TestSplit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"sentences", "Be brief. Be kind! Why?\n\nThe end.", []string{"1 Be brief.", "1 Be kind!", "1 Why?", "3 The end."}},
		{"list items", "Rules:\n1. First one. And more.\n2) Second\n  - third", []string{"1 Rules:", "2 1. First one.", "2 And more.", "3 2) Second", "4 - third"}},
		{"no sentence ends", "Use e.g. Paris, i.e. A city. Pay $3.50 to Mr. x", []string{"1 Use e.g. Paris, i.e. A city.", "1 Pay $3.50 to Mr. x"}},
		{"variables", "Say {{ a. B }} now. Here {x. Y} stays. And {% if a. B %} too. ${HOME. A} ends.", []string{"1 Say {{ a. B }} now.", "1 Here {x. Y} stays.", "1 And {% if a. B %} too.", "1 ${HOME. A} ends."}},
		{"a variable over lines", "A {{ a\n | b }} c\nd", []string{"1 A {{ a | b }} c", "3 d"}},
		{"code", "Write `a. B` and ``x. ` Y`` here. Stop.", []string{"1 Write `a. B` and ``x. ` Y`` here.", "1 Stop."}},
		{"fence", "Like\n```json\n{\"a\": 1}\n\nOne. Two.\n```\nthen.", []string{"1 Like", "2 ```json\n{\"a\": 1}\n\nOne. Two.\n```", "7 then."}},
		{"fence that is not closed", "Like ```\n```\nOne. Two.", []string{"1 Like ```", "2 ```", "3 One.", "3 Two."}},
		{"JSON is no variable", "{\n \"a\": 1\n}", []string{"1 {", "2 \"a\": 1", "3 }"}},
		{"nothing", " \n\t\n", nil},
		{"other scripts", "それは何？ はい。 次", []string{"1 それは何？", "1 はい。", "1 次"}},
	} {
		var got []string
		for _, u := range delta.Split(c.text) {
			got = append(got, fmt.Sprintf("%d %s", u.Line, u.Text))
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s:\ngot  %q\nwant %q", c.name, got, c.want)
		}
	}
}

func unblank(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}

func FuzzSplit(f *testing.F) {
	f.Add("Be brief. {a. B}\n```\nx. Y\n```\n1. `a. B` {{\n}} {% %}")
	f.Add("``` ` `` {{{ }} }}} {#\n#}")
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			return
		}
		var all strings.Builder
		line := 0
		for _, u := range delta.Split(text) {
			all.WriteString(u.Text)
			if u.Line < line || u.Text == "" {
				t.Errorf("line %d after %d: %q", u.Line, line, u.Text)
			}
			line = u.Line
		}
		if unblank(all.String()) != unblank(text) {
			t.Errorf("%q became %q", text, all.String())
		}
	})
}

// history prints changes as lines such as +3 text, -2 text, ~4<1 text.
func history(t *testing.T, texts ...string) []string {
	t.Helper()
	var versions []delta.Version
	for i, text := range texts {
		versions = append(versions, delta.Version{Name: fmt.Sprint("v", i+1), Text: text})
	}
	h, err := delta.HistoryOf(versions)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, c := range h.Changes {
		var list []string
		for _, d := range c.Deltas {
			if d.Version != c.Number {
				t.Errorf("version %d in change %d", d.Version, c.Number)
			}
			s := map[string]string{"added": "+", "removed": "-", "moved": "~"}[delta.Kind(d)] + fmt.Sprint(d.Line)
			if d.From > 0 {
				s += fmt.Sprint("<", d.From)
			}
			list = append(list, s+" "+d.Text)
		}
		out = append(out, strings.Join(list, "|"))
	}
	for _, s := range h.Skipped {
		out = append(out, fmt.Sprintf("%s = %d", s.Name, s.Same))
	}
	return out
}

func TestHistoryOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		texts []string
		want  []string
	}{
		{"version 0 is empty", []string{"A.\nB."}, []string{"+1 A.|+2 B."}},
		{"added and removed", []string{"One. Two. Three.", "One. New. Three. Four."}, []string{"+1 One.|+1 Two.|+1 Three.", "-1 Two.|+1 New.|+1 Four."}},
		{"moved", []string{"A.\nB.\nC.\nD.", "D.\nA.\nB.\nC."}, []string{"+1 A.|+2 B.|+3 C.|+4 D.", "~1<4 D."}},
		{"repeated units", []string{"A.\nA.\nB.", "A.\nB.\nA.\nA."}, []string{"+1 A.|+2 A.|+3 B.", "~3<2 A.|+4 A."}},
		{"a list numbered anew", []string{"1. A\n2. B", "1. X\n2. A\n3. B"}, []string{"+1 1. A|+2 2. B", "+1 1. X"}},
		{"blanks", []string{"A  b.\nC.", "A b.\r\n\r\nC."}, []string{"+1 A  b.|+2 C.", ""}},
		{"same", []string{"A.", "A.", "B.", "B."}, []string{"+1 A.", "-1 A.|+1 B.", "v2 = 1", "v4 = 2"}},
		{"emptied", []string{"A.", "", "B."}, []string{"+1 A.", "-1 A.", "+1 B."}},
	} {
		if got := history(t, c.texts...); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s:\ngot  %q\nwant %q", c.name, got, c.want)
		}
	}
	for _, none := range [][]delta.Version{nil, {{Text: " \n"}}} {
		if _, err := delta.HistoryOf(none); err == nil || !strings.Contains(err.Error(), "has any text") {
			t.Error(err)
		}
	}
	if _, err := delta.HistoryOf(make([]delta.Version, delta.MaxVersions+1)); err == nil {
		t.Error("too many versions are taken")
	}
	if _, err := delta.HistoryOf([]delta.Version{{Name: "x", Text: strings.Repeat("a", delta.MaxPrompt+1)}}); err == nil {
		t.Error("too long a version is taken")
	}
}

// FuzzHistory checks that the deltas turn one version into the next.
func FuzzHistory(f *testing.F) {
	f.Add("a.\nb.\na.\nc.", "c.\na.\nb.\nd.\na.")
	f.Add("0", "\xff. a")
	f.Fuzz(func(t *testing.T, one, two string) {
		h, err := delta.HistoryOf([]delta.Version{{Text: one}, {Text: two}})
		if err != nil || len(h.Changes) < 2 {
			return
		}
		count := map[string]int{}
		key := func(s string) string { return strings.Join(strings.Fields(s), " ") }
		for _, u := range delta.Split(h.Changes[0].Text) {
			count[key(u.Text)]++
		}
		sum := 0
		for _, d := range h.Changes[1].Deltas {
			switch {
			case d.Moved:
			case d.Added:
				sum++
			default:
				sum--
				if count[key(d.Text)]--; count[key(d.Text)] < 0 {
					t.Errorf("%q was removed and not there", d.Text)
				}
			}
		}
		if want := len(delta.Split(h.Changes[1].Text)) - len(delta.Split(h.Changes[0].Text)); sum != want {
			t.Errorf("%d units more by deltas, %d by counting", sum, want)
		}
	})
}

// TestLargePromptIsBounded times out if any step is quadratic.
func TestLargePromptIsBounded(t *testing.T) {
	t.Parallel()
	history(t,
		strings.Repeat("Do this {x}. ", 30_000), strings.Repeat("{{ ", 100_000), strings.Repeat("`", 100_000)+"x",
		strings.Repeat("{a} {{ `b` ", 30_000), strings.Repeat("A.\nB.\nB.\n", 30_000), strings.Repeat("B.\nA.\nA.\n", 30_000),
	)
}

func TestReadVersions(t *testing.T) {
	t.Parallel()
	lc := `{"lc":1,"type":"constructor","id":["langchain","prompts","chat","ChatPromptTemplate"],"kwargs":{"messages":[
	 {"lc":1,"id":["langchain","prompts","chat","SystemMessagePromptTemplate"],"kwargs":{"prompt":{"kwargs":{"template":"Be kind."}}}},
	 {"lc":1,"id":["langchain","prompts","chat","MessagesPlaceholder"],"kwargs":{"variable_name":"history"}},
	 {"lc":1,"id":["langchain","prompts","chat","HumanMessagePromptTemplate"],"kwargs":{"prompt":{"kwargs":{"template":"{q}"}}}}]}}`
	for _, c := range []struct{ file, text, want string }{
		{"a.txt", "Be kind.", "a.txt: Be kind."},
		{"a.jsonl", "{\"version\":2,\"template\":\"b\"}\n{\"version\":1,\"template\":\"a\"}\n", "version 1: a|version 2: b"},
		{"a.jsonl", "{\"template\":\"a\"}\n\"b\"\n{\"name\":\"x\",\"prompt\":\"c\"}", "entry 1: a|entry 2: b|x: c"},
		{"a.json", `{"commits":[{"commit_hash":"bb","created_at":"2024-02-01T00:00:00Z","manifest":` + lc + `},{"commit_hash":"aa","created_at":"2024-01-01T00:00:00Z","manifest":{"kwargs":{"template":"Old."}}}]}`,
			"aa: Old.|bb: system:\nBe kind.\n\nmessages:\n{history}\n\nuser:\n{q}"},
		{"a.json", lc, "entry 1: system:\nBe kind.\n\nmessages:\n{history}\n\nuser:\n{q}"},
		{"a.json", `[{"role":"system","content":"S"},{"role":"user","content":[{"type":"text","text":"U"}]}]`, "entry 1: system:\nS\n\nuser:\nU"},
		{"a.jsonl", `{"template":"a"}` + "\n" + `{"tmpl":"b"}`, "a.jsonl:2: there is no prompt"},
		{"a.jsonl", "{", "a.jsonl:1:"},
		{"a.json", "[1]", "a.json:1:2: there is no prompt"},
		{"a.txt", "a\x00b", "a.txt:1:2: the file is binary"},
	} {
		versions, mistakes := delta.ReadVersions(c.file, []byte(c.text))
		var got []string
		for _, v := range versions {
			got = append(got, v.Name+": "+v.Text)
		}
		text := strings.Join(got, "|")
		if err := mistakes.Err(); err != nil {
			text = err.Error()
		}
		if !strings.HasPrefix(text, c.want) {
			t.Errorf("%s\ngot  %q\nwant %q", c.text, text, c.want)
		}
	}
}

// TestHistoryReadsItself: the next step reads what deltas writes.
func TestHistoryReadsItself(t *testing.T) {
	t.Parallel()
	h, err := delta.HistoryOf([]delta.Version{{Name: "b", Text: "A <b> & {x}."}, {Name: "a", Text: "B."}})
	if err != nil {
		t.Fatal(err)
	}
	for file, write := range map[string]func([]delta.Classes) ([]byte, error){"h.json": h.JSON, "h.jsonl": h.JSONL} {
		data, err := write(nil)
		if err != nil {
			t.Fatal(err)
		}
		versions, mistakes := delta.ReadVersions(file, data)
		if mistakes.Err() != nil || len(versions) != 2 || versions[0].Text != "A <b> & {x}." || versions[1].Name != "a" {
			t.Errorf("%s: %+v %v\n%s", file, versions, mistakes, data)
		}
	}
}

// TestHistoriesOfThePaper reads the prompts of the paper, which have no licence and are
// kept outside the repository.
func TestHistoriesOfThePaper(t *testing.T) {
	t.Parallel()
	files, _ := filepath.Glob("../../../shared/spade/*/prompts.jsonl")
	if len(files) == 0 {
		t.Skip("the paper's data is not here")
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		versions, mistakes := delta.ReadVersions(file, data)
		h, err := delta.HistoryOf(versions)
		if mistakes.Err() != nil || err != nil {
			t.Fatal(mistakes, err)
		}
		name := filepath.Base(filepath.Dir(file))
		if want := map[string]int{"codereviews": 1, "lecturesummaries": 1, "statsbot": 1}[name]; len(h.Skipped) != want {
			t.Errorf("%s: %d versions skipped, want %d", name, len(h.Skipped), want)
		}
	}
}

func FuzzReadVersions(f *testing.F) {
	f.Add("a.json", `{"commits":[{"manifest":{"kwargs":{"messages":[{"id":["SystemMessage"],"kwargs":{"content":"x"}}]}}}]}`)
	f.Add("a.jsonl", "{\"version\":1,\"template\":\"a\"}\n\"b\"")
	f.Add("a.json", `[{"role":"user","content":[{"text":"x"}]}]`)
	f.Fuzz(func(t *testing.T, file, text string) {
		versions, mistakes := delta.ReadVersions(file, []byte(text))
		if mistakes.Err() != nil && versions != nil {
			t.Errorf("%d versions beside mistakes", len(versions))
		}
	})
}
