package transport

import (
	"errors"
	"net/url"
)

// URL returns u for messages: without user name, password, query and fragment,
// where keys stand.
func URL(u *url.URL) string {
	if u == nil {
		return ""
	}
	safe := url.URL{Scheme: u.Scheme, Opaque: u.Opaque, Host: u.Host, Path: u.Path}
	return safe.String()
}

// Redact returns an error of an http.Client without the URL that it quotes: the
// errors of this package already name the place, without keys.
func Redact(err error) error {
	var quoting *url.Error
	if errors.As(err, &quoting) {
		return quoting.Err
	}
	return err
}
