package sandbox

import (
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/textlist"
	"github.com/proviso-eval/proviso/value"
)

// interpreter describes the interpreter of a language on this machine.
type interpreter struct {
	version    string
	path       string   // path of the program itself, with scripts and links resolved
	exec       []string // files that must be executable for it
	read       []string // its files
	importPath []string // folders where it finds packages
	missing    string   // what it lacks for the sandbox, or ""
	flags      []string // extra flags for the workers of this version
	typescript bool     // it runs TypeScript
}

// interpreterKey is the key of a query for an interpreter.
type interpreterKey struct {
	language string
	packages bool
}

// interpreter returns the interpreter of a language. The search runs once; an error is cached
// as well, unless ctx ended.
func (s *Sandbox) interpreter(ctx context.Context, l *language, packages bool) (*interpreter, error) {
	s.findMu.Lock()
	key := interpreterKey{l.name, packages}
	f := s.found[key]
	if f == nil {
		f = new(finding)
		s.found[key] = f
	}
	s.findMu.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.known {
		return f.interpreter, f.err
	}
	in, err := s.find(ctx, l, packages)
	if ctx.Err() == nil {
		f.interpreter, f.err, f.known = in, err, true
	}
	return in, err
}

// finding is the result of a search for an interpreter.
type finding struct {
	mu          sync.Mutex // held during the search
	known       bool
	interpreter *interpreter
	err         error
}

// find tries the configured interpreter, or those in PATH until one works.
func (s *Sandbox) find(ctx context.Context, l *language, packages bool) (*interpreter, error) {
	if l.names == nil { // this program
		return l.ask(ctx, s, "", packages)
	}
	var paths []string
	if name, ok := s.lookup(l.variable); ok && name != "" {
		if paths = s.lookPath(name); len(paths) == 0 {
			return nil, proviso.Errorf(proviso.Unavailable, "%s=%s: there is no such program", l.variable, name)
		}
	} else {
		for _, name := range l.names {
			paths = append(paths, s.lookPath(name)...)
		}
	}
	if len(paths) == 0 {
		return nil, proviso.Errorf(proviso.Unavailable, "%s is not installed: %s", l.program, l.install)
	}
	var failed error
	for _, path := range paths {
		in, err := l.ask(ctx, s, path, packages)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			failed = errors.Join(failed, fmt.Errorf("%s: %w", path, err))
			continue
		case olderThan(in.version, l.oldest):
			return nil, proviso.Errorf(proviso.Unavailable, "%s is %s %s, and %s or later is needed: %s", path, l.program, in.version, l.oldest, l.install)
		}
		return in, nil
	}
	return nil, proviso.Errorf(proviso.Unavailable, "%s cannot be run: %w", l.program, failed)
}

// lookPath returns the programs with a name, in the order of PATH.
func (s *Sandbox) lookPath(name string) []string {
	if strings.ContainsRune(name, filepath.Separator) || filepath.IsAbs(name) {
		if path, err := filepath.Abs(name); err == nil && isProgram(path) {
			return []string{path}
		}
		return nil
	}
	if runtime.GOOS == "windows" && filepath.Ext(name) == "" {
		name += ".exe"
	}
	var list []string
	path, _ := s.lookup("PATH")
	for _, dir := range filepath.SplitList(path) {
		if file := filepath.Join(dir, name); filepath.IsAbs(dir) && isProgram(file) {
			list = append(list, file)
		}
	}
	return list
}

func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir() && (runtime.GOOS == "windows" || info.Mode()&0o111 != 0)
}

// queryNames are the environment variables that determine which interpreter a name refers to,
// or where it finds its packages.
var queryNames = []string{
	"PATH", "HOME", "USER", "USERPROFILE", "SYSTEMROOT", "TMPDIR", "LANG", "LD_LIBRARY_PATH",
	"PYTHONPATH", "PYTHONHOME", "PYENV_ROOT", "PYENV_VERSION", "VIRTUAL_ENV", "CONDA_PREFIX", "ASDF_DIR", "ASDF_DATA_DIR", "MISE_DATA_DIR",
	"NODE_PATH", "NVM_DIR", "FNM_DIR", "VOLTA_HOME", "RUBYLIB", "GEM_HOME", "GEM_PATH", "RBENV_ROOT", "RBENV_VERSION",
}

// query runs one of our scripts in an interpreter, outside the sandbox. The script prints a
// JSON object.
func (s *Sandbox) query(ctx context.Context, path string, argv []string) (*value.Object, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, argv...)
	cmd.Env = []string{}
	for _, name := range queryNames {
		if v, ok := s.lookup(name); ok {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	cmd.WaitDelay = time.Second
	var out, errs limited
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		if detail := strings.TrimSpace(errs.String()); detail != "" {
			return nil, fmt.Errorf("%w: %s", err, detail)
		}
		return nil, err
	}
	v, err := value.ParseJSON(out.String())
	o, ok := v.(*value.Object)
	if err != nil || !ok {
		return nil, errors.New("it does not say what it is")
	}
	return o, nil
}

// limited keeps the first 256 KB written to it.
type limited struct{ bytes.Buffer }

// Write accepts everything, including what it does not keep.
func (l *limited) Write(p []byte) (int, error) {
	_, _ = l.Buffer.Write(p[:min(len(p), max(0, 256<<10-l.Len()))])
	return len(p), nil
}

// texts returns a member that is a list of strings.
func texts(o *value.Object, key string) []string { return textlist.Of(o.At(key)) }

// olderThan compares versions such as 3.11.2 and 3.8.
func olderThan(version, oldest string) bool {
	have := strings.Split(version, ".")
	for i, part := range strings.Split(oldest, ".") {
		want, _ := strconv.Atoi(part)
		got := 0
		if i < len(have) {
			got, _ = strconv.Atoi(have[i])
		}
		if got != want {
			return got < want
		}
	}
	return false
}

// executed returns what must be executable for a program at a path: the path and the dynamic
// loader that the file names.
func executed(path, file string) []string {
	if loader := elfInterpreter(file); loader != "" {
		return []string{path, loader}
	}
	return []string{path}
}

// publicStores returns the store of Nix or Guix if the program is in it. Libraries can be
// anywhere in the store, which everybody can read.
func publicStores(path string) []string {
	return slices.DeleteFunc([]string{"/nix/store", "/gnu/store"}, func(store string) bool { return !strings.HasPrefix(path, store) })
}

// elfInterpreter returns the dynamic loader that a program names, "" if there is none.
func elfInterpreter(path string) string {
	f, err := elf.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type != elf.PT_INTERP || p.Filesz > 4096 {
			continue
		}
		data := make([]byte, p.Filesz)
		if _, err := p.ReadAt(data, 0); err == nil {
			return string(bytes.TrimRight(data, "\x00"))
		}
	}
	return ""
}
