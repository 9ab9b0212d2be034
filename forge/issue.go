package forge

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
)

// Issues keeps one GitHub issue in a repository for each key. It is safe for concurrent
// use.
type Issues struct {
	client client
	place  Place
}

// Issue is an issue to keep. Its texts are Markdown in which everything that a model or a
// stranger wrote is escaped.
type Issue struct {
	Key    string // subject
	Title  string // plain text
	Body   string
	Labels []string
	Since  time.Time // earliest time at which the issue can have been created
}

// OpenIssues returns the issues of a place's repository. It sends nothing.
func OpenIssues(p Place, o Options) (*Issues, error) {
	if p.Forge != "github" {
		return nil, proviso.Errorf(proviso.Unsupported, "issues are kept on GitHub, not on %q", p.Forge)
	}
	p.Number, p.Commit = 1, strings.Repeat("0", 40) // Open requires a change request; issues do not use it
	f, err := Open(p, o)
	if err != nil {
		return nil, err
	}
	return &Issues{client: f.client, place: f.place}, nil
}

// Host returns the host of the API.
func (f *Issues) Host() string { return f.client.base.Hostname() }

func (f *Issues) path() string {
	return f.client.base.String() + "/repos/" + f.place.Repository + "/issues"
}

// issueMark is the first line of every proviso issue, which GitHub does not show.
func issueMark(key string) string { return "<!-- proviso issue " + digest("issue\x00"+key) + " -->" }

// Open creates the issue of a key if there is none, and returns its number. remote is the
// number if it is known. Open does not retry: if the response was lost, the request may
// have created the issue, and the next call finds it.
func (f *Issues) Open(ctx context.Context, i Issue, remote string) (number string, err error) {
	if remote != "" {
		return remote, nil
	}
	if number, err = f.find(ctx, i); err != nil || number != "" {
		return number, err
	}
	body := map[string]any{"title": i.Title, "body": issueMark(i.Key) + "\n" + Cut(i.Body, f.client.limit-200, func(s string) int { return len([]rune(s)) })}
	if len(i.Labels) > 0 {
		body["labels"] = i.Labels
	}
	var made struct {
		Number int `json:"number"`
	}
	if _, err := f.client.send(ctx, request{method: http.MethodPost, address: f.path(), body: body}, &made); err != nil {
		return "", f.sentence("make an issue", err)
	}
	return strconv.Itoa(made.Number), nil
}

// Close closes the issue of a key, then comments on it with the body. It does nothing if
// there is no issue.
func (f *Issues) Close(ctx context.Context, i Issue, remote string) (number string, err error) {
	if number = remote; number == "" {
		if number, err = f.find(ctx, i); err != nil || number == "" {
			return number, err
		}
	}
	address := f.path() + "/" + url.PathEscape(number)
	var is struct {
		State string `json:"state"`
	}
	if _, err := f.client.send(ctx, request{method: http.MethodGet, address: address}, &is); err != nil {
		return number, f.sentence("read an issue", err)
	}
	if is.State == "closed" { // by a person, or by an attempt whose response was lost
		return number, nil
	}
	if _, err := f.client.send(ctx, request{method: http.MethodPatch, address: address, body: map[string]string{"state": "closed", "state_reason": "completed"}}, nil); err != nil {
		return number, f.sentence("close an issue", err)
	}
	if _, err := f.client.send(ctx, request{method: http.MethodPost, address: address + "/comments", body: map[string]string{"body": i.Body}}, nil); err != nil {
		return number, nil // the issue is closed; the comment is optional
	}
	return number, nil
}

// maxIssuePages bounds how many pages of issues are read.
const maxIssuePages = 20

// find returns the number of the issue of a key; "" if there is none. The oldest match
// counts, because a mark can only be copied after the first issue exists.
func (f *Issues) find(ctx context.Context, i Issue) (string, error) {
	mark := issueMark(i.Key)
	query := url.Values{"state": {"all"}, "sort": {"created"}, "direction": {"desc"}, "per_page": {"100"}}
	if !i.Since.IsZero() {
		query.Set("since", i.Since.Add(-time.Minute).UTC().Format(time.RFC3339))
	}
	found := ""
	for page := 1; page <= maxIssuePages; page++ {
		query.Set("page", strconv.Itoa(page))
		var list []struct {
			Number int    `json:"number"`
			Body   string `json:"body"`
			Pull   any    `json:"pull_request"`
		}
		header, err := f.client.send(ctx, request{method: http.MethodGet, address: f.path() + "?" + query.Encode()}, &list)
		if err != nil {
			return "", f.sentence("read the issues", err)
		}
		for _, is := range list {
			if first, _, _ := strings.Cut(is.Body, "\n"); strings.TrimSpace(first) == mark && is.Pull == nil {
				found = strconv.Itoa(is.Number)
			}
		}
		if !f.client.more(header) {
			break
		}
	}
	return found, nil
}

// sentence describes why a request failed, in one line.
func (f *Issues) sentence(doing string, err error) error {
	var fault *fault
	if !errors.As(err, &fault) {
		return err
	}
	text := fmt.Sprintf("HTTP %d: %s", fault.status, fault.message)
	switch fault.status {
	case 0:
		text = fault.message
	case http.StatusUnauthorized:
		text = "GitHub does not accept the token; it is wrong or has expired"
	case http.StatusForbidden, http.StatusNotFound:
		if !fault.limited {
			text = fmt.Sprintf("GitHub has no repository %s whose issues this token may write; it needs the right to read and write issues (%s)", f.place.Repository, fault.message)
		}
	}
	return proviso.Because(err, proviso.Unavailable, "%s: %s", doing, text)
}
