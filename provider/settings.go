package provider

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/provider/throttle"
	"github.com/proviso-eval/proviso/value"
)

// settings are the configuration and the environment of one provider.
type settings struct {
	spec proviso.ProviderSpec
	o    Options
}

// env returns the first of the names that is set and not empty, and its value.
// The provider's own environment comes before the common one.
func (s settings) env(names ...string) (value, name string) {
	for _, name := range names {
		if v, ok := s.spec.Env.At(name).(string); ok && v != "" {
			return v, name
		}
		if s.o.Env != nil {
			if v, ok := s.o.Env.Lookup(name); ok && v != "" {
				return v, name
			}
		}
	}
	return "", ""
}

// ownEnv reports whether the suite itself sets name.
func (s settings) ownEnv(name string) bool {
	v, ok := s.spec.Env.At(name).(string)
	return ok && v != ""
}

// text returns a setting that is text; "" if there is none.
func (s settings) text(key string) string {
	v, _ := s.spec.Config.At(key).(string)
	return v
}

// number returns a setting that is a number, or a text with a number, as templates write it.
func (s settings) number(key string) (float64, bool) {
	switch v := s.spec.Config.At(key).(type) {
	case float64:
		return v, true
	case string:
		f := value.ToNumber(v)
		return f, v != "" && f == f
	}
	return 0, false
}

// either returns a setting, or else the first of the environment variables that
// correspond to it, and its origin.
func (s settings) either(setting string, variables ...string) (value, from string) {
	if v := s.text(setting); v != "" {
		return v, "config." + setting
	}
	return s.env(variables...)
}

// refused is the error for what an untrusted suite may not do.
func (s settings) refused(format string, args ...any) error {
	return s.failed(proviso.Refused, format, args...)
}

// failed returns an error with a code, at the provider's position.
func (s settings) failed(code, format string, args ...any) error {
	return &proviso.Error{Code: code, Pointer: s.spec.Pointer, Message: s.spec.ID + ": " + fmt.Sprintf(format, args...)}
}

// invalid returns the error for a mistake in the settings. A cause with another meaning, such as a
// missing file, keeps its code.
func (s settings) invalid(format string, args ...any) error {
	err := proviso.Errorf(proviso.Invalid, format, args...)
	var cause *proviso.Error
	if errors.As(err.Err, &cause) && cause.Code != "" {
		err.Code, err.Valid = cause.Code, cause.Valid
	}
	err.Message, err.Pointer = withoutKeys(s.spec.ID)+": "+err.Message, s.spec.Pointer
	return err
}

// api describes a vendor's API.
type api struct {
	base      string                // base URL; "" if it must be configured
	hostPath  string                // path of the API if only the host is given
	under     string                // path of the API below any of its URLs
	beside    string                // path of another API of the same server, which a URL may have in its place
	keyVars   []string              // variables that may hold the key
	loginVars []string              // variables that hold secrets of a login
	baseVars  []string              // variables that may hold the base URL
	hostVars  []string              // variables that may hold the host alone
	keyless   bool                  // it works without a key
	login     func() (proof, error) // credentials other than a key; nil if there are none
	header    string                // header of the key; "" means Authorization: Bearer
	extra     map[string]string
	prices    string  // group in the price file
	tokens    float64 // default token limit of an answer; 0 means defaultTokens
	prefix    string  // prefix of the variables for temperature and token limit
	flat      bool    // the reasoning effort is a parameter of its own, not a member of reasoning
	objects   bool    // it supports JSON objects for the shape of answers, but no schemas
	loose     bool    // it may reject a schema that bounds numbers, texts or lists
}

// proof holds the credentials for a vendor: a key, or a login.
type proof struct {
	key   string // "" if there is none
	login login  // nil if there is none
	from  string // origin, for messages
	own   bool   // the suite supplies it
}

func (p proof) empty() bool { return p.key == "" && p.login == nil }

