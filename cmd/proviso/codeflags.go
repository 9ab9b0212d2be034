package main

import (
	"cmp"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/sandbox"
	"github.com/proviso-eval/proviso/suite"
)

// The ways to run code of a suite.
const (
	sandboxRequire = "require" // in the kernel's sandbox, otherwise not at all
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
	if err := oneOf("--sandbox", f.sandbox, ways); err != nil {
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

// over adds the grants of the command line to the grants of a suite.
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

// grantPackages is the only grant that candidates' code can have.
const grantPackages = "packages"

// candidateCode defines how the Python code of candidates runs.
type candidateCode struct {
	sandbox string
	grants  []string
}

func (f *candidateCode) register(fs *pflag.FlagSet) {
	fs.StringVar(&f.sandbox, "sandbox", sandboxRequire, "`MODE` of the sandbox for the Python of candidates: require (refuse to run it without a sandbox) or off")
	registerPackages(fs, &f.grants, "let the Python of candidates import installed packages: `ACCESS` is packages, and nothing else can be granted")
}

// registerPackages adds --grant to a command whose only grant is packages.
func registerPackages(fs *pflag.FlagSet, to *[]string, usage string) {
	fs.StringArrayVar(to, "grant", nil, usage)
}

// check finds mistakes in the flags.
func (f *candidateCode) check() error {
	if err := oneOf("--sandbox", f.sandbox, []string{sandboxRequire, sandboxOff}); err != nil {
		return err
	}
	return checkPackages(f.grants)
}

// checkPackages refuses grants other than packages.
func checkPackages(grants []string) error {
	for _, grant := range grants {
		if err := oneOf("--grant", grant, []string{grantPackages}); err != nil {
			return err
		}
	}
	return nil
}

// packages reports whether packages are granted.
func (f *candidateCode) packages() bool { return slices.Contains(f.grants, grantPackages) }

// trustFlags limit an untrusted suite. Without --untrusted, a suite may do whatever its user may
// do.
type trustFlags struct {
	untrusted bool
	env       []string
	hosts     []string
}

func (t *trustFlags) register(fs *pflag.FlagSet) {
	fs.BoolVar(&t.untrusted, "untrusted", false, "the suite is untrusted: no code, no file outside of its folder, no environment, no host but the vendors'")
	fs.StringArrayVar(&t.env, "allow-env", nil, "with --untrusted: let the suite use the environment variable `NAME`")
	fs.StringArrayVar(&t.hosts, "allow-host", nil, "with --untrusted: also allow requests to `HOST`; name a private host by its address, or as localhost")
}

// check finds mistakes in the flags.
func (t *trustFlags) check() error {
	if !t.untrusted && len(t.env)+len(t.hosts) > 0 {
		return usageError{fmt.Errorf("--allow-env and --allow-host go with --untrusted"), "without --untrusted, the suite may use every variable and host"}
	}
	for _, name := range t.env {
		if name == "" || strings.ContainsAny(name, "=* ") {
			return badValue("--allow-env", "the name of one variable", name, "it may be repeated")
		}
	}
	for i, host := range t.hosts {
		host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
		_, err := netip.ParseAddr(host)
		if host == "" || strings.ContainsAny(host, "/*@ ") || err != nil && strings.Contains(host, ":") {
			return badValue("--allow-host", "a host without scheme, port and path", t.hosts[i], "it may be repeated")
		}
		t.hosts[i] = host
	}
	return nil
}

// around returns the user's environment, and the .env files that only the suite sees. For an
// untrusted suite, .env files are part of the user's environment instead.
func (t *trustFlags) around(env proviso.Env, files []string) (proviso.Env, []string, error) {
	if !t.untrusted {
		return env, files, nil
	}
	env, err := suite.WithEnvFiles(env, "", files)
	return env, nil, err
}

// files returns which files the suite may open.
func (t *trustFlags) files() suite.FilesOptions {
	p := t.policy()
	o := p.Files()
	if !t.untrusted {
		o.Home, _ = os.UserHomeDir()
	}
	return o
}

// policy returns what the flags allow.
func (t *trustFlags) policy() engine.Policy {
	return engine.Policy{Trusted: !t.untrusted, Env: t.env, Hosts: t.hosts}
}
