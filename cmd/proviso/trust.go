package main

import (
	"fmt"
	"net/netip"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/suite"
)

// trustFlags limit an untrusted suite. Without --untrusted a suite may do what its user
// may.
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
		return usageError{fmt.Errorf("--allow-env and --allow-host go with --untrusted"), "without it nothing is kept from the suite"}
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

// around returns the user's environment and the .env files that only the suite sees.
// For an untrusted suite, .env files are part of the user's environment instead.
func (t *trustFlags) around(env proviso.Env, files []string) (proviso.Env, []string, error) {
	if !t.untrusted {
		return env, files, nil
	}
	env, err := suite.WithEnvFiles(env, "", files)
	return env, nil, err
}

// files returns what the suite may open.
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
