package provider

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/ec2rolecreds"
	"github.com/aws/aws-sdk-go-v2/credentials/endpointcreds"
	"github.com/aws/aws-sdk-go-v2/credentials/processcreds"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"

	"github.com/proviso-eval/proviso/value"
)

// awsService is the service name in the signature of requests to Bedrock.
const awsService = "bedrock"

// awsLogin signs requests (AWS Signature Version 4). It is safe for concurrent
// use.
type awsLogin struct {
	region string
	source *aws.CredentialsCache
	signer *v4.Signer
	now    func() time.Time

	mu   sync.Mutex
	last aws.Credentials
}

var _ login = (*awsLogin)(nil)

func newAWSLogin(region string, source aws.CredentialsProvider, now func() time.Time) *awsLogin {
	return &awsLogin{region: region, source: aws.NewCredentialsCache(source), signer: v4.NewSigner(), now: now}
}

func (l *awsLogin) ready(ctx context.Context) error {
	call, cancel := context.WithTimeout(ctx, loginTimeout)
	defer cancel()
	c, err := l.source.Retrieve(call)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = c
	return nil
}

func (l *awsLogin) sign(ctx context.Context, req *http.Request, body []byte) error {
	l.mu.Lock()
	c := l.last
	l.mu.Unlock()
	sum := sha256.Sum256(body)
	return l.signer.SignHTTP(ctx, c, req, hex.EncodeToString(sum[:]), awsService, l.region, l.now())
}

func (l *awsLogin) secrets() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.DeleteFunc([]string{l.last.SecretAccessKey, l.last.SessionToken}, func(s string) bool { return s == "" })
}

// aws finds the credentials in the order of Amazon's own SDKs: keys of the suite, keys of the
// environment, a profile, a web identity token, the container, the machine. Credentials are
// requested with the first call.
func (s settings) aws(region string) (proof, error) {
	source, from, err := s.awsSource(region)
	if err != nil {
		return proof{}, err
	}
	if source == nil {
		return proof{}, s.noKey("no credentials: set AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, in the environment")
	}
	return proof{login: newAWSLogin(region, source, s.now()), from: from, own: s.suites(from)}, nil
}

func (s settings) awsSource(region string) (source aws.CredentialsProvider, from string, err error) {
	if id, secret := s.text("accessKeyId"), s.text("secretAccessKey"); id != "" && secret != "" {
		return credentials.NewStaticCredentialsProvider(id, secret, s.text("sessionToken")), "config.accessKeyId", nil
	}
	if s.o.Untrusted && (s.text("profile") != "" || s.ownEnv("AWS_PROFILE")) {
		return nil, "", s.refused("an untrusted suite does not choose a profile of its user")
	}
	if s.text("profile") == "" {
		id, from := s.env("AWS_ACCESS_KEY_ID")
		secret, _ := s.env("AWS_SECRET_ACCESS_KEY")
		if id != "" && secret != "" {
			token, _ := s.env("AWS_SESSION_TOKEN")
			return credentials.NewStaticCredentialsProvider(id, secret, token), from, nil
		}
	}
	if source, from, err = s.awsProfile(); source != nil || err != nil {
		return source, from, err
	}
	if source, from = s.awsCluster(region); source != nil {
		return source, from, nil
	}
	source, from = s.awsMachine()
	return source, from, nil
}

// awsProfile is the profile that the suite or the environment names, or the
// profile "default".
func (s settings) awsProfile() (source aws.CredentialsProvider, from string, err error) {
	name, named := s.either("profile", "AWS_PROFILE")
	if name == "" {
		name = "default"
	}
	p := s.readProfile(name)
	from = "the AWS profile " + name
	switch {
	case p["aws_access_key_id"] != "" && p["aws_secret_access_key"] != "":
		return credentials.NewStaticCredentialsProvider(p["aws_access_key_id"], p["aws_secret_access_key"], p["aws_session_token"]), from, nil
	case s.o.Untrusted && (p["credential_process"] != "" || p.logsIn()):
		return nil, "", s.noKey("%s gets its keys from a program, which is not run for an untrusted suite: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY", from)
	case p["credential_process"] != "":
		return processcreds.NewProvider(p["credential_process"], func(o *processcreds.Options) { o.Timeout = loginTimeout }), from, nil
	case p.logsIn():
		// AWS's command line handles single sign-on and roles. Users who log in
		// with it have it installed.
		return awsCommand{s, name}, from, nil
	case named != "":
		return nil, "", s.noKey("%s: neither ~/.aws/config nor ~/.aws/credentials has keys or a login for it", from)
	}
	return nil, "", nil
}

// awsCommand gets the keys of a profile from AWS's command line.
type awsCommand struct {
	s       settings
	profile string
}

// Retrieve returns the keys, in the form of a credential process.
func (c awsCommand) Retrieve(ctx context.Context) (aws.Credentials, error) {
	o, err := c.s.runProgram(ctx, "aws", "configure", "export-credentials", "--profile", c.profile, "--format", "process")
	if err != nil {
		return aws.Credentials{}, err
	}
	return awsKeys(o), nil
}

