package main

import (
	"slices"

	"github.com/spf13/pflag"
)

// grantPackages is the only grant for the code of candidates.
const grantPackages = "packages"

// candidateCode defines how the Python of candidates runs.
type candidateCode struct {
	sandbox string
	grants  []string
}

func (f *candidateCode) register(fs *pflag.FlagSet) {
	fs.StringVar(&f.sandbox, "sandbox", sandboxRequire, "`MODE` of the sandbox for the Python of candidates: require (refuse to run it without a sandbox) or off")
	registerPackages(fs, &f.grants, "let the Python of candidates import installed packages: `ACCESS` is packages, and nothing else can be granted")
}

// registerPackages adds --grant to a command that grants packages alone.
func registerPackages(fs *pflag.FlagSet, to *[]string, usage string) {
	fs.StringArrayVar(to, "grant", nil, usage)
}

// check finds mistakes in the flags.
func (f *candidateCode) check() error {
	if err := oneOf("sandbox", f.sandbox, []string{sandboxRequire, sandboxOff}); err != nil {
		return err
	}
	return checkPackages(f.grants)
}

// checkPackages refuses grants other than packages.
func checkPackages(grants []string) error {
	for _, grant := range grants {
		if err := oneOf("grant", grant, []string{grantPackages}); err != nil {
			return err
		}
	}
	return nil
}

// packages reports whether packages are granted.
func (f *candidateCode) packages() bool { return slices.Contains(f.grants, grantPackages) }
