package client

import (
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/report"
)

// maxProblem bounds the body of a refusal, in bytes.
const maxProblem = 64 << 10

// Refusal is the answer to a request that a server does not accept. It wraps a
// [*proviso.Error], which says what was asked, why it was refused, and where the key stands if
// that is missing or wrong.
type Refusal struct {
	error
	Status int       // of HTTP
	Errors []Mistake // of the request
}

// Mistake is a mistake in a request, at a pointer in its body, or at a place in a file that
// was sent.
type Mistake struct {
	Pointer, Code, Message, Nearest, File, Excerpt string
	Line, Column                                   int
}

// Unwrap returns the [*proviso.Error].
func (r *Refusal) Unwrap() error { return r.error }

// NotOfServer is the error for an answer that a server of proviso does not give.
func NotOfServer(u *url.URL) error {
	return proviso.Errorf(proviso.Unavailable, "%s: the answer does not come from a proviso server", transport.URL(u))
}

// refusalOf reads the body of a refusal; another server answers otherwise.
func refusalOf(u *url.URL, resp *http.Response) *Refusal {
	var said struct {
		Detail, Title string
		Errors        []Mistake
	}
	data, _ := io.ReadAll(io.LimitReader(resp.Body, maxProblem))
	_ = json.Unmarshal(data, &said)
	text := cmp.Or(said.Detail, said.Title)
	for _, e := range said.Errors[:min(len(said.Errors), 3)] {
		if !strings.Contains(text, e.Message) { // the detail of one mistake is its message
			text += ": " + e.Message
		}
	}
	if text == "" {
		text = "the answer does not come from a proviso server"
	}
	code, hint := codeOf(resp), ""
	if code == proviso.Refused {
		hint = "; " + KeyVariable + " holds the key"
		if resp.Request.Header.Get("Authorization") == "" {
			hint = "; " + KeyVariable + " is not set: it holds the key"
		}
	}
	err := proviso.Errorf(code, "%s: %s (status %d)%s", transport.URL(u), report.Line(text, 400), resp.StatusCode, hint)
	return &Refusal{err, resp.StatusCode, said.Errors}
}

// codeOf is the code of an error for the status of an answer.
func codeOf(resp *http.Response) string {
	switch resp.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		return proviso.Refused
	case http.StatusNotFound:
		return proviso.NotFound
	case http.StatusConflict:
		if resp.Header.Get("Retry-After") == "" { // with it, the first of two equal requests is under way
			return proviso.Invalid
		}
	case http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity, http.StatusBadRequest, http.StatusUnsupportedMediaType:
		return proviso.Invalid
	}
	return proviso.Unavailable
}
