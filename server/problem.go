package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/store"
)

// Problem is the body of every error response (RFC 9457).
type Problem struct {
	Type      string    `json:"type" doc:"A URN that names the kind of problem: urn:proviso:problem: and the code"`
	Title     string    `json:"title" doc:"What kind of problem it is, the same for every problem of the kind"`
	Status    int       `json:"status" doc:"The HTTP status"`
	Detail    string    `json:"detail,omitempty" doc:"What is wrong this time"`
	Code      string    `json:"code" doc:"The kind of problem, for programs"`
	RequestID string    `json:"request_id,omitempty" doc:"The id of the request, as in the X-Request-Id header and the log"`
	Errors    []Mistake `json:"errors,omitempty" doc:"Everything that is wrong with the request, at most 100"`
	Current   any       `json:"current,omitempty" doc:"With the code conflict: the version that is current"`
	Yours     any       `json:"yours,omitempty" doc:"With the code conflict: the version that was sent, if it is a set"`

	retryAfter time.Duration
	challenge  bool   // send WWW-Authenticate
	allow      string // allowed methods
	cause      error  // only logged
}

// Mistake is one mistake in a request.
type Mistake struct {
	Pointer string   `json:"pointer" doc:"Where it is in the body (RFC 6901)"`
	Code    string   `json:"code"`
	Message string   `json:"message"`
	Nearest string   `json:"nearest,omitempty" doc:"The valid name that is nearest to the one that is not"`
	Valid   []string `json:"valid,omitempty" doc:"The names that are valid, if they are few"`
	File    string   `json:"file,omitempty" doc:"The file of the suite that it is in"`
	Line    int      `json:"line,omitempty" doc:"From 1"`
	Column  int      `json:"column,omitempty" doc:"From 1, in characters"`
	Excerpt string   `json:"excerpt,omitempty" doc:"The line itself, shortened"`
}

// Error returns the message.
func (p *Problem) Error() string {
	if p.Detail != "" {
		return p.Detail
	}
	return p.Title
}

// Unwrap returns the cause.
func (p *Problem) Unwrap() error { return p.cause }

// after sets how long to wait before a retry.
func (p *Problem) after(wait time.Duration) *Problem {
	p.retryAfter = wait
	return p
}

// because adds the cause, which is only logged.
func (p *Problem) because(cause error) *Problem {
	p.cause = cause
	return p
}

// The codes of problems that exist only in HTTP. The others have the codes of [proviso.Error]
// and the statuses of [proviso.Meanings].
const (
	codeMalformed    = "malformed"
	codeUnauthorized = "unauthorized"
	codeForbidden    = "forbidden"
	codeBudget       = "budget"
	codeMethod       = "method"
	codeTooLarge     = "too_large"
	codeMediaType    = "media_type"
	codeMisdirected  = "misdirected"
	codeRate         = "rate"
	codeBusy         = "busy"
	codeStopping     = "stopping"
	codeStorage      = "storage"
	codeGone         = "gone"
)

// httpProblems is the table of the codes that exist only in HTTP.
func httpProblems() []proviso.Meaning {
	return []proviso.Meaning{
		{Code: codeMalformed, Status: http.StatusBadRequest, Title: "The request cannot be read"},
		{Code: codeUnauthorized, Status: http.StatusUnauthorized, Title: "A valid API key is needed"},
		{Code: codeBudget, Status: http.StatusPaymentRequired, Title: "The budget of the key is spent"},
		{Code: codeForbidden, Status: http.StatusForbidden, Title: "The key may not do this"},
		{Code: codeGone, Status: http.StatusGone, Title: "It is no longer kept"},
		{Code: codeMethod, Status: http.StatusMethodNotAllowed, Title: "The method is not allowed for this path"},
		{Code: codeTooLarge, Status: http.StatusRequestEntityTooLarge, Title: "The body is too large"},
		{Code: codeMediaType, Status: http.StatusUnsupportedMediaType, Title: "The body is in another form than this route reads"},
		{Code: codeMisdirected, Status: http.StatusMisdirectedRequest, Title: "The request is not for this server"},
		{Code: codeRate, Status: http.StatusTooManyRequests, Title: "Too many requests"},
		{Code: codeBusy, Status: http.StatusServiceUnavailable, Title: "The server has too much to do"},
		{Code: codeStopping, Status: http.StatusServiceUnavailable, Title: "The server is stopping"},
		{Code: codeStorage, Status: http.StatusInsufficientStorage, Title: "The disk of the server is full"},
	}
}

