package main

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
)

// checkAddr finds a mistake in the value of --addr.
func checkAddr(flag, addr, hint string) error {
	_, port, err := net.SplitHostPort(addr)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil {
		return badValue(flag, "an address and a port, such as 127.0.0.1:8080", addr, hint)
	}
	return nil
}

// listen opens an address. hint says what to do if it cannot be used.
func listen(ctx context.Context, addr, hint string) (net.Listener, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err == nil {
		return l, nil
	}
	var system *os.SyscallError
	if errors.As(err, &system) {
		err = system.Err // without the address, which the message has already
	}
	return nil, proviso.Errorf(proviso.Unavailable, "cannot listen on %s: %w; %s", addr, err, hint)
}

// isLoopback reports whether an address is reachable only from this machine.
func isLoopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.IsLoopback()
	}
	return slices.Contains([]string{"localhost", "localhost."}, strings.ToLower(host))
}
