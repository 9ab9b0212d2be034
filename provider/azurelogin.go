package provider

import (
	"cmp"
	"context"
	"net/url"
	"strings"
	"time"

	"github.com/proviso-eval/proviso/value"
)

// Host and scope of Microsoft Entra, as in Azure's own clients.
const (
	entraHost  = "https://login.microsoftonline.com"
	entraScope = "https://cognitiveservices.azure.com/.default"
)

// entra finds a way to log in to Azure without a key: as an application, with
// its client id and secret, or as the user who has logged in with Azure's
// command line.
func (s settings) entra() (proof, error) {
	id, _ := s.either("azureClientId", "AZURE_CLIENT_ID")
	secret, from := s.either("azureClientSecret", "AZURE_CLIENT_SECRET")
	tenant, _ := s.either("azureTenantId", "AZURE_TENANT_ID")
	scope, _ := s.either("azureTokenScope", "AZURE_TOKEN_SCOPE")
	scope = cmp.Or(scope, entraScope)
	if id+secret+tenant == "" {
		if _, err := s.program("az"); err == nil && !s.o.Untrusted {
			return proof{login: newBearer(s.now(), s.azureCommand(scope)), from: "az login"}, nil
		}
	}
	var missing []string
	for _, part := range [...]struct{ v, name string }{
		{id, "AZURE_CLIENT_ID"}, {secret, "AZURE_CLIENT_SECRET"}, {tenant, "AZURE_TENANT_ID"},
	} {
		if part.v == "" {
			missing = append(missing, part.name)
		}
	}
	switch {
	case len(missing) == 3:
		return proof{}, s.noKey("no API key: set AZURE_API_KEY in the environment, or config.apiKey; or to log in with Entra %s", strings.Join(missing, ", "))
	case len(missing) > 0:
		return proof{}, s.noKey("to log in with Entra, %s is missing in the environment", strings.Join(missing, " and "))
	}
	address, err := s.entraAddress(tenant)
	if err != nil {
		return proof{}, err
	}
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {id}, "client_secret": {secret}, "scope": {scope}}
	return proof{login: newBearer(s.now(), s.clientCredentials(address, form)), from: from, own: s.suites(from)}, nil
}

// entraAddress is the token endpoint of a tenant.
func (s settings) entraAddress(tenant string) (string, error) {
	if !plainName(strings.ReplaceAll(strings.ToLower(tenant), ".", "-")) {
		return "", s.invalid("the tenant of Azure is an id or a domain")
	}
	base, from := s.either("azureAuthorityHost", "AZURE_AUTHORITY_HOST")
	if base == "" {
		base = entraHost
	} else if !strings.Contains(base, "://") {
		base = "https://" + base
	}
	u, err := url.Parse(strings.TrimRight(base, "/"))
	if err != nil || u.Scheme != "https" || u.Host == "" {
		return "", s.invalid("azureAuthorityHost: expected an https URL")
	}
	host := hostname(base)
	if s.o.Untrusted && s.suites(from) && !loginHost(host) && (s.o.KeyHost == nil || !s.o.KeyHost(host)) {
		return "", s.refused("the host %s of an untrusted suite is not asked for access tokens", host)
	}
	return u.String() + "/" + tenant + "/oauth2/v2.0/token", nil
}

// clientCredentials gets a token with the client credentials grant (RFC 6749,
// section 4.4).
func (s settings) clientCredentials(address string, form url.Values) func(context.Context) (accessToken, error) {
	client, now := s.loginClient(), s.now()
	return func(ctx context.Context) (accessToken, error) {
		o, err := postForm(ctx, client, address, form)
		if err != nil {
			return accessToken{}, err
		}
		return tokenOf(o, now()), nil
	}
}

// azureCommand gets a token from Azure's command line.
func (s settings) azureCommand(scope string) func(context.Context) (accessToken, error) {
	resource := strings.TrimSuffix(scope, "/.default")
	return func(ctx context.Context) (accessToken, error) {
		o, err := s.runProgram(ctx, "az", "account", "get-access-token", "--resource", resource, "--output", "json")
		if err != nil {
			return accessToken{}, err
		}
		t := accessToken{text: o.Text("accessToken")}
		if at := value.ToNumber(o.At("expires_on")); at > 0 && at < 1e12 { // since the command line 2.54
			t.expires = time.Unix(int64(at), 0)
		} else {
			t.expires = s.now()().Add(10 * time.Minute)
		}
		return t, nil
	}
}
