package sandbox

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/proviso-eval/proviso"
)

// maxClimb is how many folders above the suite's are searched for files that code tried to
// read: the folders of its project.
const maxClimb = 4

// importHint explains how to make a module importable, if known.
func (o *source) importHint(module string) string {
	s := o.sandbox
	byPath := strings.HasPrefix(module, ".") || strings.HasPrefix(module, "/") // so it is not a package
	if !o.profile.files {
		return ""
	}
	if o.profile.sandbox && s.dir != "" && s.isHome(s.dir) {
		return " (the files of " + s.dir + " are not granted, because the folder holds more than a suite)"
	}
	if folder := o.moduleOutside(module, byPath); folder != "" {
		return o.grantHint(folder)
	}
	if o.profile.packages || byPath {
		return ""
	}
	return " (packages are not granted)"
}

// grantHint names the grant for a file or a folder that the sandbox blocks.
func (o *source) grantHint(path string) string {
	name := path
	if rel, err := filepath.Rel(o.sandbox.dir, path); err == nil {
		name = filepath.ToSlash(rel)
	}
	return " (the sandbox blocks it; to allow it, use --grant read:" + name + ")"
}

// moduleOutside returns the folder of a module that code may not read, "" if there is none.
func (o *source) moduleOutside(module string, byPath bool) string {
	from := o.sandbox.dir
	if o.file != "" {
		from = filepath.Dir(o.file)
	}
	if byPath {
		path := filepath.FromSlash(module)
		if !filepath.IsAbs(path) {
			path = filepath.Join(from, path)
		}
		for _, suffix := range append([]string{""}, o.language.suffixes...) {
			if isThere(path+suffix) && o.keptFrom(path+suffix) {
				return filepath.Dir(path)
			}
		}
		return ""
	}
	name, _, _ := strings.Cut(module, ".")
	if !o.language.searches || name == "" {
		return ""
	}
	for _, dir := range above(from) {
		for _, suffix := range append([]string{""}, o.language.suffixes...) {
			if path := filepath.Join(dir, name); isThere(path+suffix) && o.keptFrom(path+suffix) {
				return dir
			}
		}
	}
	return ""
}

// fileOutside returns the file or folder that an error message names, if it exists and the
// sandbox blocks it; otherwise "".
func (o *source) fileOutside(message string) string {
	if !o.profile.files || !o.profile.sandbox {
		return ""
	}
	for _, m := range namedFile().FindAllStringSubmatch(message, 4) {
		path := filepath.FromSlash(m[1] + m[2])
		if !filepath.IsAbs(path) {
			path = filepath.Join(o.sandbox.dir, path)
		}
		if isThere(path) && o.keptFrom(path) {
			return path
		}
	}
	return ""
}

// namedFile finds the name of a file that could not be opened in a message of Python, Node or
// Ruby.
var namedFile = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`'([^'\n]+)'|rb_sysopen - ([^\n]+)`) })

// keptFrom reports whether a path of the project is outside the files that the code
// of the profile may read. Other files are never reported: a message must not suggest
// granting access to them.
func (o *source) keptFrom(path string) bool {
	s := o.sandbox
	if !o.profile.sandbox || !o.profile.files || s.dir == "" || strings.Contains(filepath.ToSlash(path), "/.") {
		return false
	}
	if slices.ContainsFunc(s.granted(o.profile), func(dir string) bool { return beneath(path, dir) || beneath(resolved(path), resolved(dir)) }) {
		return false
	}
	return slices.ContainsFunc(above(s.dir), func(dir string) bool { return !s.isHome(dir) && beneath(path, dir) && path != dir })
}

// above returns the folders above dir, nearest first.
func above(dir string) []string {
	var list []string
	for range maxClimb {
		next := filepath.Dir(dir)
		if next == dir {
			break
		}
		list, dir = append(list, next), next
	}
	return list
}

func isThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// cutOff returns the error for code that failed because the sandbox blocks an existing file;
// nil if that is not the reason.
func (o *source) cutOff(thrown *proviso.ScriptError, where string) error {
	if thrown.Name != "FileNotFoundError" && !strings.HasPrefix(thrown.Message, "ENOENT") && !strings.HasPrefix(thrown.Name, "Errno::ENOENT") {
		return nil
	}
	path := o.fileOutside(thrown.Message)
	if path == "" {
		return nil
	}
	return proviso.Because(thrown, proviso.Refused, "%s%s%s", where, thrown.Message, o.grantHint(path))
}

// deniedHint suggests the flag that would allow what the sandbox blocked, if known.
func (o *source) deniedHint(refused, stack string) string {
	if !o.profile.files {
		return ""
	}
	has := func(text string, words ...string) bool {
		return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, word) })
	}
	switch path := o.fileOutside(refused); {
	case path != "":
		return o.grantHint(path)
	case has(refused, "spawn") || has(stack, "subprocess.", "Popen(", "os.system(", "os.popen(", "os.exec", "os.posix_spawn", "os.fork(", "pty.spawn"):
		return " (sandboxed code cannot start programs, and no grant allows it; for your own code, use --sandbox off)"
	case !o.profile.network && (has(refused, "connect ") || has(stack, "socket.", "urllib", "requests.", "http.client", "httpx", "aiohttp", "TCPSocket")):
		return " (--grant network allows it)"
	}
	return ""
}
