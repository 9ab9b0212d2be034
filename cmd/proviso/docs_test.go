package main

import (
	"bytes"
	"flag"
	"fmt"
	"html"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/suite"
)

var updateDocs = flag.Bool("update-docs", false, "write the generated parts of README.md and docs/ anew")

const repository = "../.."

// readDoc returns a page of the manual by its name in the repository.
func readDoc(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(repository, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// wantBlock compares the part of a page between <!-- begin NAME --> and <!-- end NAME
// --> with generated text; -update-docs writes it.
func wantBlock(t *testing.T, page, name, want string) {
	t.Helper()
	text := readDoc(t, page)
	begin, end := "<!-- begin "+name+" -->\n", "<!-- end "+name+" -->"
	before, rest, ok1 := strings.Cut(text, begin)
	got, after, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		t.Fatalf("%s has no part %q", page, name)
	}
	if got == want {
		return
	}
	if !*updateDocs {
		t.Errorf("%s: the part %q is not what the code says; run go test ./cmd/proviso -update-docs\ngot:\n%s\nwant:\n%s", page, name, got, want)
		return
	}
	if err := os.WriteFile(filepath.Join(repository, page), []byte(before+begin+want+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

func fenced(text string) string { return "```text\n" + strings.TrimRight(text, "\n") + "\n```\n" }

// TestDocsOfCommands requires a page and a row of the README for every command, and the
// flags of --help on its page.
func TestDocsOfCommands(t *testing.T) {
	root := newRootFor(newApp(stdio{out: &bytes.Buffer{}, err: &bytes.Buffer{}}), nil)
	root.InitDefaultCompletionCmd()
	readme := readDoc(t, "README.md")
	for _, cmd := range root.Commands() {
		if cmd.Name() == "help" {
			continue
		}
		page := "docs/" + cmd.Name() + ".md"
		if row := "| [`" + cmd.Name() + "`](" + page + ") |"; strings.Count(readme, row) != 1 {
			t.Errorf("README.md has the row %s %d times", row, strings.Count(readme, row))
		}
		readDoc(t, page)
		if cmd.Name() != "completion" {
			wantBlock(t, page, "flags", flagTable(cmd))
		}
	}
}

// flagTable lists the flags of a command as rows.
func flagTable(cmd *cobra.Command) string {
	var b strings.Builder
	b.WriteString("| flag | does |\n|---|---|\n")
	all := pflag.NewFlagSet(cmd.Name(), pflag.ContinueOnError)
	all.AddFlagSet(cmd.LocalFlags())
	all.AddFlagSet(cmd.InheritedFlags())
	if !all.HasAvailableFlags() {
		return "The flags belong to the subcommands.\n"
	}
	all.VisitAll(func(f *pflag.Flag) {
		value, usage := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		if value != "" {
			name += " " + value
		}
		if f.Name != "help" {
			fmt.Fprintf(&b, "| `%s` | %s |\n", name, strings.ReplaceAll(usage, "|", "\\|"))
		}
	})
	return b.String()
}

// TestDocsOfCells compares the manual's list of types in CSV cells with the table of
// types.
func TestDocsOfCells(t *testing.T) {
	forms, limits := map[proviso.CellForm][]string{}, map[string][]string{}
	for _, k := range check.Kinds() {
		name := "`" + k.Type + "`"
		forms[k.Cell] = append(forms[k.Cell], name)
		if k.CellLimit != 0 {
			limit := strconv.FormatFloat(k.CellLimit, 'g', -1, 64)
			limits[limit] = append(limits[limit], name)
		}
	}
	var b strings.Builder
	b.WriteString("| in a cell | types |\n|---|---|\n")
	for _, row := range []struct {
		says  string
		types []string
	}{
		{"the value is split on commas; double quotes keep one together", forms[proviso.CellList]},
		{"white space around the value stays", forms[proviso.CellKept]},
		{"cannot be written", forms[proviso.CellNone]},
		{"threshold 0.75 if the cell gives none, as in `levenshtein(3): Ann`", limits["0.75"]},
		{"threshold 0.8 if the cell gives none", limits["0.8"]},
		{"any other: white space around the value is left out, and there is no threshold", nil},
	} {
		fmt.Fprintf(&b, "| %s | %s |\n", row.says, strings.Join(row.types, ", "))
	}
	wantBlock(t, "docs/suite.md", "types in cells", b.String())
}

// TestDocsOfSuiteKeys compares the tables of keys with those that validate them.
func TestDocsOfSuiteKeys(t *testing.T) {
	tables := map[string]string{}
	for _, d := range suite.KeyDocs() {
		doc := d.Doc
		if d.State != "" {
			doc = "**" + d.State + "**: " + doc
		}
		tables[d.Object] += fmt.Sprintf("| `%s` | %s | %s |\n", d.Key, d.Kind, strings.ReplaceAll(doc, "|", "\\|"))
	}
	for object, rows := range tables {
		wantBlock(t, "docs/suite.md", "keys of "+object, "| key | takes | meaning |\n|---|---|---|\n"+rows)
	}
}

func TestDocsOfProviders(t *testing.T) {
	t.Parallel()
	page := readDoc(t, "docs/providers.md")
	for _, k := range provider.Kinds() {
		if !regexp.MustCompile("(?m)^\\| `" + regexp.QuoteMeta(k.Name)).MatchString(page) {
			t.Errorf("docs/providers.md has no row for %s", k.Name)
		}
	}
}

// TestDocsOfEnvironment requires a row for every promptfoo variable that the sources
// read.
func TestDocsOfEnvironment(t *testing.T) {
	t.Parallel()
	page := readDoc(t, "docs/promptfoo.md")
	variable := regexp.MustCompile(`"((?:PROMPTFOO_|WEBHOOK_)[A-Z_]+)"`)
	err := filepath.WalkDir(repository, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && (e.Name() == "bench" || e.Name() == "conformance" || e.Name() == ".git") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		data, err := os.ReadFile(name)
		for _, m := range variable.FindAllStringSubmatch(string(data), -1) {
			if !strings.Contains(page, "| `"+m[1]+"` |") {
				t.Errorf("docs/promptfoo.md has no row for %s, which %s reads", m[1], name)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestDocsLinks follows the relative links of all pages, and their anchors.
func TestDocsLinks(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob(filepath.Join(repository, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	link := regexp.MustCompile(`(?:\]\(|src="|srcset=")([^)"\s]+)`)
	for _, page := range append(pages, filepath.Join(repository, "README.md")) {
		data, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(data), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			file, anchor, _ := strings.Cut(m[1], "#")
			target := page
			if file != "" {
				target = filepath.Join(filepath.Dir(page), file)
			}
			text, err := os.ReadFile(target)
			if info, statErr := os.Stat(target); statErr == nil && info.IsDir() {
				continue
			}
			if err != nil {
				t.Errorf("%s: the link %s leads nowhere", page, m[1])
			} else if anchor != "" && !hasHeading(string(text), anchor) {
				t.Errorf("%s: %s has no heading for #%s", page, target, anchor)
			}
		}
	}
}

// hasHeading reports whether a page has a heading with the given anchor, as GitHub
// generates it.
func hasHeading(text, anchor string) bool {
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#") {
			continue
		}
		heading := strings.ToLower(strings.TrimSpace(strings.TrimLeft(line, "#")))
		heading = regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(heading, "")
		if strings.ReplaceAll(heading, " ", "-") == anchor {
			return true
		}
	}
	return false
}

// TestDocsShowRealOutput compares the first steps in the README with the real output.
func TestDocsShowRealOutput(t *testing.T) {
	first := filepath.Join(t.TempDir(), "my-suite")
	if code, out := printed(t, "init", first); code != exitOK {
		t.Fatalf("init: exit code %d\n%s", code, out)
	}
	code, out := printed(t, "eval", "-c", filepath.Join(first, suite.Name))
	if code != exitFailed {
		t.Fatalf("the starter suite: exit code %d\n%s", code, out)
	}
	wantBlock(t, "README.md", "first run", fenced(out))
}

// printed runs a command and returns its output, with varying parts replaced.
func printed(t *testing.T, args ...string) (int, string) {
	t.Helper()
	if args[0] == "eval" {
		args = append(args, "--run-dir", t.TempDir())
	}
	var out, errs bytes.Buffer
	code := execute(args, stdio{in: strings.NewReader(""), out: &out, err: &errs})
	return code, steady(out.String() + errs.String())
}

// Sizes of the picture, in pixels.
const (
	cellWidth, lineHeight, margin = 8.4, 19, 16
	pictureWidth                  = 102*8.4 + 2*margin + 0.2
)

// svg draws what a terminal shows, with colours for light and dark pages.
func svg(command, text string) string {
	lines := strings.Split(strings.TrimRight("$ "+command+"\n"+text, "\n"), "\n")
	var b strings.Builder
	width, height := int(pictureWidth), lineHeight*len(lines)+2*margin
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" aria-label="The output of %s">
<style>
rect{fill:#f6f8fa;stroke:#d0d7de}text{fill:#1f2328;font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre}
.b{font-weight:bold}.d{fill:#6e7781}.r{fill:#cf222e}.g{fill:#1a7f37}.y{fill:#9a6700}
@media(prefers-color-scheme:dark){rect{fill:#0d1117;stroke:#30363d}text{fill:#e6edf3}.d{fill:#8b949e}.r{fill:#ff7b72}.g{fill:#56d364}.y{fill:#e3b341}}
</style>
<rect x="0.5" y="0.5" width="%d" height="%d" rx="8"/>
`, width, height, width, height, command, width-1, height-1)
	for i, line := range lines {
		if line == "" {
			continue
		}
		fmt.Fprintf(&b, "<text xml:space=\"preserve\" x=\"%d\" y=\"%d\">%s</text>\n", margin, margin+lineHeight*i+14, spans(line))
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// spans turns the colours of a line into classes; each part has its own column, so that
// the width of the font matters little.
func spans(line string) string {
	classes := map[string]string{"1": "b", "2": "d", "31": "r", "32": "g", "33": "y"}
	var b strings.Builder
	column, class := 0, ""
	for i, part := range strings.Split(line, "\x1b[") {
		if i > 0 {
			code, rest, _ := strings.Cut(part, "m")
			class, part = classes[code], rest
		}
		if part == "" {
			continue
		}
		fmt.Fprintf(&b, `<tspan x="%.1f"`, float64(margin)+cellWidth*float64(column))
		if class != "" {
			fmt.Fprintf(&b, ` class="%s"`, class)
		}
		fmt.Fprintf(&b, ">%s</tspan>", html.EscapeString(part))
		column += utf8.RuneCountInString(part)
	}
	return b.String()
}
