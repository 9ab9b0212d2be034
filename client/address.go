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
	pagesPath     = "/runs" // of the app
	exampleServer = "https://HOST" + pagesPath
)

func noAddress() error {
	return proviso.Errorf(proviso.Invalid, "this is not an address: expected %s/ID", exampleServer)
}

// IsAddress reports whether a text is meant as an address, and not as the name of a file.
func IsAddress(text string) bool {
	return strings.HasPrefix(text, "https://") || strings.HasPrefix(text, "http://")
}

// Address returns the address of the API of a server, /v1, and of a project if that is not "",
// from the address of the server, of its API or of its page of runs.
func Address(text, project string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || !IsAddress(text) || u.Host == "" {
		const hint = "write it with its scheme, such as https://eval.example.com"
		if scheme, _, is := strings.Cut(text, "://"); is && !IsAddress(text) { // a password may stand anywhere behind it
			return nil, proviso.Errorf(proviso.Invalid, "a URL with the scheme %q is not that of a server; %s", report.Line(scheme, 20), hint)
		}
		return nil, proviso.Errorf(proviso.Invalid, "%q is not the URL of a server; %s", proviso.RedactedURL(text), hint)
	}
	if u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return nil, proviso.Errorf(proviso.Invalid, "the URL of a server has no query and no password; the key is in %s", KeyVariable)
	}
	base := strings.TrimSuffix(strings.TrimSuffix(u.Path, "/"), pagesPath) // of the API, or of the pages
	u.Path = strings.TrimSuffix(base, apiPath) + apiPath
	return With(u, "project", project), nil
}

// With returns an address with further members of its query: each name is followed by its
// value, and those without a value are left out.
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

// RunAddress returns the address of a run in the API of a server, from that address or
// from that of its page, without what may stand behind.
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
	project := u.Query().Get("project") // the others are filters of the page
	u.Path, u.RawPath = strings.TrimSuffix(u.Path[:at], apiPath)+apiPath+pagesPath+"/"+id, ""
	u.RawQuery, u.Fragment, u.User = "", "", nil
	return With(u, "project", project), nil
}

// RunPage returns the page of a run in the app, from its address in the API.
func RunPage(u *url.URL) *url.URL {
	page := *u
	at := strings.LastIndex(page.Path, apiPath+pagesPath+"/")
	page.Path, page.RawPath = page.Path[:at]+strings.TrimPrefix(page.Path[at:], apiPath), ""
	return &page
}
