package provider_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/blobs"
	"github.com/proviso-eval/proviso/internal/fakemodel"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/value"
)

// desk issues access tokens and records the requests. It does not use the
// network.
type desk struct {
	mu      sync.Mutex
	status  int
	body    string // %d is the number of the request
	asked   []*http.Request
	bodies  []string
	expires int
}

func (d *desk) client() *http.Client { return &http.Client{Transport: d} }

func (d *desk) RoundTrip(req *http.Request) (*http.Response, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	data := []byte{}
	if req.Body != nil {
		data, _ = io.ReadAll(req.Body)
	}
	d.asked, d.bodies = append(d.asked, req), append(d.bodies, string(data))
	status, body := d.status, d.body
	if status == 0 {
		status = http.StatusOK
	}
	if body == "" {
		body = fmt.Sprintf(`{"access_token":"token-%d-of-the-desk","expires_in":%d,"token_type":"Bearer"}`, len(d.asked), d.expires)
	}
	return &http.Response{StatusCode: status, Status: http.StatusText(status), Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)), Request: req}, nil
}

func (d *desk) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.asked)
}

// clock is a clock that tests set.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

func noSleep(ctx context.Context, _ time.Duration) error { return ctx.Err() }

// privateKey is a key that tests sign with.
var privateKey = sync.OnceValues(func() ([]byte, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	return x509.MarshalPKCS8PrivateKey(key)
})

// serviceAccount is a key file that a test can sign with.
func serviceAccount(t testing.TB) string {
	t.Helper()
	der, err := privateKey()
	if err != nil {
		t.Fatal(err)
	}
	return value.Stringify(value.ObjectOf("type", "service_account", "project_id", "my-project", "client_email", "me@example.com",
		"private_key", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})), "token_uri", "https://oauth2.googleapis.com/token"))
}

