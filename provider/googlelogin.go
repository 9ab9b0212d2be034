package provider

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// googleScope is the scope of access tokens for Vertex AI.
const googleScope = "https://www.googleapis.com/auth/cloud-platform"

// googleCredentials is the content of a credentials file.
type googleCredentials struct {
	data    []byte
	kind    google.CredentialsType
	project string
	from    string // its origin, for messages
	own     bool   // it comes from the suite
}

// googleKinds are the accepted kinds of credentials. An untrusted suite may supply only keys, not
// addresses to call.
var googleKinds = [...]google.CredentialsType{
	google.ServiceAccount, google.AuthorizedUser, google.ExternalAccount, google.ImpersonatedServiceAccount, google.ExternalAccountAuthorizedUser,
}

// googleCredentials finds the credentials file: the suite's, the one that
// GOOGLE_APPLICATION_CREDENTIALS names, or gcloud's (application default credentials). It returns
// nil if there is none.
func (s settings) googleCredentials() (*googleCredentials, error) {
	if v := s.spec.Config.At("credentials"); v != nil {
		return s.ownCredentials(v)
	}
	name, from := s.env("GOOGLE_APPLICATION_CREDENTIALS")
	switch {
	case name != "" && s.o.Untrusted && s.ownEnv(from):
		return nil, s.refused("an untrusted suite does not say where the credentials of its user are")
	case name == "":
		if name = s.gcloudFile(); name == "" {
			return nil, nil
		}
		from = "gcloud's " + filepath.Base(name)
	}
	data, err := readSmall(name)
	if errors.Is(err, os.ErrNotExist) && strings.HasPrefix(from, "gcloud") {
		return nil, nil
	}
	if err != nil {
		return nil, s.invalid("%s: %w", from, proviso.Errorf(proviso.NotFound, "%w", err))
	}
	return s.parseCredentials(data, from, false)
}

// ownCredentials are the credentials in the configuration: text, an object, or
// a file.
func (s settings) ownCredentials(v any) (*googleCredentials, error) {
	text, ok := v.(string)
	if !ok {
		text = value.Stringify(v)
	}
	if name, ok := strings.CutPrefix(text, "file://"); ok {
		if s.o.Files == nil {
			return nil, s.invalid("config.credentials: files may not be read")
		}
		data, err := s.o.Files.ReadFile(name)
		if err != nil {
			return nil, s.invalid("config.credentials: %w", proviso.Errorf(cmp.Or(proviso.CodeOf(err), proviso.NotFound), "%w", err))
		}
		text = string(data)
	}
	return s.parseCredentials([]byte(text), "config.credentials", true)
}

// gcloudFile is the file in which gcloud keeps the user's credentials.
func (s settings) gcloudFile() string {
	const name = "application_default_credentials.json"
	if dir, _ := s.userEnv("CLOUDSDK_CONFIG"); dir != "" {
		return filepath.Join(dir, name)
	}
	if dir, _ := s.userEnv("APPDATA"); dir != "" {
		return filepath.Join(dir, "gcloud", name)
	}
	if home, _ := s.userEnv("HOME"); home != "" {
		return filepath.Join(home, ".config", "gcloud", name)
	}
	return ""
}

// parseCredentials reads the kind and the project of the credentials.
func (s settings) parseCredentials(data []byte, from string, own bool) (*googleCredentials, error) {
	v, err := value.ParseJSON(string(data))
	o := object(v)
	if err != nil || o == nil {
		return nil, s.invalid("%s: expected the JSON of Google's credentials", from)
	}
	c := &googleCredentials{data: data, kind: google.CredentialsType(o.Text("type")), from: from, own: own}
	if !slices.Contains(googleKinds[:], c.kind) {
		return nil, s.invalid("%s: credentials of the type %q are not known", from, excerpt([]byte(c.kind)))
	}
	if own && s.o.Untrusted && c.kind != google.ServiceAccount && c.kind != google.AuthorizedUser {
		return nil, s.refused("credentials of an untrusted suite may not be of the type %s", c.kind)
	}
	for _, key := range []string{"project_id", "quota_project_id"} {
		if p := str(o.At(key)); p != "" && c.project == "" {
			c.project = p
		}
	}
	return c, nil
}

// token exchanges the credentials for an access token.
func (c *googleCredentials) token(client *http.Client) func(context.Context) (accessToken, error) {
	return func(ctx context.Context) (accessToken, error) {
		ctx = context.WithValue(ctx, oauth2.HTTPClient, client)
		found, err := google.CredentialsFromJSONWithType(ctx, c.data, c.kind, googleScope)
		if err != nil {
			return accessToken{}, err
		}
		t, err := found.TokenSource.Token()
		var refused *oauth2.RetrieveError
		switch {
		case errors.As(err, &refused):
			return accessToken{}, googleRefusal(refused)
		case err != nil:
			return accessToken{}, err
		}
		return accessToken{t.AccessToken, t.Expiry}, nil
	}
}

// googleRefusal describes the vendor's error without quoting the request.
func googleRefusal(e *oauth2.RetrieveError) error {
	v, _ := value.ParseJSON(string(e.Body))
	description := cmp.Or(e.ErrorDescription, object(v).Text("error_description"), string(e.Body))
	status := 0
	if e.Response != nil {
		status = e.Response.StatusCode
	}
	return loginRefusal("Google", status, description)
}

// metadataHost is the metadata service of Google Cloud.
const metadataHost = "metadata.google.internal"

// onGoogle reports, without a request, whether this machine belongs to Google Cloud.
func (s settings) onGoogle() bool {
	if host, _ := s.env("GCE_METADATA_HOST", "K_SERVICE", "GAE_ENV"); host != "" {
		return true
	}
	product, err := readSmall("/sys/class/dmi/id/product_name")
	return err == nil && strings.HasPrefix(strings.TrimSpace(string(product)), "Google")
}

// metadataToken gets an access token from the metadata service.
func (s settings) metadataToken() func(context.Context) (accessToken, error) {
	host, _ := s.env("GCE_METADATA_HOST")
	host = cmp.Or(host, metadataHost)
	client, now := s.loginClient(), s.now()
	return func(ctx context.Context) (accessToken, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+host+"/computeMetadata/v1/instance/service-accounts/default/token", nil)
		if err != nil {
			return accessToken{}, err
		}
		req.Header.Set("Metadata-Flavor", "Google")
		o, err := askLogin(client, req)
		if err != nil {
			return accessToken{}, err
		}
		return tokenOf(o, now()), nil
	}
}

// readSmall reads a small file of the user.
func readSmall(name string) ([]byte, error) {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() { // opening a pipe would block
		return nil, proviso.Errorf(proviso.Invalid, "%s is not a regular file", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxLogin+1))
	if err == nil && len(data) > maxLogin {
		err = proviso.Errorf(proviso.Limit, "%s has more than %d bytes", name, maxLogin)
	}
	return data, err
}
