package transport

import (
	"net/netip"
	"strings"
)

// ThisMachine reports whether a host of a URL is only this machine: a loopback address, or the
// name localhost. What must not cross a network unencrypted may go there over plain HTTP.
func ThisMachine(host string) bool {
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.Unmap().IsLoopback()
	}
	return strings.EqualFold(strings.TrimSuffix(host, "."), "localhost")
}
