package provider

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/value"
)

// ErrNoKey is the cause of the error of [Open] if the environment lacks something that a provider
// needs: a key, other credentials, an address that only the user knows, or the permission to use
// its address.
var ErrNoKey = errors.New("no key")

// login authenticates requests where a key in a header is not enough.
type login interface {
	// ready gets the credentials unless the last ones are still valid. It may
	// make requests; sign does not.
	ready(ctx context.Context) error
	// sign adds the credentials to a request with this body.
	sign(ctx context.Context, req *http.Request, body []byte) error
	// secrets are what messages must not show.
	secrets() []string
}

// loginTimeout limits one login, from the first request to the last.
const loginTimeout = 30 * time.Second

// maxLogin bounds the response of a login, and files with credentials, in
// bytes.
const maxLogin = 1 << 20

// early is how long before its expiry an access token is renewed.
const early = 2 * time.Minute

// accessToken is an access token and its expiry; a zero time means that it does
// not expire.
type accessToken struct {
	text    string
	expires time.Time
}

// bearer is a login with an access token (RFC 6750). It is safe for concurrent
// use: one caller at a time renews the token, and the others wait.
type bearer struct {
	fetch func(ctx context.Context) (accessToken, error)
	now   func() time.Time
	turn  chan struct{} // holds one value while the token is not being renewed

	mu    sync.Mutex
	token accessToken
}

func newBearer(now func() time.Time, fetch func(ctx context.Context) (accessToken, error)) *bearer {
	b := &bearer{fetch: fetch, now: now, turn: make(chan struct{}, 1)}
	b.turn <- struct{}{}
	return b
}

var _ login = (*bearer)(nil)

func (b *bearer) ready(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-b.turn:
	}
	defer func() { b.turn <- struct{}{} }()
	if t := b.current(); t.text != "" && (t.expires.IsZero() || b.now().Add(early).Before(t.expires)) {
		return nil
	}
	call, cancel := context.WithTimeout(ctx, loginTimeout)
	defer cancel()
	t, err := b.fetch(call)
	if err == nil && t.text == "" {
		err = errors.New("the answer has no access token")
	}
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.token = t
	return nil
}

// current is the latest token.
func (b *bearer) current() accessToken {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.token
}

func (b *bearer) sign(_ context.Context, req *http.Request, _ []byte) error {
	req.Header.Set("Authorization", "Bearer "+b.current().text)
	return nil
}

func (b *bearer) secrets() []string {
	if t := b.current(); t.text != "" {
		return []string{t.text}
	}
	return nil
}

// loginHosts are the hosts that issue access tokens. An untrusted suite may
// reach them for logins.
var loginHosts = [...]string{
	"accounts.google.com", "iamcredentials.googleapis.com", "oauth2.googleapis.com", "sts.googleapis.com",
	"login.microsoftonline.com", "login.microsoftonline.us", "login.partner.microsoftonline.cn",
}

// loginHost reports whether a host issues access tokens to a vendor's
// customers.
func loginHost(host string) bool {
	if slices.Contains(loginHosts[:], host) {
		return true
	}
	region, ok := strings.CutPrefix(host, "sts.")
	region, ok2 := strings.CutSuffix(strings.TrimSuffix(region, ".cn"), ".amazonaws.com")
	return ok && ok2 && plainName(region)
}

// loginClient makes the HTTP calls of a login. They are never recorded. For an
// untrusted suite they may only go to the vendors' hosts.
func (s settings) loginClient() *http.Client {
	if s.o.LoginClient != nil {
		return s.o.LoginClient
	}
	o := transport.Options{Env: s.proxies()}
	if s.o.Untrusted {
		o.Hosts, o.RefusePrivate = loginHost, true
	}
	c := transport.New(o).Client()
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c
}

// userEnv looks up variables that only the user may set, and ignores those that
// an untrusted suite sets.
func (s settings) userEnv(names ...string) (value, name string) {
	for _, name := range names {
		if s.o.Untrusted && s.ownEnv(name) {
			continue
		}
		if v, _ := s.env(name); v != "" {
			return v, name
		}
	}
	return "", ""
}

// proxies is the environment of the login's client.
func (s settings) proxies() proviso.Env {
	env := proviso.EnvMap{}
	for _, name := range [...]string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy"} {
		if v, _ := s.userEnv(name); v != "" {
			env[name] = v
		}
	}
	return env
}

// replays reports whether answers come from a cassette, so that no login is
// needed.
func (s settings) replays() bool { return s.o.Cassette != nil && s.o.Cassette.Replays() }

// askLogin makes a login request and returns the object in the response. Its errors do not quote
// the request.
func askLogin(client *http.Client, req *http.Request) (*value.Object, error) {
	resp, err := client.Do(req)
	if err != nil {
		return nil, transport.Redact(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxLogin))
	if err != nil {
		return nil, err
	}
	v, _ := value.ParseJSON(string(data))
	o := object(v)
	if resp.StatusCode/100 == 2 && o != nil {
		return o, nil
	}
	description := o.Text("error_description")
	if f := errorIn(o); description == "" && f != nil {
		description = f.message
	}
	description = cmp.Or(description, http.StatusText(resp.StatusCode))
	return nil, loginRefusal(req.URL.Host, resp.StatusCode, description)
}

// loginRefusal is the error of a rejected login, or of one that may succeed later.
func loginRefusal(who string, status int, description string) error {
	code := proviso.Refused
	if status >= 500 || status == http.StatusTooManyRequests {
		code = proviso.Unavailable
	}
	return proviso.Errorf(code, "%s answered HTTP %d: %s", who, status, excerpt([]byte(description)))
}

// postForm posts a login form, as [askLogin] does.
func postForm(ctx context.Context, client *http.Client, address string, form url.Values) (*value.Object, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	return askLogin(client, req)
}

// tokenOf reads an access token response (RFC 6749, section 5.1).
func tokenOf(o *value.Object, now time.Time) accessToken {
	t := accessToken{text: o.Text("access_token")}
	if s := value.ToNumber(o.At("expires_in")); s > 0 && s < 1e9 { // Microsoft sometimes sends a text
		t.expires = now.Add(time.Duration(s) * time.Second)
	}
	return t
}

// loginFault is the fault of a failed login. A rejected login is not retried for every row.
func loginFault(err error) *fault {
	f := &fault{code: proviso.Unavailable, message: "cannot log in: " + excerpt([]byte(err.Error())), stop: true}
	var known *proviso.Error
	passing := errors.As(err, &known) && (known.Code == proviso.Unavailable || known.Code == proviso.Timeout)
	if passing || errors.Is(err, context.DeadlineExceeded) {
		f.stop, f.again = false, true
	}
	return f
}

// plainName reports whether text is a name like that of a region: lower case
// ASCII letters, digits and hyphens. Everything that becomes part of a host
// must be one.
func plainName(text string) bool {
	for _, c := range []byte(text) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return text != "" && len(text) <= 63 && text[0] != '-' && text[len(text)-1] != '-'
}
