package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/runfile"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/report"
)

// keyVariable holds the API key for servers of proviso.
const keyVariable = "PROVISO_API_KEY"

// Limits of the exchange of a run with a server.
const (
	maxRunFile    = 1 << 30 // bytes
	runTimeout    = 15 * time.Minute
	maxProblem    = 64 << 10 // bytes of an answer that is no run
	mediaRun      = "application/x-ndjson"
	apiPath       = "/v1"
	pagesPath     = "/runs" // of the app
	runsPath      = apiPath + pagesPath
	exampleServer = "https://HOST" + pagesPath
)

// isAddress reports whether the name of a run is a URL.
func isAddress(name string) bool {
	return strings.HasPrefix(name, "https://") || strings.HasPrefix(name, "http://")
}

// runPage returns the page of a run in the app, from its address in the API.
func runPage(u *url.URL) *url.URL {
	page := *u
	at := strings.LastIndex(page.Path, runsPath+"/")
	page.Path, page.RawPath = page.Path[:at]+strings.TrimPrefix(page.Path[at:], apiPath), ""
	return &page
}

// runAddress returns the address of a run in the API of a server, from that address or
// from that of its page, without what may stand behind.
func runAddress(name string) (*url.URL, error) {
	u, err := url.Parse(name)
	if err != nil || u.Host == "" {
		return nil, proviso.Errorf(proviso.Invalid, "this is not an address: expected %s/ID", exampleServer)
	}
	at := strings.LastIndex(u.Path, pagesPath+"/")
	before, id, ok := strings.TrimSuffix(u.Path[:max(at, 0)], apiPath), strings.TrimPrefix(u.Path[max(at, 0):], pagesPath+"/"), at >= 0
	id = strings.TrimSuffix(strings.TrimSuffix(id, "/"), "/file")
	if !ok || id == "" || strings.Contains(id, "/") {
		return nil, proviso.Errorf(proviso.Invalid, "%s is not the address of a run: expected %s/ID", transport.URL(u), exampleServer)
	}
	u.Path, u.RawPath, u.Fragment, u.User = before+runsPath+"/"+id, "", "", nil
	query := url.Values{}
	if project := u.Query().Get("project"); project != "" { // the others are filters of the page
		query.Set("project", project)
	}
	u.RawQuery = query.Encode()
	return u, nil
}

// fetchRun copies a run of a server into a temporary file and opens it.
func (a *app) fetchRun(ctx context.Context, name string) (*namedRun, error) {
	u, err := runAddress(name)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, runTimeout)
	defer cancel()
	resp, err := a.askServer(ctx, http.MethodGet, u.JoinPath("file"), nil)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, refusal(u, resp)
	}
	r := &namedRun{address: transport.URL(runPage(u))}
	if r.fetched, err = os.MkdirTemp("", "proviso-fetched-"); err != nil {
		return nil, err
	}
	path := filepath.Join(r.fetched, "run.jsonl")
	if err = copyTo(path, resp.Body); err == nil {
		r.Reader, err = runfile.Open(path)
	}
	if err == nil {
		if _, cut := r.Damage(); cut || r.Trailer() == nil {
			err = errors.Join(proviso.Errorf(proviso.Unavailable, "the run arrived incomplete"), r.Reader.Close())
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", r.address, err), os.RemoveAll(r.fetched))
	}
	return r, nil
}

func copyTo(path string, from io.Reader) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	return errors.Join(err, f.Close())
}

// askServer sends one request to a server of proviso, with the key of the environment. The
// name of each header is followed by its value.
func (a *app) askServer(ctx context.Context, method string, u *url.URL, body io.Reader, headers ...string) (*http.Response, error) {
	return a.askWith(ctx, a.serverClient(), method, u, body, headers...)
}

// serverClient is for requests to one server of proviso.
func (a *app) serverClient() *http.Client {
	client := transport.New(transport.Options{Env: a.env, MaxBody: maxRunFile}).Client()
	client.CheckRedirect = sameServer
	return client
}

// askWith is askServer with a client that several requests share.
func (a *app) askWith(ctx context.Context, client *http.Client, method string, u *url.URL, body io.Reader, headers ...string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, u.String(), body)
	if err != nil {
		return nil, proviso.Errorf(proviso.Invalid, "this is not an address: expected %s", exampleServer)
	}
	req.Header.Set("Accept", mediaRun+", application/json, application/problem+json")
	if body != nil {
		req.Header.Set("Content-Type", mediaRun)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	if key, _ := a.env.Lookup(keyVariable); key != "" {
		if u.Scheme == "http" && !thisMachine(u.Hostname()) {
			a.warn("the key of " + keyVariable + " is sent to " + u.Host + " without encryption; use https")
		}
		req.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := client.Do(req)
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	return resp, err
}

// sameServer keeps redirects, and with them the key, on the server that the user named.
// By itself, a client sends the key on to subdomains, to other ports, and from https to
// http.
func sameServer(req *http.Request, via []*http.Request) error {
	if first := via[0].URL; req.URL.Scheme != first.Scheme || req.URL.Host != first.Host {
		return proviso.Errorf(proviso.Refused, "%s redirects to %s; name the run or the server by that address if it is the right one", first.Host, req.URL.Scheme+"://"+req.URL.Host)
	}
	if len(via) >= 5 {
		return proviso.Errorf(proviso.Limit, "more than 5 redirects")
	}
	return nil
}

func thisMachine(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// said is what a server says of a request that it does not accept.
type said struct {
	Detail, Title string
	Errors        []saidError
}

type saidError struct {
	Pointer, Code, Message, Nearest, File, Excerpt string
	Line, Column                                   int
}

// saidBy reads the body of a refusal; another server answers otherwise.
func saidBy(resp *http.Response) (p said) {
	data, _ := io.ReadAll(io.LimitReader(resp.Body, maxProblem))
	_ = json.Unmarshal(data, &p)
	return p
}

// refusal is the error for an answer other than the expected one.
func refusal(u *url.URL, resp *http.Response) error {
	p := saidBy(resp)
	return p.refusal(u, resp)
}

func (p *said) refusal(u *url.URL, resp *http.Response) error {
	text := p.Detail
	if text == "" {
		text = p.Title
	}
	for _, e := range p.Errors[:min(len(p.Errors), 3)] {
		if !strings.Contains(text, e.Message) { // the detail of one mistake is its message
			text += ": " + e.Message
		}
	}
	if text == "" {
		text = "the answer does not come from a proviso server"
	}
	hint := ""
	code := proviso.Unavailable
	switch resp.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		code, hint = proviso.Refused, "; "+keyVariable+" holds the key"
		if resp.Request.Header.Get("Authorization") == "" {
			hint = "; " + keyVariable + " is not set: it holds the key"
		}
	case http.StatusNotFound:
		code = proviso.NotFound
	case http.StatusConflict:
		if resp.Header.Get("Retry-After") == "" { // with it, the first of two equal requests is under way
			code = proviso.Invalid
		}
	case http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity, http.StatusBadRequest, http.StatusUnsupportedMediaType:
		code = proviso.Invalid
	}
	return proviso.Errorf(code, "%s: %s (status %d)%s", transport.URL(u), report.Line(text, 400), resp.StatusCode, hint)
}