func write(t testing.TB, name, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestEntra logs in to Azure as an application: once, and again when the token
// expires.
func TestEntra(t *testing.T) {
	t.Parallel()
	s := fakemodel.New(replies(fine))
	defer s.Close()
	d, c := &desk{expires: 3600}, &clock{t: time.Unix(1e9, 0)}
	env := proviso.EnvMap{"AZURE_API_BASE_URL": s.URL, "AZURE_CLIENT_ID": "the-client", "AZURE_CLIENT_SECRET": secret, "AZURE_TENANT_ID": "my-tenant"}
	p, err := provider.Open(proviso.ProviderSpec{ID: "azure:chat:mine"}, provider.Options{Env: env, LoginClient: d.client(), Now: c.now, Sleep: noSleep})
	if err != nil {
		t.Fatal(err)
	}
	if d.count() != 0 {
		t.Error("it logs in before the first question")
	}
	ask := func(want string) {
		t.Helper()
		if _, err := p.Answer(t.Context(), proviso.Ask{Prompt: "hi"}); err != nil {
			t.Fatal(err)
		}
		if got := s.Last().Header.Get("Authorization"); got != want || s.Last().Header.Get("Api-Key") != "" {
			t.Errorf("asked with %q, want %q", got, want)
		}
	}
	ask("Bearer token-1-of-the-desk")
	ask("Bearer token-1-of-the-desk")
	c.add(59 * time.Minute)
	ask("Bearer token-2-of-the-desk")
	first := d.asked[0]
	form, err := url.ParseQuery(d.bodies[0])
	if err != nil || first.URL.String() != "https://login.microsoftonline.com/my-tenant/oauth2/v2.0/token" ||
		form.Get("grant_type") != "client_credentials" || form.Get("client_id") != "the-client" || form.Get("client_secret") != secret ||
		form.Get("scope") != "https://cognitiveservices.azure.com/.default" {
		t.Errorf("asked %s with %s", first.URL, d.bodies[0])
	}
}

// TestEntraIsShared makes concurrent requests: one logs in, and the others
// wait.
func TestEntraIsShared(t *testing.T) {
	t.Parallel()
	s := fakemodel.New(replies(fine))
	defer s.Close()
	d := &desk{expires: 3600}
	env := proviso.EnvMap{"AZURE_API_BASE_URL": s.URL, "AZURE_CLIENT_ID": "c", "AZURE_CLIENT_SECRET": secret, "AZURE_TENANT_ID": "t"}
	p, err := provider.Open(proviso.ProviderSpec{ID: "azure:chat:mine"}, provider.Options{Env: env, LoginClient: d.client(), Concurrency: 20})
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if _, err := p.Answer(t.Context(), proviso.Ask{Prompt: "hi"}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if d.count() != 1 {
		t.Errorf("logged in %d times", d.count())
	}
}

// TestLoginFails: the message explains the failure, once for all requests, and
// does not contain the request.
func TestLoginFails(t *testing.T) {
	t.Parallel()
	s := fakemodel.New(replies(fine))
	defer s.Close()
	d := &desk{status: 401, body: `{"error":"invalid_client","error_description":"AADSTS7000215: Invalid client secret provided."}`}
	env := proviso.EnvMap{"AZURE_API_BASE_URL": s.URL, "AZURE_CLIENT_ID": "c", "AZURE_CLIENT_SECRET": secret, "AZURE_TENANT_ID": "t"}
	p, err := provider.Open(proviso.ProviderSpec{ID: "azure:chat:mine"}, provider.Options{Env: env, LoginClient: d.client(), Sleep: noSleep})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		_, err = p.Answer(t.Context(), proviso.Ask{Prompt: "hi"})
		e := coded(t, err, proviso.Unavailable)
		if want := "azure:chat:mine: cannot log in: login.microsoftonline.com answered HTTP 401: AADSTS7000215: Invalid client secret provided."; e.Error() != want {
			t.Errorf("error %q", e.Error())
		}
	}
	if s.Count() != 0 || d.count() != 1 {
		t.Errorf("the model was asked %d times, the login %d times", s.Count(), d.count())
	}
	d = &desk{status: 503, body: `<html>`}
	if p, err = provider.Open(proviso.ProviderSpec{ID: "azure:chat:mine"}, provider.Options{Env: env, LoginClient: d.client(), Sleep: noSleep, MaxRetries: 2}); err != nil {
		t.Fatal(err)
	}
	_, err = p.Answer(t.Context(), proviso.Ask{Prompt: "hi"})
	if coded(t, err, proviso.Unavailable); d.count() != 3 {
		t.Errorf("%v after %d logins", err, d.count())
	}
}

// TestVertexLogin exchanges a service account key, from each possible source, for a token.
func TestVertexLogin(t *testing.T) {
	t.Parallel()
	key := serviceAccount(t)
	dir := t.TempDir()
	file := write(t, filepath.Join(dir, "key.json"), key)
	write(t, filepath.Join(dir, ".config", "gcloud", "application_default_credentials.json"), `{"type":"authorized_user","client_id":"c","client_secret":"s","refresh_token":"r","quota_project_id":"quota-project"}`)
	for name, tc := range map[string]struct {
		env    proviso.EnvMap
		config string
		path   string
	}{
		"variable":  {proviso.EnvMap{"GOOGLE_APPLICATION_CREDENTIALS": file}, `{}`, "/v1/projects/my-project/locations/us-central1/publishers/google/models/gemini-2.5-flash:generateContent"},
		"project":   {proviso.EnvMap{"GOOGLE_APPLICATION_CREDENTIALS": file, "GOOGLE_CLOUD_PROJECT": "other", "VERTEX_REGION": "global"}, `{}`, "/v1/projects/other/locations/global/publishers/google/models/gemini-2.5-flash:generateContent"},
		"config":    {proviso.EnvMap{}, `{"credentials":"file://key.json","region":"europe-west1","projectId":"mine"}`, "/v1/projects/mine/locations/europe-west1/publishers/google/models/gemini-2.5-flash:generateContent"},
		"gcloud":    {proviso.EnvMap{"HOME": dir}, `{}`, "/v1/projects/quota-project/locations/us-central1/publishers/google/models/gemini-2.5-flash:generateContent"},
		"no key":    {proviso.EnvMap{"GOOGLE_APPLICATION_CREDENTIALS": file}, `{"apiKey":"k","expressMode":false}`, "/v1/projects/my-project/locations/us-central1/publishers/google/models/gemini-2.5-flash:generateContent"},
		"key alone": {proviso.EnvMap{"VERTEX_API_KEY": secret}, `{}`, "/v1/publishers/google/models/gemini-2.5-flash:generateContent"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := fakemodel.New(replies(fine))
			defer s.Close()
			d := &desk{expires: 3600}
			cfg := parse(t, tc.config)
			cfg.Set("apiHost", s.URL)
			p, err := provider.Open(proviso.ProviderSpec{ID: "vertex:gemini-2.5-flash", Config: cfg},
				provider.Options{Env: tc.env, LoginClient: d.client(), Files: files{"key.json": key}})
			if err != nil {
				t.Fatal(err)
			}
			if _, err = p.Answer(t.Context(), proviso.Ask{Prompt: "hi"}); err != nil {
				t.Fatal(err)
			}
			got := s.Last()
			if got.Path != tc.path {
				t.Errorf("asked %s", got.Path)
			}
			if name == "key alone" {
				if got.Header.Get("X-Goog-Api-Key") != secret || d.count() != 0 {
					t.Errorf("header %v, %d logins", got.Header, d.count())
				}
			} else if got.Header.Get("Authorization") != "Bearer token-1-of-the-desk" || d.asked[0].URL.Host != "oauth2.googleapis.com" {
				t.Errorf("asked with %q after a login at %s", got.Header.Get("Authorization"), d.asked[0].URL)
			}
		})
	}
}

