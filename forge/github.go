package forge

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso"
)

// github speaks GitHub's REST API, version 2022-11-28.
type github struct{}

// detectGitHub reads the variables of GitHub Actions and the job's event. The number of the
// pull request comes from the event: a workflow_run job, which has secrets, must not take
// it from what an unprivileged job wrote.
func detectGitHub(env proviso.Env, event []byte) (Place, error) {
	if lookup(env, "GITHUB_ACTIONS") != "true" {
		return Place{}, nil
	}
	p := Place{Forge: "github", API: lookup(env, "GITHUB_API_URL"), Repository: lookup(env, "GITHUB_REPOSITORY"), Commit: lookup(env, "GITHUB_SHA")}
	var err error
	if p.Run, err = number(env, "GITHUB_RUN_ID"); err != nil {
		return Place{}, err
	}
	if server := lookup(env, "GITHUB_SERVER_URL"); server != "" && p.Run > 0 {
		p.Job = fmt.Sprintf("%s/%s/actions/runs/%d", server, p.Repository, p.Run)
	}
	if len(event) == 0 {
		return p, nil
	}
	return p, p.event(event)
}

// event reads the pull request's fields from the job's event.
func (p *Place) event(data []byte) error {
	type repository struct {
		FullName string `json:"full_name"`
	}
	var e struct {
		PullRequest *struct {
			Number int `json:"number"`
			Head   struct {
				SHA  string      `json:"sha"`
				Repo *repository `json:"repo"` // null if the fork was deleted
			} `json:"head"`
		} `json:"pull_request"`
		Run *struct {
			ID     int64       `json:"id"`
			URL    string      `json:"html_url"`
			SHA    string      `json:"head_sha"`
			Branch string      `json:"head_branch"`
			Repo   *repository `json:"head_repository"`
		} `json:"workflow_run"`
	}
	if err := json.Unmarshal(data, &e); err != nil {
		return fmt.Errorf("the event of the job is not valid JSON: %w", err)
	}
	foreign := func(r *repository) bool { return r == nil || !strings.EqualFold(r.FullName, p.Repository) }
	switch {
	case e.PullRequest != nil:
		// GITHUB_SHA is a merge that GitHub made for the job; it means nothing to a reader.
		p.Number, p.Commit, p.Fork = e.PullRequest.Number, e.PullRequest.Head.SHA, foreign(e.PullRequest.Head.Repo)
	case e.Run != nil && e.Run.Repo != nil:
		owner, _, _ := strings.Cut(e.Run.Repo.FullName, "/")
		p.Head, p.Commit, p.Run, p.Job = owner+":"+e.Run.Branch, e.Run.SHA, e.Run.ID, e.Run.URL
	}
	return nil
}

func (github) authorize(h http.Header, token string) {
	h.Set("Authorization", "Bearer "+token)
	h.Set("Accept", "application/vnd.github+json")
	h.Set("X-Github-Api-Version", "2022-11-28")
}

// resolve finds the open pull request of a branch at a commit. A workflow_run event names
// no pull request if the branch is in a fork.
func (github) resolve(ctx context.Context, c *client, p *Place) error {
	var list []struct {
		Number int `json:"number"`
		Head   struct {
			SHA string `json:"sha"`
		} `json:"head"`
	}
	query := url.Values{"state": {"open"}, "head": {p.Head}, "per_page": {"100"}}
	if _, err := c.get(ctx, "/repos/"+p.Repository+"/pulls", query, &list); err != nil {
		return err
	}
	for _, pull := range list {
		if pull.Head.SHA == p.Commit && (p.Number == 0 || pull.Number < p.Number) {
			p.Number = pull.Number
		}
	}
	if p.Number == 0 {
		return ErrMoved
	}
	return nil
}

// viewer uses GraphQL, which also accepts a job's token and returns, for example,
// "github-actions[bot]". REST accepts only tokens of people.
func (github) viewer(ctx context.Context, c *client) (string, error) {
	address := *c.base
	if rest, ok := strings.CutSuffix(address.Path, "/api/v3"); ok { // enterprise server
		address.Path = rest + "/api"
	}
	var answer struct {
		Data struct{ Viewer struct{ Login string } }
	}
	query := map[string]string{"query": "query{viewer{login}}"}
	_, err := c.call(ctx, request{method: http.MethodPost, address: address.String() + "/graphql", body: query, harmless: true}, &answer)
	if login := answer.Data.Viewer.Login; login != "" || ctx.Err() != nil {
		return login, err
	}
	var user struct {
		Login string `json:"login"`
	}
	_, userErr := c.get(ctx, "/user", nil, &user)
	return user.Login, errors.Join(err, userErr)
}

func (github) comments(p *Place) string {
	return "/repos/" + p.Repository + "/issues/" + strconv.Itoa(p.Number) + "/comments"
}

func (github) comment(p *Place, id string) string {
	return "/repos/" + p.Repository + "/issues/comments/" + id
}

func (github) query() url.Values { return url.Values{"per_page": {"100"}} }

// more reads the Link header (RFC 8288). It does not follow the address in the header: the
// token is sent only to addresses built from the base address.
func (github) more(h http.Header) bool {
	return slices.ContainsFunc(strings.Split(strings.Join(h.Values("Link"), ","), ","), func(link string) bool {
		_, parameters, _ := strings.Cut(link, ";")
		return strings.Contains(parameters, `rel="next"`)
	})
}

func (github) read(raw json.RawMessage) (remark, error) {
	var c struct {
		ID   int64  `json:"id"`
		URL  string `json:"html_url"`
		Body string `json:"body"`
		User struct {
			Login string `json:"login"`
		} `json:"user"`
	}
	err := json.Unmarshal(raw, &c)
	return remark{id: strconv.FormatInt(c.ID, 10), author: c.User.Login, url: c.URL}.of(c.Body), err
}

func (github) update() string { return http.MethodPatch }

func (github) prepare(body string) string { return body }

func (github) explain(p *Place, f *fault) string {
	right := "give the job `permissions: pull-requests: write`"
	switch {
	case f.status == http.StatusUnauthorized:
		return "GitHub does not accept the token; it is wrong or has expired"
	case f.status == http.StatusForbidden && strings.Contains(f.message, "locked"):
		return fmt.Sprintf("the conversation of pull request %d is locked; unlock it, or read the report in the job", p.Number)
	case f.status == http.StatusForbidden && p.Fork:
		return "GitHub does not let a job of a pull request from a fork write comments; post the comment from a job on workflow_run, as docs/ci.md shows"
	case f.status == http.StatusForbidden:
		return "the token may not comment in " + p.Repository + "; " + right
	case f.status == http.StatusNotFound:
		return fmt.Sprintf("GitHub has no pull request %s in %s for this token; check the number, or %s", cmp.Or(numberText(p.Number), p.Head), p.Repository, right)
	}
	return ""
}

func numberText(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}
