package suite_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/suite"
	"github.com/proviso-eval/proviso/value"
)

// readTracing reads a suite with settings for traces.
func readTracing(t *testing.T, tracing string, o suite.Options) (*proviso.Suite, proviso.Mistakes) {
	t.Helper()
	o.Dir = t.TempDir()
	text := "prompts: [hi]\nproviders: [echo]\ntracing: " + tracing + "\ntests: [{vars: {a: b}}]\n"
	for name, data := range map[string]string{"proviso.yaml": text, "a.json": "{}", "b.json": "{}"} {
		if err := os.WriteFile(filepath.Join(o.Dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return suite.Read(t.Context(), []string{"proviso.yaml"}, o)
}

func TestTracing(t *testing.T) {
	t.Parallel()
	s, mistakes := readTracing(t, `
  enabled: true
  failOnReceiverStartFailure: true
  waitMs: 500
  commandToolNames: [bash, " run "]
  file: [a.json, "file://b.json"]
  otlp: {http: {enabled: true, port: 0, host: localhost, acceptFormats: [json], redactAttributes: [authorization]}}
  forwarding: {enabled: true, endpoint: "http://jaeger:4318", headers: {api-key: "{{ env.K }}", x-team: written-out}}
  emit: {endpoint: "https://example.com/v1/logs"}`, suite.Options{Env: proviso.EnvMap{"K": "hunter2"}})
	if mistakes.Err() != nil {
		t.Fatal(mistakes)
	}
	tr := s.Tracing
	if !tr.Enabled || !tr.MustReceive || tr.Host != "localhost" || tr.Port == nil || *tr.Port != 0 || tr.WaitMS == nil || *tr.WaitMS != 500 {
		t.Errorf("%+v", tr)
	}
	for _, l := range [][2][]string{
		{tr.CommandTools, {"bash", "run"}}, {tr.Files, {"a.json", "b.json"}}, {tr.Formats, {"json"}}, {tr.Redact, {"authorization"}},
	} {
		if !slices.Equal(l[0], l[1]) {
			t.Errorf("got %v, want %v", l[0], l[1])
		}
	}
	if f := tr.Forward; f == nil || f.URL != "http://jaeger:4318" || f.Headers.At("api-key") != "hunter2" || f.Headers.At("x-team") != "written-out" {
		t.Errorf("forwarding: %+v", f)
	}
	if e := tr.Emit; e == nil || e.URL != "https://example.com/v1/logs" || e.Headers.Len() != 0 {
		t.Errorf("emit: %+v", e)
	}
	if config := value.Stringify(s.Config); strings.Contains(config, "written-out") || strings.Contains(config, "hunter2") || !strings.Contains(config, "{{ env.K }}") {
		t.Errorf("reports get %s", config)
	}
}

// TestTracingOff reads settings that disable tracing, and settings that only
// promptfoo has.
func TestTracingOff(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"{}", "{enabled: false}", "{enabled: true, otlp: {http: {enabled: false}}}", "{forwarding: {enabled: false}}",
		"{storage: {type: sqlite, retentionDays: 30}, otlp: {grpc: {port: 4317}}, queryDelay: 5}",
	} {
		s, mistakes := readTracing(t, text, suite.Options{})
		if mistakes.Err() != nil {
			t.Errorf("%s: %v", text, mistakes)
			continue
		}
		if tr := s.Tracing; tr.Enabled || tr.Forward != nil || tr.Emit != nil {
			t.Errorf("%s: %+v", text, tr)
		}
	}
}

func TestTracingMistakes(t *testing.T) {
	t.Parallel()
	untrusted := &suite.Trust{Host: func(host string) bool { return host == "allowed" }}
	for _, tc := range []struct {
		tracing, want string
		trust         *suite.Trust
	}{
		{"[true]", "tracing takes an object, not a list", nil},
		{"{enabled: 1}", "enabled takes a boolean", nil},
		{"{waitMs: -1}", "a whole number from 0 to 600000, not -1", nil},
		{"{commandToolNames: [5]}", "expected a name, not the number 5", nil},
		{"{provider: {id: tempo}}", "does not support provider: fetching traces from Tempo, Langfuse or Braintrust (tracing.provider)", nil},
		{"{provider: {id: langfuse, endpoint: \"https://x\"}}", "(tracing.provider)", nil},
		{"{otlp: {http: {port: 1.5}}}", "a whole number from 0 to 65535", nil},
		{"{otlp: {http: {ports: 1}}}", `unknown key "ports"`, nil},
		{"{emit: {}}", "endpoint must be a URL", nil},
		{"{emit: {endpoint: \"ftp://x\"}}", "endpoint must be a URL", nil},
		{`{emit: {endpoint: "http://x", headers: {"a b": c}}}`, "a header is a name and a text of one line", nil},
		{`{emit: {endpoint: "http://x", headers: {a: "b\nc"}}}`, "a header is a name and a text of one line", nil},
		{"{file: missing.json}", "the file missing.json does not exist", nil},
		{"{otlp: {http: {host: 0.0.0.0}}}", "listens on the loopback address alone", untrusted},
		{`{emit: {endpoint: "http://evil"}}`, "the host evil may not be asked", untrusted},
		{"{file: ../secret.json}", "secret.json", untrusted},
	} {
		_, mistakes := readTracing(t, tc.tracing, suite.Options{Facts: facts, Trust: tc.trust})
		if err := mistakes.Err(); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %q", tc.tracing, mistakes, tc.want)
		}
	}
	if _, mistakes := readTracing(t, `{otlp: {http: {host: "::1"}}, emit: {endpoint: "http://allowed"}}`, suite.Options{Facts: facts, Trust: untrusted}); mistakes.Err() != nil {
		t.Error(mistakes)
	}
}