// TestBedrockLogin finds the keys in the order of Amazon's own SDKs.
func TestBedrockLogin(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	write(t, filepath.Join(home, ".aws", "config"), "[default]\nregion = eu-central-1\n[profile work]\nregion=ap-south-1\naws_access_key_id = AKIDWORK\naws_secret_access_key = w # comment\n[profile sso]\nsso_session = x\n")
	write(t, filepath.Join(home, ".aws", "credentials"), "[default]\naws_access_key_id=AKIDDEFAULT\naws_secret_access_key=d\n")
	bin := filepath.Join(home, "bin")
	aws := write(t, filepath.Join(bin, "aws"), "#!/bin/sh\necho '{\"Version\":1,\"AccessKeyId\":\"AKIDSSO\",\"SecretAccessKey\":\"s\",\"SessionToken\":\"'$4'\"}'\n")
	if err := os.Chmod(aws, 0o700); err != nil {
		t.Fatal(err)
	}
	keys := proviso.EnvMap{"AWS_ACCESS_KEY_ID": "AKIDENV", "AWS_SECRET_ACCESS_KEY": "e", "AWS_SESSION_TOKEN": "the-session", "HOME": home}
	for name, tc := range map[string]struct {
		env          proviso.EnvMap
		config       string
		want, region string
		token        string
	}{
		"environment":   {keys, `{}`, "AKIDENV", "us-east-1", "the-session"},
		"configuration": {keys, `{"accessKeyId":"AKIDOWN","secretAccessKey":"o","region":"us-west-2"}`, "AKIDOWN", "us-west-2", ""},
		"profile":       {keys, `{"profile":"work"}`, "AKIDWORK", "ap-south-1", ""},
		"variable":      {proviso.EnvMap{"HOME": home, "AWS_PROFILE": "work", "AWS_REGION": "sa-east-1"}, `{}`, "AKIDWORK", "sa-east-1", ""},
		"default":       {proviso.EnvMap{"HOME": home}, `{}`, "AKIDDEFAULT", "us-east-1", ""},
		"sign-on":       {proviso.EnvMap{"HOME": home, "AWS_PROFILE": "sso", "PATH": bin + ":/bin:/usr/bin"}, `{}`, "AKIDSSO", "us-east-1", "sso"},
		"token":         {proviso.EnvMap{"HOME": home, "AWS_BEARER_TOKEN_BEDROCK": secret}, `{}`, "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := fakemodel.New(replies(fine))
			defer s.Close()
			cfg := parse(t, tc.config)
			cfg.Set("endpoint", s.URL)
			before := value.Stringify(cfg)
			c := &clock{t: time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)}
			p, err := provider.Open(proviso.ProviderSpec{ID: "bedrock:amazon.nova-lite-v1:0", Config: cfg}, provider.Options{Env: tc.env, Now: c.now})
			if err != nil {
				t.Fatal(err)
			}
			if _, err = p.Answer(t.Context(), proviso.Ask{Prompt: "hi"}); err != nil {
				t.Fatal(err)
			}
			got := s.Last().Header
			want := "Bearer " + secret
			if tc.want != "" {
				want = "AWS4-HMAC-SHA256 Credential=" + tc.want + "/20250102/" + tc.region + "/bedrock/aws4_request,"
			}
			if !strings.HasPrefix(got.Get("Authorization"), want) || got.Get("X-Amz-Security-Token") != tc.token {
				t.Errorf("%s, %s", got.Get("Authorization"), got.Get("X-Amz-Security-Token"))
			}
			if value.Stringify(cfg) != before {
				t.Error("the configuration was changed")
			}
		})
	}
}

