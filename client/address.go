package client

import (
	"net/url"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/report"
)

const (
	apiPath       = "/v1"
	pagesPath     = "/runs" // pages of the app
	exampleServer = "https://HOST" + pagesPath
)

func noAddress() error {
	return proviso.Errorf(proviso.Invalid, "this is not an address: expected %s/ID", exampleServer)
}

// IsAddress reports whether a text is meant as a URL rather than a file name.
func IsAddress(text string) bool {
	return strings.HasPrefix(text, "https://") || strings.HasPrefix(text, "http://")
}

// Address returns the URL of a server's API, /v1, for a project if one is given. The text is the
// URL of the server, of its API or of its page of runs.
func Address(text, project string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || !IsAddress(text) || u.Host == "" {
		const hint = "write it with its scheme, such as https://eval.example.com"
		if scheme, _, is := strings.Cut(text, "://"); is && !IsAddress(text) { // the rest may contain a password
			return nil, proviso.Errorf(proviso.Invalid, "a URL with the scheme %q is not that of a server; %s", report.Line(scheme, 20), hint)
		}
		return nil, proviso.Errorf(proviso.Invalid, "%q is not the URL of a server; %s", proviso.RedactedURL(text), hint)
	}
	if u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return nil, proviso.Errorf(proviso.Invalid, "the URL of a server has no query and no password; the key is in %s", KeyVariable)
	}
	base := strings.TrimSuffix(strings.TrimSuffix(u.Path, "/"), pagesPath) // path of the API, or of the page of runs
	u.Path = strings.TrimSuffix(base, apiPath) + apiPath
	return With(u, "project", project), nil
}

// With returns a URL with further query parameters: each name is followed by its value. Names with
// an empty value are left out.
func With(u *url.URL, query ...string) *url.URL {
	out, q := *u, u.Query()
	for i := 0; i+1 < len(query); i += 2 {
		if query[i+1] != "" {
			q.Set(query[i], query[i+1])
		}
	}
	out.RawQuery = q.Encode()
	return &out
}

// RunAddress returns the API URL of a run, from that URL or from the URL of its page. Only the
// project is kept of its query.
func RunAddress(name string) (*url.URL, error) {
	u, err := url.Parse(name)
	if err != nil || u.Host == "" {
		return nil, noAddress()
	}
	at := max(strings.LastIndex(u.Path, pagesPath+"/"), 0)
	id, ok := strings.CutPrefix(u.Path[at:], pagesPath+"/")
	id = strings.TrimSuffix(strings.TrimSuffix(id, "/"), "/file")
	if !ok || id == "" || strings.Contains(id, "/") {
		return nil, proviso.Errorf(proviso.Invalid, "%s is not the address of a run: expected %s/ID", transport.URL(u), exampleServer)
	}
	project := u.Query().Get("project") // other parameters are filters of the page
	u.Path, u.RawPath = strings.TrimSuffix(u.Path[:at], apiPath)+apiPath+pagesPath+"/"+id, ""
	u.RawQuery, u.Fragment, u.User = "", "", nil
	return With(u, "project", project), nil
}

// RunPage returns the URL of a run's page in the app, from its API URL.
func RunPage(u *url.URL) *url.URL {
	page := *u
	at := strings.LastIndex(page.Path, apiPath+pagesPath+"/")
	page.Path, page.RawPath = page.Path[:at]+strings.TrimPrefix(page.Path[at:], apiPath), ""
	return &page
}
