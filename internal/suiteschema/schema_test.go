package suiteschema_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/assertion"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/jsonschema"
	"github.com/proviso-eval/proviso/internal/regex"
	"github.com/proviso-eval/proviso/internal/suiteschema"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/suite"
	"github.com/proviso-eval/proviso/value"
)

// compiled compiles the schema.
func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	engine := regex.New(regex.Options{})
	t.Cleanup(func() { _ = engine.Close() })
	s, err := jsonschema.Compile(suiteschema.Of(), jsonschema.Options{Lax: true, Pattern: func(pattern, flags string) (jsonschema.Matcher, error) {
		p, err := engine.Compile(pattern, flags)
		if err != nil {
			return nil, err
		}
		return p.Match, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// stricter are valid suites that the schema refuses, each with the reason.
var stricter = map[string]string{
	"refs.txtar/proviso.yaml": "a key of any name may hold values for references; the schema knows only those that begin with x-",
}

// unread are types that read a value of another kind as no value. validate accepts
// such a value; the schema refuses it.
var unread = []string{"contains-sql", "contains-xml", "is-sql", "is-xml", "max-score", "trace-error-spans"}

// refusal returns why the schema refuses a suite, "" if it does not.
func refusal(t *testing.T, s *jsonschema.Schema, root any) string {
	t.Helper()
	list, err := s.Validate(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) == 0 {
		return ""
	}
	return jsonschema.ErrorsText(list)
}

// mistakes returns what reading and compiling a suite reports: mistakes and warnings.
func mistakes(t *testing.T, dir, name string) (wrong, warned []string) {
	t.Helper()
	facts := proviso.Facts{Types: check.Facts(), Providers: provider.Facts()}
	s, all := suite.Read(context.Background(), []string{name}, suite.Options{Dir: dir, Facts: facts, Env: proviso.EnvMap{"SET": "from-env"}})
	if s != nil {
		c := check.New(check.Options{Files: suite.NewFiles(dir, suite.FilesOptions{}), Lenient: s.Lenient, Providers: facts.Providers})
		defer c.Close()
		for one, err := range s.Cases() {
			if err != nil {
				all = append(all, proviso.Mistake{Message: err.Error()})
				continue
			}
			_, more := c.Compile(one.Assert)
			for _, e := range more {
				all = append(all, proviso.Mistake{Message: e.Message, Warning: e.Warning})
			}
		}
		for _, p := range s.Providers {
			if _, err := provider.Open(p, provider.Options{Files: suite.NewFiles(dir, suite.FilesOptions{}), Env: proviso.EnvMap{}, Keyless: true}); err != nil && strings.Contains(err.Error(), "not available") {
				all = append(all, proviso.Mistake{Message: err.Error()})
			}
		}
	}
	for _, m := range all {
		if m.Warning {
			warned = append(warned, m.Message)
		} else {
			wrong = append(wrong, m.Message)
		}
	}
	return wrong, warned
}

// TestEveryKey: every key of every table is in the schema, with its description.
func TestEveryKey(t *testing.T) {
	t.Parallel()
	schema := suiteschema.Of()
	for _, k := range suite.KeyDocs() {
		o := schema
		switch k.Object {
		case "suite":
		case "derived metric":
			o = schema.Object("definitions").Object("derived-metric")
		default:
			o = schema.Object("definitions").Object(strings.ReplaceAll(k.Object, ".", "-"))
		}
		if p := o.Object("properties").Object(k.Key); !strings.HasSuffix(p.Text("description"), k.Doc) || k.Doc == "" {
			t.Errorf("%s: %s is described as %q, want %q", k.Object, k.Key, p.Text("description"), k.Doc)
		}
	}
}

// TestAccepts: the schema accepts every suite of the repository that validate accepts
// without a warning.
func TestAccepts(t *testing.T) {
	t.Parallel()
	s := compiled(t)
	accepted := 0
	try := func(name, dir, file string, data []byte) {
		doc, err := document.Parse(file, data)
		if err != nil {
			return
		}
		wrong, warned := mistakes(t, dir, file)
		if len(wrong) > 0 {
			return
		}
		if why := refusal(t, s, doc.Root); why == "" || stricter[name] != "" {
			accepted++
		} else if len(warned) == 0 {
			t.Errorf("%s: valid, but the schema says: %s", name, why)
		} else {
			t.Logf("%s: valid with the warnings %q, and the schema says: %s", name, warned, why)
		}
	}
	root := filepath.Join("..", "..")
	for _, pattern := range []string{"examples/*/*.yaml", "judge/testdata/labelled/proviso.yaml", "cmd/proviso/starter/*.yaml"} {
		files, _ := filepath.Glob(filepath.Join(root, pattern))
		for _, f := range files {
			if base := filepath.Base(f); !strings.HasPrefix(base, "proviso") && base != "promptfooconfig.yaml" {
				continue
			}
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			try(f, filepath.Dir(f), filepath.Base(f), data)
		}
	}
	for _, pattern := range []string{"suite/testdata/*/*.txtar", "cmd/proviso/testdata/*.txtar"} {
		files, _ := filepath.Glob(filepath.Join(root, pattern))
		for _, f := range files {
			archive, err := txtar.ParseFile(f)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			_ = txtar.Write(archive, dir) // a file outside the folder is not written
			for _, part := range archive.Files {
				if ext := filepath.Ext(part.Name); (ext == ".yaml" || ext == ".yml" || ext == ".json") && (bytes.Contains(part.Data, []byte("providers"))) {
					try(filepath.Base(f)+"/"+part.Name, filepath.Join(dir, filepath.Dir(part.Name)), filepath.Base(part.Name), part.Data)
				}
			}
		}
	}
	if accepted < 100 {
		t.Errorf("only %d suites were accepted", accepted)
	}
}

// TestAcceptsCorpus: the schema accepts every assertion recorded from promptfoo that
// compiles without a mistake or a warning.
func TestAcceptsCorpus(t *testing.T) {
	t.Parallel()
	s := compiled(t)
	dir := filepath.Join("..", "..", "conformance", "corpus")
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	c := check.New(check.Options{Files: suite.NewFiles(filepath.Join(dir, "fixtures"), suite.FilesOptions{})})
	t.Cleanup(func() { _ = c.Close() })
	accepted := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			v, err := value.ParseJSON(line)
			if err != nil {
				t.Fatal(err)
			}
			list, ok := v.(*value.Object).At("assert").([]any)
			if one := v.(*value.Object).Object("assert"); one != nil {
				list, ok = []any{one}, true
			}
			if !ok || !valid(c, list) {
				continue
			}
			why := refusal(t, s, suiteOf("tests", []any{value.ObjectOf("assert", list)}))
			if why != "" && !slices.Contains(unread, strings.TrimPrefix(list[0].(*value.Object).Text("type"), "not-")) {
				t.Errorf("%s: %s: %s", filepath.Base(file), value.Stringify(list), why)
			}
			accepted++
		}
	}
	if accepted < 1000 {
		t.Errorf("only %d lists of assertions were compared", accepted)
	}
}

// valid reports whether a list of assertions has no mistake and no warning.
func valid(c *check.Compiler, list []any) bool {
	ok := true
	d := assertion.Decoder{Report: func(*proviso.Error) { ok = false }}
	_, mistakes := c.Compile(d.List("/assert", list))
	return ok && len(mistakes) == 0
}

// suiteOf returns a small suite with a key replaced.
func suiteOf(key string, v any) *value.Object {
	o := value.ObjectOf("prompts", []any{"Hi {{name}}"}, "providers", []any{"echo"}, "tests", []any{value.ObjectOf("vars", value.ObjectOf("name", "Ann"))})
	o.Set(key, v)
	return o
}

// TestMistakes compares the refusals of the schema with those of validate. by says
// which refuses: "both", or "validate" if the schema cannot see the mistake.
func TestMistakes(t *testing.T) {
	t.Parallel()
	s := compiled(t)
	for _, tt := range []struct{ by, suite string }{
		{"both", `{"prompts":["hi"],"providers":["echo"],"testz":[]}`},
		{"both", `{"prompts":["hi"],"provider":["echo"]}`},
		{"both", `{"prompts":["hi"],"providers":["ech"]}`},
		{"both", `{"prompts":["hi"],"providers":[{"id":"echo","temperature":1}]}`},
		{"both", `{"prompts":["hi"],"providers":[{"id":"opnai:chat:gpt-5"}]}`},
		{"both", `{"prompts":["hi"],"providers":["echo"],"description":7}`},
		{"both", `{"prompts":["hi"],"providers":["echo"],"threshold":80}`},
		{"both", `{"prompts":["hi"],"providers":["echo"],"plugins":["x"]}`},
		{"both", `{"prompts":["hi"],"providers":["echo"],"evaluateOptions":{"maxConcurrency":0}}`},
		{"both", `{"prompts":["hi"],"providers":["echo"],"evaluateOptions":{"repeat":"5"}}`},
		{"both", `{"prompts":["hi"],"providers":["echo"],"evaluateOptions":{"timeout":5}}`},
		{"both", `{"prompts":["hi"],"providers":["echo"],"judge":{"id":"echo","mode":"fast"}}`},
		{"both", `{"prompts":["hi"],"providers":["echo"],"judge":{"id":"echo","votes":0}}`},
		{"both", `{"prompts":["hi"],"providers":["echo"],"sandbox":{"timeoutMs":5}}`},
		{"both", `{"prompts":["hi"],"providers":["echo"],"tracing":{"otlp":{"http":{"prt":1}}}}`},
		{"both", `{"prompts":["hi"],"providers":["echo"],"derivedMetrics":[{"name":"a","formula":"1"}]}`},
		{"both", `{"prompts":["hi"],"providers":["echo"],"gate":{"margni":0.1}}`},
		{"both", `{"prompts":["hi"],"providers":["echo"],"gate":{"minScore":80}}`},
		{"both", `{"prompts":["hi"],"providers":["echo"],"gate":{"cost":{"maximum":1}}}`},
		{"both", `{"prompts":["hi"],"providers":["echo"],"gate":{"assertions":{"a":{"max":1}}}}`},
		{"both", `{"prompts":["hi"],"providers":["echo"],"evaluateOptions":{"passRate":60}}`},
		{"both", `{"prompts":[{"raw":"hi","name":"x"}],"providers":["echo"]}`},
		{"both", `{"prompts":["hi"],"providers":["echo"],"scenarios":[{"config":[],"test":[]}]}`},
		{"both", `{"prompts":["hi"],"providers":["echo"],"tests":[{"asserts":[]}]}`},
		{"both", `{"prompts":["hi"],"providers":["echo"],"tests":[{"vars":{"a":"b"},"threshold":"0.5"}]}`},
		{"both", `{"prompts":["hi"],"providers":["echo"],"tests":[{"vars":7}]}`},
		{"both", `{"prompts":["hi"],"providers":["echo"],"tests":{"vars":{"a":"b"}}}`},
		{"both", `{"prompts":["hi"],"providers":["echo"],"tests":[{"assert":{"type":"contains","value":"x"}}]}`},
		{"both", `{"prompts":["hi"],"providers":["echo"],"tests":[{"assert":[{"type":"contans","value":"x"}]}]}`},
		{"both", `{"prompts":["hi"],"providers":["echo"],"tests":[{"assert":[{"value":"x"}]}]}`},
		{"both", `{"prompts":["hi"],"providers":["echo"],"tests":[{"assert":[{"type":"contains"}]}]}`},
		{"both", `{"prompts":["hi"],"providers":["echo"],"tests":[{"assert":[{"type":"contains","value":["x"]}]}]}`},
		{"both", `{"prompts":["hi"],"providers":["echo"],"tests":[{"assert":[{"type":"contains","value":"x","threshhold":1}]}]}`},
		{"both", `{"prompts":["hi"],"providers":["echo"],"tests":[{"assert":[{"type":"word-count","value":"few"}]}]}`},
		{"both", `{"prompts":["hi"],"providers":["echo"],"tests":[{"assert":[{"type":"word-count","value":{"most":3}}]}]}`},
		{"both", `{"prompts":["hi"],"providers":["echo"],"tests":[{"assert":[{"type":"word-count","value":{"max":"3"}}]}]}`},
		{"both", `{"prompts":["hi"],"providers":["echo"],"tests":[{"assert":[{"type":"contains","value":"x","scope":{"each":"word"}}]}]}`},
		{"both", `{"prompts":["hi"],"providers":["echo"],"tests":[{"assert":[{"type":"contains","value":"x","severity":"high"}]}]}`},
		{"both", `{"prompts":["hi"],"providers":["echo"],"assertions":[{"id":"a","criteria":[{"texts":"q"}]}]}`},
		{"both", `{"prompts":["hi"],"providers":["echo"],"tests":[{"assert":[{"type":"human"}]}]}`},

		{"validate", `{"prompts":["file://nothere.txt"],"providers":["echo"]}`},                                                                // other files
		{"validate", `{"prompts":["hi"],"providers":["echo"],"gate":{"mustPass":["tone"]}}`},                                                   // names of assertions
		{"validate", `{"prompts":["hi"]}`},                                                                                                     // a suite may be a part of several
		{"validate", `{"prompts":["hi"],"providers":["echo"],"targets":["echo"]}`},                                                             // keys that exclude each other
		{"validate", `{"prompts":["hi"],"providers":["echo"],"assertions":[{"type":"contains","value":"x"}]}`},                                 // an id that only a set needs
		{"validate", `{"prompts":["hi"],"providers":["echo"],"tests":[{"prompts":["b"],"vars":{"a":"b"}}]}`},                                   // names of prompts
		{"validate", `{"prompts":["hi"],"providers":["echo"],"tests":[{"assert":[{"type":"regex","value":"("}]}]}`},                            // patterns
		{"validate", `{"prompts":["hi"],"providers":["echo"],"tests":[{"assert":[{"type":"contains","value":"{{ x"}]}]}`},                      // templates
		{"validate", `{"prompts":["hi"],"providers":["echo"],"tests":[{"assert":[{"type":"contains","value":"x","when":"a =="}]}]}`},           // conditions
		{"validate", `{"prompts":["hi"],"providers":["echo"],"tests":[{"assert":[{"type":"contains","value":"x","weight":-1}]}]}`},             // ranges of numbers
		{"validate", `{"prompts":["hi"],"providers":["echo"],"tests":[{"assert":[{"type":"cost"}]}]}`},                                         // limits that a type requires
		{"validate", `{"prompts":["hi"],"providers":["echo"],"tests":[{"assert":[{"type":"is-html","ignoreCase":true}]}]}`},                    // keys without an effect
		{"validate", `{"prompts":["hi"],"providers":["echo"],"tests":[{"assert":[{"type":"contains","value":"x","scope":{"match":"all"}}]}]}`}, // keys that need another
		{"validate", `{"prompts":["hi"],"providers":["echo"],"tests":[{"assert":[{"type":"assert-set","assert":[]}]}]}`},                       // empty lists
		{"validate", `{"prompts":["hi"],"providers":["echo"],"tests":[{"assert":[{"type":"chars","value":"vowel"}]}]}`},                        // names within a value
		{"validate", `{"prompts":["hi"],"providers":["echo"],"derivedMetrics":[{"name":"a","value":"1"},{"name":"a","value":"2"}]}`},           // names that must differ
		{"validate", `{"prompts":["hi"],"providers":["echo"],"tests":[{"vars":{"a":"b"},"repeat":{"n":2,"pass":3}}]}`},                         // numbers that bound each other
	} {
		root, err := value.ParseJSON(tt.suite)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "proviso.json"), []byte(tt.suite), 0o600); err != nil {
			t.Fatal(err)
		}
		wrong, _ := mistakes(t, dir, "proviso.json")
		why := refusal(t, s, root)
		if len(wrong) == 0 {
			t.Errorf("%s: validate accepts it", tt.suite)
		}
		if (why != "") != (tt.by == "both") {
			t.Errorf("%s: the schema says %q, want refused by %s; validate says %q", tt.suite, why, tt.by, wrong)
		}
	}
}