// TestSignature compares a signature with one computed separately from the description of Signature
// Version 4.
func TestSignature(t *testing.T) {
	t.Parallel()
	var got *http.Request
	client := &http.Client{Transport: asked(func(req *http.Request) (*http.Response, error) {
		got = req
		return nil, io.ErrClosedPipe
	})}
	c := &clock{t: time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)}
	p, err := provider.Open(proviso.ProviderSpec{ID: "bedrock:anthropic.claude-3-haiku-20240307-v1:0", Config: parse(t, `{"accessKeyId":"AKIDEXAMPLE","secretAccessKey":"wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"}`)},
		provider.Options{Client: client, Now: c.now, MaxRetries: -1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = p.Answer(t.Context(), proviso.Ask{Prompt: "hi"}); err == nil {
		t.Fatal("a broken connection answers")
	}
	if got.URL.String() != "https://bedrock-runtime.us-east-1.amazonaws.com/model/anthropic.claude-3-haiku-20240307-v1%3A0/converse" {
		t.Errorf("asked %s", got.URL)
	}
	const want = "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20250102/us-east-1/bedrock/aws4_request, " +
		"SignedHeaders=content-length;content-type;host;x-amz-date, Signature=33c86d15c61b13e21d0c9e615eac61c54eabe76fdaa80cb0cb1805ebffaae2cb"
	if a := got.Header.Get("Authorization"); a != want {
		t.Errorf("signed with\n%s, want\n%s", a, want)
	}
}

// TestUntrustedLogins: an untrusted suite cannot choose the credentials or the
// login host.
func TestUntrustedLogins(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	write(t, filepath.Join(home, ".aws", "credentials"), "[default]\naws_access_key_id=AKIDDEFAULT\naws_secret_access_key=d\n[program]\ncredential_process=touch "+filepath.Join(home, "ran")+"\n")
	key := write(t, filepath.Join(home, "key.json"), serviceAccount(t))
	entra := proviso.EnvMap{"AZURE_API_BASE_URL": "https://mine.openai.azure.com", "AZURE_CLIENT_ID": "c", "AZURE_CLIENT_SECRET": secret, "AZURE_TENANT_ID": "t"}
	aws := proviso.EnvMap{"AWS_ACCESS_KEY_ID": "AKIDENV", "AWS_SECRET_ACCESS_KEY": "e"}
	for _, tc := range []struct {
		id, config string
		env        proviso.EnvMap
		own        *value.Object
		code       string // "" means allowed
	}{
		{id: "azure:chat:mine", env: entra},
		{id: "azure:chat:mine", config: `{"azureAuthorityHost":"https://evil.test"}`, env: entra, code: proviso.Refused},
		{id: "azure:chat:mine", config: `{"azureAuthorityHost":"login.microsoftonline.us"}`, env: entra},
		{id: "azure:chat:mine", config: `{"apiBaseUrl":"https://evil.test"}`, env: entra, code: proviso.Refused},
		{id: "azure:chat:mine", config: `{"apiBaseUrl":"https://allowed.test"}`, env: entra},
		{id: "bedrock:amazon.nova-lite-v1:0", env: aws},
		{id: "bedrock:amazon.nova-lite-v1:0", config: `{"region":"eu-west-1"}`, env: aws},
		{id: "bedrock:amazon.nova-lite-v1:0", config: `{"region":"evil.test/"}`, env: aws, code: proviso.Invalid},
		{id: "bedrock:amazon.nova-lite-v1:0", config: `{"endpoint":"https://evil.test"}`, env: aws, code: proviso.Refused},
		{id: "bedrock:amazon.nova-lite-v1:0", config: `{"endpoint":"https://evil.test","accessKeyId":"its","secretAccessKey":"own"}`, env: aws},
		{id: "bedrock:amazon.nova-lite-v1:0", env: proviso.EnvMap{"HOME": home}},
		{id: "bedrock:amazon.nova-lite-v1:0", env: proviso.EnvMap{"HOME": "/nowhere"}, own: value.ObjectOf("HOME", home), code: proviso.Invalid},
		{id: "bedrock:amazon.nova-lite-v1:0", config: `{"profile":"program"}`, env: proviso.EnvMap{"HOME": home}, code: proviso.Refused},
		{id: "bedrock:amazon.nova-lite-v1:0", env: proviso.EnvMap{"HOME": home, "AWS_PROFILE": "program"}, code: proviso.Invalid},
		{id: "bedrock:amazon.nova-lite-v1:0", env: proviso.EnvMap{"AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://169.254.170.23/v1"}, code: proviso.Invalid},
		{id: "vertex:gemini-2.5-pro", env: proviso.EnvMap{"GOOGLE_APPLICATION_CREDENTIALS": key}},
		{id: "vertex:gemini-2.5-pro", config: `{"apiHost":"evil.test"}`, env: proviso.EnvMap{"GOOGLE_APPLICATION_CREDENTIALS": key}, code: proviso.Refused},
		{id: "vertex:gemini-2.5-pro", config: `{"region":"evil.test/x"}`, env: proviso.EnvMap{"GOOGLE_APPLICATION_CREDENTIALS": key}, code: proviso.Invalid},
		{id: "vertex:gemini-2.5-pro", config: `{"projectId":"../../x"}`, env: proviso.EnvMap{"GOOGLE_APPLICATION_CREDENTIALS": key}, code: proviso.Invalid},
		{id: "vertex:gemini-2.5-pro", own: value.ObjectOf("GOOGLE_APPLICATION_CREDENTIALS", key), code: proviso.Refused},
		{id: "vertex:gemini-2.5-pro", config: `{"credentials":{"type":"external_account","token_url":"https://evil.test"}}`, code: proviso.Refused},
		{id: "vertex:gemini-2.5-pro", env: proviso.EnvMap{"GCE_METADATA_HOST": "169.254.169.254", "GOOGLE_CLOUD_PROJECT": "p"}, code: proviso.Invalid},
	} {
		spec := proviso.ProviderSpec{ID: tc.id, Env: tc.own}
		if tc.config != "" {
			spec.Config = parse(t, tc.config)
		}
		if tc.env == nil {
			tc.env = proviso.EnvMap{}
		}
		_, err := provider.Open(spec, provider.Options{Env: tc.env, Untrusted: true, KeyHost: func(h string) bool { return h == "allowed.test" }})
		if tc.code != "" {
			coded(t, err, tc.code)
		} else if err != nil {
			t.Errorf("%s %s: %v", tc.id, tc.config, err)
		}
	}
	if _, err := os.Stat(filepath.Join(home, "ran")); err == nil {
		t.Error("a program was run")
	}
}

// TestNoKeyBeforeAnyCall: the message names the missing variables.
func TestNoKeyBeforeAnyCall(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		id   string
		env  proviso.EnvMap
		want string
	}{
		{"azure:chat:mine", proviso.EnvMap{"AZURE_API_HOST": "x"}, "AZURE_API_KEY"},
		{"azure:chat:mine", proviso.EnvMap{"AZURE_API_HOST": "x", "AZURE_CLIENT_ID": "c"}, "AZURE_CLIENT_SECRET and AZURE_TENANT_ID is missing"},
		{"bedrock:meta.llama3-3-70b-instruct-v1:0", nil, "AWS_BEARER_TOKEN_BEDROCK"},
		{"bedrock:meta.llama3-3-70b-instruct-v1:0", proviso.EnvMap{"AWS_PROFILE": "p", "HOME": "/nowhere"}, "the AWS profile p"},
		{"vertex:gemini-2.5-pro", nil, "GOOGLE_CLOUD_PROJECT"},
		{"vertex:gemini-2.5-pro", proviso.EnvMap{"GOOGLE_CLOUD_PROJECT": "p"}, "GOOGLE_APPLICATION_CREDENTIALS"},
	} {
		env := proviso.EnvMap{"AWS_EC2_METADATA_DISABLED": "true"}
		for k, v := range tc.env {
			env[k] = v
		}
		_, err := provider.Open(proviso.ProviderSpec{ID: tc.id, Pointer: "/providers/0"}, provider.Options{Env: env, Untrusted: true})
		e := coded(t, err, proviso.Invalid)
		if !strings.Contains(e.Error(), tc.want) || e.Pointer != "/providers/0" {
			t.Errorf("%s: %v at %q", tc.id, e, e.Pointer)
		}
		_, err = provider.Open(proviso.ProviderSpec{ID: tc.id}, provider.Options{Env: env, Untrusted: true, Keyless: true})
		if e := coded(t, err, proviso.Invalid); !e.Warning {
			t.Errorf("%s: not a warning: %v", tc.id, e)
		}
		_, err = provider.Open(proviso.ProviderSpec{ID: tc.id, Config: parse(t, `{"tools":"file://missing.json"}`)}, provider.Options{Env: env, Files: files{}, Untrusted: true, Keyless: true})
		if e := coded(t, err, proviso.NotFound); e.Warning {
			t.Errorf("%s: a missing file is a warning: %v", tc.id, e)
		}
	}
}

