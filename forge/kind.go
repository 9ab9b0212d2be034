package forge

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
)

// kind is one forge: a row of the table.
type kind struct {
	name    string   // for the command line
	title   string   // for people
	change  string   // what it calls a change request
	tokens  []string // environment variables of a token, the first that is set counts
	limit   int      // characters of a comment
	address string   // of the API, where the environment names none

	dialect
	detect func(env proviso.Env, event []byte) (Place, error) // the zero Place outside of its CI
}

// dialect is how the API of a forge differs from the others.
type dialect interface {
	// authorize adds the token to a request.
	authorize(h http.Header, token string)
	// resolve completes a place whose change request is known only by its commit.
	resolve(ctx context.Context, c *client, p *Place) error
	// viewer returns whom the token belongs to, in the form of [remark.author].
	viewer(ctx context.Context, c *client) (string, error)
	// comments is the path of the comments of a change request, and comment of one of
	// them.
	comments(p *Place) string
	comment(p *Place, id string) string
	// query selects the size and the order of a page of comments.
	query() url.Values
	// more reports whether a page of comments is not the last.
	more(h http.Header) bool
	// read reads one comment of a page.
	read(raw json.RawMessage) (remark, error)
	// update is the method that changes a comment.
	update() string
	// prepare changes a text that the forge would take for more than text.
	prepare(body string) string
	// explain says what a refusal means and what to do; "" leaves the forge's own words.
	explain(p *Place, f *fault) string
}

func kinds() []kind {
	return []kind{
		{
			name: "github", title: "GitHub", change: "pull request", tokens: []string{"GITHUB_TOKEN", "GH_TOKEN"},
			limit: 65_536, address: "https://api.github.com", dialect: github{}, detect: detectGitHub,
		},
		{
			name: "gitlab", title: "GitLab", change: "merge request", tokens: []string{"GITLAB_TOKEN"},
			limit: 1_000_000, address: "https://gitlab.com/api/v4", dialect: gitlab{}, detect: detectGitLab,
		},
	}
}

// Names returns the names of the forges.
func Names() []string {
	var list []string
	for _, k := range kinds() {
		list = append(list, k.name)
	}
	return list
}

// kindOf finds a forge by its name.
func kindOf(name string) (kind, error) {
	list := kinds()
	if i := slices.IndexFunc(list, func(k kind) bool { return k.name == name }); i >= 0 {
		return list[i], nil
	}
	e := proviso.Errorf(proviso.Invalid, "there is no forge %q", name)
	e.Valid = Names()
	if near := document.Nearest(name, e.Valid); near != "" {
		e.Message += "; did you mean " + near + "?"
	}
	return kind{}, e
}
