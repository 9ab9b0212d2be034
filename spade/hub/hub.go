// Package hub reads the commits of a prompt from the LangSmith hub. Start at [Read].
package hub

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/value"
)

// Server is the address of LangSmith's API.
const Server = "https://api.smith.langchain.com"

// Limits of a history in the hub.
const (
	pageSize   = 100
	maxCommits = 10_000
	maxBytes   = 256 << 20
	attempts   = 4
	maxWait    = time.Minute
)

// Options configure requests to the hub.
type Options struct {
	Client *http.Client // makes the requests
	Server string       // "" means [Server]
	Key    string       // API key; "" for public prompts
	KeyOf  string       // environment variable of the key, for messages
	Sleep  func(context.Context, time.Duration) error
}

// Name splits owner/name. A name alone belongs to the key's workspace, whose owner is -.
func Name(text string) (owner, name string, err error) {
	owner, name, ok := strings.Cut(text, "/")
	if !ok {
		owner, name = "-", text
	}
	for _, part := range []string{owner, name} {
		if part == "" || part == "." || part == ".." || strings.Trim(part, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") != "" {
			return "", "", proviso.Errorf(proviso.Invalid, "%s is not a prompt name; expected OWNER/NAME", value.Stringify(text))
		}
	}
	return owner, name, nil
}

// Read returns the commits of a prompt as a JSON document in the form of the hub's own list,
// oldest first. It reads all pages, and requests each manifest that the list lacks. It retries
// after a rate limit and after server errors. An error is a [proviso.Error]: Refused for a
// wrong key, NotFound, Limit or Unavailable.
func Read(ctx context.Context, o Options, owner, name string) ([]byte, error) {
	r := &reader{Options: o, left: maxBytes, path: "/commits/" + url.PathEscape(owner) + "/" + url.PathEscape(name), what: owner + "/" + name}
	if r.Server == "" {
		r.Server = Server
	}
	if r.Sleep == nil {
		r.Sleep = transport.Wait
	}
	commits, err := r.list(ctx)
	if err != nil {
		return nil, err
	}
	if len(commits) == 0 {
		return nil, proviso.Errorf(proviso.NotFound, "the prompt %s of the hub has no commits", r.what)
	}
	slices.Reverse(commits)
	return value.AppendJSON(nil, value.ObjectOf("commits", commits)), nil
}

type reader struct {
	Options
	path, what string
	left       int64 // remaining bytes
}

// list reads all pages of commits, newest first.
func (r *reader) list(ctx context.Context) ([]any, error) {
	var commits []any
	for {
		page, err := r.get(ctx, r.path+"?limit="+strconv.Itoa(pageSize)+"&offset="+strconv.Itoa(len(commits))+"&include_stats=false")
		if err != nil {
			return nil, err
		}
		list, ok := page.At("commits").([]any)
		if !ok {
			return nil, proviso.Errorf(proviso.Unavailable, "the hub answered without a list of commits; is %s the address of LangSmith's API?", r.Server)
		}
		for _, c := range list {
			commit, ok := c.(*value.Object)
			if !ok || commit.Text("commit_hash") == "" {
				return nil, proviso.Errorf(proviso.Unavailable, "the hub answered with a commit that has no hash")
			}
			if commit.Object("manifest") == nil {
				if err := r.manifest(ctx, commit); err != nil {
					return nil, err
				}
			}
			if commits = append(commits, commit); len(commits) > maxCommits {
				return nil, proviso.Errorf(proviso.Limit, "the prompt %s has more than the %d commits that are read", r.what, maxCommits)
			}
		}
		total, counted := page.At("total").(float64)
		if len(list) == 0 || counted && float64(len(commits)) >= total || !counted && len(list) < pageSize {
			return commits, nil
		}
	}
}

// manifest requests the prompt of one commit.
func (r *reader) manifest(ctx context.Context, commit *value.Object) error {
	whole, err := r.get(ctx, r.path+"/"+url.PathEscape(commit.Text("commit_hash")))
	if err != nil {
		return err
	}
	commit.Set("manifest", whole.At("manifest"))
	return nil
}

// get requests one document, with retries.
func (r *reader) get(ctx context.Context, path string) (*value.Object, error) {
	for attempt := 1; ; attempt++ {
		o, wait, err := r.once(ctx, path)
		if err == nil || wait == 0 || attempt == attempts {
			return o, err
		}
		if err := r.Sleep(ctx, min(wait*time.Duration(attempt), maxWait)); err != nil {
			return nil, err
		}
	}
}

// once makes one request; a wait of 0 means that a retry does not help.
func (r *reader) once(ctx context.Context, path string) (o *value.Object, wait time.Duration, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(r.Server, "/")+path, nil)
	if err != nil {
		return nil, 0, proviso.Errorf(proviso.Invalid, "the address of the hub: %w", err)
	}
	req.Header.Set("Accept", "application/json")
	if r.Key != "" {
		req.Header.Set("X-Api-Key", r.Key)
	}
	resp, err := r.Client.Do(req)
	if err != nil {
		var inner *url.Error
		if errors.As(err, &inner) {
			err = inner.Err
		}
		return nil, 0, fmt.Errorf("ask the hub: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, waitOf(resp), r.refused(resp.StatusCode)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, r.left+1))
	if err != nil {
		return nil, time.Second, proviso.Errorf(proviso.Unavailable, "read the answer of the hub: %w", err)
	}
	if r.left -= int64(len(data)); r.left < 0 {
		return nil, 0, proviso.Errorf(proviso.Limit, "the prompt %s has more than the %d MiB that are read", r.what, maxBytes>>20)
	}
	v, err := value.ParseReply(ctx, string(data))
	o, ok := v.(*value.Object)
	if err != nil || !ok {
		return nil, 0, proviso.Errorf(proviso.Unavailable, "the hub answered with something that is not a JSON object; is %s the address of LangSmith's API?", r.Server)
	}
	return o, 0, nil
}

// waitOf returns the wait before a retry, 0 if a retry does not help.
func waitOf(resp *http.Response) time.Duration {
	switch resp.StatusCode {
	case http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
	default:
		return 0
	}
	return min(cmp.Or(transport.RetryAfter(resp.Header, time.Now()), time.Second), maxWait)
}

// refused explains an HTTP status.
func (r *reader) refused(status int) error {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		if r.Key == "" {
			return proviso.Errorf(proviso.Refused, "the hub does not show %s without a key (%d); set %s", r.what, status, r.KeyOf)
		}
		return proviso.Errorf(proviso.Refused, "the hub refuses the key in %s (%d)", r.KeyOf, status)
	case http.StatusNotFound:
		hint := ""
		if r.Key == "" {
			hint = "; a private one needs a key in " + r.KeyOf
		}
		return proviso.Errorf(proviso.NotFound, "the hub has no prompt %s%s", r.what, hint)
	case http.StatusTooManyRequests:
		return proviso.Errorf(proviso.Unavailable, "the hub has had too many requests (%d), asked %d times; try again later", status, attempts)
	}
	return proviso.Errorf(proviso.Unavailable, "the hub answered with status %d", status)
}