// proof finds the vendor's key, or other credentials. If they are missing, the error explains how
// to supply them.
func (s settings) proof(a api) (proof, error) {
	if p := s.key(a); !p.empty() {
		if !p.own && !a.keyless {
			s.needs(s.keyVars(a), true)
		}
		return p, nil
	}
	if a.keyless || s.spec.Config.At("apiKeyRequired") == false || s.replays() {
		return proof{}, nil
	}
	p, err := proof{}, error(nil)
	if a.login != nil {
		if p, err = a.login(); err == nil && !p.own {
			s.needs(nil, true)
		}
	} else {
		s.needs(s.keyVars(a), false)
		err = s.noKey("no API key: set %s in the environment, or config.apiKey", strings.Join(s.keyVars(a), " or "))
	}
	if s.o.Keyless && errors.Is(err, ErrNoKey) {
		return proof{}, nil
	}
	return p, err
}

// key finds the key of the vendor.
func (s settings) key(a api) proof {
	if k := s.text("apiKey"); k != "" {
		return proof{key: k, from: "config.apiKey", own: true}
	}
	k, from := s.env(s.keyVars(a)...)
	return proof{key: k, from: from, own: s.suites(from)}
}

func (s settings) keyVars(a api) []string {
	if name := s.text("apiKeyEnvar"); name != "" {
		return []string{name}
	}
	return a.keyVars
}

// suites reports whether the suite itself sets this setting or variable.
func (s settings) suites(from string) bool {
	return strings.HasPrefix(from, "config.") || from != "" && s.ownEnv(from)
}

// noKey returns the error for an environment that lacks credentials or an address.
func (s settings) noKey(format string, args ...any) error {
	s.needs(nil, false)
	err := proviso.Because(ErrNoKey, proviso.Invalid, s.spec.ID+": "+format, args...)
	err.Pointer = s.spec.Pointer
	return err
}

// place finds the URL of the API, and whether the suite chose it.
func (s settings) place(a api) (base string, chosen bool, err error) {
	host, from := s.text("apiHost"), ""
	switch {
	case s.text("apiBaseUrl") != "":
		base, chosen = s.text("apiBaseUrl"), true
	case host != "":
		base, chosen = hostURL(host, a.hostPath), true
	default:
		if host, from = s.env(a.hostVars...); host != "" {
			base = hostURL(host, a.hostPath)
		} else if base, from = s.env(a.baseVars...); base == "" {
			base = a.base
		}
		chosen = from != "" && s.ownEnv(from)
	}
	base = strings.TrimSuffix(strings.TrimRight(base, "/"), a.beside)
	if a.base == "" && !chosen {
		s.needs(slices.Concat(a.hostVars, a.baseVars), base != "")
	}
	if base == "" {
		if s.o.Keyless {
			return "https://nowhere.invalid", false, nil
		}
		how := "config.apiBaseUrl"
		if len(a.baseVars) > 0 {
			how = a.baseVars[0] + " in the environment, or " + how
		}
		return "", false, s.noKey("no address: set %s", how)
	}
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", false, s.invalid("the base URL must be an http or https URL")
	}
	return strings.TrimSuffix(base, a.under) + a.under, chosen, nil
}

// mayAsk returns why the address of the environment, or of this package, may not be used. A command
// that only checks a suite sends no requests, so it always returns nil.
func (s settings) mayAsk(base string) error {
	if s.o.MayAsk == nil || s.o.Keyless {
		return nil
	}
	why := s.o.MayAsk(hostname(base))
	if why == nil {
		return nil
	}
	err := proviso.Because(errors.Join(ErrNoKey, why), proviso.Refused, "%s: %v", s.spec.ID, why)
	err.Pointer = s.spec.Pointer
	return err
}

func hostURL(host, path string) string {
	if strings.Contains(host, "://") {
		return strings.TrimRight(host, "/") + path
	}
	return "https://" + strings.TrimRight(host, "/") + path
}

// Defaults of [Options].
const (
	defaultConcurrency = 4
	defaultRetries     = 4
	maxRetries         = 100
	defaultTimeout     = 5 * time.Minute
	defaultBackoff     = time.Second
)

