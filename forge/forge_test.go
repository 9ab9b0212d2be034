package forge_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/forge"
	"github.com/proviso-eval/proviso/internal/fakeforge"
	"github.com/proviso-eval/proviso/internal/transport"
)

const (
	commit = "0123456789abcdef0123456789abcdef01234567"
	token  = "sekret-token-1234"
	bot    = "github-actions[bot]"
)

// scene is a fake forge, and a client whose sleeps advance its clock.
type scene struct {
	*fakeforge.Server
	place  forge.Place
	now    time.Time
	sleeps []time.Duration
}

func newScene(t *testing.T, o fakeforge.Options) *scene {
	t.Helper()
	o.Token = token
	s := &scene{now: time.Unix(1_800_000_000, 0)}
	s.place = forge.Place{Forge: "github", Repository: "team/app", Number: 5, Commit: commit, Run: 40}
	if o.GitLab {
		o.Path = "/api/v4"
		s.place.Forge, s.place.Repository = "gitlab", "77"
	}
	s.Server = fakeforge.New(o)
	t.Cleanup(s.Close)
	s.place.API = s.URL
	return s
}

func (s *scene) upsert(t *testing.T, m forge.Comment) (forge.Posted, error) {
	t.Helper()
	f, err := forge.Open(s.place, forge.Options{
		Network: transport.New(transport.Options{}), Token: token,
		Now: func() time.Time { return s.now },
		Sleep: func(_ context.Context, d time.Duration) error {
			s.sleeps, s.now = append(s.sleeps, d), s.now.Add(d)
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return f.Upsert(t.Context(), m)
}

// each runs a test with each forge.
func each(t *testing.T, test func(t *testing.T, o fakeforge.Options)) {
	t.Helper()
	t.Run("github", func(t *testing.T) { t.Parallel(); test(t, fakeforge.Options{Viewer: bot}) })
	t.Run("gitlab", func(t *testing.T) { t.Parallel(); test(t, fakeforge.Options{Viewer: "31", GitLab: true}) })
}

// TestUpsert follows one comment through its life.
func TestUpsert(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, o fakeforge.Options) {
		s := newScene(t, o)
		for i := range 250 {
			s.Add("12", fmt.Sprintf("comment %d", i))
		}
		m := forge.Comment{Key: "evals/proviso.yaml", Body: "**fail**", Footer: "commit"}
		want := func(m forge.Comment, action forge.Action, comments int) forge.Posted {
			t.Helper()
			got, err := s.upsert(t, m)
			if err != nil || got.Action != action || len(s.Comments()) != 250+comments {
				t.Fatalf("%+v, %v, %d comments; want %s, %d", got, err, len(s.Comments()), action, 250+comments)
			}
			return got
		}
		want(m, forge.Created, 1)
		want(m, forge.Unchanged, 1)
		m.Body = "**pass**"
		want(m, forge.Updated, 1)
		last := s.Comments()[250]
		if !strings.HasPrefix(last.Body, "<!-- proviso ") || !strings.Contains(last.Body, "-->\n**pass**\n\ncommit") {
			t.Errorf("the comment is %q", last.Body)
		}
		want(forge.Comment{Key: "other/proviso.yaml", Body: "another suite"}, forge.Created, 2)

		s.place.Run = 39 // an earlier run that finished later
		m.Body = "**fail**"
		want(m, forge.Superseded, 2)
		s.place.Run = 41
		s.Edit(last.ID, func(body string) string { return body + "\nI disagree" })
		if got := want(m, forge.Updated, 2); !got.Edited {
			t.Error("an edit by a person is not reported")
		}
		if body := s.Comments()[250].Body; strings.Contains(body, "disagree") || !strings.Contains(body, "**fail**") {
			t.Errorf("after the edit: %q", body)
		}
	})
}

// TestOtherPeople: another person's marker does not count, wherever it is. Further comments
// of our own are removed.
func TestOtherPeople(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, o fakeforge.Options) {
		s := newScene(t, o)
		m := forge.Comment{Key: "k", Body: "text"}
		if _, err := s.upsert(t, m); err != nil {
			t.Fatal(err)
		}
		own := s.Comments()[0]
		s.Add("12", own.Body)
		s.Add("13", "> "+strings.ReplaceAll(own.Body, "\n", "\n> "))
		s.Add(own.Author, "as I said:\n"+own.Body) // ours, but the marker is not its first line
		s.Add(own.Author, own.Body)
		s.Add(own.Author, strings.ReplaceAll(own.Body, "\n", "\r\n"))
		before := s.Comments()
		m.Body = "new text"
		got, err := s.upsert(t, m)
		if err != nil || got.Action != forge.Updated || got.Removed != 2 {
			t.Fatalf("%+v, %v", got, err)
		}
		after := s.Comments()
		if len(after) != 4 || !strings.Contains(after[0].Body, "new text") {
			t.Fatalf("comments: %+v", after)
		}
		for i := range after[1:] {
			if after[i+1] != before[i+1] {
				t.Errorf("the comment of somebody else changed: %+v", after[i+1])
			}
		}
	})
}

