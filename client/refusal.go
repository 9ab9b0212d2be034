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

// Refusal is a server's rejection of a request. It wraps a [*proviso.Error], which names the
// request, the reason, and, if the key is missing or wrong, where to set it.
type Refusal struct {
	error
	Status int       // HTTP status
	Errors []Mistake // mistakes in the request
}

// Mistake is a mistake in a request, at a pointer into its body, or at a position in a file that
// was sent.
type Mistake struct {
	Pointer, Code, Message, Nearest, File, Excerpt string
	Line, Column                                   int
}

// Unwrap returns the [*proviso.Error].
func (r *Refusal) Unwrap() error { return r.error }

// NotOfServer is the error for an answer that does not come from a proviso server.
func NotOfServer(u *url.URL) error {
	return proviso.Errorf(proviso.Unavailable, "%s: the answer does not come from a proviso server", transport.URL(u))
}

// refusalOf reads the body of a refusal. Other servers use other formats.
func refusalOf(u *url.URL, resp *http.Response) *Refusal {
	var said struct {
		Detail, Title string
		Errors        []Mistake
	}
	data, _ := io.ReadAll(io.LimitReader(resp.Body, maxProblem))
	_ = json.Unmarshal(data, &said)
	text := cmp.Or(said.Detail, said.Title)
	for _, e := range said.Errors[:min(len(said.Errors), 3)] {
		if !strings.Contains(text, e.Message) { // with a single mistake, the detail is its message
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

// codeOf returns the error code for the status of an answer.
func codeOf(resp *http.Response) string {
	switch resp.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		return proviso.Refused
	case http.StatusNotFound:
		return proviso.NotFound
	case http.StatusConflict:
		if resp.Header.Get("Retry-After") == "" { // with Retry-After, the first of two equal requests is still running
			return proviso.Invalid
		}
	case http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity, http.StatusBadRequest, http.StatusUnsupportedMediaType:
		return proviso.Invalid
	}
	return proviso.Unavailable
}