// endpoint makes the endpoint of one model at a vendor's API.
func (s settings) endpoint(a api, model string) (*endpoint, error) {
	base, chosen, err := s.place(a)
	if err != nil {
		return nil, err
	}
	p, err := s.proof(a)
	if !chosen {
		err = errors.Join(err, s.mayAsk(base))
	}
	if err != nil {
		return nil, err
	}
	if s.o.Untrusted && chosen && !p.empty() && !p.own && !sameHost(base, a.base) && !s.keyMayGo(base) {
		return nil, s.refused("the key in %s is not sent to the host %s that an untrusted suite names", p.from, hostname(base))
	}
	e := s.newEndpoint(base, base+" "+model+" "+p.key+p.from, sameHostOnly)
	e.keyFrom, e.login = p.from, p.login
	if !p.empty() && !p.own {
		e.need = s.need(s.keyVars(a))
	}
	e.header.Set("Content-Type", typeJSON)
	e.authorize(a, p.key)
	e.addHeaders(s.spec.Config.At("headers"))
	return e, nil
}

// newEndpoint makes an endpoint. Endpoints with the same name share their limits.
func (s settings) newEndpoint(base, name string, redirects func(*http.Request, []*http.Request) error) *endpoint {
	e := &endpoint{
		id: s.spec.ID, base: base, client: s.client(redirects), header: http.Header{}, retries: s.retries(),
		timeout: s.timeout(), backoff: s.backoff(), clock: throttle.Clock{Now: s.now(), Sleep: s.o.Sleep}, replays: s.replays(),
	}
	if e.clock.Sleep == nil {
		e.clock.Sleep = transport.Wait
	}
	limits := s.o.Limits
	if limits == nil {
		limits = &throttle.Limits{}
	}
	rpm, _ := s.number("rpm")
	tpm, _ := s.number("tpm")
	// Headers, too, may hold a key, whose account has limits of its own.
	e.gate = limits.Gate(name+" "+value.Stringify(s.spec.Config.At("headers")), s.concurrency(), rpm, tpm)
	return e
}

// concurrency is how many requests may be in flight.
func (s settings) concurrency() int { return cmp.Or(max(s.o.Concurrency, 0), defaultConcurrency) }

// now is the clock.
func (s settings) now() func() time.Time {
	if s.o.Now != nil {
		return s.o.Now
	}
	return time.Now
}

// keyMayGo reports whether the user allows a key to be sent to an address that the suite names. A
// key never leaves this machine unencrypted.
func (s settings) keyMayGo(base string) bool {
	host := hostname(base)
	if s.o.KeyHost == nil || !s.o.KeyHost(host) {
		return false
	}
	return strings.HasPrefix(base, "https://") || transport.ThisMachine(host)
}

func sameHost(a, b string) bool {
	x, err := url.Parse(a)
	if err != nil {
		return false
	}
	y, err := url.Parse(b)
	return err == nil && y.Host != "" && x.Host == y.Host && x.Scheme == y.Scheme
}

func (s settings) timeout() time.Duration {
	if s.o.Timeout > 0 {
		return s.o.Timeout
	}
	return s.envMilliseconds("REQUEST_TIMEOUT_MS", defaultTimeout)
}

func (s settings) backoff() time.Duration {
	return s.envMilliseconds("PROMPTFOO_REQUEST_BACKOFF_MS", defaultBackoff)
}

// limit returns config.timeout, or else def.
func (s settings) limit(def time.Duration) time.Duration {
	ms, _ := s.number("timeout")
	return milliseconds(ms, def)
}

// envMilliseconds reads a duration in milliseconds from the environment.
func (s settings) envMilliseconds(name string, def time.Duration) time.Duration {
	return milliseconds(s.envNumber(name, 0), def)
}

func milliseconds(ms float64, def time.Duration) time.Duration {
	if ms > 0 && ms < 1e12 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	return def
}

// envNumber reads a number from the environment.
func (s settings) envNumber(name string, def float64) float64 {
	v, _ := s.env(name)
	if f := value.ToNumber(v); v != "" && f == f {
		return f
	}
	return def
}

// retries returns how often a failed call is retried.
func (s settings) retries() int {
	if n, ok := s.number("maxRetries"); ok && n >= 0 {
		return int(min(n, maxRetries))
	}
	return max(cmp.Or(s.o.MaxRetries, defaultRetries), 0)
}
