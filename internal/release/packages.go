package main

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

const description = "Tells whether the output of a language model keeps the promises of its prompt"

//go:embed formula.rb.tmpl
var formulaText string

// writeFormula writes the Homebrew formula.
func (r *release) writeFormula(binaries []binary) error {
	type side struct{ Name, URL, Sum string }
	data := struct {
		Description, Version string
		Systems              map[string]map[string]side
	}{description, r.number(), map[string]map[string]side{}}
	brew := map[string]string{"darwin": "macos", "linux": "linux", "amd64": "intel", "arm64": "arm"}
	for _, b := range binaries {
		system := brew[b.os]
		if system == "" {
			continue
		}
		if data.Systems[system] == nil {
			data.Systems[system] = map[string]side{}
		}
		data.Systems[system][brew[b.arch]] = side{b.name, r.address(b.name), b.sum}
	}
	var text strings.Builder
	if err := template.Must(template.New("").Parse(formulaText)).Execute(&text, data); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.dir, "proviso.rb"), []byte(text.String()), 0o644)
}

// scope is the owner of the npm packages.
const scope = "@proviso-eval/"

//go:embed launcher.js
var launcher []byte

// npmPackage is a package.json.
type npmPackage struct {
	Name        string            `json:"name"`
	Version     string            `json:"version"`
	Description string            `json:"description"`
	License     string            `json:"license"`
	Repository  string            `json:"repository"`
	Bin         map[string]string `json:"bin,omitempty"`
	OS          []string          `json:"os,omitempty"`
	CPU         []string          `json:"cpu,omitempty"`
	Files       []string          `json:"files"`
	Engines     map[string]string `json:"engines,omitempty"`
	Optional    map[string]string `json:"optionalDependencies,omitempty"`
}

// writePackages writes the npm packages: one for each platform with its binary, and one
// that depends on all of them and starts the one that npm has installed. No script runs at
// installation, and only packages are downloaded.
func (r *release) writePackages(binaries []binary) error {
	root := filepath.Join(r.dir, "npm")
	base := npmPackage{Version: r.number(), Description: description, License: "MIT", Repository: "github:proviso-eval/proviso"}
	main := base
	main.Name, main.Bin, main.Files = scope+"proviso", map[string]string{"proviso": "proviso.js"}, []string{"proviso.js"}
	main.Engines, main.Optional = map[string]string{"node": ">=18"}, map[string]string{}
	node := map[string]string{"windows": "win32", "amd64": "x64"}
	for _, b := range binaries {
		system, processor := b.os, b.arch
		if other, ok := node[system]; ok {
			system = other
		}
		if other, ok := node[processor]; ok {
			processor = other
		}
		p := base
		p.Name, p.OS, p.CPU = scope+"proviso-"+system+"-"+processor, []string{system}, []string{processor}
		p.Files = []string{"proviso" + b.suffix()}
		main.Optional[p.Name] = r.number()
		dir := filepath.Join(root, "proviso-"+system+"-"+processor)
		if err := errors.Join(p.write(dir), link(b.path, filepath.Join(dir, p.Files[0]))); err != nil {
			return err
		}
	}
	dir := filepath.Join(root, "proviso")
	return errors.Join(main.write(dir), os.WriteFile(filepath.Join(dir, "proviso.js"), launcher, 0o755))
}

func (p *npmPackage) write(dir string) error {
	data, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "package.json"), append(data, '\n'), 0o644)
}

// link hard-links a file, because binaries are large. It copies the file if that fails.
func link(from, to string) error {
	if err := os.Link(from, to); err != nil {
		data, readErr := os.ReadFile(from)
		if readErr != nil {
			return fmt.Errorf("link %s: %w", to, errors.Join(err, readErr))
		}
		return os.WriteFile(to, data, 0o755)
	}
	return nil
}
