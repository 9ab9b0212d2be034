package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/url"
	"syscall"
)

// URL returns u for messages: without user name, password, query and fragment, which may hold keys.
func URL(u *url.URL) string {
	if u == nil {
		return ""
	}
	safe := url.URL{Scheme: u.Scheme, Opaque: u.Opaque, Host: u.Host, Path: u.Path}
	return safe.String()
}

// Reason describes a network error in plain words, without names, addresses or other text from the
// other side. It is for readers who must not learn them.
func Reason(err error) string {
	var dns *net.DNSError
	var record tls.RecordHeaderError
	var certificate *tls.CertificateVerificationError
	var slow net.Error
	var system syscall.Errno
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return "there is no such host"
	case errors.As(err, &record):
		return "it does not speak TLS"
	case errors.As(err, &certificate):
		return "its certificate is not trusted"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &slow) && slow.Timeout():
		return "it does not answer in time"
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET):
		return "it closed the connection without an answer"
	case errors.As(err, &system):
		return system.Error()
	}
	return "the connection failed"
}

// Redact returns an error of an http.Client without the URL that it quotes. The errors of this
// package already name the address, without keys.
func Redact(err error) error {
	var quoting *url.Error
	if errors.As(err, &quoting) {
		return quoting.Err
	}
	return err
}
