package suite_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/suite"
	"github.com/proviso-eval/proviso/value"
)

// datasets are the datasets of a test, each a file of cases.
type datasets map[string]string

func (d datasets) Dataset(_ context.Context, name, version string) (suite.DatasetFile, error) {
	path, ok := d[name]
	if !ok {
		return suite.DatasetFile{}, &proviso.Error{Code: proviso.NotFound, Message: "there is no dataset of this name", Valid: []string{"faq"}}
	}
	return suite.DatasetFile{Dataset: proviso.Dataset{Name: name, Version: "abc", Number: 3}, Path: path}, nil
}

// TestCasesOfDataset: cases of a dataset are data, their mistakes have their line, and the
// suite says which version it read.
func TestCasesOfDataset(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	all := datasets{"faq": file("faq.jsonl", `{"id":"a","vars":{"q":"{{ env.HOME }}","f":"file://x"}}`+"\n"+`{"id":"b","vars":{"q":"2"}}`+"\n"),
		"bad": file("bad.jsonl", `{"id":"a","vars":{}}`+"\n"+`{"id":"b","vars":{},"asert":[]}`+"\n")}
	for tests, want := range map[string]string{
		"dataset:faq":                         "a b",
		"dataset:faq@3":                       "a b",
		"[dataset:faq, {vars: {q: own}}]":     "a b 8d02c2f455af",
		"{path: dataset:faq}":                 "a b",
		"dataset:fag":                         `proviso.yaml:3:8: there is no dataset of this name (did you mean "faq"?)`,
		"[{vars: {q: own}}, dataset:faq@xyz]": `proviso.yaml:3:27: "xyz" is not a version of a dataset`,
		"dataset:bad":                         `dataset:bad@3:2:29: unknown key "asert" in a case`,
	} {
		name := file("proviso.yaml", "prompts: [\"{{q}}\"]\nproviders: [echo]\ntests: "+tests+"\n")
		s, mistakes := suite.Read(t.Context(), []string{name}, suite.Options{Datasets: all})
		var got []string
		if mistakes.Err() == nil {
			for c, err := range s.Cases() {
				if err != nil {
					mistakes = append(mistakes, suite.CaseMistake(s.Places, err))
					continue
				}
				if got = append(got, c.ID); c.ID == "a" && tests != "dataset:bad" && (!c.Options.DisableTemplates || c.Vars.At("f") != "file://x") {
					t.Errorf("%s: %s may be a template or a file", tests, value.Stringify(c.Vars))
				}
			}
			if len(s.Datasets) != 1 || s.Datasets[0].Number != 3 || s.Datasets[0].Asked != strings.TrimPrefix(strings.TrimPrefix(tests, "dataset:faq"), "@") && strings.HasPrefix(tests, "dataset:faq") {
				t.Errorf("%s: the suite names %v", tests, s.Datasets)
			}
		}
		shown := strings.Join(got, " ")
		if mistakes.Err() != nil {
			shown = strings.TrimPrefix(mistakes[0].String(), dir+"/")
		}
		if shown != want && !(mistakes.Err() != nil && strings.HasPrefix(shown, want)) {
			t.Errorf("%s: %s, want %s", tests, shown, want)
		}
	}
	name := file("proviso.yaml", "prompts: [x]\nproviders: [echo]\ntests: dataset:faq@3\n")
	_, mistakes := suite.Read(t.Context(), []string{name}, suite.Options{})
	if got := mistakes.Err(); got == nil || !strings.Contains(got.Error(), "proviso.yaml:3:8: the dataset \"faq\" is on a server of proviso") || !strings.Contains(got.Error(), "`proviso datasets pull faq@3`") {
		t.Errorf("without a server: %v", got)
	}
}
