package fakeforge

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"time"
)

// Issue is an issue of the server's only repository.
type Issue struct {
	Number int       `json:"number"`
	Title  string    `json:"title"`
	Body   string    `json:"body"`
	State  string    `json:"state"`
	Labels []string  `json:"-"`
	Made   time.Time `json:"created_at"`
}

// Issues returns all issues, oldest first.
func (s *Server) Issues() []Issue {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.issues)
}

// issue handles a request about issues; number is "" for all issues.
func (s *Server) issue(r *http.Request, number string) (int, any) {
	var sent struct {
		Title, Body, State string
		Labels             []string
	}
	if r.Method == http.MethodPost || r.Method == http.MethodPatch {
		data, err := io.ReadAll(io.LimitReader(r.Body, 16<<20))
		if err != nil || json.Unmarshal(data, &sent) != nil {
			return http.StatusUnprocessableEntity, message("Validation Failed")
		}
	}
	if number == "" {
		if r.Method != http.MethodPost {
			newest := slices.Clone(s.issues)
			slices.Reverse(newest)
			return http.StatusOK, newest
		}
		if sent.Title == "" || len(sent.Body) > gitHubLimit {
			return http.StatusUnprocessableEntity, message("Validation Failed")
		}
		s.last++
		s.issues = append(s.issues, Issue{s.last, sent.Title, sent.Body, "open", sent.Labels, time.Now()})
		return http.StatusCreated, s.issues[len(s.issues)-1]
	}
	i := slices.IndexFunc(s.issues, func(i Issue) bool { return i.Number == numberOf(number) })
	if i < 0 {
		return http.StatusNotFound, message("Not Found")
	}
	if r.Method == http.MethodPatch && sent.State != "" {
		s.issues[i].State = sent.State
	}
	return http.StatusOK, s.issues[i]
}
