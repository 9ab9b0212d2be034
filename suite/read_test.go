package suite_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/suite"
	"github.com/proviso-eval/proviso/value"
)

// environment is the environment of every fixture.
var environment = proviso.EnvMap{"SET": "from-env", "KEY": "sk-1"}

// TestRead reads the suites of testdata/read. The comment of an archive may have a
// line "args:" with the names of the command line, a line "skip-unsupported", and
// lines "name=value" for the options. The file want holds the mistakes with their
// places, and the resulting suite.
func TestRead(t *testing.T) {
	t.Parallel()
	fixtures, err := filepath.Glob("testdata/read/*.txtar")
	if err != nil || len(fixtures) == 0 {
		t.Fatal("no fixtures", err)
	}
	for _, fixture := range fixtures {
		t.Run(strings.TrimSuffix(filepath.Base(fixture), ".txtar"), func(t *testing.T) {
			t.Parallel()
			readFixture(t, fixture)
		})
	}
}

func readFixture(t *testing.T, fixture string) {
	archive, err := txtar.ParseFile(fixture)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	want := -1
	for i, f := range archive.Files {
		if f.Name == "want" {
			want = i
			continue
		}
		name := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	names, options := arguments(t, string(archive.Comment))
	options.Dir, options.Env = dir, environment
	s, mistakes := suite.Read(context.Background(), names, options)
	got := strings.ReplaceAll(describeSuite(s, mistakes), dir, "DIR")
	switch {
	case *update && want < 0:
		archive.Files = append(archive.Files, txtar.File{Name: "want", Data: []byte(got)})
	case *update:
		archive.Files[want].Data = []byte(got)
	case want < 0 || !bytes.Equal(archive.Files[want].Data, []byte(got)):
		t.Errorf("got\n%s", got)
	}
	if *update {
		if err := os.WriteFile(fixture, txtar.Format(archive), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func arguments(t *testing.T, comment string) (names []string, o suite.Options) {
	for line := range strings.Lines(comment) {
		line = strings.TrimSpace(line)
		key, value, _ := strings.Cut(line, "=")
		switch {
		case strings.HasPrefix(line, "args:"):
			names = strings.Fields(line[len("args:"):])
		case line == "skip-unsupported":
			o.SkipUnsupported = true
		case line == "confine":
			o.Files.Confine = true
		case key == "tests":
			o.Tests = value
		case key == "prefix":
			o.PromptPrefix = value
		case key == "providers":
			o.Providers = strings.Fields(value)
		case key == "prompts":
			o.Prompts = strings.Fields(value)
		case key == "env-file":
			o.EnvFiles = strings.Fields(value)
		case key == "model-outputs":
			o.ModelOutputs = value
		case key == "assertions":
			o.Assertions = value
		}
	}
	return names, o
}

// describeSuite writes a suite and its mistakes as text.
func describeSuite(s *proviso.Suite, mistakes proviso.Mistakes) string {
	var b strings.Builder
	for _, m := range mistakes {
		kind := m.Code
		if m.Warning {
			kind = "warning"
		}
		fmt.Fprintf(&b, "%s: %s\n", kind, m)
		if m.Place.Excerpt != "" {
			fmt.Fprintf(&b, "    %s\n", strings.TrimRight(m.Place.Excerpt, " "))
		}
	}
	if s == nil {
		return b.String()
	}
	line := func(name string, v any) {
		if o, ok := v.(*value.Object); ok && o.Len() == 0 {
			return
		}
		if text := value.Stringify(v); text != `""` && text != "null" && text != "[]" {
			fmt.Fprintf(&b, "%s %s\n", name, text)
		}
	}
	line("id", s.ID)
	line("description", s.Description)
	if s.Threshold != 1 {
		line("threshold", s.Threshold)
	}
	line("tags", s.Tags)
	line("env", s.Env)
	line("filters", s.Filters)
	line("outputs", anyList(s.Outputs))
	for _, g := range s.Extensions {
		fmt.Fprintf(&b, "hook %s at %s\n", g.Name(), s.Place(g.Pointer))
	}
	if s.Sandbox.TimeoutMS > 0 || s.Sandbox.Network {
		fmt.Fprintf(&b, "sandbox %+v\n", s.Sandbox)
	}
	fmt.Fprintf(&b, "options %+v\n", printable(s.Options))
	describeParts(&b, s, line)
	return b.String()
}

func describeParts(b *strings.Builder, s *proviso.Suite, line func(string, any)) {
	for _, d := range s.Derived {
		fmt.Fprintf(b, "derived %s = %s\n", d.Name, d.Value)
	}
	for _, p := range s.Prompts {
		fmt.Fprintf(b, "prompt %s %s\n", strconv.Quote(p.Label), strconv.Quote(p.Raw))
		line("  id", p.ID)
		line("  config", p.Config)
		if p.Script != nil {
			fmt.Fprintf(b, "  script %s %s\n", p.Script.File, p.Script.Entry)
		}
		for _, a := range p.Assert {
			fmt.Fprintf(b, "  assert %s at %s\n", a.Type, s.Place(a.Pointer))
		}
	}
	for _, p := range s.Providers {
		fmt.Fprintf(b, "provider %s at %s\n", p.Name(), s.Place(p.Pointer))
		line("  id", p.ID)
		line("  config", p.Config)
		line("  prompts", anyList(p.Prompts))
		line("  transform", p.Transform)
		line("  delay", float64(p.DelayMS))
	}
	for c, err := range s.Cases() {
		if err != nil {
			fmt.Fprintf(b, "case error: %v\n", err)
			continue
		}
		fmt.Fprintf(b, "case %s %s at %s\n", strconv.Quote(c.Description), value.Stringify(c.Vars), s.Place(c.Pointer))
		line("  prefix", c.Options.Prefix)
		for _, a := range c.Assert {
			fmt.Fprintf(b, "  assert %s %s at %s\n", a.Type, value.Stringify(a.Value), s.Place(a.Pointer))
		}
		for _, a := range c.Set {
			fmt.Fprintf(b, "  set %s %s at %s\n", a.ID, a.Type, s.Place(a.Pointer))
		}
	}
}

func anyList(texts []string) []any {
	all := make([]any, len(texts))
	for i, s := range texts {
		all[i] = s
	}
	return all
}

// printable replaces the pointers of options by what they point to.
func printable(o proviso.Options) string {
	var words []string
	add := func(name string, v any, zero bool) {
		if !zero {
			words = append(words, fmt.Sprintf("%s=%v", name, v))
		}
	}
	add("concurrency", o.MaxConcurrency, o.MaxConcurrency == 0)
	add("repeat", fmt.Sprint(o.Repeat, "/", o.RepeatPass), o.Repeat == 0)
	add("delay", o.DelayMS, o.DelayMS == 0)
	add("timeout", o.TimeoutMS, o.TimeoutMS == 0)
	add("max", o.MaxTimeMS, o.MaxTimeMS == 0)
	add("no-cache", o.NoCache, !o.NoCache)
	add("no-progress", o.NoProgress, !o.NoProgress)
	add("env-files", o.EnvFiles, len(o.EnvFiles) == 0)
	add("verbose", o.Verbose, !o.Verbose)
	add("range", o.FilterRange, o.FilterRange == "")
	add("grader", o.Grader, o.Grader == "")
	if o.Table != nil {
		add("table", *o.Table, false)
	}
	if o.Write != nil {
		add("write", *o.Write, false)
	}
	if o.Threshold != nil {
		add("threshold", *o.Threshold, false)
	}
	if o.PassRate != nil {
		add("pass-rate", *o.PassRate, false)
	}
	return strings.Join(words, " ")
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{
		"prompts: [a]\nproviders: [echo]\ntests: [{vars: {a: 1}}]",
		"prompts: {a: b}\nproviders: {id: echo}\ntests: {path: x.csv}",
		"a: {$ref: '#/b'}\nb: {$ref: '#/a'}\nprompts: [{$ref: '#/c'}]",
		"env: {A: '{{ env.SET }}'}\nprompts: ['{{ env.A }}']\ntargets: [{echo: {}}]",
		"assertions: [{id: a, instruction: b, criteria: [c]}]\nscenarios: [{config: [{}], tests: [{}]}]",
		"commandLineOptions: {envPath: .env}\nderivedMetrics: [{name: a, value: 1}]",
	} {
		f.Add([]byte(s))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		name := filepath.Join(dir, fmt.Sprintf("%x.yaml", t.Name()))
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Skip(err)
		}
		s, mistakes := suite.Read(context.Background(), []string{name}, suite.Options{Facts: facts, Env: environment, Files: suite.FilesOptions{Confine: true}})
		if s == nil && mistakes.Err() == nil {
			t.Fatal("neither a suite nor a mistake")
		}
		for _, m := range mistakes {
			if m.Message == "" {
				t.Fatalf("a mistake without a message: %+v", m)
			}
		}
		if s == nil {
			return
		}
		n := 0
		for range s.Cases() {
			if n++; n == 1000 {
				break
			}
		}
	})
}