// TestUnknownAuthor: if the forge does not report the token's owner, the marker decides and
// nothing is removed.
func TestUnknownAuthor(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, o fakeforge.Options) {
		o.Viewer = ""
		s := newScene(t, o)
		for range 2 {
			if _, err := s.upsert(t, forge.Comment{Key: "k", Body: "text"}); err != nil {
				t.Fatal(err)
			}
			s.Add("77", s.Comments()[0].Body)
		}
		if got, err := s.upsert(t, forge.Comment{Key: "k", Body: "more"}); err != nil || got.Removed != 0 || len(s.Comments()) != 3 {
			t.Errorf("%+v, %v, %d comments", got, err, len(s.Comments()))
		}
	})
}

// TestMischief loses, delays and refuses each request in turn. The result is always exactly
// one comment, or none and an error.
func TestMischief(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, o fakeforge.Options) {
		for name, m := range map[string]fakeforge.Mischief{
			"lost answer": fakeforge.LostAnswer, "lost gateway": fakeforge.LostGateway, "cut answer": fakeforge.CutAnswer,
			"bad gateway": fakeforge.BadGateway, "closed": {Close: true}, "secondary": fakeforge.SecondaryLimit, "words": fakeforge.SecondaryWords,
			"primary": fakeforge.PrimaryLimit(30 * time.Second), "429": {Status: 429},
		} {
			for request := 1; request <= 4; request++ {
				for times := 1; times <= 3; times++ {
					o.Mischief = func(number int, _ *http.Request) fakeforge.Mischief {
						if number >= request && number < request+times {
							return m
						}
						return fakeforge.Mischief{}
					}
					s := newScene(t, o)
					for range 25 { // two pages on GitLab
						s.Add("12", "hello")
					}
					got, err := s.upsert(t, forge.Comment{Key: "k", Body: "text"})
					if err != nil || got.Action != forge.Created || len(s.Comments()) != 26 {
						t.Errorf("%s of request %d, %d times: %+v, %v, %d comments\n%s", name, request, times, got, err, len(s.Comments()), strings.Join(s.Requests(), "\n"))
					}
				}
			}
		}
	})
}

