package provider

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/proviso-eval/proviso"
	shorten "github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/value"
)

// fault is the reason why an attempt has no answer.
type fault struct {
	code    string // code of the proviso.Error
	status  int    // HTTP status, 0 if there was none
	message string
	kind    string        // the vendor's code, lower case; "" if it gives none
	after   time.Duration // wait requested by the endpoint
	again   bool          // a retry can help
	stop    bool          // no further request to this endpoint can succeed
	vendor  bool          // message is the vendor's own
	refused bool          // the connection was refused
}

func (f *fault) Error() string { return f.message }

// overloaded reports whether the endpoint is overloaded or limits the rate.
func (f *fault) overloaded() bool {
	return f.status == http.StatusTooManyRequests || f.status == http.StatusServiceUnavailable || f.status == statusOverloaded
}

// statusOverloaded is Anthropic's status for an overloaded API.
const statusOverloaded = 529

// failure returns the error message for f.
func (e *endpoint) failure(f *fault) error {
	text := e.id + ": "
	if f.status != 0 {
		text += "HTTP " + strconv.Itoa(f.status) + ": "
	}
	text += f.message
	if f.status == http.StatusUnauthorized && e.keyFrom != "" {
		text += " (the key is from " + e.keyFrom + ")"
	}
	secrets := e.secrets
	if e.login != nil {
		secrets = append(slices.Clone(secrets), e.login.secrets()...)
	}
	for _, s := range secrets {
		text = strings.ReplaceAll(text, s, "[redacted]")
	}
	return proviso.Because(&failure{text, f, e.need}, f.code, "%s", text)
}

// failure is the final error after all attempts. It is not retried.
type failure struct {
	text  string
	fault *fault
	need  string // see endpoint
}

func (f *failure) Error() string { return f.text }

// read parses an API response and returns the error in it, if any. With lists, a response may also
// be a JSON list, which becomes the member [listKey] of an object.
func read(resp *http.Response, body []byte, now time.Time, lists bool) (reply, error) {
	v, err := value.ParseReply(context.Background(), string(bytes.TrimPrefix(body, []byte("\ufeff"))))
	if errors.Is(err, value.ErrTooMany) {
		return reply{}, &fault{code: proviso.Limit, status: resp.StatusCode, stop: true, message: err.Error()}
	}
	switch list, ok := v.([]any); {
	case ok && lists:
		v = value.ObjectOf(listKey, list)
	case ok && len(list) == 1: // Google wraps errors in a list
		v = list[0]
	}
	o, _ := v.(*value.Object)
	status := resp.StatusCode
	if to, err := resp.Location(); err == nil && status/100 == 3 {
		return reply{}, &fault{code: proviso.Unavailable, status: status, stop: true,
			message: "a redirect to " + transport.URL(to) + ", which is not followed"}
	}
	if status/100 == 2 && o != nil {
		f := errorIn(o)
		if f == nil {
			return reply{Object: o}, nil
		}
		f.status = status
		if n, err := strconv.Atoi(f.kind); err == nil && n >= 400 && n < 600 {
			f.status = n // gateways respond 200 with the status in the error
		}
		return reply{}, judge(f, resp.Header, now)
	}
	if status/100 == 2 {
		f := &fault{code: proviso.Unavailable, status: status, message: notJSON(resp, body, err)}
		return reply{}, f
	}
	f := errorIn(o)
	if f == nil {
		f = &fault{message: plainText(resp, body)}
		if f.message == "" {
			f.message = http.StatusText(status)
		}
	}
	if f.kind == "" { // where Amazon puts the kind, followed by an address
		f.kind, _, _ = strings.Cut(strings.ToLower(resp.Header.Get("X-Amzn-Errortype")), ":")
	}
	f.status = status
	return reply{}, judge(f, resp.Header, now)
}

// notJSON describes a body that should be a JSON object.
func notJSON(resp *http.Response, body []byte, err error) string {
	kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	switch text := excerpt(body); {
	case text == "":
		return "the answer is empty"
	case strings.HasPrefix(plainText(resp, body), aPage):
		return "expected JSON, got " + plainText(resp, body)
	case kind != "" && !strings.Contains(kind, "json"):
		return "expected JSON, got " + excerpt([]byte(kind)) + ": " + text
	case err != nil:
		return "the answer is not valid JSON (" + err.Error() + "): " + text
	default:
		return "expected a JSON object, got " + text
	}
}

// errorIn finds the error in a body, in any of the forms that vendors use; nil
// if there is none.
func errorIn(o *value.Object) *fault {
	switch v := o.At("error").(type) {
	case string:
		if v != "" {
			return &fault{message: excerpt([]byte(v)), kind: kindOf(o), vendor: true}
		}
	case *value.Object:
		f := &fault{message: messageOf(v), kind: kindOf(v), vendor: true}
		if f.message == "" {
			f.message = excerpt(value.AppendJSON(nil, v))
		}
		return f
	}
	if o.At("object") == "error" || o.At("type") == "error" || !answers(o) || o.Has("title") && o.Has("detail") { // the last is RFC 9457
		if m := messageOf(o); m != "" {
			return &fault{message: m, kind: kindOf(o), vendor: true}
		}
	}
	return nil
}

// answers reports whether o looks like an answer of any of the APIs.
func answers(o *value.Object) bool {
	return slices.ContainsFunc([]string{
		"choices", "output", "content", "candidates", "promptFeedback", "message", "response", "data", "embeddings", "status", "usage",
	}, func(key string) bool {
		_, text := o.At(key).(string)
		return o.Has(key) && (!text || key != "message")
	})
}

