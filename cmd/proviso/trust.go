package main

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/suite"
)

// trustFlags say what a suite may do that nobody vouches for. Without --untrusted
// it may do what its user may.
type trustFlags struct {
	untrusted bool
	env       []string
	hosts     []string
}

func (t *trustFlags) register(fs *pflag.FlagSet) {
	fs.BoolVar(&t.untrusted, "untrusted", false, "the suite is not vouched for: no code, no file outside of its folder, no environment, no host but the vendors'")
	fs.StringArrayVar(&t.env, "allow-env", nil, "with --untrusted: the suite may use the environment variable `NAME`")
	fs.StringArrayVar(&t.hosts, "allow-host", nil, "with --untrusted: `HOST` may be asked, too; a private one only if it is named as an address, or as localhost")
}

// check finds mistakes in the flags.
func (t *trustFlags) check() error {
	if !t.untrusted && len(t.env)+len(t.hosts) > 0 {
		return usageError{fmt.Errorf("--allow-env and --allow-host go with --untrusted"), "without it nothing is kept from the suite"}
	}
	for _, name := range t.env {
		if name == "" || strings.ContainsAny(name, "=* ") {
			return usageError{fmt.Errorf("--allow-env %q: expected the name of one variable", name), "it may be repeated"}
		}
	}
	for i, host := range t.hosts {
		host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
		_, err := netip.ParseAddr(host)
		if host == "" || strings.ContainsAny(host, "/*@ ") || err != nil && strings.Contains(host, ":") {
			return usageError{fmt.Errorf("--allow-host %q: expected a host without scheme, port and path", t.hosts[i]), "it may be repeated"}
		}
		t.hosts[i] = host
	}
	return nil
}

// around returns the user's own environment and the .env files that are part of
// it for the suite alone. An untrusted suite reads none, so that what they say is
// the user's own and not the suite's.
func (t *trustFlags) around(env proviso.Env, files []string) (proviso.Env, []string, error) {
	if !t.untrusted {
		return env, files, nil
	}
	env, err := suite.WithEnvFiles(env, "", files)
	return env, nil, err
}

// environments returns what providers and proviso itself look names up in, and
// what templates do.
func (t *trustFlags) environments(added *proviso.Object, around proviso.Env) (own, templates proviso.Env) {
	if !t.untrusted {
		own = suite.Environment(added, around)
		return own, own
	}
	return around, suite.Environment(added, suite.Restrict(around, t.env))
}

// files says what the suite may open.
func (t *trustFlags) files() suite.FilesOptions {
	o := suite.FilesOptions{Confine: t.untrusted}
	if !t.untrusted {
		o.Home, _ = os.UserHomeDir()
	}
	return o
}

// suite is what the reading of the suite has to know; nil if it is trusted.
func (t *trustFlags) suite(around proviso.Env) *suite.Trust {
	if !t.untrusted {
		return nil
	}
	return &suite.Trust{Env: t.env, Host: t.policy(around)}
}

// policy allows the vendors' hosts, those that the environment puts in their
// place, and those of --allow-host.
func (t *trustFlags) policy(around proviso.Env) transport.HostPolicy {
	allowed := map[string]bool{}
	for _, host := range append(provider.EnvHosts(around), t.hosts...) {
		allowed[host] = true
	}
	return func(host string) bool { return allowed[host] || provider.VendorHost(host) }
}

// names reports whether --allow-host names a host.
func (t *trustFlags) names(host string) bool { return slices.Contains(t.hosts, host) }

// transport confines the network.
func (t *trustFlags) transport(o transport.Options) transport.Options {
	if !t.untrusted {
		return o
	}
	private := map[netip.Addr]bool{}
	loopback := false
	for _, host := range t.hosts {
		loopback = loopback || host == "localhost"
		if a, err := netip.ParseAddr(host); err == nil {
			private[a.Unmap()] = true
		}
	}
	o.Hosts = t.policy(o.Env)
	o.RefusePrivate = true
	o.AllowPrivate = func(a netip.Addr) bool { return private[a] || loopback && a.IsLoopback() }
	return o
}

// code is what may run code: nothing in an untrusted suite. Reading the suite
// refuses code where it stands; this is for what it does not know of.
func (t *trustFlags) code(in proviso.Code) proviso.Code {
	if t.untrusted {
		return refusedCode{}
	}
	return in
}

// refusedCode is a proviso.Code that runs none.
type refusedCode struct{}

// Compile refuses.
func (refusedCode) Compile(_ context.Context, src proviso.Source) (proviso.Function, error) {
	return nil, &proviso.Error{Code: proviso.Refused, Pointer: src.Pointer, Message: src.Name + " is code, which an untrusted suite may not run"}
}
