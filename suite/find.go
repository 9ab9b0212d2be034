package suite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
)

// Name is the usual name of a suite file.
const Name = "proviso.yaml"

// promptfooNames are the file names of promptfoo's configurations.
var promptfooNames = [...]string{"promptfooconfig.yaml", "promptfooconfig.yml", "promptfooconfig.json"}

// Find returns the suite file of a folder: proviso.yaml, or a promptfooconfig in YAML
// or JSON. If both exist, or none, it returns a *[proviso.Error].
func Find(dir string) (string, error) {
	shown := "the folder " + dir
	if dir == "" || dir == "." {
		dir, shown = ".", "this folder"
	}
	own := filepath.Join(dir, Name)
	hasOwn := isFile(own)
	for _, name := range promptfooNames {
		other := filepath.Join(dir, name)
		if !isFile(other) {
			continue
		}
		if hasOwn {
			return "", proviso.Errorf(proviso.Invalid,
				"%s holds both %s and %s; name one with -c", shown, Name, name)
		}
		return other, nil
	}
	if hasOwn {
		return own, nil
	}
	return "", notFound(dir, shown)
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && !info.IsDir()
}

// notFound returns the error for a folder without a suite. It names files that look
// like one.
func notFound(dir, shown string) error {
	e := proviso.Errorf(proviso.NotFound, "no %s or promptfooconfig.yaml in %s; name a suite with -c, or make one with proviso init", Name, shown)
	entries, _ := os.ReadDir(dir)
	for _, entry := range entries {
		name := entry.Name()
		ext := filepath.Ext(name)
		if stem := strings.TrimSuffix(name, ext); ext != "" && (stem == "proviso" || stem == "promptfooconfig") {
			if isScript(name) {
				return proviso.Errorf(proviso.Unsupported, "%s is code; proviso reads suites in YAML and JSON", filepath.Join(dir, name))
			}
			e.Valid = append(e.Valid, filepath.Join(dir, name))
		}
	}
	return e
}

// isScript reports whether the name of a suite file is that of code.
func isScript(name string) bool {
	ext := strings.ToLower(filepath.Ext(name))
	return slices.Contains([]string{".js", ".cjs", ".mjs", ".ts", ".cts", ".mts", ".py"}, ext)
}

// expand returns the suite files for the names of the command line: files, folders
// and patterns, relative to a working folder.
func expand(dir string, names []string) ([]string, error) {
	if len(names) == 0 {
		name, err := Find(dir)
		if err != nil {
			return nil, err
		}
		return []string{shorten(dir, name)}, nil
	}
	var found []string
	for _, name := range names {
		files, err := expandOne(dir, name)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			if !slices.Contains(found, f) {
				found = append(found, f)
			}
		}
	}
	return found, nil
}

func expandOne(dir, name string) ([]string, error) {
	full := inFolder(dir, name)
	info, err := os.Stat(full)
	switch {
	case err == nil && info.IsDir():
		file, err := Find(full)
		if err != nil {
			return nil, err
		}
		return []string{shorten(dir, file)}, nil
	case err == nil:
		return []string{name}, nil
	case isGlob(name):
		files, err := NewFiles(dir, FilesOptions{}).Glob(name)
		if err == nil && len(files) == 0 {
			err = proviso.Errorf(proviso.NotFound, "no file matches %s", name)
		}
		return files, err
	}
	// Opening it gives the message, with the nearest name.
	_, err = NewFiles(dir, FilesOptions{Shown: "."}).Open(name)
	if err == nil {
		return []string{name}, nil
	}
	return nil, elsewhere(full, err)
}

// elsewhere extends the error for a file that does not exist with the suites in its
// folder, or with how to make one. An error that already suggests a similar name is
// returned unchanged.
func elsewhere(full string, err error) error {
	var e *proviso.Error
	if !errors.As(err, &e) || e.Code != proviso.NotFound || len(e.Valid) > 0 {
		return err
	}
	const most = 5
	dir := filepath.Dir(full)
	entries, failed := os.ReadDir(dir)
	var names []string
	for _, entry := range entries {
		if ext := strings.ToLower(filepath.Ext(entry.Name())); !entry.IsDir() && (ext == ".yaml" || ext == ".yml" || ext == ".json") && !strings.HasPrefix(entry.Name(), ".") {
			names = append(names, entry.Name())
		}
	}
	switch n := len(names); {
	case failed != nil:
		return proviso.Because(e.Err, e.Code, "%s; neither does its folder", e.Message)
	case n == 0:
		return proviso.Because(e.Err, e.Code, "%s, nor does its folder hold another YAML or JSON file; `proviso init` makes a suite", e.Message)
	case n > most:
		names = append(names[:most], fmt.Sprintf("%d more", n-most))
	}
	return proviso.Because(e.Err, e.Code, "%s; its folder holds %s; `proviso init` makes a suite", e.Message, strings.Join(names, ", "))
}

// inFolder joins a name to the folder it is relative to.
func inFolder(dir, name string) string {
	if filepath.IsAbs(name) || dir == "" {
		return name
	}
	return filepath.Join(dir, name)
}

// shorten makes a name below dir relative to it.
func shorten(dir, name string) string {
	if dir == "" {
		return name
	}
	if rel, err := filepath.Rel(dir, name); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return name
}
