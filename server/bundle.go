package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/value"
)

// Bundle is a suite with the files that it refers to, as a client sends it.
type Bundle struct {
	Suite any               `json:"suite" doc:"The suite: an object, or the text of a suite file in YAML or JSON"`
	Files map[string]string `json:"files,omitempty" doc:"The files that the suite refers to, by their names relative to it"`

	Datasets Datasets `json:"-"` // finds those that the suite names; nil if there are none
}

// Limits of a bundle.
const (
	maxFiles    = 200
	maxFileName = 200 // bytes
)

// write writes the suite and its files into a new folder, and returns the name
// of the suite there.
func (b *Bundle) write(dir string) (name string, err error) {
	name, text, err := b.text()
	if err != nil {
		return "", err
	}
	if err := b.check(name); err != nil {
		return "", err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	if err := root.WriteFile(name, text, 0o600); err != nil {
		return "", err
	}
	for file, content := range b.Files {
		local := filepath.FromSlash(file)
		err := root.MkdirAll(filepath.Dir(local), 0o700)
		if err == nil {
			err = root.WriteFile(local, []byte(content), 0o600)
		}
		if isFull(err) {
			return "", err
		}
		if err != nil {
			return "", &proviso.Error{Code: proviso.Invalid, Pointer: document.Join("/files", file), Message: "this file cannot be kept beside the others"}
		}
	}
	return name, nil
}

// isFull reports whether an error of the system says that the disk is full.
func isFull(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

// text returns the suite as a file.
func (b *Bundle) text() (name string, text []byte, err error) {
	switch v := b.Suite.(type) {
	case string:
		if strings.HasPrefix(strings.TrimSpace(v), "{") {
			return "proviso.json", []byte(v), nil
		}
		return "proviso.yaml", []byte(v), nil
	case *value.Object:
		var text bytes.Buffer
		err := json.Indent(&text, value.AppendJSON(nil, v), "", "  ")
		return "proviso.json", text.Bytes(), err
	}
	return "", nil, &proviso.Error{Code: proviso.Invalid, Pointer: "/suite", Message: "a suite is an object, or the text of a suite file"}
}

// check rejects file names that are invalid or outside the suite's folder.
func (b *Bundle) check(suite string) error {
	if len(b.Files) > maxFiles {
		return &proviso.Error{Code: proviso.Limit, Pointer: "/files", Message: fmt.Sprintf("%d files, more than %d", len(b.Files), maxFiles)}
	}
	for file := range b.Files {
		parts := strings.Split(file, "/")
		hidden := slices.ContainsFunc(parts, func(p string) bool { return p == "" || strings.HasPrefix(p, ".") })
		if hidden || len(file) > maxFileName || strings.ContainsAny(file, "\\:\x00") || !filepath.IsLocal(filepath.FromSlash(file)) || file == suite {
			return &proviso.Error{Code: proviso.Refused, Pointer: "/files",
				Message: fmt.Sprintf("%q is no name for a file of a suite: it is relative, and no part begins with a dot", shortened(file))}
		}
	}
	return nil
}
