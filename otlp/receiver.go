package otlp

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/proviso-eval/proviso/value"
)

// Limits of a [Receiver].
const (
	maxBody   = 64 << 20 // default limit of a request in bytes, after decompression
	atOnce    = 4        // requests that are read and decoded concurrently
	protoType = "application/x-protobuf"
	jsonType  = "application/json"
)

// Codes of google.rpc.Code in responses.
const (
	codeInvalidArgument   = 3
	codeResourceExhausted = 8
)

// TracesPath is the path for spans.
const TracesPath = "/v1/traces"

// ReceiverOptions configure a receiver. The zero value is valid.
type ReceiverOptions struct {
	// Formats are the accepted formats, json and protobuf; an empty list means both.
	Formats []string
	// Redact are names, or parts of names, of attributes whose values are removed before anything
	// else happens. Case is ignored.
	Redact []string
	// MaxBody is the limit of a request in bytes, after decompression; 0 means 64 MiB.
	MaxBody int64
	// Forward receives each accepted request, redacted. It may be nil. It must not block or change
	// body.
	Forward func(contentType string, body []byte)
	// Add stores the spans of a request instead of the store, like [Store.Add]; nil uses the store.
	// The context is that of the request.
	Add func(ctx context.Context, b *Batch) (rejected int, reason string)
}

// Receiver receives spans as OTLP over HTTP (OTLP 1.7, section "OTLP/HTTP"). It
// is an http.Handler for POST requests on any path.
type Receiver struct {
	o     ReceiverOptions
	turns chan struct{}
}

// NewReceiver returns a receiver that adds spans to store, which may be nil if the options have
// Add.
func NewReceiver(store *Store, o ReceiverOptions) *Receiver {
	if o.MaxBody <= 0 {
		o.MaxBody = maxBody
	}
	if o.Add == nil {
		o.Add = func(_ context.Context, b *Batch) (int, string) { return store.Add(b) }
	}
	return &Receiver{o, make(chan struct{}, atOnce)}
}

var _ http.Handler = (*Receiver)(nil)

// refusal is an error response.
type refusal struct {
	status, code int
	message      string
}

// Error returns the message.
func (r *refusal) Error() string { return r.message }

// ServeHTTP handles one request.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	status, kind, body := r.Answer(req)
	w.Header().Set("Content-Type", kind)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if status == http.StatusMethodNotAllowed {
		w.Header().Set("Allow", http.MethodPost)
	}
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may have disconnected
}

// Answer handles one request, and returns the status, the media type and the
// body of the response.
func (r *Receiver) Answer(req *http.Request) (status int, mediaType string, body []byte) {
	kind, rejected, reason, err := r.take(req)
	var no *refusal
	switch {
	case err == nil:
		return http.StatusOK, kind, success(kind, rejected, reason)
	case !errors.As(err, &no):
		no = &refusal{http.StatusBadRequest, codeInvalidArgument, err.Error()}
	}
	return no.status, kind, failure(kind, no)
}

// take reads, decodes and stores a request. kind is the format of the response: that of the
// request, or JSON if the request has neither format.
func (r *Receiver) take(req *http.Request) (kind string, rejected int, reason string, err error) {
	if req.Method != http.MethodPost {
		return jsonType, 0, "", &refusal{http.StatusMethodNotAllowed, codeInvalidArgument, "spans are sent with POST"}
	}
	kind, decode, err := r.format(req)
	if err != nil {
		return kind, 0, "", err
	}
	select {
	case r.turns <- struct{}{}:
		defer func() { <-r.turns }()
	case <-req.Context().Done():
		return kind, 0, "", req.Context().Err()
	}
	body, err := readBody(req, r.o.MaxBody)
	if err != nil {
		return kind, 0, "", err
	}
	if len(r.o.Redact) > 0 {
		if body, err = redact(req.Context(), kind, body, r.o.Redact); err != nil {
			return kind, 0, "", err
		}
	}
	batch, err := decode(req.Context(), body)
	if err != nil {
		return kind, 0, "", err
	}
	rejected, reason = r.o.Add(req.Context(), batch)
	if r.o.Forward != nil {
		r.o.Forward(kind, body)
	}
	return kind, rejected, reason, nil
}

