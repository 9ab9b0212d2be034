package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/internal/fakemodel"
)

// TestDatasets pushes files of cases to a real server, and pulls and compares their versions.
func TestDatasets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	model := fakemodel.New(fakemodel.Options{})
	defer model.Close()
	server, secret := "", ""
	proviso := func(code int, args ...string) (out, errs string) {
		t.Helper()
		cmd := provisoCommand(t, dir, model.URL, args...)
		var o, e bytes.Buffer
		cmd.Env = append(cmd.Env, "PROVISO_API_KEY="+secret, "PROVISO_SERVER="+server)
		cmd.Stdout, cmd.Stderr = &o, &e
		_ = cmd.Run()
		if got := cmd.ProcessState.ExitCode(); got != code {
			t.Fatalf("proviso %v: exit code %d, want %d\n%s%s", args, got, code, o.String(), e.String())
		}
		return o.String(), e.String()
	}
	file := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := func(what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s:\n%s\nwant:\n%s", what, got, want)
		}
	}
	if _, errs := proviso(2, "datasets", "list"); !strings.Contains(errs, "the server is missing; --server or PROVISO_SERVER") {
		t.Errorf("without a server: %s", errs)
	}
	key := func(scope string) string {
		out, _ := proviso(0, "key", "create", scope, "--scope", scope)
		return strings.TrimSpace(out)
	}
	edit, read := key("edit"), key("read")
	server = startServe(t, dir, model.URL).url
	file("one.yaml", "- {id: lamps, vars: {q: lamps}, assert: [{type: icontains, value: 30 days}]}\n- {vars: {q: '{{ x }}'}, description: odd}\n")
	file("two.csv", "q,__expected,__description\nlamps,icontains: 30 days,new\nbeds,,\n")
	secret = read
	if _, errs := proviso(2, "datasets", "push", "faq", "one.yaml"); !strings.Contains(errs, "needs a key with the scope edit") {
		t.Errorf("with a key that only reads: %s", errs)
	}
	secret = edit
	out, _ := proviso(0, "datasets", "push", "faq", "one.yaml")
	want("pushed", out, "faq version 1: 2 cases\n")
	out, _ = proviso(0, "datasets", "put", "faq", "one.yaml")
	want("pushed again", out, "faq version 1: 2 cases\n")
	secret = read
	out, _ = proviso(0, "datasets", "diff", "faq")
	secret = edit
	want("compared with nothing", out, "there is nothing to compare version 1 with: it is the first version, or both are the same\n")
	out, _ = proviso(0, "datasets", "push", "faq", "two.csv")
	want("pushed CSV", out, "faq version 2: 2 cases\n")
	if _, errs := proviso(2, "datasets", "push", "faq", "one.yaml", "--replaces", "new"); !strings.Contains(errs, "was changed meanwhile by another request: its current version is 2 (status 409)") {
		t.Errorf("a new one: %s", errs)
	}
	secret = read
	if out, _ = proviso(0, "datasets", "list"); !strings.HasPrefix(out, "NAME  VERSION  CASES  CHANGED\nfaq   2        2      20") {
		t.Errorf("list: %s", out)
	}
	out, _ = proviso(0, "datasets", "diff", "faq", "--server", server)
	lines := strings.Split(out, "\n")
	if lines[0] != "version 1 to 2: 2 added, 2 removed, 0 changed, 0 the same" || !strings.HasSuffix(lines[1], "  new") || lines[3] != "- lamps" {
		t.Errorf("diff: %s", out)
	}
	out, _ = proviso(0, "datasets", "pull", "faq@1", "-o", "pulled.yaml")
	want("pulled", out, "")
	secret = edit
	out, _ = proviso(0, "datasets", "push", "copy", "pulled.yaml")
	want("pushed what was pulled", out, "copy version 1: 2 cases\n")
	secret = read
	first, _ := proviso(0, "datasets", "pull", "faq@1")
	copied, _ := proviso(0, "datasets", "get", "copy")
	want("what was copied", copied, first)
	secret = edit
	file("hostile.yaml", "- {id: a, vars: {q: 'file:///etc/passwd {{ env.HOME }}'}}\n")
	proviso(0, "datasets", "push", "hostile", "hostile.yaml")
	file("harmless.yaml", "- {id: a, vars: {q: May I?}}\n")
	proviso(0, "datasets", "push", "harmless", "harmless.yaml")
	secret = read
	if _, errs := proviso(0, "datasets", "pull", "hostile"); !strings.Contains(errs, "takes a variable with it for a template") {
		t.Errorf("a pulled variable that a suite would read: %q", errs)
	}
	if _, errs := proviso(0, "datasets", "pull", "harmless"); errs != "" {
		t.Errorf("a harmless dataset: %q", errs)
	}
	file("suite.yaml", "prompts: ['{{q}}']\nproviders: [echo]\ntests: file://pulled.yaml\n")
	proviso(0, "validate", "-c", "suite.yaml")
	for _, tt := range [][2]string{
		{"pull nothing", "there is no dataset \"nothing\" (status 404)"},
		{"pull faw", "did you mean \"faq\"?"},
		{"pull faq@7", "there is no version 7 of dataset \"faq\"; its versions are 1 to 2 (status 404)"},
		{"pull faq@x", "\"x\" is not a version of a dataset"},
		{"diff faq@1", "versions are further arguments"},
		{"push faq@1 one.yaml", "\"faq@1\" is not a valid dataset name"},
		{"pull faq --format xml", "xml"},
		{"push faq", "the name of the dataset and the file are missing"},
	} {
		if _, errs := proviso(2, append([]string{"datasets"}, strings.Fields(tt[0])...)...); !strings.Contains(errs, tt[1]) {
			t.Errorf("%s: %s", tt[0], errs)
		}
	}
	file("bad.yaml", "- {id: a, vars: {q: 1}}\n- {id: a, vars: {q: 2}, asert: []}\n- {id: a, vars: {q: 3}}\n")
	if _, errs := proviso(2, "datasets", "push", "faq", "bad.yaml"); !strings.Contains(errs, "bad.yaml:2:") || !strings.Contains(errs, "bad.yaml:3:8: error: the id \"a\" is given to more than one case") {
		t.Errorf("mistakes in a file: %s", errs)
	}
	if _, errs := proviso(2, "datasets", "push", "faq", "gone.yaml"); !strings.Contains(errs, "gone.yaml") {
		t.Errorf("no such file: %s", errs)
	}
	file("dataset.yaml", "prompts: ['{{q}}']\nproviders: [echo]\ntests: dataset:faq@1\n")
	if _, errs := proviso(2, "eval", "-c", "dataset.yaml"); !strings.Contains(errs, "dataset.yaml:3:8: ") || !strings.Contains(errs, "`proviso datasets pull faq@1`") {
		t.Errorf("a suite that names a dataset: %s", errs)
	}
}

// TestDocsOfDatasets: the flags of each datasets command are on its page.
func TestDocsOfDatasets(t *testing.T) {
	for _, cmd := range newDatasets(newApp(stdio{out: &bytes.Buffer{}, err: &bytes.Buffer{}})).Commands() {
		wantBlock(t, "docs/datasets.md", "flags of "+cmd.Name(), flagTable(cmd))
	}
}
