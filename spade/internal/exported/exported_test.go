package exported_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/spade/internal/exported"
	"github.com/proviso-eval/proviso/value"
)

// entriesOf reads a file like the commands.
func entriesOf(file string, data []byte) []exported.Entry {
	var list []any
	if strings.HasSuffix(file, "l") {
		for line, err := range document.Lines(bytes.NewReader(data)) {
			if err == nil {
				list = append(list, line.Value)
			}
		}
	} else if root, err := value.ParseJSON(string(data)); err == nil {
		list, _, _ = exported.Unwrap(root)
	}
	var entries []exported.Entry
	for i, v := range list {
		entries = append(entries, exported.Entry{Value: v, At: func() proviso.Place { return proviso.Place{File: file, Line: i + 1} }})
	}
	return entries
}

func fixture(t *testing.T, name string) (*exported.Kind, []exported.Entry) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	entries := entriesOf(name, data)
	if len(entries) == 0 {
		t.Fatalf("%s has no entries", name)
	}
	kind := exported.Of(entries[0].Value)
	if kind == nil {
		t.Fatalf("%s is not recognised", name)
	}
	return kind, entries
}

// TestOutputs reads a file of every tool in the form that its documentation shows.
func TestOutputs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file, kind string
		want       []string // id, label, output, variables, system message
		notes      string
	}{
		{"langfuse-traces.json", "traces of Langfuse", []string{
			`t1 1 "At six. Your bakers" {"input":"When do you open?"} You answer customers.`,
			`t2 0 "Unfortunately, no." {"question":"Do you deliver?","city":"Rome"} `,
			`t3  "Yes. Your bakers" {"input":"Do you have gluten-free bread?"} `,
		}, `labels from the score "correctness": 0 good, 1 bad; labels from the score "quality": 0 good, 1 bad; labels from the score "user-feedback": 2 good, 0 bad; 1 of the traces of Langfuse left out: they have no output; people say good and bad of 1 of the traces of Langfuse, which count as not labelled`},
		{"langfuse-observations.jsonl", "traces of Langfuse", []string{`o1  "At six." {"question":"When do you open?"} `}, "1 of the traces of Langfuse left out: they are parts of others"},
		{"langsmith-runs.jsonl", "runs of LangSmith", []string{
			`r1 1 "At six." {"question":"When do you open?"} `,
			`r3 0 "Unfortunately, no." {"input":"Do you deliver?"} You answer customers.`,
		}, `labels from the score "thumbs": 0 good, 1 bad; labels from the score "user_score": 1 good, 0 bad; 1 of the runs of LangSmith left out: they are parts of others; 1 of the runs of LangSmith left out: they ended with an error`},
		{"promptlayer-logs.jsonl", "request logs of PromptLayer", []string{
			`71  "At six." {"question":"When do you open?"} You answer customers.`,
			`72  "No." {"question":"Do you deliver?"} `,
		}, ""},
		{"openai.jsonl", "chat completions of OpenAI", []string{
			`1 1 "At six." {"input":"When do you open?"} You answer customers.`,
			"chatcmpl-2  \"No.\" {\"input\":\"Do you deliver?\"} You answer customers.\nBe brief.",
			`row-3 0 "Yes." {} `,
		}, "1 of the chat completions of OpenAI left out: they have no answer in words"},
		{"otlp.jsonl", "traces in the JSON form of OTLP", []string{`5b8efff798038103d269b633813fc60c-eee19b7ec3c1b174  "At six." {"input":"When do you open?"} You answer customers.`}, ""},
		{"events.json", "events of proviso serve", []string{
			`e1 1 "Within 30 days of delivery." {"input":"How long can I return the lamp?","context":"Returns: 30 days."} You answer questions about returns.`,
			`e2 0 "No." {"input":"Do you deliver?"} `,
		}, "the labels of 2 of the events of proviso serve are thumbs of users, who do not say what they judge"},
	} {
		kind, entries := fixture(t, c.file)
		if kind.Name != c.kind {
			t.Errorf("%s holds %s, want %s", c.file, kind.Name, c.kind)
			continue
		}
		list, notes, mistakes := kind.Outputs(entries)
		if err := mistakes.Err(); err != nil {
			t.Errorf("%s: %v", c.file, err)
		}
		var got []string
		for _, o := range list {
			got = append(got, fmt.Sprintf("%s %s %s %s %s", o.ID, o.Label, value.Stringify(o.Value), value.Stringify(o.Vars), o.System))
		}
		if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
			t.Errorf("%s:\n%s\nwant\n%s", c.file, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
		if got := strings.Join(notes, "; "); got != c.notes {
			t.Errorf("%s: notes %q, want %q", c.file, got, c.notes)
		}
	}
}

// TestPartsAlone: an export of only model calls has them as outputs.
func TestPartsAlone(t *testing.T) {
	t.Parallel()
	kind, entries := fixture(t, "langsmith-runs.jsonl")
	list, _, mistakes := kind.Outputs(entries[1:2])
	if err := mistakes.Err(); err != nil || len(list) != 1 || list[0].ID != "r2" || list[0].System != "You answer customers." || list[0].Value != "At six." {
		t.Errorf("%+v, %v", list, err)
	}
}

