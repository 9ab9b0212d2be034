package suite_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/suite"
	"github.com/proviso-eval/proviso/value"
)

// untrusted reads an untrusted suite, with the files beside it, and returns every
// mistake of it and of its cases.
func untrusted(t *testing.T, text string, files map[string]string) (*proviso.Suite, []proviso.Mistake) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "suite")
	files["proviso.yaml"] = text
	for name, content := range files {
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, list := suite.Read(context.Background(), []string{"suite/proviso.yaml"}, suite.Options{Facts: facts,
		Dir: filepath.Dir(dir),
		Env: proviso.EnvMap{"KEY": "sesame", "MODEL": "m", "PROMPTFOO_CSV_DELIMITER": ";"},
		Trust: &suite.Trust{
			Env:  []string{"MODEL", "ABSENT"},
			Host: func(host string) bool { return host == "api.vendor.example" || host == "10.0.0.7" },
		},
	})
	if s != nil {
		for _, err := range s.Cases() {
			if err != nil {
				list = append(list, suite.CaseMistake(s.Places, err))
			}
		}
	}
	return s, list
}

// TestUntrusted tries everything that an untrusted suite must not do. Each attempt is
// refused at its place.
func TestUntrusted(t *testing.T) {
	t.Parallel()
	const head = "prompts: [p]\nproviders: [echo]\n"
	for name, tt := range map[string]struct {
		suite string
		files string // name=content, separated by |
		want  string // place: part of the message
	}{
		"env in a prompt":           {"prompts: ['{{ env.KEY }}']\nproviders: [echo]", "", "1:11: KEY"},
		"env in an index":           {`prompts: ["{{ env['KEY'] | upper }}"]` + "\nproviders: [echo]", "", "1:11: KEY"},
		"env in a statement":        {"prompts: ['{% if env.KEY %}x{% endif %}']\nproviders: [echo]", "", "1:11: KEY"},
		"env with a default":        {"prompts: [\"{{ env.KEY | default('x') }}\"]\nproviders: [echo]", "", "1:11: KEY"},
		"env in a file of a prompt": {"prompts: ['file://p.txt']\nproviders: [echo]", "p.txt=say {{env.KEY}}", "1:11: KEY"},
		"env in a chat":             {"prompts: ['file://p.json']\nproviders: [echo]", `p.json=[{"role":"user","content":"{{env.KEY}}"}]`, "1:11: KEY"},
		"env in a URL":              {"prompts: [p]\nproviders: ['https://api.vendor.example/?k={{ env.KEY }}']", "", "2:13: KEY"},
		"env in a header":           {"prompts: [p]\nproviders:\n- id: openai:m\n  config: {headers: {x: '{{ env.KEY }}'}}", "", "4:25: KEY"},
		"env in a webhook":          {head + "tests: [{assert: [{type: webhook, value: 'https://api.vendor.example/{{ env.KEY }}'}]}]", "", "3:42: KEY"},
		"env in a variable":         {head + "tests: [{vars: {a: '{{ env.KEY }}'}}]", "", "3:20: KEY"},
		"env in a file of cases":    {head + "tests: file://c.jsonl", `c.jsonl={"vars":{"a":"{{ env.KEY }}"}}`, "c.jsonl:1:14: KEY"},
		"env in a YAML of cases":    {head + "tests: file://c.yaml", "c.yaml=- vars:\n    a: '{{ env.KEY }}'", "c.yaml:2:8: KEY"},
		"env in a CSV of cases":     {head + "tests: file://c.csv", "c.csv=a;b\n1;{{ env.KEY }}", "c.csv:2:"},
		"env in a file of vars":     {head + "tests: [{vars: file://v.yaml}]", "v.yaml=a: '{{ env.KEY }}'", "3:16: KEY"},
		"env in env":                {head + "env: {KEY: '{{ env.KEY }}'}", "", "3:12: KEY"},
		"env of a provider":         {"prompts: [p]\nproviders: [{id: openai:m, env: {OPENAI_API_KEY: '{{ env.KEY }}'}}]", "", "2:50: KEY"},
		"key variable":              {"prompts: [p]\nproviders: [{id: openai:m, config: {apiKeyEnvar: KEY}}]", "", "2:50: KEY"},

		"API of a provider":   {"prompts: [p]\nproviders: [{id: openai:m, config: {apiBaseUrl: 'https://evil.example/v1'}}]", "", "2:49: evil.example"},
		"host of a provider":  {"prompts: [p]\nproviders: [{id: openai:m, config: {apiHost: 'EVIL.example:8080'}}]", "", "2:46: evil.example"},
		"URL as a provider":   {"prompts: [p]\nproviders: ['https://evil.example']", "", "2:13: evil.example"},
		"URL with a disguise": {"prompts: [p]\nproviders: ['https://api.vendor.example@evil.example/']", "", "2:13: evil.example"},
		"URL in a setting":    {"prompts: [p]\nproviders: [{id: http, config: {url: 'http://169.254.169.254/latest'}}]", "", "2:38: 169.254.169.254"},
		"URL of a token":      {"prompts: [p]\nproviders: [{id: http, config: {auth: {tokenUrl: 'http://evil.example'}}}]", "", "2:50: evil.example"},
		"webhook":             {head + "tests: [{assert: [{type: not-webhook, value: 'http://localhost/'}]}]", "", "3:46: localhost"},
		"webhook provider":    {"prompts: [p]\nproviders: ['webhook:http://evil.example']", "", "2:13: evil.example"},
		"file of providers":   {"prompts: [p]\nproviders: ['file://p.yaml']", "p.yaml=- id: openai:m\n  config: {apiBaseUrl: 'http://evil.example'}", "p.yaml:2:24: evil.example"},

		"raw request":         {"prompts: [p]\nproviders: [{id: http, config: {request: \"POST / HTTP/1.1\\nHost: evil.example\\n\\nhi\"}}]", "", "2:42: evil.example"},
		"target of a request": {"prompts: [p]\nproviders: [{id: http, config: {request: 'GET http://evil.example/ HTTP/1.1'}}]", "", "2:42: evil.example"},

		"exec":                  {"prompts: [p]\nproviders: ['exec:cat /etc/passwd']", "", "2:13: is code"},
		"exec by label":         {"prompts: [p]\nproviders: [{id: 'exec:id', label: x}]", "", "2:18: is code"},
		"exec as a key":         {"prompts: [p]\nproviders: [{'exec:id': {label: x}}]", "", "2:25: is code"},
		"exec of a case":        {head + "tests: [{provider: 'exec:id'}]", "", "3:20: is code"},
		"exec as a judge":       {head + "judge: 'exec:id'", "", "3:8: is code"},
		"exec of an assertion":  {head + "tests: [{assert: [{type: equals, value: a, provider: {text: {id: 'exec:id'}}}]}]", "", "3:66: is code"},
		"exec of an option":     {head + "defaultTest: {options: {provider: python:x.py}}", "", "3:35: is code"},
		"exec prompt":           {"prompts: ['exec:id']\nproviders: [echo]", "", "1:11: is code"},
		"script provider":       {"prompts: [p]\nproviders: ['file://p.py']", "p.py=", "2:13: is code"},
		"other script provider": {"prompts: [p]\nproviders: [p.js]", "p.js=", "2:13: is code"},
		"script prompt":         {"prompts: ['file://p.py:f']\nproviders: [echo]", "p.py=", "1:11: is code"},
		"script of a glob":      {"prompts: ['file://*.js']\nproviders: [echo]", "p.js=", "1:11: is code"},
		"script of cases":       {head + "tests: file://c.js", "c.js=", "3:8: is code"},
		"script of a variable":  {head + "tests: [{vars: {a: 'file://v.py'}}]", "v.py=", "3:20: is code"},
		"assertion":             {head + "tests: [{assert: [{type: javascript, value: 'true'}]}]", "", "3:26: is code"},
		"negated assertion":     {head + "tests: [{assert: [{type: not-python, value: 'true'}]}]", "", "3:26: is code"},
		"assertion in a set":    {head + "tests: [{assert: [{type: assert-set, assert: [{type: ruby, value: 'true'}]}]}]", "", "3:54: is code"},
		"assertion of a prompt": {"prompts: [{raw: p, assert: [{type: javascript, value: 'true'}]}]\nproviders: [echo]", "", "1:36: is code"},
		"assertion of the set":  {head + "assertions: [{id: a, check: {type: javascript, value: 'true'}}]", "", "3:36: is code"},
		"assertion in a CSV":    {head + "tests: file://c.csv", "c.csv=a;__expected\n1;javascript: true", "c.csv:2:"},
		"script value":          {head + "tests: [{assert: [{type: contains-all, value: [a, 'file://v.js']}]}]", "v.js=", "3:51: is code"},
		"transform":             {head + "tests: [{assert: [{type: equals, value: a, transform: output}]}]", "", "3:55: is code"},
		"context transform":     {head + "tests: [{assert: [{type: equals, value: a, contextTransform: output}]}]", "", "3:62: is code"},
		"transform of a case":   {head + "tests: [{options: {transform: output}}]", "", "3:31: is code"},
		"older transform":       {head + "tests: [{options: {postprocess: output}}]", "", "3:33: is code"},
		"transform of vars":     {head + "defaultTest: {options: {transformVars: vars}}", "", "3:40: is code"},
		"transform of provider": {"prompts: [p]\nproviders: [{id: echo, transform: output}]", "", "2:35: is code"},
		"script in a provider":  {"prompts: [p]\nproviders: [{id: http, config: {transformResponse: 'file://t.js'}}]", "", "2:52: is code"},
		"response":              {"prompts: [p]\nproviders: [{id: http, config: {transformResponse: json.x}}]", "", "2:52: is code"},
		"status":                {"prompts: [p]\nproviders: [{id: http, config: {validateStatus: status < 500}}]", "", "2:49: is code"},
		"request":               {"prompts: [p]\nproviders: [{id: http, config: {transformRequest: '(p) => `{{}}`'}}]", "", "2:51: is code"},
		"scoring":               {head + "tests: [{vars: {}, assertScoringFunction: 'file://s.js'}]", "s.js=", "3:43: is code"},
		"filter":                {head + "nunjucksFilters: {f: f.js}", "f.js=", "3:22: is code"},
		"metric":                {head + "derivedMetrics: [{name: m, value: 'file://m.js'}]", "m.js=", "3:35: is code"},
		"metric as text":        {head + "derivedMetrics: [{name: m, value: 's => s.m'}]", "", "3:35: is code"},
		"hook":                  {head + "extensions: ['file://h.js:f']", "h.js=", "3:13: is code"},
		"rubric":                {head + "tests: [{options: {rubricPrompt: 'file://r.js'}}]", "r.js=", "3:34: is code"},
		"program for tools":     {"prompts: [p]\nproviders: [{id: openai:m, config: {mcp: {command: id}}}]", "", "2:42: is code"},

		"absolute prompt":      {"prompts: ['file:///etc/passwd']\nproviders: [echo]", "", "1:11: outside"},
		"prompt above":         {"prompts: ['file://../x.txt']\nproviders: [echo]", "", "1:11: outside"},
		"prompt without file:": {"prompts: [../x.txt]\nproviders: [echo]", "", "1:11: outside"},
		"home":                 {"prompts: ['file://~/.ssh/id']\nproviders: [echo]", "", "1:11: outside"},
		"pattern above":        {"prompts: ['file://../*.txt']\nproviders: [echo]", "", "1:11: outside"},
		"hidden prompt":        {"prompts: ['file://.env']\nproviders: [echo]", ".env=KEY=1", "1:11: hidden"},
		"git":                  {"prompts: ['file://.git/config']\nproviders: [echo]", ".git/config=x", "1:11: hidden"},
		"cases":                {head + "tests: file:///etc/passwd", "", "3:8: outside"},
		"cases in CSV":         {head + "tests: file://../x.csv", "", "3:8: outside"},
		"cases in JSONL":       {head + "tests: [{path: ../x.jsonl}]", "", "3:9: outside"},
		"pattern of cases":     {head + "tests: file://../*.yaml", "", "3:8: outside"},
		"vars":                 {head + "tests: [{vars: ../x.yaml}]", "", "3:16: outside"},
		"variable":             {head + "tests: [{vars: {a: 'file:///etc/passwd'}}]", "", "3:20: outside"},
		"pattern of variables": {head + "tests: [{vars: {a: 'file://../*.txt'}}]", "", "3:20: outside"},
		"reference":            {"prompts: [p]\nproviders:\n  $ref: '../x.yaml#/a'", "", "3:3: outside"},
		"absolute reference":   {"prompts: [p]\nproviders:\n  $ref: 'file:///etc/passwd'", "", "3:3: outside"},
		"reference of cases":   {head + "tests: file://c.yaml", "c.yaml=- $ref: '../x.yaml#/a'", "outside"},
		"default":              {head + "defaultTest: file://../x.yaml", "", "3:14: outside"},
		"set":                  {head + "assertions: file://../x.yaml", "", "3:13: outside"},
		"providers":            {"prompts: [p]\nproviders: ['file://../x.yaml']", "", "2:13: outside"},
		"scenarios":            {head + "scenarios: ['file://../x.yaml']", "", "3:13: outside"},
		"report as a filter":   {head + "commandLineOptions: {filterFailing: /etc/passwd}", "", "3:37: outside"},
		"recorded outputs":     {head + "commandLineOptions: {modelOutputs: /etc/passwd}", "", "3:36: untrusted"},
		"value":                {head + "tests: [{assert: [{type: contains, value: 'file://../x.txt'}]}]", "", "3:43: outside"},
		"schema":               {head + "tests: [{assert: [{type: is-json, value: 'file:///etc/passwd'}]}]", "", "3:42: outside"},
		"tools":                {"prompts: [p]\nproviders: [{id: openai:m, config: {tools: ['file://.env']}}]", ".env=x", "2:45: hidden"},
		"recording":            {"prompts: [p]\nproviders: ['recorded:../x.jsonl']", "", "2:13: outside"},
		"rubric above":         {head + "defaultTest: {options: {rubricPrompt: ['file://../x.txt']}}", "", "3:40: outside"},
		"file in a chat":       {"prompts: ['file://p.json']\nproviders: [echo]", `p.json=["file:///etc/passwd"]`, "p.json:1:2: outside"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{}
			for entry := range strings.SplitSeq(tt.files, "|") {
				if name, content, ok := strings.Cut(entry, "="); ok {
					files[name] = content
				}
			}
			_, list := untrusted(t, tt.suite, files)
			place, part, _ := strings.Cut(tt.want, ": ")
			if part == "" {
				place, part = part, place
			}
			if !strings.Contains(place, "/") && place != "" && !strings.Contains(place, ".") {
				place = "proviso.yaml:" + place
			}
			if strings.HasSuffix(part, ":") {
				place, part = part, ""
			}
			if !slices.ContainsFunc(list, func(m proviso.Mistake) bool {
				return m.Code == proviso.Refused && !m.Warning && strings.Contains(m.Place.String(), place) && strings.Contains(m.Message, part)
			}) {
				t.Errorf("not refused at %s with %q: %v", place, part, list)
			}
			for _, m := range list {
				if m.Code != proviso.Refused && !m.Warning && m.Code != proviso.Unsupported && m.Message != "the suite has no cases" {
					t.Errorf("another mistake: %s: %v", m.Code, m)
				}
			}
			if text := fmt.Sprint(list); strings.Contains(text, "sesame") || strings.Contains(text, "root:") {
				t.Errorf("a secret is shown: %s", text)
			}
		})
	}
}

