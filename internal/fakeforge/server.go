// Package fakeforge is a server for tests that keeps comments as GitHub and GitLab do
// and misbehaves on request. Start at [New]: its URL with the path of [Options.Path] is
// the base address of the API of either.
package fakeforge

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Limits of a comment, in characters.
const (
	gitHubLimit = 65_536
	gitLabLimit = 1_000_000
)

// Options define a server. The zero value has no comments and accepts any token.
type Options struct {
	GitLab bool   // speaks GitLab's API instead of GitHub's
	Path   string // path of the API, such as /api/v3
	Token  string // the only accepted token; "" accepts any
	Viewer string // whom the token belongs to, a login or for GitLab a number; "" hides it
	Pulls  []Pull

	// Mischief is called for each request with its number, from 1, one at a time.
	Mischief func(number int, r *http.Request) Mischief
}

// Pull is an open pull request.
type Pull struct {
	Number    int
	Head, SHA string // owner:branch and its commit
}

// Mischief is how a request fails. The zero value lets it succeed.
type Mischief struct {
	Status  int // status of the response, instead of the usual one
	Header  map[string]string
	Message string
	Done    bool // the request takes effect nevertheless
	Close   bool // the connection is closed without a response
	Cut     bool // only half of the response arrives
}

// Common kinds of mischief.
var (
	SecondaryLimit = Mischief{Status: http.StatusForbidden, Header: map[string]string{"Retry-After": "7"}, Message: "You have exceeded a secondary rate limit."}
	SecondaryWords = Mischief{Status: http.StatusForbidden, Message: "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."}
	ForkRefusal    = Mischief{Status: http.StatusForbidden, Message: "Resource not accessible by integration"}
	MissingRights  = Mischief{Status: http.StatusNotFound, Message: "Not Found"}
	BadGateway     = Mischief{Status: http.StatusBadGateway, Message: "Server Error"}
	LostAnswer     = Mischief{Done: true, Close: true}
	LostGateway    = Mischief{Done: true, Status: http.StatusBadGateway}
	CutAnswer      = Mischief{Done: true, Cut: true}
)

// PrimaryLimit is the response after the last request of a rate limit window that ends
// after wait.
func PrimaryLimit(wait time.Duration) Mischief {
	now := time.Now()
	return Mischief{Status: http.StatusForbidden, Message: "API rate limit exceeded for installation.", Header: map[string]string{
		"Date": now.UTC().Format(http.TimeFormat), "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": strconv.FormatInt(now.Add(wait).Unix(), 10),
	}}
}

// Comment is a comment on the only change request.
type Comment struct {
	ID     int
	Author string
	Body   string
}

// Server is a running server. Its methods are safe for concurrent use.
type Server struct {
	URL string // base URL of the API

	o    Options
	http *httptest.Server

	mu       sync.Mutex
	last     int
	comments []Comment
	issues   []Issue
	requests []string
	executed []string
}

// New starts a server. The caller must close it.
func New(o Options) *Server {
	s := &Server{o: o, last: 100}
	s.http = httptest.NewServer(s)
	s.URL = s.http.URL + o.Path
	return s
}

// Close stops the server.
func (s *Server) Close() { s.http.CloseClientConnections(); s.http.Close() }

// Add adds a comment and returns its id.
func (s *Server) Add(author, body string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	s.comments = append(s.comments, Comment{s.last, author, body})
	return s.last
}

// Edit changes a comment, as a person does.
func (s *Server) Edit(id int, change func(string) string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.comments {
		if s.comments[i].ID == id {
			s.comments[i].Body = change(s.comments[i].Body)
		}
	}
}

// Comments returns all comments, oldest first.
func (s *Server) Comments() []Comment {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.comments)
}

// Requests returns method and path of all requests so far.
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Executed returns the quick actions that GitLab executed because of comments.
func (s *Server) Executed() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.executed)
}

// ServeHTTP handles a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r.Method+" "+r.URL.Path)
	var m Mischief
	if s.o.Mischief != nil {
		m = s.o.Mischief(len(s.requests), r)
	}
	status, header, answer := m.Status, http.Header{}, any(map[string]string{"message": m.Message})
	if status == 0 || m.Done {
		did, body := s.answer(r, header)
		if status == 0 {
			status, answer = did, body
		}
	}
	for name, v := range m.Header {
		w.Header().Set(name, v)
	}
	maps.Copy(w.Header(), header)
	data, err := json.Marshal(answer)
	if m.Close || err != nil {
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Content-Type", "application/json")
	if m.Cut {
		w.Header().Set("Content-Length", strconv.Itoa(len(data)))
		data = data[:len(data)/2]
	}
	w.WriteHeader(status)
	if status != http.StatusNoContent {
		_, _ = w.Write(data) // the client may have disconnected
	}
}

