package engine

import (
	"context"
	"net/netip"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/sandbox"
	"github.com/proviso-eval/proviso/suite"
	"github.com/proviso-eval/proviso/value"
)

// Policy restricts what a suite, or a request, may do and spend. The zero value is for
// untrusted input: it runs no code, reads no file outside of its folder, sees no environment
// variable, and connects only to hosts of vendors.
type Policy struct {
	// Trusted gives a suite the rights of its user: it may run code, and use every
	// file, every environment variable and every host.
	Trusted bool

	// Sandbox selects how the code of a trusted suite is confined. The zero value is
	// sandbox.Require: all code runs in workers, and the program must call [sandbox.Main]
	// first. Under sandbox.Auto, JavaScript that needs no access to the machine runs in this
	// process.
	Sandbox sandbox.Policy
	// Synthesised means that a model wrote the code: it gets no grants, not even for
	// the files of the suite, except for Grants.Packages.
	Synthesised bool
	// Grants are what the user grants to confined code, in addition to the suite's grants.
	Grants proviso.Sandbox

	// Env are the environment variables that an untrusted suite may use.
	Env []string
	// Hosts are the hosts that an untrusted suite may use in addition to those of the
	// vendors: in lower case, without a port. A private host must be an address or
	// localhost.
	Hosts []string

	// Budget limits the cost of model answers, in US dollars; nil means no limit.
	Budget *float64
}

// check finds mistakes in a policy, which would otherwise silently refuse or allow too
// much.
func (p *Policy) check() error {
	if p.Budget != nil && !(*p.Budget >= 0) {
		return proviso.Errorf(proviso.Invalid, "the budget is an amount of US dollars, not %v", *p.Budget)
	}
	for _, host := range p.Hosts {
		_, err := netip.ParseAddr(host)
		if host == "" || host != strings.ToLower(host) || strings.ContainsAny(host, "/*@[] ") || err != nil && strings.Contains(host, ":") {
			return proviso.Errorf(proviso.Invalid, "Hosts: %q: expected a host in lower case, without scheme, port and path", host)
		}
	}
	for _, name := range p.Env {
		if name == "" || strings.ContainsAny(name, "=* ") {
			return proviso.Errorf(proviso.Invalid, "Env: %q: expected the name of one variable", name)
		}
	}
	return nil
}

// Suite returns the Trust for suite.Options, given the user's environment; nil for a trusted
// suite.
func (p *Policy) Suite(user proviso.Env) *suite.Trust {
	if p.Trusted {
		return nil
	}
	return &suite.Trust{Env: p.Env, Host: p.host(user)}
}

// Files returns the options that restrict which files a suite may open.
func (p *Policy) Files() suite.FilesOptions { return suite.FilesOptions{Confine: !p.Trusted} }

// Environments returns the environments of providers and of templates. added is what the suite
// adds to the user's environment.
func (p *Policy) Environments(added *value.Object, user proviso.Env) (providers, templates proviso.Env) {
	if p.Trusted {
		all := suite.Environment(added, user)
		return all, all
	}
	return user, suite.Environment(added, suite.Restrict(user, p.Env))
}

// host allows the hosts of the vendors, their replacements in the user's environment, and
// Hosts.
func (p *Policy) host(user proviso.Env) transport.HostPolicy {
	allowed := map[string]bool{}
	for _, host := range append(provider.EnvHosts(user), p.Hosts...) {
		allowed[host] = true
	}
	return func(host string) bool { return allowed[host] || provider.VendorHost(host) }
}

// names reports whether Hosts contains a host.
func (p *Policy) names(host string) bool { return slices.Contains(p.Hosts, host) }

// Transport confines requests to the hosts that the policy allows. The environment in o is the
// user's.
func (p *Policy) Transport(o transport.Options) transport.Options {
	if p.Trusted {
		return o
	}
	private := map[netip.Addr]bool{}
	loopback := false
	for _, host := range p.Hosts {
		loopback = loopback || host == "localhost"
		if a, err := netip.ParseAddr(host); err == nil {
			private[a.Unmap()] = true
		}
	}
	o.Hosts = p.host(o.Env)
	o.RefusePrivate = true
	o.AllowPrivate = func(a netip.Addr) bool { return private[a] || loopback && a.IsLoopback() }
	return o
}

// refusedCode is a proviso.Code for untrusted input: it refuses all code. Reading a suite
// already refuses code, with its position; refusedCode catches code that the reader does not
// recognize.
type refusedCode struct{}

// Compile refuses.
func (refusedCode) Compile(_ context.Context, src proviso.Source) (proviso.Function, error) {
	return nil, &proviso.Error{Code: proviso.Refused, Pointer: src.Pointer, Message: src.Name + " is code, which an untrusted suite may not run"}
}

// noFiles is a proviso.Files for requests, which have no files.
type noFiles struct{}

// ReadFile refuses.
func (noFiles) ReadFile(name string) ([]byte, error) {
	return nil, proviso.Errorf(proviso.Refused, "%s: a request has no files", name)
}