// awsKeys reads keys in the form that credential processes and services return.
func awsKeys(o *value.Object) aws.Credentials {
	c := aws.Credentials{
		AccessKeyID: o.Text("AccessKeyId"), SecretAccessKey: o.Text("SecretAccessKey"), SessionToken: o.Text("SessionToken"),
		Source: "proviso",
	}
	if t, err := time.Parse(time.RFC3339, o.Text("Expiration")); err == nil {
		c.CanExpire, c.Expires = true, t
	} else if seconds, ok := o.At("Expiration").(float64); ok {
		c.CanExpire, c.Expires = true, time.Unix(int64(seconds), 0)
	}
	return c
}

// awsCluster exchanges the web identity token of a cluster job for the keys of
// a role, as on EKS.
func (s settings) awsCluster(region string) (aws.CredentialsProvider, string) {
	file, from := s.userEnv("AWS_WEB_IDENTITY_TOKEN_FILE")
	role, _ := s.userEnv("AWS_ROLE_ARN")
	if file == "" || role == "" {
		return nil, ""
	}
	session, _ := s.env("AWS_ROLE_SESSION_NAME")
	client := s.loginClient()
	return aws.CredentialsProviderFunc(func(ctx context.Context) (aws.Credentials, error) {
		token, err := readSmall(file)
		if err != nil {
			return aws.Credentials{}, err
		}
		form := url.Values{
			"Action": {"AssumeRoleWithWebIdentity"}, "Version": {"2011-06-15"}, "RoleArn": {role},
			"RoleSessionName": {cmp.Or(session, "proviso")}, "WebIdentityToken": {strings.TrimSpace(string(token))},
		}
		o, err := postForm(ctx, client, "https://sts."+region+"."+awsDomain(region)+"/", form)
		if err != nil {
			return aws.Credentials{}, err
		}
		result := o.Object("AssumeRoleWithWebIdentityResponse").Object("AssumeRoleWithWebIdentityResult")
		return awsKeys(result.Object("Credentials")), nil
	}), from
}

// awsMachine is the role of the container or machine that proviso runs on.
func (s settings) awsMachine() (aws.CredentialsProvider, string) {
	if s.o.Untrusted { // these are at private addresses
		return nil, ""
	}
	client := s.loginClient()
	if path, from := s.env("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI"); path != "" {
		if strings.HasPrefix(path, "/") {
			path = "http://169.254.170.2" + path
		}
		return endpointcreds.New(path, func(o *endpointcreds.Options) {
			o.HTTPClient = client
			o.AuthorizationToken, _ = s.env("AWS_CONTAINER_AUTHORIZATION_TOKEN")
			if file, _ := s.env("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"); file != "" {
				o.AuthorizationTokenProvider = endpointcreds.TokenProviderFunc(func() (string, error) {
					token, err := readSmall(file)
					return string(token), err
				})
			}
		}), from
	}
	disabled, _ := s.env("AWS_EC2_METADATA_DISABLED")
	vendor, err := readSmall("/sys/class/dmi/id/sys_vendor")
	if strings.EqualFold(disabled, "true") || err != nil || !strings.HasPrefix(string(vendor), "Amazon EC2") {
		return nil, ""
	}
	return ec2rolecreds.New(func(o *ec2rolecreds.Options) {
		o.Client = imds.New(imds.Options{HTTPClient: client})
	}), "the metadata service"
}

// awsSection is one profile of AWS's configuration files.
type awsSection map[string]string

// logsIn reports whether the profile gets its keys from a service.
func (p awsSection) logsIn() bool {
	for _, name := range [...]string{"sso_session", "sso_start_url", "role_arn", "login_session", "web_identity_token_file"} {
		if p[name] != "" {
			return true
		}
	}
	return false
}

// readProfile reads a profile of ~/.aws/config and ~/.aws/credentials. A
// missing file is an empty one.
func (s settings) readProfile(name string) awsSection {
	home, _ := s.userEnv("HOME", "USERPROFILE")
	p := awsSection{}
	for _, f := range [...]struct{ variable, file, section string }{
		{"AWS_CONFIG_FILE", "config", "profile " + name},
		{"AWS_SHARED_CREDENTIALS_FILE", "credentials", name},
	} {
		path, _ := s.userEnv(f.variable)
		if path == "" && home != "" {
			path = filepath.Join(home, ".aws", f.file)
		}
		if path == "" {
			continue
		}
		data, err := readSmall(path)
		if err != nil {
			continue
		}
		parseProfile(string(data), f.section, p)
		if name == "default" && f.section != name {
			parseProfile(string(data), name, p)
		}
	}
	return p
}

// parseProfile reads one section of a file in AWS's form: lines of name=value.
// Indented lines belong to nested values and are skipped, because no setting
// that is read here has any.
func parseProfile(text, section string, into awsSection) {
	inside := false
	for line := range strings.Lines(text) {
		indented := strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t")
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#' || line[0] == ';':
		case line[0] == '[':
			name, _, _ := strings.Cut(line[1:], "]")
			inside = strings.Join(strings.Fields(name), " ") == section
		case inside && !indented:
			key, value, ok := strings.Cut(line, "=")
			if ok {
				value, _, _ = strings.Cut(value, " #")
				into[strings.ToLower(strings.TrimSpace(key))] = strings.TrimSpace(value)
			}
		}
	}
}