func messageOf(o *value.Object) string {
	for _, key := range []string{"message", "Message", "detail", "msg", "error_description"} {
		switch v := o.At(key).(type) {
		case string:
			if v != "" {
				return excerpt([]byte(v))
			}
		case []any, *value.Object:
			return excerpt(value.AppendJSON(nil, v))
		}
	}
	return ""
}

// kindOf is the vendor's error code. A number is used only if there is no name.
func kindOf(o *value.Object) string {
	number := ""
	for _, key := range []string{"code", "type", "status"} {
		switch v := o.At(key).(type) {
		case string:
			return strings.ToLower(v)
		case float64:
			if number == "" {
				number = value.FormatNumber(v)
			}
		}
	}
	return number
}

// judge decides whether a vendor's error can be retried, and what it means for later calls. It sets
// the fields of f and returns f.
func judge(f *fault, h http.Header, now time.Time) *fault {
	f.code = proviso.Unavailable
	f.after = transport.RetryAfter(h, now)
	text := strings.ToLower(f.message)
	switch {
	case f.filtered():
	case quota(f, text):
		f.stop = true
	case f.status == http.StatusProxyAuthRequired:
		f.stop = true
	case slices.Contains([]int{408, 429, 500, 502, 503, 504, statusOverloaded}, f.status):
		f.again = true
	case f.status == http.StatusUnauthorized, f.status == http.StatusForbidden, f.status == http.StatusNotFound:
		f.stop = true
	case f.status == http.StatusBadRequest && unknownModel(f, text):
		f.stop = true
	}
	return f
}

// quota reports whether the account has no credit left, as opposed to a rate
// limit.
func quota(f *fault, text string) bool {
	if f.status == http.StatusPaymentRequired {
		return true
	}
	switch f.kind {
	case "insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "insufficient_balance", "billing_error":
		return true
	}
	return f.status >= 400 && f.status < 500 &&
		(strings.Contains(text, "exceeded your current quota, please check your plan and billing") && f.status == 429 && f.kind != "resource_exhausted" ||
			strings.Contains(text, "credit balance is too low") || strings.Contains(text, "billing hard limit"))
}

// unknownModel reports whether the vendor does not know the model.
func unknownModel(f *fault, text string) bool {
	return f.kind == "model_not_found" || f.kind == "invalid_model" || strings.Contains(text, "model") &&
		(strings.Contains(text, "does not exist") || strings.Contains(text, "not found") ||
			strings.Contains(text, "not a valid model") || strings.Contains(text, "invalid model") ||
			strings.Contains(text, "model identifier is invalid") || strings.Contains(text, "on-demand throughput"))
}

// filtered reports whether a content filter rejected the prompt. Such a refusal
// counts as an answer.
func (f *fault) filtered() bool {
	switch f.kind {
	case "content_filter", "content_policy_violation", "invalid_prompt", "responsibleaipolicyviolation":
		return true
	}
	return f.status == http.StatusForbidden && strings.Contains(strings.ToLower(f.message), "flagged")
}

// excerpt is the beginning of text on one line, safe to print.
func excerpt(text []byte) string {
	const most = 300 // characters
	head := string(text[:min(len(text), 16*most)])
	return shorten.Line(strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) {
			return ' '
		}
		return r
	}, head), most)
}

// aPage is the prefix of the description of a page that has a title.
const aPage = "the page "

// plainText describes a body that is not JSON: the title of a page, or the
// beginning of the text.
func plainText(resp *http.Response, body []byte) string {
	if !strings.Contains(resp.Header.Get("Content-Type"), "html") {
		return excerpt(body)
	}
	lower := bytes.ToLower(body)
	from, to := bytes.Index(lower, []byte("<title>")), bytes.Index(lower, []byte("</title>"))
	if from < 0 || to < from || len(lower) != len(body) {
		return excerpt(body)
	}
	if title := excerpt(body[from+len("<title>") : to]); title != "" {
		return aPage + strconv.Quote(title)
	}
	return excerpt(body)
}

// Trouble is why every request to an endpoint will fail until somebody acts.
type Trouble string

// Kinds of trouble.
const (
	NoTrouble    Trouble = ""      // another request may succeed
	KeyTrouble   Trouble = "key"   // the key is missing, wrong, expired, or lacks the permission
	ModelTrouble Trouble = "model" // the model does not exist, or no longer does
	QuotaTrouble Trouble = "quota" // the account has no credit left
)

// TroubleOf classifies the error of a provider.
func TroubleOf(err error) Trouble {
	if errors.Is(err, ErrNoKey) {
		return KeyTrouble
	}
	var failed *failure
	if !errors.As(err, &failed) {
		return NoTrouble
	}
	f := failed.fault
	text := strings.ToLower(f.message)
	switch {
	case quota(f, text):
		return QuotaTrouble
	case f.status == http.StatusNotFound, f.status == http.StatusBadRequest && unknownModel(f, text):
		return ModelTrouble
	case f.status == http.StatusUnauthorized, f.status == http.StatusForbidden && !unknownModel(f, text):
		return KeyTrouble
	case f.status == http.StatusForbidden:
		return ModelTrouble
	}
	return NoTrouble
}

// RefusedKey names the key in the user's environment that an endpoint refused (401, 403), in the
// form of [Options.Need]. It is "" for other errors, and if the key comes from the suite.
func RefusedKey(err error) string {
	var failed *failure
	if !errors.As(err, &failed) || TroubleOf(err) != KeyTrouble {
		return ""
	}
	return failed.need
}
