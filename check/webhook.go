package check

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/value"
)

// Defaults of webhooks; the environment variables that change them are promptfoo's.
const (
	webhookTimeout = 5 * time.Second        // of one attempt: WEBHOOK_TIMEOUT, in milliseconds
	webhookBackoff = 500 * time.Millisecond // before the first retry, doubled each time: PROMPTFOO_REQUEST_BACKOFF_MS
	webhookRetries = 4                      // after network errors
)

// webhook asks an HTTP endpoint for the verdict.
type webhook struct {
	client           *http.Client
	address          string
	timeout, backoff time.Duration
	not              bool
}

// newWebhook is `webhook`: an HTTP endpoint receives the output and answers {pass,
// score, reason}.
func newWebhook(c *Compiler, s *Spec) (Check, error) {
	address, ok := s.Value.(string)
	if !ok || address == "" {
		return nil, s.badValue("the URL of an HTTP endpoint")
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, proviso.Errorf(proviso.Invalid, "%q needs the URL of an HTTP endpoint, such as https://example.com/grade", s.Type)
	}
	return &webhook{
		client:  c.Client,
		address: address,
		timeout: milliseconds(c.Env, "WEBHOOK_TIMEOUT", webhookTimeout),
		backoff: milliseconds(c.Env, "PROMPTFOO_REQUEST_BACKOFF_MS", webhookBackoff),
		not:     s.Not,
	}, nil
}

// milliseconds reads a duration from the environment.
func milliseconds(env proviso.Env, name string, def time.Duration) time.Duration {
	if env == nil {
		return def
	}
	text, ok := env.Lookup(name)
	if ms := value.ToNumber(text); ok && text != "" && ms > 0 && ms < 1e9 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	return def
}

// Decide asks the endpoint.
func (w *webhook) Decide(ctx context.Context, s *Subject) (Finding, error) {
	if w.client == nil {
		return Finding{}, proviso.Errorf(proviso.Unavailable, "webhooks cannot be reached: there is no access to the network")
	}
	prompt := any(value.Undefined{})
	if s.Row.HasPrompt {
		prompt = s.Row.Prompt
	}
	request := value.AppendJSON(nil, value.ObjectOf(
		"output", s.Value,
		"context", value.ObjectOf("prompt", prompt, "vars", s.Row.Vars.OrEmpty())))
	answer, err := w.ask(ctx, request)
	if err != nil {
		return Finding{}, err
	}
	return w.finding(answer)
}

// ask sends the request until there is an answer, or retrying cannot help.
func (w *webhook) ask(ctx context.Context, request []byte) (any, error) {
	wait := w.backoff
	for attempt := 0; ; attempt++ {
		answer, err := w.once(ctx, request)
		if err == nil || attempt == webhookRetries || !transient(err) {
			return answer, err
		}
		if err := transport.Wait(ctx, wait); err != nil {
			return nil, err
		}
		wait *= 2
	}
}

// networkError is a network error, after which a retry may help.
type networkError struct{ error }

func (e networkError) Unwrap() error { return e.error }

func transient(err error) bool {
	var network networkError
	var known *proviso.Error
	if errors.As(err, &known) && (known.Code == proviso.Refused || known.Code == proviso.Limit || known.Code == proviso.Invalid) {
		return false
	}
	return errors.As(err, &network)
}

// once makes one attempt.
func (w *webhook) once(ctx context.Context, request []byte) (any, error) {
	attempt, cancel := context.WithTimeout(ctx, w.timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(attempt, http.MethodPost, w.address, bytes.NewReader(request))
	if err != nil {
		return nil, proviso.Errorf(proviso.Invalid, "webhook: %w", transport.Redact(err))
	}
	req.Header.Set("Content-Type", "application/json")
	place := transport.URL(req.URL)
	resp, err := w.client.Do(req)
	if err != nil {
		return nil, w.failure(ctx, place, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return nil, proviso.Errorf(proviso.Undecided, "webhook %s: response status %d", place, resp.StatusCode)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, w.failure(ctx, place, err)
	}
	answer, err := value.ParseReply(ctx, string(body))
	if errors.Is(err, value.ErrTooMany) {
		return nil, proviso.Because(err, proviso.Limit, "webhook %s: %s", place, err)
	}
	if err != nil || answer == nil {
		return nil, proviso.Errorf(proviso.Undecided, "webhook %s: the response is not a verdict in JSON", place)
	}
	return answer, nil
}

// failure returns the message about a network error.
func (w *webhook) failure(ctx context.Context, place string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return networkError{proviso.Errorf(proviso.Timeout, "webhook %s: no answer within %v", place, w.timeout)}
	}
	code := cmp.Or(proviso.CodeOf(err), proviso.Unavailable)
	err = transport.Redact(err)
	return networkError{proviso.Because(err, code, "webhook: %v", err)}
}

// finding reads an answer. It has no verdict unless pass is a boolean.
func (w *webhook) finding(answer any) (Finding, error) {
	o, _ := answer.(*value.Object)
	pass, ok := o.At("pass").(bool)
	if !ok {
		return Finding{}, proviso.Errorf(proviso.Undecided, "webhook %s: the response needs pass: true or false, found %s", redacted(w.address), excerpt.Runes(value.Stringify(answer), maxErrorText))
	}
	f := found(pass)
	if score, ok := o.Get("score"); ok {
		f.Score = value.ToNumber(score)
		if f.Score != f.Score {
			return Finding{}, proviso.Errorf(proviso.Undecided, "webhook %s: the score is not a number: %s", redacted(w.address), value.Stringify(score))
		}
	}
	if reason := o.At("reason"); value.Truthy(reason) {
		f.Reason, f.Always = value.ToString(reason), true
		return f, nil
	}
	f.Reason = "Webhook returned false"
	if w.not {
		f.Reason = "Webhook returned true"
	}
	return f, nil
}

// redacted returns a URL for messages.
func redacted(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return transport.URL(u)
}
