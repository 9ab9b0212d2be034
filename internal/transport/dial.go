package transport

import (
	"context"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/proviso-eval/proviso"
)

// dialer opens connections.
type dialer struct {
	timeout time.Duration
	public  public
	proxies map[string]bool // host:port of proxies, which may have any address
}

func (d dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	nd := net.Dialer{Timeout: d.timeout, KeepAlive: 30 * time.Second}
	if d.public.only && !d.proxies[address] {
		nd.ControlContext = d.public.control
	}
	return nd.DialContext(ctx, network, address)
}

// public restricts requests to the public internet.
type public struct {
	only   bool
	except func(netip.Addr) bool // private addresses that are allowed; nil means none
}

// refuses reports whether requests to an address are refused.
func (p public) refuses(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	return p.only && private(a) && (p.except == nil || !p.except(a))
}

// control checks the address that is actually dialled, so that a name cannot resolve to one address
// for the check and to another for the connection.
func (p public) control(_ context.Context, _, address string, _ syscall.RawConn) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil || p.refuses(ap.Addr()) {
		return privateError(address)
	}
	return nil
}

// refusesHost reports whether a host is itself a refused address, or the name of this
// machine.
func (p public) refusesHost(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return p.refuses(netip.AddrFrom4([4]byte{127, 0, 0, 1}))
	}
	a, err := netip.ParseAddr(host)
	return err == nil && p.refuses(a)
}

// Private forecasts whether [Options.RefusePrivate] will refuse a host, in lower case and without a
// port, without resolving names. An address is checked like a dialled one. A name is private if it
// cannot have an address on the public internet: it has no dot, or its last part is reserved for
// private networks (RFC 6761, RFC 6762, RFC 8375, and "internal" of ICANN). Whether a request is
// sent depends on the address that is dialled.
func Private(host string) bool {
	if a, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return private(a)
	}
	host = strings.TrimSuffix(host, ".")
	for _, end := range [...]string{".local", ".localhost", ".internal", ".lan", ".home.arpa"} {
		if strings.HasSuffix(host, end) {
			return true
		}
	}
	return !strings.Contains(host, ".")
}

// Check returns the error of every request to a host that [Options.RefusePrivate] refuses by its
// text alone: a private address, or a name of this machine. It returns nil for other hosts. The
// host is in lower case, without a port.
func (o *Options) Check(host string) error {
	if (public{o.RefusePrivate, o.AllowPrivate}).refusesHost(host) {
		return privateError(host)
	}
	return nil
}

// privateError returns the error for an address with or without a port.
func privateError(address string) error {
	host := address
	if ap, err := netip.ParseAddrPort(address); err == nil {
		host = ap.Addr().Unmap().WithZone("").String()
	}
	return proviso.Errorf(proviso.Refused, "%s is not an address on the public internet; --allow-host %s allows it", address, host)
}

// hostOf returns the host of u in the form that policies see.
func hostOf(u *url.URL) string {
	return strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
}

// private reports whether a is not an address of the public internet: loopback, private and
// link-local networks, with the metadata services of clouds, and the ranges that the IANA
// special-purpose address registries reserve for other uses.
func private(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	if !a.IsGlobalUnicast() || a.IsPrivate() {
		return true
	}
	if a.Is6() {
		return private6(a)
	}
	b := a.As4()
	switch {
	case b[0] == 0, b[0] >= 240,
		b[0] == 100 && b[1]&0xc0 == 64, // carrier-grade NAT
		b[0] == 192 && b[1] == 0 && b[2] == 0,
		b[0] == 198 && b[1]&0xfe == 18: // benchmarking
		return true
	}
	return false
}

// private6 looks for IPv4 addresses inside IPv6 addresses (NAT64, 6to4) and for the deprecated
// site-local addresses.
func private6(a netip.Addr) bool {
	b := a.As16()
	switch {
	case b[0] == 0xfe && b[1]&0xc0 == 0xc0:
		return true
	case b[0] == 0x20 && b[1] == 0x02:
		return private(netip.AddrFrom4([4]byte(b[2:6])))
	case b[0] == 0 && b[1] == 0x64 && b[2] == 0xff && b[3] == 0x9b:
		return private(netip.AddrFrom4([4]byte(b[12:16])))
	}
	return false
}
