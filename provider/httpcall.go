package provider

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/blobs"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/value"
)

// httpCall calls any HTTP endpoint. Its configuration defines how the prompt
// becomes a request and where the output is in the response.
type httpCall struct {
	id       string
	request  requestTemplate
	before   *snippet // transformRequest
	after    *snippet // transformResponse
	accepts  *snippet // validateStatus
	estimate float64  // tokens per word; 0 counts none
	*endpoint
}

var _ proviso.Provider = (*httpCall)(nil)

// unsupportedHTTP are settings of promptfoo's HTTP provider that proviso lacks.
// Ignoring them would send a different request than the user meant.
var unsupportedHTTP = [...]string{"auth", "multipart", "session", "sessionParser", "signatureAuth", "tls"}

func newHTTPCall(spec proviso.ProviderSpec, _ string, o Options) (proviso.Provider, error) {
	s := settings{spec, o}
	for _, name := range unsupportedHTTP {
		if spec.Config.Has(name) {
			return nil, &proviso.Error{Code: proviso.Unsupported, Pointer: spec.Pointer,
				Message: s.spec.ID + ": config." + name + " is not supported"}
		}
	}
	t, err := s.requestTemplate()
	if err != nil {
		return nil, err
	}
	p := &httpCall{id: spec.ID, request: t}
	name := "transformResponse"
	if !spec.Config.Has(name) {
		name = "responseParser" // its old name
	}
	for _, sn := range []struct {
		to     **snippet
		name   string
		params []string
	}{
		{&p.before, "transformRequest", []string{"prompt", "vars", "context"}},
		{&p.after, name, []string{"json", "text", "context"}},
		{&p.accepts, "validateStatus", []string{"status"}},
	} {
		if *sn.to, err = s.snippet(sn.name, sn.params); err != nil {
			return nil, err
		}
	}
	if tokens, _ := spec.Config.At("tokenEstimation").(*value.Object); tokens.At("enabled") == true {
		p.estimate = 1.3
		if m, ok := tokens.At("multiplier").(float64); ok && m > 0 {
			p.estimate = m
		}
	}
	p.endpoint = s.anyEndpoint(spec.ID + " " + t.address())
	p.endpoint.id = t.name(spec.ID)
	return p, nil
}

func (p *httpCall) ID() string { return p.id }

// cacheKey is the request itself, which includes variables and the environment.
func (p *httpCall) cacheKey(ctx context.Context, ask proviso.Ask) (string, error) {
	c, err := p.prepare(ctx, ask)
	if err != nil {
		return "", err
	}
	parts := []string{"http", c.method, c.url.String(), string(c.body)}
	for _, name := range sortedNames(c.header) {
		if !proviso.IsSecret(name) {
			parts = append(append(parts, name), c.header[name]...)
		}
	}
	return blobs.Key(parts...), nil
}

func sortedNames(h http.Header) []string {
	names := make([]string, 0, len(h))
	for name := range h {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Answer makes the request until it succeeds or cannot succeed.
func (p *httpCall) Answer(ctx context.Context, ask proviso.Ask) (proviso.Output, error) {
	c, err := p.prepare(ctx, ask)
	if err != nil {
		return proviso.Output{}, err
	}
	ctx = transport.WithSample(ctx, ask.Sample)
	e := *p.endpoint
	e.secrets = c.secrets()
	for attempt := 0; ; attempt++ {
		a, err := p.attempt(ctx, &e, c)
		var f *fault
		switch {
		case err == nil:
			return p.output(ctx, ask, c, a)
		case !errors.As(err, &f):
			return proviso.Output{}, err
		case f.stop && p.request.constant():
			return proviso.Output{}, e.gate.stop(e.failure(f))
		case !f.again || attempt >= e.attempts(f) || f.after > e.timeout:
			return proviso.Output{}, e.giveUp(f, attempt)
		}
		if err := e.sleep(ctx, e.wait(attempt, f.after)); err != nil {
			return proviso.Output{}, err
		}
	}
}

// attempt makes one attempt, when the endpoint's limits allow it.
func (p *httpCall) attempt(ctx context.Context, e *endpoint, c *call) (*callAnswer, error) {
	if err := e.gate.err(); err != nil {
		return nil, err
	}
	if err := e.gate.enter(ctx); err != nil {
		return nil, err
	}
	defer e.gate.leave()
	t, err := e.gate.throttle.pass(ctx, e, float64(len(c.body))/4)
	if err != nil {
		return nil, err
	}
	if err := e.gate.err(); err != nil {
		return nil, err
	}
	start := e.now()
	a, err := p.send(ctx, e, c, &t)
	end := e.now()
	e.report(ctx, err, &t, start, end)
	if err == nil && a.latency == 0 {
		a.latency = end.Sub(start)
	}
	return a, err
}

// send makes one HTTP request and decides whether its status is a success.
func (p *httpCall) send(ctx context.Context, e *endpoint, c *call, t *ticket) (*callAnswer, error) {
	limited, cancel := context.WithTimeoutCause(ctx, e.timeout, errDeadline)
	defer cancel()
	req, err := http.NewRequestWithContext(limited, c.method, c.url.String(), bytes.NewReader(c.body))
	if err != nil {
		return nil, &fault{code: proviso.Invalid, message: "the request is malformed: " + transport.Redact(err).Error()}
	}
	req.Header = c.header.Clone()
	resp, err := e.client.Do(req)
	if err != nil {
		return nil, e.broken(ctx, limited, err)
	}
	defer resp.Body.Close()
	e.hear(resp.Header, t)
	body, err := readBody(resp, maxAnswer)
	if err != nil {
		return nil, e.broken(ctx, limited, err)
	}
	a := &callAnswer{status: resp.StatusCode, text: string(body), header: headersOf(resp)}
	a.latency, _ = transport.RecordedLatency(resp)
	ok, err := p.accepted(ctx, a.status)
	if err != nil {
		return nil, err
	}
	if !ok {
		_, err := read(resp, body, e.now())
		if err == nil { // a success that validateStatus does not take for one
			err = &fault{code: proviso.Unavailable, status: a.status, message: "validateStatus does not accept this: " + excerpt(body)}
		}
		return nil, err
	}
	return a, nil
}

// accepted reports whether a response with this status is a success.
func (p *httpCall) accepted(ctx context.Context, status int) (bool, error) {
	if p.accepts == nil {
		return status/100 == 2, nil
	}
	v, err := p.accepts.call(ctx, float64(status))
	if err != nil {
		return false, proviso.Errorf(proviso.Undecided, "%s: %w", p.endpoint.id, err)
	}
	return value.Truthy(v), nil
}

// headersOf returns the headers that scripts see, with names in lower case.
// Keys that are not header names were added locally and are left out.
func headersOf(resp *http.Response) *value.Object {
	o := value.NewObject(len(resp.Header))
	for _, name := range sortedNames(resp.Header) {
		if !strings.Contains(name, " ") {
			o.Set(strings.ToLower(name), strings.Join(resp.Header[name], ", "))
		}
	}
	return o
}