// TestMischiefOfUpdates does the same while a comment is updated and a duplicate is
// removed.
func TestMischiefOfUpdates(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, o fakeforge.Options) {
		for name, m := range map[string]fakeforge.Mischief{"lost answer": fakeforge.LostAnswer, "cut answer": fakeforge.CutAnswer, "bad gateway": fakeforge.BadGateway} {
			for request := 1; request <= 4; request++ {
				mean := false
				count := 0
				o.Mischief = func(int, *http.Request) fakeforge.Mischief {
					if !mean {
						return fakeforge.Mischief{}
					}
					if count++; count == request {
						return m
					}
					return fakeforge.Mischief{}
				}
				s := newScene(t, o)
				if _, err := s.upsert(t, forge.Comment{Key: "k", Body: "text"}); err != nil {
					t.Fatal(err)
				}
				s.Add(s.Comments()[0].Author, s.Comments()[0].Body)
				mean = true
				got, err := s.upsert(t, forge.Comment{Key: "k", Body: "new"})
				if list := s.Comments(); err != nil || len(list) != 1 || !strings.HasSuffix(list[0].Body, "new") {
					t.Errorf("%s of request %d: %+v, %v, %+v", name, request, got, err, list)
				}
			}
		}
	})
}

// TestDeletedMeanwhile: a comment that somebody deletes during its update is created again.
func TestDeletedMeanwhile(t *testing.T) {
	t.Parallel()
	gone := false
	o := fakeforge.Options{Viewer: bot}
	o.Mischief = func(_ int, r *http.Request) fakeforge.Mischief {
		if r.Method == http.MethodPatch && !gone {
			gone = true
			return fakeforge.MissingRights
		}
		return fakeforge.Mischief{}
	}
	s := newScene(t, o)
	for _, body := range []string{"a", "b"} {
		if _, err := s.upsert(t, forge.Comment{Key: "k", Body: body}); err != nil {
			t.Fatal(err)
		}
	}
	if list := s.Comments(); len(list) != 1 || !strings.HasSuffix(list[0].Body, "b") || !gone {
		t.Errorf("comments: %+v", list)
	}
}

// TestWaits checks how long each limit makes a client wait.
func TestWaits(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		m        fakeforge.Mischief
		low, top time.Duration
	}{
		"secondary": {fakeforge.SecondaryLimit, 7 * time.Second, 7 * time.Second},
		"words":     {fakeforge.SecondaryWords, time.Minute, time.Minute},
		"primary":   {fakeforge.PrimaryLimit(30 * time.Second), 30 * time.Second, 32 * time.Second},
		"backoff":   {fakeforge.BadGateway, time.Second / 2, time.Second},
	} {
		s := newScene(t, fakeforge.Options{Viewer: bot, Mischief: func(number int, _ *http.Request) fakeforge.Mischief {
			if number == 2 {
				return tt.m
			}
			return fakeforge.Mischief{}
		}})
		if _, err := s.upsert(t, forge.Comment{Key: "k", Body: "x"}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if len(s.sleeps) != 1 || s.sleeps[0] < tt.low || s.sleeps[0] > tt.top {
			t.Errorf("%s: waited %v, want %v to %v", name, s.sleeps, tt.low, tt.top)
		}
	}
}

