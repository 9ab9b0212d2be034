package fakemodel

import (
	"cmp"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// Reply is the server's answer or failure.
type Reply struct {
	Text         string // for a forced tool, its arguments
	Thinking     string
	Calls        []Call
	Refusal      string
	FinishReason string // in the vendor's terms; "" means the default
	Usage        proviso.Usage
	Written      int64 // tokens of Usage.Prompt that Anthropic wrote to its cache
	LogProbs     []float64
	Vector       []float64                   // vector of each text to embed; nil means a short one
	Vectors      func(text string) []float64 // used instead of Vector
	Scores       map[string]float64          // by class, or by category of harm, which is flagged from 0.5
	Extra        *value.Object               // members to add to the answer or to replace

	Status      int // 0 means 200
	Header      map[string]string
	Kind        string        // the vendor's error code; for a status that is an error
	Message     string        // message of the error
	Raw         string        // the literal body; "" uses the fields above
	ContentType string        // "" means application/json
	Hang        bool          // the server never answers
	Reset       bool          // the connection is closed without an answer
	Cut         bool          // the connection is closed in the middle of the body
	Stall       bool          // a stream stops in the middle, and the connection stays open
	Drip        time.Duration // pause between bytes, or between the events of a stream
}

// Call is a tool call.
type Call struct{ ID, Name, Arguments string }

// Failing returns r as an error of the vendor.
func (r Reply) Failing(status int, kind, message string) Reply {
	r.Status, r.Kind, r.Message = status, kind, message
	return r
}

// RateLimited returns status 429; after is the Retry-After header, "" for none.
func RateLimited(after string) Reply {
	r := Reply{}.Failing(http.StatusTooManyRequests, "rate_limit_exceeded", "Rate limit reached for requests")
	if after != "" {
		r.Header = map[string]string{"Retry-After": after}
	}
	return r
}

// OutOfQuota returns status 429 for an exceeded quota.
func OutOfQuota() Reply {
	return Reply{}.Failing(http.StatusTooManyRequests, "insufficient_quota", "You exceeded your current quota, please check your plan and billing details.")
}

// Broken returns a server error.
func Broken(status int) Reply {
	return Reply{}.Failing(status, "server_error", "The server had an error while processing your request")
}

// HTML returns an HTML page instead of an answer, as a proxy would.
func HTML(status int) Reply {
	return Reply{Status: status, ContentType: "text/html; charset=utf-8", Raw: "<html><head><title>Bad gateway</title></head>\n<body>nginx</body></html>"}
}

// Sequence returns the replies in turn, and then the last one for all further requests.
func Sequence(replies ...Reply) func(Request) Reply {
	var next atomic.Int64
	return func(Request) Reply {
		return replies[min(next.Add(1)-1, int64(len(replies)-1))]
	}
}

// perform writes a reply, or misbehaves as the reply defines.
func (s *Server) perform(w http.ResponseWriter, r *http.Request, reply Reply, req Request) {
	if req.API == Converse && reply.Kind != "" {
		w.Header().Set("X-Amzn-ErrorType", reply.Kind)
	}
	switch {
	case reply.Hang:
		s.hang(r)
	case reply.Reset:
		panic(http.ErrAbortHandler)
	case req.streams() && reply.status() == http.StatusOK && reply.Message == "":
		s.stream(w, r, reply, req)
	case reply.Cut:
		data := reply.body(req.API, req)
		head(w, reply)
		w.Header().Set("Content-Length", strconv.Itoa(len(data)))
		w.WriteHeader(reply.status())
		_, _ = w.Write(data[:len(data)/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	case reply.Drip > 0:
		head(w, reply)
		w.WriteHeader(reply.status())
		for _, b := range reply.body(req.API, req) {
			if _, err := w.Write([]byte{b}); err != nil {
				return
			}
			_ = http.NewResponseController(w).Flush() // if the connection is closed, the next write fails
			if !s.wait(r, reply.Drip) {
				return
			}
		}
	default:
		write(w, reply, req.API, req)
	}
}

func write(w http.ResponseWriter, reply Reply, api string, req Request) {
	head(w, reply)
	w.WriteHeader(reply.status())
	_, _ = w.Write(reply.body(api, req)) // the client may have disconnected
}

func head(w http.ResponseWriter, r Reply) {
	w.Header().Set("Content-Type", cmp.Or(r.ContentType, "application/json"))
	for name, v := range r.Header {
		w.Header().Set(name, v)
	}
}

func (r Reply) status() int { return cmp.Or(r.Status, http.StatusOK) }

// body returns the body of the reply in the format of an API.
func (r Reply) body(api string, req Request) []byte {
	if r.Raw != "" {
		return []byte(r.Raw)
	}
	var o *value.Object
	if r.status()/100 != 2 || r.Message != "" {
		o = r.failure(api)
	} else {
		o = r.answer(api, req)
	}
	for k, v := range r.Extra.All() {
		o.Set(k, v)
	}
	if bare, ok := o.Get(bareList); ok { // not an object
		return value.AppendJSON(nil, bare)
	}
	return value.AppendJSON(nil, o)
}

// failure returns an error in the form of an API.
func (r Reply) failure(api string) *value.Object {
	switch api {
	case Anthropic:
		return value.ObjectOf("type", "error", "error", value.ObjectOf("type", r.Kind, "message", r.Message))
	case Google, GoogleEmbed, VertexEmbed:
		return value.ObjectOf("error", value.ObjectOf("code", float64(r.status()), "message", r.Message, "status", r.Kind))
	case Converse, Titan:
		return value.ObjectOf("message", r.Message) // the kind is in a header
	case OllamaChat, Ollama, OllamaEmbeds:
		return value.ObjectOf("error", r.Message)
	}
	return value.ObjectOf("error", value.ObjectOf("message", r.Message, "type", r.Kind, "param", nil, "code", r.Kind))
}
