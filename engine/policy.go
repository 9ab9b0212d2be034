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
)

// Policy says what a suite, or a request, may do and spend. The zero value is for
// untrusted input: it runs no code, reads no file outside of its folder, sees no
// name of the environment, and asks no host but those of the vendors.
type Policy struct {
	// Trusted gives a suite the rights of its user: it may run code, and use every
	// file, every name of the environment and every host.
	Trusted bool

	// Sandbox says how the code of a trusted suite is confined. The zero value is
	// sandbox.Require, under which all code runs in workers: the program has to call
	// [sandbox.Main] first. Under sandbox.Auto, JavaScript that needs nothing of the
	// machine runs in this process.
	Sandbox sandbox.Policy
	// Synthesised says that a model wrote the code: it is granted nothing, not even
	// the files of the suite.
	Synthesised bool
	// Grants are what confined code may use: those of the suite, if there is one,
	// and what the user adds to them.
	Grants proviso.Sandbox

	// Env are the names of the environment that an untrusted suite may use.
	Env []string
	// Hosts are the hosts that an untrusted suite may ask beside those of the
	// vendors: in lower case, without a port. Private ones only if they are named
	// as an address, or as localhost.
	Hosts []string

	// Budget is the most that the answers of models may cost, in US dollars; nil is
	// no limit.
	Budget *float64
}

// check finds mistakes in a policy, which would otherwise refuse or allow what nobody
// meant.
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

// Suite returns what suite.Options needs as Trust, with the environment of the
// user; nil for a trusted suite.
func (p *Policy) Suite(user proviso.Env) *suite.Trust {
	if p.Trusted {
		return nil
	}
	return &suite.Trust{Env: p.Env, Host: p.host(user)}
}

// Files says which files a suite may open.
func (p *Policy) Files() suite.FilesOptions { return suite.FilesOptions{Confine: !p.Trusted} }

// Environments returns where providers look up names, and where templates do.
// added is what the suite adds to the environment of the user.
func (p *Policy) Environments(added *proviso.Object, user proviso.Env) (providers, templates proviso.Env) {
	if p.Trusted {
		all := suite.Environment(added, user)
		return all, all
	}
	return user, suite.Environment(added, suite.Restrict(user, p.Env))
}

// host allows the hosts of the vendors, those that the environment of the user puts
// in their place, and Hosts.
func (p *Policy) host(user proviso.Env) transport.HostPolicy {
	allowed := map[string]bool{}
	for _, host := range append(provider.EnvHosts(user), p.Hosts...) {
		allowed[host] = true
	}
	return func(host string) bool { return allowed[host] || provider.VendorHost(host) }
}

// names reports whether Hosts has a host.
func (p *Policy) names(host string) bool { return slices.Contains(p.Hosts, host) }

// Transport confines requests to the hosts that the policy allows. The environment
// in o is that of the user.
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

// refusedCode is a proviso.Code for untrusted input: it runs none. Reading a suite
// refuses code at its place; this is for code that the reader does not know.
type refusedCode struct{}

// Compile refuses.
func (refusedCode) Compile(_ context.Context, src proviso.Source) (proviso.Function, error) {
	return nil, &proviso.Error{Code: proviso.Refused, Pointer: src.Pointer, Message: src.Name + " is code, which an untrusted suite may not run"}
}

// noFiles is a proviso.Files for requests, which come without any.
type noFiles struct{}

// ReadFile refuses.
func (noFiles) ReadFile(name string) ([]byte, error) {
	return nil, proviso.Errorf(proviso.Refused, "%s: a request has no files", name)
}
