package main

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/sandbox"
)

// The ways to run code of a suite.
const (
	sandboxRequire = "require" // in the kernel's sandbox, or not at all
	sandboxAuto    = "auto"    // confined where possible, for the user's own files
	sandboxOff     = "off"     // unconfined, as the user
)

// codeFlags define how the code of a suite runs, and its grants.
type codeFlags struct {
	sandbox string
	grants  []string
}

func (f *codeFlags) register(fs *pflag.FlagSet) {
	fs.StringVar(&f.sandbox, "sandbox", sandboxAuto, "`MODE` of the sandbox for code of a suite: require, auto or off")
	fs.StringArrayVar(&f.grants, "grant", nil, "grant `ACCESS` to code of the suite: network, packages, env:NAME or read:PATH; may be repeated")
}

// check finds mistakes in the flags.
func (f *codeFlags) check() error {
	if f.sandbox == "" {
		f.sandbox = sandboxAuto
	}
	ways := []string{sandboxRequire, sandboxAuto, sandboxOff}
	if err := oneOf("sandbox", f.sandbox, ways); err != nil {
		return err
	}
	for _, grant := range f.grants {
		what, name, named := strings.Cut(grant, ":")
		ok := (what == "network" || what == "packages") && !named
		ok = ok || (what == "env" || what == "read") && name != ""
		if !ok || what == "env" && strings.ContainsAny(name, "=* ") {
			return badValue("--grant", "network, packages, env:NAME or read:PATH", grant, "it may be repeated")
		}
	}
	return nil
}

// over adds the grants of the command line to those of a suite.
func (f *codeFlags) over(s proviso.Sandbox) proviso.Sandbox {
	s.Env, s.Read = slices.Clone(s.Env), slices.Clone(s.Read)
	for _, grant := range f.grants {
		switch what, name, _ := strings.Cut(grant, ":"); what {
		case "network":
			s.Network = true
		case "packages":
			s.Packages = true
		case "env":
			s.Env = append(s.Env, name)
		case "read":
			s.Read = append(s.Read, absolute(name)) // relative to the working folder, unlike paths in a suite
		}
	}
	return s
}

// policy returns the confinement and grants that the flags define.
func (f *codeFlags) policy(p engine.Policy) (engine.Policy, error) {
	var err error
	p.Sandbox, err = sandbox.ParsePolicy(cmp.Or(f.sandbox, sandboxAuto))
	p.Grants = f.over(proviso.Sandbox{})
	return p, err
}

func absolute(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return path
}
