package suite_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/suite"
	"github.com/proviso-eval/proviso/value"
)

var update = flag.Bool("update", false, "rewrite what the test data expects")

// TestCases reads each archive of testdata/cases as a suite and compares its
// cases and mistakes with the file want in it.
func TestCases(t *testing.T) {
	t.Parallel()
	archives, err := filepath.Glob("testdata/cases/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, name := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			want, wantAt := "", -1
			for i, f := range archive.Files {
				if f.Name == "want" {
					want, wantAt = string(f.Data), i
					continue
				}
				writeFile(t, filepath.Join(dir, f.Name), f.Data)
			}
			got := describe(dir)
			if *update && wantAt >= 0 {
				archive.Files[wantAt].Data = []byte(got)
				if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("-want +got\n%s", d)
			}
		})
	}
}

func writeFile(t testing.TB, name string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// describe reads the suite in a folder and writes its cases and mistakes, one per
// line.
func describe(dir string) string {
	var out bytes.Buffer
	s, mistakes := suite.Read(context.Background(), nil, suite.Options{Facts: facts, Dir: dir})
	for _, m := range mistakes {
		kind := "error"
		if m.Warning {
			kind = "warning"
		}
		fmt.Fprintf(&out, "%s %s\n", kind, m)
	}
	if s == nil {
		return out.String()
	}
	for c, err := range s.Cases() {
		if err != nil {
			fmt.Fprintln(&out, describeError(s, err))
			continue
		}
		describeCase(&out, c)
	}
	return strings.ReplaceAll(out.String(), dir+"/", "")
}

func describeError(s *proviso.Suite, err error) string {
	m := suite.CaseMistake(s, err)
	kind := "error"
	if m.Warning {
		kind = "warning"
	}
	return fmt.Sprintf("pass %s %s %s", kind, m.Code, m)
}

func describeCase(out *bytes.Buffer, c *proviso.Case) {
	fmt.Fprintf(out, "%d %s", c.Index, c.ID)
	if c.Generator != nil {
		fmt.Fprintf(out, " generator %s:%s %s\n", c.Generator.File, c.Generator.Entry, value.Stringify(c.Generator.Config))
		return
	}
	if c.Repeats > 1 {
		fmt.Fprintf(out, " repeat %d/%d pass %d", c.Repeat, c.Repeats, c.RepeatPass)
	}
	if c.Description != "" {
		fmt.Fprintf(out, " %q", c.Description)
	}
	fmt.Fprintf(out, " vars %s assert", value.Stringify(c.Vars))
	for _, a := range c.Assert {
		fmt.Fprintf(out, " %s", a.Type)
	}
	fmt.Fprintf(out, " raw %s\n", value.Stringify(c.Raw))
}