// TestLoginIsNotRecorded replays without a login server.
func TestLoginIsNotRecorded(t *testing.T) {
	t.Parallel()
	s := fakemodel.New(replies(fine))
	defer s.Close()
	d := &desk{expires: 3600}
	shelf := blobs.Open(t.TempDir())
	env := proviso.EnvMap{"AZURE_API_BASE_URL": s.URL, "AZURE_CLIENT_ID": "c", "AZURE_CLIENT_SECRET": secret, "AZURE_TENANT_ID": "t"}
	for _, replays := range []bool{false, true} {
		cassette := transport.Record(shelf, transport.CassetteOptions{})
		if replays {
			cassette = transport.Replay(shelf, transport.CassetteOptions{})
			env = proviso.EnvMap{"AZURE_API_BASE_URL": s.URL}
		}
		client := transport.New(transport.Options{Wrap: cassette.Wrap}).Client()
		p, err := provider.Open(proviso.ProviderSpec{ID: "azure:chat:mine"}, provider.Options{Env: env, Client: client, LoginClient: d.client(), Cassette: cassette})
		if err != nil {
			t.Fatal(err)
		}
		if out, err := p.Answer(t.Context(), proviso.Ask{Prompt: "hi"}); err != nil || out.Value != "fine" {
			t.Fatalf("%v, %v", out.Value, err)
		}
	}
	if s.Count() != 1 || d.count() != 1 {
		t.Errorf("asked %d times, %d logins", s.Count(), d.count())
	}
	for key, err := range shelf.Keys() {
		if err != nil {
			t.Fatal(err)
		}
		data, err := shelf.Read(key)
		if err != nil {
			t.Fatal(err)
		}
		if text := string(data); strings.Contains(text, "token-1") || strings.Contains(text, secret) {
			t.Errorf("a secret is recorded: %s", text)
		}
	}
}