// answer handles a request and returns the status and body of the response.
func (s *Server) answer(r *http.Request, h http.Header) (status int, body any) {
	path, ok := strings.CutPrefix(r.URL.Path, s.o.Path)
	token := r.Header.Get("Private-Token")
	if !s.o.GitLab {
		token = strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	}
	switch {
	case token == "" || s.o.Token != "" && token != s.o.Token:
		return http.StatusUnauthorized, message("Bad credentials")
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/graphql") && s.o.Viewer != "":
		return http.StatusOK, map[string]any{"data": map[string]any{"viewer": map[string]string{"login": s.o.Viewer}}}
	case path == "/user" && s.o.GitLab && s.o.Viewer != "":
		return http.StatusOK, map[string]any{"id": numberOf(s.o.Viewer)}
	case path == "/user", strings.HasSuffix(r.URL.Path, "/graphql"):
		return http.StatusForbidden, message("Resource not accessible by integration")
	case !ok:
		return http.StatusNotFound, message("Not Found")
	case strings.HasSuffix(path, "/pulls"):
		return http.StatusOK, s.pulls(r.URL.Query())
	}
	if m := regexp.MustCompile(commentPath).FindStringSubmatch(path); m != nil {
		return s.one(r, numberOf(m[1]))
	}
	if m := regexp.MustCompile(issuePath).FindStringSubmatch(path); m != nil && !s.o.GitLab {
		return s.issue(r, m[1])
	}
	if !regexp.MustCompile(listPath).MatchString(path) {
		return http.StatusNotFound, message("Not Found")
	}
	if r.Method == http.MethodPost {
		return s.create(r)
	}
	return http.StatusOK, s.page(r, h)
}

const (
	listPath    = `^(/repos/[^/]+/[^/]+/issues/\d+/comments|/projects/[^/]+/merge_requests/\d+/notes)$`
	commentPath = `^(?:/repos/[^/]+/[^/]+/issues/comments|/projects/[^/]+/merge_requests/\d+/notes)/(\d+)$`
	issuePath   = `^/repos/[^/]+/[^/]+/issues(?:/(\d+))?$`
	// quick matches quick actions on any line, even where GitLab would not look for them.
	quick = `(?m)^\s*/[a-z_]+.*$`
)

func message(text string) map[string]string { return map[string]string{"message": text} }

func numberOf(text string) int { n, _ := strconv.Atoi(text); return n }

func (s *Server) pulls(q url.Values) any {
	list := []any{}
	for _, p := range s.o.Pulls {
		if p.Head == q.Get("head") && q.Get("state") == "open" {
			list = append(list, map[string]any{"number": p.Number, "head": map[string]string{"sha": p.SHA}})
		}
	}
	return list
}

// text reads the comment in a request.
func (s *Server) text(r *http.Request) (text string, status int, problem any) {
	data, err := io.ReadAll(io.LimitReader(r.Body, 16<<20))
	var sent struct{ Body string }
	if err != nil || json.Unmarshal(data, &sent) != nil || sent.Body == "" {
		return "", http.StatusUnprocessableEntity, message("Validation Failed")
	}
	limit := gitHubLimit
	if s.o.GitLab {
		limit = gitLabLimit
		s.executed = append(s.executed, regexp.MustCompile(quick).FindAllString(sent.Body, -1)...)
	}
	if utf8.RuneCountInString(sent.Body) > limit {
		return "", http.StatusUnprocessableEntity, message(fmt.Sprintf("body is too long (maximum is %d characters)", limit))
	}
	return strings.TrimSpace(sent.Body), 0, nil
}

func (s *Server) create(r *http.Request) (int, any) {
	text, status, problem := s.text(r)
	if status != 0 {
		return status, problem
	}
	s.last++
	s.comments = append(s.comments, Comment{s.last, s.author(), text})
	return http.StatusCreated, s.shown(s.comments[len(s.comments)-1])
}

func (s *Server) author() string {
	if s.o.Viewer == "" {
		return "77"
	}
	return s.o.Viewer
}

// one changes or removes a comment of any author, as a privileged token may.
func (s *Server) one(r *http.Request, id int) (int, any) {
	i := slices.IndexFunc(s.comments, func(c Comment) bool { return c.ID == id })
	switch {
	case i < 0:
		return http.StatusNotFound, message("Not Found")
	case r.Method == http.MethodDelete:
		s.comments = slices.Delete(s.comments, i, i+1)
		return http.StatusNoContent, nil
	case r.Method != http.MethodPatch && !s.o.GitLab, r.Method != http.MethodPut && s.o.GitLab:
		return http.StatusMethodNotAllowed, message("Method Not Allowed")
	}
	text, status, problem := s.text(r)
	if status != 0 {
		return status, problem
	}
	s.comments[i].Body = text
	return http.StatusOK, s.shown(s.comments[i])
}

// page returns a page of comments of the requested size.
func (s *Server) page(r *http.Request, h http.Header) any {
	q := r.URL.Query()
	size, page := numberOf(q.Get("per_page")), max(1, numberOf(q.Get("page")))
	if size < 1 || size > 100 {
		size = 30
	}
	from := min((page-1)*size, len(s.comments))
	to := min(from+size, len(s.comments))
	if to < len(s.comments) {
		q.Set("page", strconv.Itoa(page+1))
		if s.o.GitLab {
			h.Set("X-Next-Page", strconv.Itoa(page+1))
		} else {
			h.Set("Link", fmt.Sprintf(`<%s?%s>; rel="next", <%s?page=99>; rel="last"`, s.URL+r.URL.Path, q.Encode(), s.URL+r.URL.Path))
		}
	}
	list := []any{}
	for _, c := range s.comments[from:to] {
		list = append(list, s.shown(c))
	}
	return list
}

func (s *Server) shown(c Comment) any {
	if s.o.GitLab {
		return map[string]any{"id": c.ID, "body": c.Body, "system": false, "author": map[string]any{"id": numberOf(c.Author)}}
	}
	return map[string]any{"id": c.ID, "body": c.Body, "user": map[string]any{"login": c.Author}, "html_url": fmt.Sprintf("https://github.example/comments/%d", c.ID)}
}
