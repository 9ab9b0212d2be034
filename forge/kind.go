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
	name    string   // on the command line
	title   string   // for people
	change  string   // the forge's term for a change request
	tokens  []string // environment variables for a token; the first that is set counts
	limit   int      // maximum characters of a comment
	address string   // default API address, if the environment names none

	dialect
	detect func(env proviso.Env, event []byte) (Place, error) // returns the zero Place outside the forge's CI
}

// dialect is what differs between forge APIs.
type dialect interface {
	// authorize adds the token to a request.
	authorize(h http.Header, token string)
	// resolve completes a place whose change request is known only by its commit.
	resolve(ctx context.Context, c *client, p *Place) error
	// viewer returns the owner of the token, in the form of [remark.author].
	viewer(ctx context.Context, c *client) (string, error)
	// comments is the path of a change request's comments, and comment the path of one
	// comment.
	comments(p *Place) string
	comment(p *Place, id string) string
	// query sets the size and order of a page of comments.
	query() url.Values
	// more reports whether another page of comments follows.
	more(h http.Header) bool
	// read reads one comment of a page.
	read(raw json.RawMessage) (remark, error)
	// update is the HTTP method that changes a comment.
	update() string
	// prepare escapes text that the forge would interpret, such as commands.
	prepare(body string) string
	// explain says what a refusal means and what to do; "" keeps the forge's own message.
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
	e := proviso.Errorf(proviso.Invalid, "there is no forge %q%s", name, document.DidYouMean(name, Names()))
	e.Valid = Names()
	return kind{}, e
}