// TestRefusals: one sentence explains what is wrong and what to do, and no message shows
// the token.
func TestRefusals(t *testing.T) {
	t.Parallel()
	echo := fakeforge.Mischief{Status: 422, Message: "bad token " + token + "\x1b[31m"}
	for _, tt := range []struct {
		gitlab, fork bool
		m            fakeforge.Mischief
		want         string
	}{
		{false, true, fakeforge.ForkRefusal, "write the comment: GitHub does not let a job of a pull request from a fork write comments; post the comment from a job on workflow_run, as docs/ci.md shows (Resource not accessible by integration)"},
		{false, false, fakeforge.ForkRefusal, "write the comment: the token may not comment in team/app; give the job `permissions: pull-requests: write` (Resource not accessible by integration)"},
		{false, false, fakeforge.MissingRights, "write the comment: GitHub has no pull request 5 in team/app for this token; check the number, or give the job `permissions: pull-requests: write` (Not Found)"},
		{false, false, fakeforge.Mischief{Status: 403, Message: "Unable to create comment because issue is locked"}, "write the comment: the conversation of pull request 5 is locked; unlock it, or read the report in the job (Unable to create comment because issue is locked)"},
		{false, false, fakeforge.Mischief{Status: 401, Message: "Bad credentials"}, "write the comment: GitHub does not accept the token; it is wrong or has expired (Bad credentials)"},
		{false, false, fakeforge.BadGateway, "write the comment: GitHub: HTTP 502: Server Error (after 5 attempts)"},
		{false, false, fakeforge.PrimaryLimit(time.Hour), "write the comment: GitHub's rate limit is exhausted until 09:00:01 UTC; run the job again then"},
		{false, false, echo, "write the comment: GitHub: HTTP 422: bad token [REDACTED]�[31m"},
		{false, false, fakeforge.Mischief{Status: 307, Header: map[string]string{"Location": "https://other.invalid/x"}}, "GitHub: a redirect to other.invalid, which is another host than that of the API"},
		{true, false, fakeforge.Mischief{Status: 401, Message: "401 Unauthorized"}, "write the comment: GitLab does not accept the token in GITLAB_TOKEN; it needs the scope `api` and the role Reporter; a job token (CI_JOB_TOKEN) may not write notes (401 Unauthorized)"},
		{true, true, fakeforge.Mischief{Status: 403, Message: "403 Forbidden"}, "write the comment: the token may not write notes on a merge request from a fork; run the pipeline in the project that it would be merged into, as docs/ci.md shows (403 Forbidden)"},
		{true, false, fakeforge.MissingRights, "write the comment: GitLab has no merge request 5 in project 77 for this token; check the number, and the token: it needs the scope `api` and the role Reporter; a job token (CI_JOB_TOKEN) may not write notes (Not Found)"},
	} {
		o := fakeforge.Options{Viewer: "31", GitLab: tt.gitlab, Mischief: func(_ int, r *http.Request) fakeforge.Mischief {
			if r.Method == http.MethodPost && !strings.HasSuffix(r.URL.Path, "/graphql") {
				return tt.m
			}
			return fakeforge.Mischief{}
		}}
		s := newScene(t, o)
		s.place.Fork = tt.fork
		_, err := s.upsert(t, forge.Comment{Key: "k", Body: "x"})
		var known *proviso.Error
		if !errors.As(err, &known) || err.Error() != tt.want {
			t.Errorf("error\n%v, want\n%s", err, tt.want)
		}
		if len(s.Comments()) != 0 {
			t.Errorf("%s: there is a comment", tt.want)
		}
	}
}

// TestTokenStaysHome redirects requests: by a redirect, by a Link header, and by an address
// with user information in the environment.
func TestTokenStaysHome(t *testing.T) {
	t.Parallel()
	var asked []string
	away := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked = append(asked, r.URL.Path) }))
	t.Cleanup(away.Close)
	each(t, func(t *testing.T, o fakeforge.Options) {
		o.Mischief = func(_ int, r *http.Request) fakeforge.Mischief {
			m := fakeforge.Mischief{Header: map[string]string{"Link": `<` + away.URL + `/page>; rel="next"`, "X-Next-Page-Url": away.URL}}
			if r.Method == http.MethodPost && !strings.HasSuffix(r.URL.Path, "/graphql") {
				m = fakeforge.Mischief{Status: http.StatusTemporaryRedirect, Header: map[string]string{"Location": away.URL + "/post"}}
			}
			if r.URL.Query().Get("page") == "3" {
				m = fakeforge.Mischief{}
			}
			return m
		}
		s := newScene(t, o)
		if _, err := s.upsert(t, forge.Comment{Key: "k", Body: "x"}); err == nil || strings.Contains(err.Error(), token) {
			t.Errorf("error %v", err)
		}
		s.place.API = strings.Replace(s.URL, "http://", "http://user:pass@", 1)
		if _, err := forge.Open(s.place, forge.Options{}); err == nil || strings.Contains(err.Error(), "pass") {
			t.Errorf("an address with a password: %v", err)
		}
	})
	t.Cleanup(func() {
		if len(asked) > 0 {
			t.Errorf("another host was asked for %v", asked)
		}
	})
}