// TestVersions reads the versions of a prompt from a file of every tool.
func TestVersions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file, part string
		want       []string
		wrong      string
	}{
		{"langfuse-prompts.json", "bakery", []string{
			"version 3 Sign answers: You answer customers.\nAnswer in at most 3 sentences.\nEnd with \"Your bakers\".\n{{question}}",
			"version 2: You answer customers.\nAnswer in at most 3 sentences.\n{{question}}",
			"version 1: system:\nYou answer customers.\n\nmessages:\n{{history}}\n\nuser:\n{{question}}",
		}, ""},
		{"langfuse-prompts.json", "", nil, "langfuse-prompts.json:1: there are versions of 2 prompts: bakery, summary; choose one with FILE:NAME"},
		{"langfuse-prompts.json", "bakry", nil, `langfuse-prompts.json:1: no version is of the prompt "bakry"`},
		{"langsmith-commits.json", "", []string{"b0968e8d: system:\nYou answer customers.\nBe friendly.\n\nuser:\n{question}", "a0280abf: You answer customers.\n{question}"}, ""},
		{"promptlayer-prompts.json", "", []string{"version 2 shorter: system:\nYou answer customers.\nBe brief.\n\nuser:\n{question}", "version 1: You answer customers.\n{question}"}, ""},
		{"openai.jsonl", "", []string{"chatcmpl-2: You answer customers.\nBe brief.", "1: You answer customers."}, ""},
		{"promptlayer-logs.jsonl", "", []string{"71: You answer customers."}, ""},
		{"langfuse-observations.jsonl", "", nil, "langfuse-observations.jsonl:1: these are traces of Langfuse without a system message, so they show no version of a prompt; give the prompt itself, and these as the outputs"},
	} {
		kind, entries := fixture(t, c.file)
		list, _, mistakes := kind.Versions(entries, c.part)
		var got []string
		for _, v := range list {
			got = append(got, v.Name+": "+v.Text)
		}
		if strings.Join(got, "\n--\n") != strings.Join(c.want, "\n--\n") {
			t.Errorf("%s %s:\n%s\nwant\n%s", c.file, c.part, strings.Join(got, "\n--\n"), strings.Join(c.want, "\n--\n"))
		}
		wrong := ""
		if len(mistakes) > 0 {
			wrong = mistakes[0].Place.String() + ": " + mistakes[0].Message
		}
		if wrong != c.wrong {
			t.Errorf("%s %s: %s, want %s", c.file, c.part, wrong, c.wrong)
		}
	}
}

// TestWrongFiles: a file in the wrong place gives one message that says what it contains.
func TestWrongFiles(t *testing.T) {
	t.Parallel()
	kind, entries := fixture(t, "langfuse-prompts.json")
	_, _, mistakes := kind.Outputs(entries)
	if len(mistakes) != 1 || mistakes[0].Message != "these are prompts of Langfuse, which hold no outputs; give them as the versions of the prompt" {
		t.Errorf("%v", mistakes)
	}
	_, others := fixture(t, "langsmith-runs.jsonl")
	_, _, mistakes = kind.Versions(append(entries[:1:1], others[0]), "")
	if len(mistakes) != 1 || mistakes[0].Message != "the file holds prompts of Langfuse, and this is none; it is one of the runs of LangSmith" {
		t.Errorf("%v", mistakes)
	}
	listed, err := value.ParseJSON(`{"data":[{"name":"bakery","versions":[1,2],"labels":[],"tags":[],"lastUpdatedAt":"2026-03-16T09:00:00Z"}],"meta":{}}`)
	if err != nil {
		t.Fatal(err)
	}
	list, _, _ := exported.Unwrap(listed)
	_, _, mistakes = exported.Of(list[0]).Versions([]exported.Entry{{Value: list[0], At: func() proviso.Place { return proviso.Place{} }}}, "")
	if len(mistakes) != 1 || !strings.Contains(mistakes[0].Message, "which has no texts; get each version") {
		t.Errorf("%v", mistakes)
	}
	var many []exported.Entry
	for i := range 9 {
		v, err := value.ParseJSON(fmt.Sprintf(`{"messages":[{"role":"system","content":"Answer %d."},{"role":"user","content":"?"},{"role":"assistant","content":"!"}]}`, i))
		if err != nil {
			t.Fatal(err)
		}
		many = append(many, exported.Entry{Value: v, At: func() proviso.Place { return proviso.Place{} }})
	}
	if _, _, mistakes = exported.Of(many[0].Value).Versions(many, ""); len(mistakes) != 1 || !strings.HasPrefix(mistakes[0].Message, "9 of 9 system messages differ: they are filled templates") {
		t.Errorf("%v", mistakes)
	}
}

func FuzzExported(f *testing.F) {
	names, err := filepath.Glob("testdata/*.json*")
	if err != nil || len(names) == 0 {
		f.Fatal(names, err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(filepath.Base(name), string(data))
	}
	f.Fuzz(func(t *testing.T, file, text string) {
		entries := entriesOf(file, []byte(text))
		if len(entries) == 0 {
			return
		}
		kind := exported.Of(entries[0].Value)
		if kind == nil {
			return
		}
		list, _, mistakes := kind.Outputs(entries)
		if (mistakes.Err() == nil) != (len(list) > 0) {
			t.Errorf("%d outputs, %v", len(list), mistakes)
		}
		ids := map[string]bool{}
		for _, o := range list {
			if o.ID == "" || ids[o.ID] || o.Vars == nil || o.Value == nil {
				t.Errorf("%+v", o)
			}
			ids[o.ID] = true
		}
		if list, _, mistakes := kind.Versions(entries, ""); len(list) > 0 && mistakes.Err() != nil {
			t.Errorf("%+v, %v", list, mistakes)
		}
	})
}
