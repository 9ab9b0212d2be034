package provider_test

import (
	"errors"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/provider"
)

// spyEnv has every key and records which variables are looked up.
type spyEnv struct {
	mu    sync.Mutex
	names []string
	host  string // value of every variable that sets an address
}

var address = regexp.MustCompile(`(_URL|_HOST|_API_BASE|_ENDPOINT)$`)

func (e *spyEnv) Lookup(name string) (string, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.names = append(e.names, name)
	if address.MatchString(name) {
		return e.host, e.host != ""
	}
	return "key", strings.HasSuffix(name, "KEY") || strings.HasSuffix(name, "TOKEN") || name == "AWS_ACCESS_KEY_ID"
}

func (e *spyEnv) Names() []string { return nil }

// askedHost opens a provider, asks it, and returns the host it would have asked.
func askedHost(t *testing.T, kind provider.Kind, env *spyEnv) string {
	t.Helper()
	host := ""
	client := &http.Client{Transport: asked(func(req *http.Request) (*http.Response, error) {
		host = req.URL.Hostname()
		return nil, errors.New("no network")
	})}
	id := kind.Name
	if strings.HasSuffix(id, ":") {
		id += "model"
	}
	p, err := provider.Open(proviso.ProviderSpec{ID: id}, provider.Options{Env: env, Client: client, MaxRetries: -1})
	if err == nil {
		_, _ = p.Answer(t.Context(), proviso.Ask{Prompt: "x"})
	}
	return host
}

type asked func(*http.Request) (*http.Response, error)

func (f asked) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// TestHosts checks that untrusted suites can reach exactly the hosts of the providers.
func TestHosts(t *testing.T) {
	t.Parallel()
	// The suite sets the address of these, or they send no requests.
	free := []string{"echo", "exec:", "recorded:", "http", "http:", "https", "https:", "webhook:"}
	for _, kind := range provider.Kinds() {
		if slices.Contains(free, kind.Name) {
			continue
		}
		env := &spyEnv{}
		host := askedHost(t, kind, env)
		local := host == "localhost"
		if a, err := netip.ParseAddr(host); err == nil {
			local = a.IsLoopback() || a.IsUnspecified()
		}
		if host != "" && provider.VendorHost(host) == local {
			t.Errorf("%s asks %s: VendorHost has to say %t", kind.Name, host, !local)
		}
		for _, name := range env.names {
			if strings.HasSuffix(name, "API_KEY") && !slices.Equal(provider.EnvKeys(proviso.EnvMap{name: "k", "OTHER_API_KEY": "k"}), []string{name}) {
				t.Errorf("%s looks at %s, which EnvKeys does not", kind.Name, name)
			}
			if !address.MatchString(name) {
				continue
			}
			if got := provider.EnvHosts(proviso.EnvMap{name: "https://Gateway.example.:8443/v1"}); !slices.Equal(got, []string{"gateway.example"}) {
				t.Errorf("%s looks at %s, which EnvHosts does not: %q", kind.Name, name, got)
			}
		}
	}
	if provider.VendorHost("evil.openai.azure.com") || provider.VendorHost("") || provider.VendorHost("api.openai.com.evil.example") {
		t.Error("a host of anybody counts as a vendor's")
	}
	if got := provider.EnvHosts(proviso.EnvMap{"AZURE_API_HOST": "mine.openai.azure.com", "OPENAI_BASE_URL": "http://[::1]:80/v1", "APP_BASE_URL": "http://app"}); !slices.Equal(got, []string{"::1", "mine.openai.azure.com"}) {
		t.Errorf("got %q", got)
	}
}