// TestLongBodies: a body that is too long is cut at a whole entry, and the footer stays.
func TestLongBodies(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, o fakeforge.Options) {
		s := newScene(t, o)
		var b strings.Builder
		for i := range 9000 {
			fmt.Fprintf(&b, "**✗ case %d**\n\n- `ünter` 😀\n\n<details><summary>Output</summary>\n\n```text\n**not an entry**\n\n%s\n```\n\n</details>\n\n", i, strings.Repeat("x", 60))
		}
		got, err := s.upsert(t, forge.Comment{Key: "k", Body: b.String(), Footer: "the footer"})
		if err != nil || !got.Cut {
			t.Fatalf("%+v, %v", got, err)
		}
		body := s.Comments()[0].Body
		limit := 65_536
		if o.GitLab {
			limit = 1_000_000
		}
		if n := utf8.RuneCountInString(body); n > limit || n < limit*9/10 {
			t.Errorf("%d characters", n)
		}
		before, after, _ := strings.Cut(body, "\n… cut here")
		if !strings.HasSuffix(strings.TrimSpace(before), "</details>") || !strings.HasSuffix(after, "the footer") {
			t.Errorf("cut as …%q", body[len(body)-300:])
		}
	})
}

// TestQuickActions: GitLab executes no line of a comment.
func TestQuickActions(t *testing.T) {
	t.Parallel()
	s := newScene(t, fakeforge.Options{GitLab: true, Viewer: "31"})
	if _, err := s.upsert(t, forge.Comment{Key: "k", Body: "/merge\n\n````text\n/close\n  /assign @me\n````\n", Footer: "/approve"}); err != nil {
		t.Fatal(err)
	}
	if list := s.Executed(); len(list) > 0 {
		t.Errorf("executed %q", list)
	}
	if body := s.Comments()[0].Body; !strings.Contains(body, "/merge") || !strings.Contains(body, "/close") {
		t.Errorf("the text is lost: %q", body)
	}
}

func TestDetect(t *testing.T) {
	t.Parallel()
	github := proviso.EnvMap{"GITHUB_ACTIONS": "true", "GITHUB_API_URL": "https://ghe.example/api/v3", "GITHUB_SERVER_URL": "https://ghe.example",
		"GITHUB_REPOSITORY": "team/app", "GITHUB_SHA": "aaaa", "GITHUB_RUN_ID": "40"}
	gitlab := proviso.EnvMap{"GITLAB_CI": "true", "CI_API_V4_URL": "https://gl.example/api/v4", "CI_PROJECT_ID": "8", "CI_MERGE_REQUEST_PROJECT_ID": "7",
		"CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "8", "CI_MERGE_REQUEST_IID": "5", "CI_COMMIT_SHA": commit, "CI_PIPELINE_ID": "40", "CI_PIPELINE_URL": "https://gl.example/p/40"}
	base := forge.Place{Forge: "github", API: "https://ghe.example/api/v3", Repository: "team/app", Commit: "aaaa", Run: 40, Job: "https://ghe.example/team/app/actions/runs/40"}
	with := func(change func(*forge.Place)) forge.Place { p := base; change(&p); return p }
	pull := func(repo string) string {
		return `{"number": 9, "pull_request": {"number": 5, "head": {"sha": "` + commit + `", "repo": ` + repo + `}}}`
	}
	for _, tt := range []struct {
		env   proviso.EnvMap
		event string
		want  forge.Place
		err   string
	}{
		{proviso.EnvMap{"CI": "true"}, "", forge.Place{}, ""},
		{github, "", base, ""},
		{github, `{"ref": "refs/heads/main"}`, base, ""},
		{github, pull(`{"full_name": "Team/App"}`), with(func(p *forge.Place) { p.Number, p.Commit = 5, commit }), ""},
		{github, pull(`{"full_name": "guest/app"}`), with(func(p *forge.Place) { p.Number, p.Commit, p.Fork = 5, commit, true }), ""},
		{github, pull(`null`), with(func(p *forge.Place) { p.Number, p.Commit, p.Fork = 5, commit, true }), ""},
		{github, `{"workflow_run": {"id": 39, "html_url": "https://ghe.example/r/39", "head_sha": "` + commit + `", "head_branch": "a&b", "head_repository": {"full_name": "guest/app"}, "pull_requests": [{"number": 666}]}}`,
			with(func(p *forge.Place) {
				p.Head, p.Commit, p.Run, p.Job = "guest:a&b", commit, 39, "https://ghe.example/r/39"
			}), ""},
		{github, `{"pull_request": `, forge.Place{}, "the environment of the GitHub job: the event of the job is not valid JSON"},
		{proviso.EnvMap{"GITHUB_ACTIONS": "true", "GITHUB_RUN_ID": "x"}, "", forge.Place{}, `GITHUB_RUN_ID is "x"; expected a whole number`},
		{gitlab, "", forge.Place{Forge: "gitlab", API: "https://gl.example/api/v4", Repository: "7", Number: 5, Commit: commit, Run: 40, Job: "https://gl.example/p/40", Fork: true}, ""},
	} {
		got, err := forge.Detect(tt.env, []byte(tt.event))
		if got != tt.want || tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("%s: %+v, %v; want %+v, %s", tt.event, got, err, tt.want, tt.err)
		}
	}
}