// Problems is the table of all problems, by status: those of HTTP, and those of proviso's
// errors.
func Problems() []proviso.Meaning {
	list := append(httpProblems(), proviso.Meanings()...)
	slices.SortStableFunc(list, func(a, b proviso.Meaning) int { return cmp.Compare(a.Status, b.Status) })
	return list
}

// problem returns the problem of a code.
func problem(code, detail string) *Problem {
	m := proviso.MeaningOf(code)
	for _, row := range httpProblems() {
		if row.Code == code {
			m = row
		}
	}
	return &Problem{Type: "urn:proviso:problem:" + m.Code, Title: m.Title, Status: m.Status, Detail: detail, Code: m.Code}
}

// problemOf converts err into a problem. Defects and system errors are logged, and their text
// is not sent to the client.
func problemOf(err error) *Problem {
	var p *Problem
	if errors.As(err, &p) {
		return p
	}
	switch {
	case errors.Is(err, context.Canceled):
		return problem(codeStopping, "the request was cut off")
	case errors.Is(err, context.DeadlineExceeded):
		return problem(proviso.Timeout, "the request took longer than it may")
	}
	if errors.Is(err, store.ErrNoRoom) {
		return problem(codeStorage, "nothing of the request is kept; send it again once there is room").because(err)
	}
	if cause := store.Outage(err); cause != nil {
		return problem(proviso.Unavailable, cause.Error()).because(err).after(outageRetry) // err names the database
	}
	var e *proviso.Error
	if !errors.As(err, &e) || e.Code == proviso.Internal {
		return problem(proviso.Internal, "see the log of the server").because(err)
	}
	p = problem(e.Code, e.Error()).because(err)
	if e.Pointer != "" || len(e.Valid) > 0 {
		p.Errors = []Mistake{mistakeOf(e)}
	}
	return p
}

// outageRetry is the Retry-After of requests during an outage of the database.
const outageRetry = 5 * time.Second

// mistakeOf converts an error with a place in the body into a mistake.
func mistakeOf(e *proviso.Error) Mistake {
	m := Mistake{Pointer: e.Pointer, Code: e.Code, Message: e.Error(), Valid: fewNames(e.Valid)}
	if len(e.Valid) == 1 {
		m.Nearest, m.Valid = e.Valid[0], nil
	}
	return m
}

// fewNames drops lists that are too long to read.
func fewNames(names []string) []string {
	if len(names) > 40 {
		return nil
	}
	return names
}

// maxMistakes limits the mistakes in a response.
const maxMistakes = 100

// invalid is the problem of a body with mistakes. more is the number of mistakes that are not
// in the list.
func invalid(list []Mistake, more ...int) *Problem {
	p := problem(proviso.Invalid, list[0].Message)
	p.Errors = list[:min(len(list), maxMistakes)]
	all := len(list)
	for _, n := range more {
		all += n
	}
	switch {
	case all > len(p.Errors):
		p.Detail = fmt.Sprintf("%d mistakes, of which %d are listed; the first: %s", all, len(p.Errors), p.Detail)
	case all > 1:
		p.Detail = fmt.Sprintf("%d mistakes; the first: %s", all, p.Detail)
	}
	return p
}

// syntaxProblem is the problem of a body that is not valid JSON.
func syntaxProblem(err error) *Problem {
	p := problem(codeMalformed, "the body is not JSON: "+err.Error())
	if s, ok := errors.AsType[*document.SyntaxError](err); ok {
		p.Detail = "the body is not JSON: " + s.Message
		p.Errors = []Mistake{{Code: codeMalformed, Message: s.Message, Line: s.Place.Line, Column: s.Place.Column}}
	}
	return p
}

// write sends the problem.
func (p *Problem) write(w http.ResponseWriter, requestID string) {
	sent := *p
	sent.RequestID = requestID
	h := w.Header()
	h.Set("Content-Type", "application/problem+json")
	if p.retryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int((p.retryAfter+time.Second-1)/time.Second)))
	}
	if p.challenge {
		h.Set("WWW-Authenticate", `Bearer realm="proviso"`)
	}
	if p.allow != "" {
		h.Set("Allow", p.allow)
	}
	data, err := json.Marshal(sent)
	if err != nil { // unreachable: it has only strings and numbers
		data = []byte(`{"type":"about:blank","title":"This is a defect of proviso","status":500,"code":"internal"}`)
	}
	h.Set("Content-Length", strconv.Itoa(len(data)+1))
	w.WriteHeader(p.Status)
	_, _ = w.Write(append(data, '\n')) // the client has disconnected
}
