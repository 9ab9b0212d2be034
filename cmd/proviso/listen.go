package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

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

// tlsFlags name the certificate of a server.
type tlsFlags struct{ cert, key string }

func (f *tlsFlags) register(fs *pflag.FlagSet) {
	fs.StringVar(&f.cert, "tls-cert", "", "PEM `FILE` with the certificate and its intermediate certificates")
	fs.StringVar(&f.key, "tls-key", "", "PEM `FILE` with the private key of the certificate")
}

func (f *tlsFlags) check(hint string) error {
	if (f.cert == "") != (f.key == "") {
		return usageError{errors.New("--tls-cert and --tls-key go together"), hint}
	}
	return nil
}

// config reads the certificate; nil if there is none.
func (f *tlsFlags) config() (*tls.Config, error) {
	if f.cert == "" {
		return nil, nil
	}
	pair, err := tls.LoadX509KeyPair(f.cert, f.key)
	if err != nil {
		return nil, proviso.Errorf(proviso.Invalid, "--tls-cert and --tls-key: %w", err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}

// announce says where a server is, and what it does there.
func (f *tlsFlags) announce(a *app, doing string, at net.Addr) {
	scheme := "http"
	if f.cert != "" {
		scheme = "https"
	}
	fmt.Fprintf(a.err, "proviso: %s on %s://%s; Ctrl-C stops\n", doing, scheme, at)
}

// warnPlain warns of keys that come from other machines without encryption.
func (f *tlsFlags) warnPlain(a *app, addr string) {
	if !isLoopback(addr) && f.cert == "" {
		a.warn("keys come over the network as they are: give --tls-cert and --tls-key, or put a proxy with TLS in front")
	}
}