// format returns the format of a request and its decoder.
func (r *Receiver) format(req *http.Request) (string, func(context.Context, []byte) (*Batch, error), error) {
	kind, _, err := mime.ParseMediaType(req.Header.Get("Content-Type"))
	formats := map[string]struct {
		name   string
		decode func(context.Context, []byte) (*Batch, error)
	}{protoType: {"protobuf", DecodeProtoContext}, jsonType: {"json", DecodeJSONContext}}
	f, known := formats[kind]
	if err != nil || !known {
		return jsonType, nil, &refusal{http.StatusUnsupportedMediaType, codeInvalidArgument,
			fmt.Sprintf("the Content-Type %q is neither %s nor %s", shortened(req.Header.Get("Content-Type")), protoType, jsonType)}
	}
	if len(r.o.Formats) > 0 && !slices.Contains(r.o.Formats, f.name) {
		return kind, nil, &refusal{http.StatusUnsupportedMediaType, codeInvalidArgument, f.name + " is not among the acceptFormats of this receiver"}
	}
	return kind, f.decode, nil
}

// readBody decompresses a request, up to a limit.
func readBody(req *http.Request, most int64) ([]byte, error) {
	var from io.Reader = io.LimitReader(req.Body, most+1)
	switch encoding := strings.ToLower(strings.TrimSpace(req.Header.Get("Content-Encoding"))); encoding {
	case "", "identity":
	case "gzip":
		unzipped, err := gzip.NewReader(from)
		if err != nil {
			return nil, &refusal{http.StatusBadRequest, codeInvalidArgument, "malformed gzip: " + err.Error()}
		}
		from = io.LimitReader(unzipped, most+1)
	default:
		return nil, &refusal{http.StatusUnsupportedMediaType, codeInvalidArgument, fmt.Sprintf("the Content-Encoding %q is not gzip", shortened(encoding))}
	}
	data, err := io.ReadAll(from)
	if int64(len(data)) > most {
		return nil, &refusal{http.StatusRequestEntityTooLarge, codeResourceExhausted, fmt.Sprintf("the request has more than %d bytes", most)}
	}
	if err != nil {
		return nil, &refusal{http.StatusBadRequest, codeInvalidArgument, "the request cannot be read: " + err.Error()}
	}
	return data, nil
}

// success returns an ExportTraceServiceResponse, with partial_success {rejected_spans,
// error_message} if spans were rejected.
func success(kind string, rejected int, reason string) []byte {
	if kind == jsonType {
		o := &value.Object{}
		if rejected > 0 {
			o.Set("partialSuccess", value.ObjectOf("rejectedSpans", value.FormatNumber(float64(rejected)), "errorMessage", reason))
		}
		return value.AppendJSON(nil, o)
	}
	if rejected == 0 {
		return nil
	}
	var partial []byte
	partial = protowire.AppendTag(partial, 1, protowire.VarintType)
	partial = protowire.AppendVarint(partial, uint64(rejected))
	partial = appendText(partial, 2, reason)
	return appendBytes(nil, 1, partial)
}

// failure returns a google.rpc.Status {code, message}.
func failure(kind string, no *refusal) []byte {
	if kind == jsonType {
		return value.AppendJSON(nil, value.ObjectOf("code", float64(no.code), "message", no.message))
	}
	b := protowire.AppendTag(nil, 1, protowire.VarintType)
	b = protowire.AppendVarint(b, uint64(no.code))
	return appendText(b, 2, no.message)
}

func appendText(b []byte, number protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, number, protowire.BytesType), strings.ToValidUTF8(s, "\uFFFD"))
}

func appendBytes(b []byte, number protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, number, protowire.BytesType), v)
}
