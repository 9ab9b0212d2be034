package proxy_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/proxy"
)

// TestConfig reads the complete configuration of the manual.
func TestConfig(t *testing.T) {
	t.Parallel()
	const text = `upstreams: {openai: https://api.openai.com, anthropic: https://api.anthropic.com/, local: "http://127.0.0.1:11434/base/"}
record: {to: http://127.0.0.1:8080, key_env: PROVISO_KEY, sample: 0.5, buffer: 64MiB}
identify:
  agent: header:x-proviso-agent
  conversation: header:X-Proviso-Conversation
  version: "2026-01"
  segment: {lang: header:X-Lang, region: eu}
versions: system-prompt
redact: [{pattern: '\d{16}'}, {field: user, hash_env: SALT}]
`
	c, wrong := proxy.ReadConfig("proxy.yaml", []byte(text), proviso.EnvMap{"PROVISO_KEY": "k", "SALT": "s"})
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	if c.Record.Buffer != 64<<20 || c.Record.Sample != 0.5 || c.Record.Key != "k" || c.Identify.Agent.Header != "X-Proviso-Agent" || c.Identify.Version.Text != "2026-01" ||
		c.Identify.Segment["region"].Text != "eu" || len(c.Redact) != 2 || c.Upstreams["local"].String() != "http://127.0.0.1:11434/base" || c.Versions != proxy.SystemPrompt {
		t.Errorf("%+v", c)
	}
	if _, wrong := proxy.ReadConfig("proxy.json", []byte(`{"upstreams":{"openai":"https://api.openai.com"}}`), nil); len(wrong) > 0 {
		t.Error(wrong)
	}
}

// TestConfigMistakes: all mistakes are reported at once, each with its position, what is expected,
// and the nearest key.
func TestConfigMistakes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"", "c.yaml: expected an object with upstreams, record, identify, versions and redact, found null"},
		{"upstreams: [", "c.yaml:2:1: "},
		{"record: {to: http://127.0.0.1:1}", "c.yaml:1:1: upstreams is missing, such as {openai: https://api.openai.com}"},
		{"upstreams: {}", "c.yaml:1:12: expected an object with names and addresses, such as {openai: https://api.openai.com}, found an empty one"},
		{"upstream: {openai: https://x.example}\nupstreams: {metrics: https://x.example, A: ftp://x, c: 'https://u:secret@x/', d: https://x/?key=secret, e: 7, f: https://x/../y}",
			`c.yaml:1:1: unknown key "upstream", expected upstreams, record, identify, versions, redact (did you mean "upstreams"?)
c.yaml:2:22: the name metrics is taken: the proxy itself answers at /metrics
c.yaml:2:44: the name "A" is used in paths: expected lower case letters, digits, hyphens, dots and underscores
c.yaml:2:44: expected an address such as https://api.example.com, found "ftp://x"
c.yaml:2:56: expected an address without user, query and fragment: keys are forwarded from requests, and key_env names that of the server
c.yaml:2:82: expected an address without user, query and fragment: keys are forwarded from requests, and key_env names that of the server
c.yaml:2:108: expected an address such as https://api.example.com, found a number
c.yaml:2:114: expected an address without . and .. in its path, found "https://x/../y"`},
		{good + "record: {tu: x, key_env: NONE, sample: 2, buffer: 64 MIB}",
			`c.yaml:2:9: to is missing: the address of a proviso server, such as http://127.0.0.1:8080
c.yaml:2:10: unknown key "tu", expected to, key_env, sample, buffer (did you mean "to"?)
c.yaml:2:26: the environment variable NONE is not set
c.yaml:2:40: expected a share from 0 to 1, found 2
c.yaml:2:51: expected a size from 1MiB to 16GiB, such as 64MiB, found "64 MIB"`},
		{good + "record: {to: http://127.0.0.1:1, buffer: 10}", "c.yaml:2:42: expected a size from 1MiB to 16GiB, such as 64MiB, found 10"},
		{good + "identify: {agent: headr:X-A, conversation: fixed, usr: x, user: 'header:Authorization', event: 'header:a b', segment: {lang: 7}}",
			`c.yaml:2:19: expected header:NAME, such as header:X-Proviso-Agent, or a text for all requests, found "headr:X-A" (did you mean "header:"?)
c.yaml:2:44: expected header:NAME, such as header:X-Proviso-Agent, found "fixed"
c.yaml:2:51: unknown key "usr", expected agent, conversation, user, event, version, segment (did you mean "user"?)
c.yaml:2:65: the header Authorization is needed by the upstream or holds a key; use one of your own, such as X-Proviso-Agent
c.yaml:2:96: expected header:NAME, such as header:X-Proviso-Agent, found "header:a b"
c.yaml:2:126: expected header:NAME, such as header:X-Proviso-Agent, or a text for all requests, found a number`},
		{good + "identify: {agent: X-Agent}",
			`c.yaml:2:19: "X-Agent" would be the name for all requests; for the header of this name write header:X-Agent (did you mean "header:X-Agent"?)`},
		{good + "versions: system-promt\nredact:\n- {patern: x}\n- {pattern: '('}\n- {field: user}\n- {field: usr}",
			`c.yaml:2:11: expected system-prompt or none, found "system-promt" (did you mean "system-prompt"?)
c.yaml:4:4: unknown field "patern"; did you mean "pattern"?
c.yaml:5:13: the pattern is not a valid RE2 regular expression: error parsing regexp: missing closing ): ` + "`(`" + `
c.yaml:7:11: there is no field "usr"; did you mean "user"?`},
		{good + "redact: [{field: user, hash_env: NONE}]", `c.yaml:2:34: the environment variable NONE is not set`},
		{good + "record: {to: 'https://x.example', key_env: pvk_9secret8}", "c.yaml:2:44: expected the name of an environment variable that is set, such as PROVISO_API_KEY, and not its value; what is there is not shown, because it may be a key"},
		{good + "redact: 7\nversions: 1", "c.yaml:2:9: the rules have to be a list, not a number\nc.yaml:3:11: expected system-prompt or none, found a number"},
		{good + "record: {to: http://far.example, key_env: K}", "warning c.yaml:2:14: the key and all events go to far.example as they are: use https"},
	} {
		_, wrong := proxy.ReadConfig("c.yaml", []byte(c.text), proviso.EnvMap{"K": "key"})
		var lines []string
		for _, m := range wrong {
			line := m.String()
			if m.Warning {
				line = "warning " + line
			}
			lines = append(lines, line)
		}
		got := strings.Join(lines, "\n")
		if strings.HasSuffix(c.want, ": ") { // the rest is the text of the YAML library
			got = got[:min(len(got), len(c.want))]
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s\n%s\n%s", c.text, got, d)
		}
		if strings.Contains(got, "secret") {
			t.Error("a key is shown")
		}
	}
}

const good = "upstreams: {openai: https://api.openai.com}\n"

// FuzzConfig: no input crashes the reader.
func FuzzConfig(f *testing.F) {
	f.Add(good + "record: {to: http://x, sample: .5, buffer: 1e3MiB}\nidentify: {agent: a, segment: {a: header:b}}\nredact: [{pattern: a}]")
	f.Add("a: &x [*x]")
	f.Fuzz(func(t *testing.T, text string) {
		c, wrong := proxy.ReadConfig("c.yaml", []byte(text), proviso.EnvMap{})
		if (c == nil) != (wrong.Err() != nil) {
			t.Fatal(c, wrong)
		}
		if c != nil {
			if _, err := proxy.New(proxy.Options{Config: c, Env: proviso.EnvMap{}}); err != nil {
				t.Fatal(err)
			}
		}
	})
}
