package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// notice is one licence with the titles it applies to.
type notice struct {
	titles []string // "module version", or what an npm package's file begins with
	text   string
}

const preamble = `Third-party notices

proviso contains the software and data listed below, each under its own licence.
This file is generated: go run ./internal/generate
`

// notices returns the text of THIRD_PARTY_NOTICES: the licences of Go, of every module
// in a shipped binary, and of the npm packages from which files are made. Equal texts
// appear once.
func notices(root string) ([]byte, error) {
	list, err := goNotices()
	if err != nil {
		return nil, err
	}
	modules, err := packages(root)
	if err != nil {
		return nil, err
	}
	for m, dirs := range modules {
		more, err := m.notices(dirs)
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	more, err := npmNotices(filepath.Join(root, licenseFolder))
	if err != nil {
		return nil, err
	}
	return render(append(list, more...)), nil
}

// goNotices returns the licence of the runtime and the standard library.
func goNotices() ([]notice, error) {
	goroot, err := goEnv("GOROOT")
	if err != nil {
		return nil, err
	}
	text, err := readText(filepath.Join(goroot, "LICENSE"))
	return []notice{{[]string{"Go runtime and standard library"}, text}}, err
}

// licenseName matches the names of licence and notice files, such as LICENSE,
// LICENSE-3RD-PARTY.md, COPYING.txt and NOTICE.
var licenseName = regexp.MustCompile(`(?i)^(licen[cs]e|copying|copyright|notice)([-._][^.]*)?(\.(md|txt|rst))?$`)

func isLicense(file string) bool {
	return licenseName.MatchString(file) && filepath.Ext(file) != ".go"
}

// notices reads the licence files of a module: those at its root, and those in the folders
// of linked packages and their parents.
func (m module) notices(dirs []string) ([]notice, error) {
	var list []notice
	for _, dir := range upwards(m.Dir, dirs) {
		files, err := os.ReadDir(dir)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.Path, err)
		}
		for _, f := range files {
			if f.IsDir() || !isLicense(f.Name()) {
				continue
			}
			text, err := readText(filepath.Join(dir, f.Name()))
			if err != nil {
				return nil, err
			}
			list = append(list, notice{[]string{m.title(dir, f.Name())}, text})
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s %s has no licence file", m.Path, m.Version)
	}
	return list, nil
}

// upwards returns the folders and their parents, up to root.
func upwards(root string, dirs []string) []string {
	all := []string{root}
	for _, dir := range dirs {
		for ; dir != root && len(dir) > len(root); dir = filepath.Dir(dir) {
			all = append(all, dir)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// title names a module and, unless it is the licence at the module's root, the file.
func (m module) title(dir, file string) string {
	title := m.Path + " " + m.Version
	rel, err := filepath.Rel(m.Dir, filepath.Join(dir, file))
	if stem := strings.TrimSuffix(rel, filepath.Ext(rel)); err != nil || strings.EqualFold(stem, "LICENSE") {
		return title
	}
	return title + " (" + filepath.ToSlash(rel) + ")"
}

// npmNotices reads the files that generate.sh wrote: a title, the package's description of
// itself, an empty line and the text.
func npmNotices(dir string) ([]notice, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil || len(files) == 0 {
		return nil, errors.Join(err, fmt.Errorf("no licences in %s", dir))
	}
	var list []notice
	for _, name := range files {
		text, err := readText(name)
		if err != nil {
			return nil, err
		}
		title, rest, _ := strings.Cut(text, "\n")
		list = append(list, notice{[]string{title}, strings.TrimSpace(rest)})
	}
	return list, nil
}

// readText reads a file without parts that differ between systems or would control a
// terminal.
func readText(name string) (string, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return "", err
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	text := strings.NewReplacer("\r\n", "\n", "\f", "").Replace(strings.ToValidUTF8(string(data), "\ufffd"))
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimRight(line, " \t\n") + "\n")
	}
	text = strings.Trim(b.String(), "\n")
	if text == "" {
		return "", fmt.Errorf("%s is empty", name)
	}
	return text, nil
}

// render combines notices with equal texts and writes them sorted by title.
func render(list []notice) []byte {
	slices.SortFunc(list, func(a, b notice) int {
		return cmp.Or(cmp.Compare(a.titles[0], b.titles[0]), cmp.Compare(a.text, b.text))
	})
	at := map[string]int{}
	var once []notice
	for _, n := range list {
		if i, ok := at[n.text]; ok {
			once[i].titles = append(once[i].titles, n.titles...)
			continue
		}
		at[n.text] = len(once)
		once = append(once, n)
	}
	var b bytes.Buffer
	b.WriteString(preamble)
	for _, n := range once {
		fmt.Fprintf(&b, "\n%s\n%s\n%s\n\n%s\n", strings.Repeat("=", 80), strings.Join(slices.Compact(n.titles), "\n"), strings.Repeat("-", 80), n.text)
	}
	return b.Bytes()
}
