package sandbox

import (
	"fmt"
	"os/user"
	"path/filepath"
	"slices"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// Policy decides whether code may run without a sandbox. The zero value is
// [Require].
type Policy uint8

// The policies, from the strictest.
const (
	Require Policy = iota // code runs only inside the sandbox
	Auto                  // a user's own files may run without it, if the machine has no sandbox
	Off                   // there is no sandbox; workers and time limits remain
)

// ParsePolicy reads "require", "auto" or "off".
func ParsePolicy(text string) (Policy, error) {
	for _, p := range []Policy{Require, Auto, Off} {
		if p.String() == text {
			return p, nil
		}
	}
	return Require, &proviso.Error{Code: proviso.Invalid, Message: fmt.Sprintf("%q is not a sandbox policy", text), Valid: []string{"require", "auto", "off"}}
}

// String returns the policy as [ParsePolicy] reads it.
func (p Policy) String() string {
	switch p {
	case Require:
		return "require"
	case Auto:
		return "auto"
	}
	return "off"
}

// Grants are what code may access besides its arguments and the suite's folder. Code with the
// purpose [proviso.Synthesised] gets none of them; see Options.SynthesisedPackages.
type Grants struct {
	Network  bool     // sockets to any address
	Env      []string // names of environment variables
	Read     []string // files and folders it may read; relative paths are relative to Options.Dir
	Packages bool     // the packages installed for the interpreter
}

// profile is what a host, and every worker that it forks, may do. Equal
// profiles share a host.
type profile struct {
	language string
	sandbox  bool   // inside the kernel's sandbox
	network  bool   // sockets
	packages bool   // site-packages, and the memory that they take
	files    bool   // the suite's folder and granted files
	env      envSet // variables that a worker gets
	acting   bool   // providers and hooks: larger replies, and modules are kept between calls
}

// envSet selects the environment variables that a worker gets.
type envSet uint8

const (
	envNone envSet = iota
	envNamed
	envAll
)

// profileFor returns the profile of code with a purpose under the policy.
func (s *Sandbox) profileFor(language string, purpose proviso.Purpose) profile {
	p := profile{language: language, sandbox: s.options.Policy != Off, acting: purpose == proviso.Acting}
	if purpose == proviso.Synthesised {
		p.packages = s.options.SynthesisedPackages
		if s.options.Policy == Off {
			p.env = envNone
		}
		return p
	}
	g := s.options.Grants
	p.files, p.network, p.packages, p.env = true, g.Network, g.Packages, envNamed
	switch s.options.Policy {
	case Auto:
		p.packages = true
		p.network = p.network || p.acting
	case Off:
		p.packages, p.network, p.env = true, true, envAll
	}
	return p
}

// granted returns the files and folders that a profile may read besides those of its
// interpreter. It leaves out the suite's folder if that is the root or a home folder, which
// contain more than a suite.
func (s *Sandbox) granted(p profile) []string {
	if !p.files {
		return nil
	}
	var list []string
	if s.dir != "" && !s.isHome(s.dir) {
		list = append(list, s.dir)
	}
	return append(list, s.readGrants()...)
}

// readGrants returns the files and folders granted besides the suite's folder.
func (s *Sandbox) readGrants() []string {
	var list []string
	for _, name := range s.options.Grants.Read {
		if !filepath.IsAbs(name) {
			name = filepath.Join(s.dir, name)
		}
		list = append(list, filepath.Clean(name))
	}
	return list
}

// isHome reports whether a folder is too wide to be the suite's folder: the root, the home
// folder, or a parent of it, by any name.
func (s *Sandbox) isHome(dir string) bool {
	for _, name := range []string{dir, resolved(dir)} {
		if name == filepath.Dir(name) || slices.ContainsFunc(s.homes(), func(home string) bool { return beneath(home, name) }) {
			return true
		}
	}
	return false
}

// homesOf returns the home folders: the value of HOME, which may be anything or missing, and
// the system's.
func homesOf(lookup func(string) (string, bool)) []string {
	var homes []string
	add := func(home string) {
		if filepath.IsAbs(home) {
			homes = append(homes, filepath.Clean(home), resolved(home))
		}
	}
	home, _ := lookup("HOME")
	add(home)
	if u, err := user.Current(); err == nil {
		add(u.HomeDir)
	}
	return homes
}

// resolved returns a path without links, or unchanged if it does not exist.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

// lookup reads a variable of the machine's environment.
func (s *Sandbox) lookup(name string) (string, bool) {
	for _, env := range []proviso.Env{s.options.Machine, s.options.Env} {
		if env != nil {
			return env.Lookup(name)
		}
	}
	return "", false
}

// environment returns the variables that workers of a profile get.
func (s *Sandbox) environment(p profile) *value.Object {
	env := value.NewObject(0)
	names := s.options.Grants.Env
	switch {
	case p.env == envNone || s.options.Env == nil:
		names = nil
	case p.env == envAll:
		names = s.options.Env.Names()
	}
	for _, name := range names {
		if v, ok := s.options.Env.Lookup(name); ok {
			env.Set(name, v)
		}
	}
	return env
}