// TestUntrustedLinks follows links out of the folder.
func TestUntrustedLinks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, content := range map[string]string{"secret.txt": "sesame", "suite/.env": "KEY=sesame"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"a.txt": "../secret.txt", "b.txt": ".env", "folder": "..", "proviso.yaml": "../own.yaml", "own.yaml": "../own.yaml"} {
		if err := os.Symlink(target, filepath.Join(dir, "suite", link)); err != nil {
			t.Skip(err)
		}
	}
	text := "prompts: ['file://a.txt', 'file://b.txt', 'file://folder/secret.txt', 'file://folder/*.txt', 'file://*.txt']\nproviders: [echo]\n"
	if err := os.WriteFile(filepath.Join(dir, "suite", "real.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "own.yaml"), []byte("prompts: [sesame]\nproviders: [echo]"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, list := suite.Read(t.Context(), []string{"suite/real.yaml"}, suite.Options{Dir: dir, Facts: facts, Trust: &suite.Trust{}})
	if s != nil && len(s.Prompts) > 0 {
		t.Errorf("prompts were read: %v", s.Prompts)
	}
	for _, m := range list {
		if m.Code != proviso.Refused || m.Place.Line != 1 {
			t.Errorf("got %s: %v", m.Code, m)
		}
	}
	if len(list) < 5 {
		t.Errorf("only %v", list)
	}
	s, list = suite.Read(t.Context(), []string{"suite/proviso.yaml"}, suite.Options{Dir: dir, Facts: facts, Trust: &suite.Trust{}})
	if s != nil || len(list) != 1 || list[0].Code != proviso.Refused {
		t.Errorf("a suite that is a link out of its folder: %v, %v", s, list)
	}
}

// TestUntrustedWarnings: settings of the suite about the user's own files are ignored
// with a warning.
func TestUntrustedWarnings(t *testing.T) {
	t.Parallel()
	s, list := untrusted(t, "prompts: [p]\nproviders: [echo]\noutputPath: /tmp/x.json\nenvPath: .env\n"+
		"commandLineOptions: {output: [../x.json], envFile: e.env, write: false}\nenv: {OWN: '{{ env.MODEL }}!'}\n"+
		"tests: [{vars: {a: '{{ env.OWN }}{{ env.ABSENT }}{{ environment.KEY }}{{ x.env.KEY }}env.KEY'}}]",
		map[string]string{".env": "KEY=1", "e.env": "KEY=1"})
	var got []string
	for _, m := range list {
		got = append(got, fmt.Sprintf("%d %t", m.Place.Line, m.Warning))
	}
	if want := "3 true;4 true;5 true;5 true;7 true"; strings.Join(got, ";") != want {
		t.Errorf("got %v, want %s: %v", got, want, list)
	}
	if s == nil || len(s.Outputs) > 0 || s.Options.Write != nil || value.Stringify(s.Env) != `{"OWN":"m!"}` {
		t.Errorf("suite %+v", s)
	}
}

// TestUntrustedProviderEnv: what a suite adds to the environment is passed to its
// providers as the suite's, so that they can tell it from the user's.
func TestUntrustedProviderEnv(t *testing.T) {
	t.Parallel()
	s, list := untrusted(t, "prompts: [p]\nproviders: [openai:a, {id: openai:b, env: {X: '2'}}]\nenv: {OPENAI_BASE_URL: 'https://evil.example', X: '1'}", map[string]string{})
	if len(list) > 0 || s == nil {
		t.Fatal(list)
	}
	for i, want := range []string{"1", "2"} {
		if env := s.Providers[i].Env; env.At("OPENAI_BASE_URL") != "https://evil.example" || env.At("X") != want {
			t.Errorf("provider %d has %s", i, value.Stringify(env))
		}
	}
}
