package sandbox

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// importHint says what would make a module importable, if it is known.
func (o *source) importHint(module string) string {
	byPath := strings.HasPrefix(module, ".") || filepath.IsAbs(module) // and so no package
	switch s := o.sandbox; {
	case !o.profile.files:
		return ""
	case o.profile.sandbox && s.dir != "" && s.isHome(s.dir):
		return " (the files of " + s.dir + " are not granted, since it holds more than a suite)"
	case o.profile.sandbox && s.dir != "":
		if folder := o.outside(module, byPath); folder != "" {
			return " (it lies outside of the suite's folder: --grant read:" + folder + " lets code read it)"
		}
	}
	if o.profile.packages || byPath {
		return ""
	}
	return " (packages are not granted)"
}

// outside returns the folder, relative to the suite's, that holds a module which is
// there and which code may not read; "" if there is none.
func (o *source) outside(module string, byPath bool) string {
	s := o.sandbox
	if byPath {
		if !filepath.IsAbs(module) {
			module = filepath.Join(s.dir, filepath.FromSlash(path.Dir(o.name)), filepath.FromSlash(module))
		}
		if file := moduleFile(module); file != "" {
			return o.grantable(filepath.Dir(file))
		}
		return ""
	}
	if o.language.source != "python" {
		return "" // packages of others are found by their folders
	}
	top, _, _ := strings.Cut(module, ".")
	for dir := filepath.Dir(s.dir); !s.isHome(dir); dir = filepath.Dir(dir) {
		if top != "" && moduleFile(filepath.Join(dir, top)) != "" {
			return o.grantable(dir)
		}
	}
	return ""
}

// grantable returns a folder as a grant names it, unless code may read it already
// or it is too wide to be granted.
func (o *source) grantable(dir string) string {
	s := o.sandbox
	if s.isHome(dir) || slices.ContainsFunc(s.granted(o.profile), func(of string) bool { return beneath(dir, of) }) {
		return ""
	}
	rel, err := filepath.Rel(s.dir, dir)
	if err != nil {
		return ""
	}
	return filepath.ToSlash(rel)
}

// moduleFile returns the file or folder that a module without its suffix means, ""
// if there is none.
func moduleFile(name string) string {
	for _, suffix := range []string{"", ".py", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".json", ".rb"} {
		if _, err := os.Lstat(name + suffix); err == nil {
			return name + suffix
		}
	}
	return ""
}