func FuzzDetect(f *testing.F) {
	f.Add([]byte(`{"pull_request":{"number":5,"head":{"sha":"0","repo":{"full_name":"a/b"}}}}`))
	f.Add([]byte(`{"workflow_run":{"id":1,"head_sha":"0","head_branch":"x","head_repository":{"full_name":"a/b"}}}`))
	f.Fuzz(func(t *testing.T, event []byte) {
		p, err := forge.Detect(proviso.EnvMap{"GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": "a/b"}, event)
		if err != nil && p != (forge.Place{}) {
			t.Errorf("a place with an error: %+v", p)
		}
	})
}

// TestWorkflowRun finds only the pull request of a fork, by its commit.
func TestWorkflowRun(t *testing.T) {
	t.Parallel()
	pulls := []fakeforge.Pull{{Number: 4, Head: "guest:fix", SHA: strings.Repeat("0", 40)}, {Number: 9, Head: "guest:fix", SHA: commit}, {Number: 7, Head: "guest:fix", SHA: commit}, {Number: 3, Head: "team:fix", SHA: commit}}
	s := newScene(t, fakeforge.Options{Viewer: bot, Pulls: pulls, Path: "/api/v3"})
	s.place.Number, s.place.Head = 0, "guest:fix"
	got, err := s.upsert(t, forge.Comment{Key: "k", Body: "x"})
	if err != nil || got.Number != 7 {
		t.Errorf("%+v, %v", got, err)
	}
	if list := s.Requests(); list[1] != "POST /api/graphql" {
		t.Errorf("requests %v", list)
	}
	s.place.Commit = strings.Repeat("f", 40)
	if _, err = s.upsert(t, forge.Comment{Key: "k", Body: "x"}); !errors.Is(err, forge.ErrMoved) {
		t.Errorf("an old commit: %v", err)
	}
}

