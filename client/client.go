// Package client sends requests to proviso servers over HTTP: requests with the key of the
// environment, lists page by page, and refusals as errors that explain what to do. Start at [New],
// and at [Address] for a server that a user names.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/url"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/transport"
)

// KeyVariable is the environment variable with the API key for proviso servers.
const KeyVariable = "PROVISO_API_KEY"

// Timeout bounds a single exchange with a server, such as the transfer of a whole run.
const Timeout = 15 * time.Minute

// Limits of answers, in bytes.
const (
	maxBody   = 1 << 30   // any body, such as the file of a run
	maxAnswer = 256 << 20 // a body that is held in memory
)

const mediaLines = "application/x-ndjson"

// Client sends requests to proviso servers. It is safe for concurrent use if its warn function is.
type Client struct {
	http *http.Client
	key  string
	warn func(string)
}

// New returns a client with the key in [KeyVariable] and the proxies of an environment. It warns
// before it sends the key over an unencrypted connection.
func New(env proviso.Env, warn func(string)) *Client {
	c := &Client{http: transport.New(transport.Options{Env: env, MaxBody: maxBody}).Client(), warn: warn}
	c.http.CheckRedirect = sameServer
	c.key, _ = env.Lookup(KeyVariable)
	return c
}

// Do sends a request. Its body is JSON Lines unless a header says otherwise; each header name is
// followed by its value. A status other than 2xx is returned as a [*Refusal]. The caller closes the
// body of the answer.
func (c *Client) Do(ctx context.Context, method string, u *url.URL, body io.Reader, headers ...string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, u.String(), body)
	if err != nil {
		return nil, noAddress()
	}
	req.Header.Set("Accept", mediaLines+", application/json, application/problem+json")
	if body != nil {
		req.Header.Set("Content-Type", mediaLines)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	if c.key != "" {
		if u.Scheme == "http" && !transport.ThisMachine(u.Hostname()) {
			c.warn("the key of " + KeyVariable + " is sent to " + u.Host + " without encryption; use https")
		}
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	resp, err := c.http.Do(req)
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	if err == nil && resp.StatusCode >= 300 {
		defer resp.Body.Close()
		return nil, refusalOf(u, resp)
	}
	return resp, err
}

// Read is [Client.Do] for an answer that is held in memory.
func (c *Client) Read(ctx context.Context, method string, u *url.URL, body io.Reader, headers ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	resp, err := c.Do(ctx, method, u, body, headers...)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		err = proviso.Errorf(proviso.Unavailable, "%s: the answer cannot be read: %w", transport.URL(u), err)
	case len(data) > maxAnswer:
		err = proviso.Errorf(proviso.Limit, "%s: the answer has more than %d bytes", transport.URL(u), maxAnswer)
	}
	return data, err
}

// JSON sends in as JSON, unless it is nil, and reads the JSON of the answer into out.
func (c *Client) JSON(ctx context.Context, method string, u *url.URL, in, out any, headers ...string) error {
	var body io.Reader
	if in != nil {
		data, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(data)
	}
	data, err := c.Read(ctx, method, u, body, append(headers, "Content-Type", "application/json")...)
	if err == nil && json.Unmarshal(data, out) != nil {
		err = NotOfServer(u)
	}
	return err
}

// mostItems is the number of list items per page.
const mostItems = "1000"

// Pages yields all items of a list, or an error. The URL may set its own limit.
func Pages[T any](ctx context.Context, c *Client, u *url.URL) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		if !u.Query().Has("limit") {
			u = With(u, "limit", mostItems)
		}
		for after := ""; ; {
			var page struct {
				Items []T    `json:"items"`
				Next  string `json:"next"`
			}
			if err := c.JSON(ctx, http.MethodGet, With(u, "after", after), nil, &page); err != nil {
				yield(none, err)
				return
			}
			for _, item := range page.Items {
				if !yield(item, nil) {
					return
				}
			}
			if page.Next == "" || page.Next == after {
				return
			}
			after = page.Next
		}
	}
}

// sameServer keeps redirects, and with them the key, on the server that the user named. By default,
// an http.Client forwards the key to subdomains, to other ports, and from https to http.
func sameServer(req *http.Request, via []*http.Request) error {
	if first := via[0].URL; req.URL.Scheme != first.Scheme || req.URL.Host != first.Host {
		return proviso.Errorf(proviso.Refused, "%s redirects to %s; name the run or the server by that address if it is the right one", first.Host, req.URL.Scheme+"://"+req.URL.Host)
	}
	if len(via) >= 5 {
		return proviso.Errorf(proviso.Limit, "more than 5 redirects")
	}
	return nil
}
