package check_test

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/check"
)

// TestTableDocsAndFixturesAgree checks that the table of types, the rows of
// docs/assertions.md and the fixture files are the same.
func TestTableDocsAndFixturesAgree(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../docs/assertions.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := bytes.Cut(doc, []byte("\n## Types\n"))
	section, _, _ = bytes.Cut(section, []byte("\n## "))
	var documented []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z:0-9-]+)` \\|").FindAllSubmatch(section, -1) {
		documented = append(documented, string(m[1]))
	}
	types := check.Types()
	if !slices.IsSorted(types) {
		t.Error("the table is not sorted by type")
	}
	for _, k := range check.Kinds() {
		if !slices.Contains(documented, k.Type) {
			t.Errorf("docs/assertions.md has no row for %s", k.Type)
		}
		if k.New == nil || k.Needs&check.NeedsNetwork != 0 || k.Type == "judge" {
			continue // cannot be decided from a fixture alone
		}
		if _, err := os.Stat("testdata/" + strings.ReplaceAll(k.Type, ":", "_") + ".jsonl"); err != nil {
			t.Errorf("%s has no fixtures: %v", k.Type, err)
		}
	}
	for _, name := range documented {
		if !slices.Contains(types, name) {
			t.Errorf("docs/assertions.md has a row for %s, which is not in the table", name)
		}
	}
}

// TestUnsupportedTypesAreNotInTheTable checks that the two lists are disjoint.
func TestUnsupportedTypesAreNotInTheTable(t *testing.T) {
	t.Parallel()
	for _, name := range check.Types() {
		if needs, ok := check.Unsupported(name); ok {
			t.Errorf("%s is in the table and is said to need %s", name, needs)
		}
	}
}
