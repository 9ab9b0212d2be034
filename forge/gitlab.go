package forge

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"

	"github.com/proviso-eval/proviso"
)

// gitlab speaks GitLab's REST API, version 4.
type gitlab struct{}

// detectGitLab reads the variables of GitLab CI. The merge request belongs to its target
// project, which may not be the job's.
func detectGitLab(env proviso.Env, _ []byte) (Place, error) {
	if lookup(env, "GITLAB_CI") != "true" {
		return Place{}, nil
	}
	p := Place{
		Forge: "gitlab", API: lookup(env, "CI_API_V4_URL"), Repository: lookup(env, "CI_MERGE_REQUEST_PROJECT_ID"),
		Commit: lookup(env, "CI_COMMIT_SHA"), Job: lookup(env, "CI_PIPELINE_URL"),
	}
	if p.Repository == "" {
		p.Repository = lookup(env, "CI_PROJECT_ID")
	}
	source := lookup(env, "CI_MERGE_REQUEST_SOURCE_PROJECT_ID")
	p.Fork = source != "" && source != p.Repository
	if sha := lookup(env, "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA"); sha != "" { // set where CI_COMMIT_SHA is a merge
		p.Commit = sha
	}
	var err error
	if p.Run, err = number(env, "CI_PIPELINE_ID"); err != nil {
		return Place{}, err
	}
	n, err := number(env, "CI_MERGE_REQUEST_IID")
	p.Number = int(n)
	return p, err
}

func (gitlab) authorize(h http.Header, token string) { h.Set("Private-Token", token) }

// resolve finds nothing: a merge request pipeline has its number.
func (gitlab) resolve(context.Context, *client, *Place) error { return ErrMoved }

func (gitlab) viewer(ctx context.Context, c *client) (string, error) {
	var user struct {
		ID int64 `json:"id"`
	}
	if _, err := c.get(ctx, "/user", nil, &user); err != nil || user.ID == 0 {
		return "", err
	}
	return strconv.FormatInt(user.ID, 10), nil
}

func (gitlab) comments(p *Place) string {
	return "/projects/" + url.PathEscape(p.Repository) + "/merge_requests/" + strconv.Itoa(p.Number) + "/notes"
}

func (g gitlab) comment(p *Place, id string) string { return g.comments(p) + "/" + id }

// query requests small pages, because a note may have a million characters.
func (gitlab) query() url.Values {
	return url.Values{"per_page": {"20"}, "order_by": {"created_at"}, "sort": {"asc"}}
}

func (gitlab) more(h http.Header) bool { return h.Get("X-Next-Page") != "" }

func (gitlab) read(raw json.RawMessage) (remark, error) {
	var n struct {
		ID     int64  `json:"id"`
		Body   string `json:"body"`
		System bool   `json:"system"`
		Author struct {
			ID int64 `json:"id"`
		} `json:"author"`
	}
	if err := json.Unmarshal(raw, &n); err != nil || n.System {
		return remark{}, err
	}
	return remark{id: strconv.FormatInt(n.ID, 10), author: strconv.FormatInt(n.Author.ID, 10)}.of(n.Body), nil
}

func (gitlab) update() string { return http.MethodPut }

// prepare prevents GitLab from executing lines of the text, such as "/merge", with the
// token's rights. GitLab looks for quick actions outside code, but the expressions it uses
// recognise only simple fences.
func (gitlab) prepare(body string) string {
	return regexp.MustCompile(`(?m)^([ \t]*)/`).ReplaceAllString(body, "${1}\u200b/")
}

func (gitlab) explain(p *Place, f *fault) string {
	right := "it needs the scope `api` and the role Reporter; a job token (CI_JOB_TOKEN) may not write notes"
	switch f.status {
	case http.StatusUnauthorized:
		return "GitLab does not accept the token in GITLAB_TOKEN; " + right
	case http.StatusForbidden:
		if p.Fork {
			return "the token may not write notes on a merge request from a fork; run the pipeline in the project that it would be merged into, as docs/ci.md shows"
		}
		return "the token may not write notes on merge request " + strconv.Itoa(p.Number) + "; " + right
	case http.StatusNotFound:
		return fmt.Sprintf("GitLab has no merge request %d in project %s for this token; check the number, and the token: %s", p.Number, p.Repository, right)
	}
	return ""
}
