package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// panelVersion is the line of web/panel/package.json that a release replaces.
const panelVersion = `"version": "0.0.0"`

// panelFiles are the files of the panel's npm package, and their sources.
var panelFiles = [][2]string{
	{"panel.js", "web/dist/panel.js"},
	{"panel.d.ts", "web/panel/panel.d.ts"},
	{"README.md", "web/panel/README.md"},
	{"LICENSE", "LICENSE"},
	{"THIRD_PARTY_NOTICES", "internal/generate/licenses/preact.txt"}, // the only third-party code in panel.js
}

// writePanel writes the npm package of <proviso-panel>, and packs it if npm is installed.
func (r *release) writePanel() error {
	dir := filepath.Join(r.dir, "npm", "panel")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	manifest, err := os.ReadFile(filepath.Join(r.source, "web/panel/package.json"))
	if err != nil {
		return err
	}
	versioned := bytes.Replace(manifest, []byte(panelVersion), []byte(`"version": "`+r.number()+`"`), 1)
	if bytes.Equal(manifest, versioned) {
		return fmt.Errorf("web/panel/package.json: expected %s", panelVersion)
	}
	if err := os.WriteFile(filepath.Join(dir, "package.json"), versioned, 0o644); err != nil {
		return err
	}
	for _, f := range panelFiles {
		data, err := os.ReadFile(filepath.Join(r.source, filepath.FromSlash(f[1])))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, f[0]), data, 0o644); err != nil {
			return err
		}
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		r.say("npm is not installed: the package of the panel is in npm/panel, and not packed")
		return nil
	}
	// npm runs no script of a package and fetches nothing.
	to, err := filepath.Abs(r.dir)
	if err != nil {
		return err
	}
	cmd := exec.Command(npm, "pack", "--ignore-scripts", "--offline", "--silent", "--pack-destination", to)
	cmd.Dir = dir
	if said, err := cmd.CombinedOutput(); err != nil {
		return errors.Join(fmt.Errorf("npm pack: %w", err), errors.New(string(said)))
	}
	return nil
}