func TestOpen(t *testing.T) {
	t.Parallel()
	for want, p := range map[string]forge.Place{
		`there is no forge "githib"; did you mean "github"?`:                 {Forge: "githib"},
		`"a/../b" is not a repository of GitHub: expected owner/name`:        {Forge: "github", Repository: "a/../b", Number: 1},
		`"a b" is not a repository of GitHub: expected owner/name`:           {Forge: "github", Repository: "a b", Number: 1},
		`"xyz" is not a commit: expected 40 or 64 hexadecimal digits`:        {Forge: "github", Repository: "a/b", Commit: "xyz", Number: 1},
		`this job belongs to no merge request; run it for one, or name it`:   {Forge: "gitlab", Repository: "a/b/c"},
		`the address of GitHub's API is not http:// or https:// with a host`: {Forge: "github", API: "file:///etc", Repository: "a/b", Number: 1},
		`there is no token for GitHub: set GITHUB_TOKEN or GH_TOKEN`:         {},
	} {
		_, err := forge.Open(p, forge.Options{})
		if p == (forge.Place{}) {
			_, err = forge.Token(proviso.EnvMap{"CI_JOB_TOKEN": "x"}, "github")
		}
		if err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestCancelled: a context that ends stops the wait.
func TestCancelled(t *testing.T) {
	t.Parallel()
	s := newScene(t, fakeforge.Options{Viewer: bot, Mischief: func(int, *http.Request) fakeforge.Mischief { return fakeforge.SecondaryWords }})
	f, err := forge.Open(s.place, forge.Options{Network: transport.New(transport.Options{}), Token: token})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	started := time.Now()
	if _, err := f.Upsert(ctx, forge.Comment{Key: "k", Body: "x"}); !errors.Is(err, context.DeadlineExceeded) || time.Since(started) > 5*time.Second {
		t.Errorf("%v after %v", err, time.Since(started))
	}
}

// TestHugeComments reads pages of long comments.
func TestHugeComments(t *testing.T) {
	t.Parallel()
	s := newScene(t, fakeforge.Options{Viewer: bot})
	long, err := json.Marshal(strings.Repeat("<!-- proviso ", 5000))
	if err != nil {
		t.Fatal(err)
	}
	for range 120 {
		s.Add("12", string(long))
	}
	if got, err := s.upsert(t, forge.Comment{Key: "k", Body: "x"}); err != nil || got.Action != forge.Created {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestFooter(t *testing.T) {
	t.Parallel()
	for want, p := range map[string]forge.Place{
		"Commit `0123456789ab` · [job](https://ci.example/a%5Fb%29)": {Commit: commit, Job: "https://ci.example/a_b)?token=x#y"},
		"Commit `0123456789ab`": {Commit: commit, Job: "javascript:alert(1)"},
		"":                      {Commit: "`@team`", Job: "https://user:pass@ci.example"},
	} {
		if got := p.Footer(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestCut(t *testing.T) {
	t.Parallel()
	size := func(s string) int { return len(s) }
	rows := "| a |\n|---|\n" + strings.Repeat("| row |\n", 100)
	for name, tt := range map[string]struct{ text, end string }{
		"fits":             {"short", "short"},
		"entries":          {"## a\n\n" + strings.Repeat("x\n", 80) + "\n**b**\n\n" + strings.Repeat("y\n", 200), "x"},
		"rows":             {rows, "| row |"},
		"one line":         {strings.Repeat("é", 500), "é"},
		"an open fence":    {"a\n\n```\n" + strings.Repeat("x\n\n**no**\n", 100) + "```\n", "a"},
		"an open part":     {"a\n\n<details>\n\n" + strings.Repeat("x\n\n", 200) + "</details>\n", "a"},
		"a longer fence":   {"a\n\n````\n```\n\n**no**\n" + strings.Repeat("x\n", 300) + "````\n", "a"},
		"a late paragraph": {strings.Repeat("p\n\n", 200), "p"},
	} {
		got := forge.Cut(tt.text, 300, size)
		before, _, cut := strings.Cut(got, "\n\n… cut here")
		if len(got) > 300 || !strings.HasSuffix(before, tt.end) || cut == (tt.text == got) || !utf8.ValidString(got) {
			t.Errorf("%s: %d bytes: %q", name, len(got), got)
		}
	}
}
