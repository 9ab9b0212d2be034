package provider

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/blobs"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/provider/throttle"
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
	estimate float64  // tokens per word; 0 disables the estimate
	*endpoint
}

// unsupportedHTTP are settings of promptfoo's HTTP provider that proviso lacks.
// Ignoring them would send a different request than the user meant.
var unsupportedHTTP = [...]string{"auth", "multipart", "session", "sessionParser", "signatureAuth", "tls"}

func newHTTPCall(spec proviso.ProviderSpec, _ string, o Options) (proviso.Provider, error) {
	s := settings{spec, o}
	for _, name := range unsupportedHTTP {
		if spec.Config.Has(name) {
			return nil, s.failed(proviso.Unsupported, "config.%s is not supported", name)
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
	if tokens := spec.Config.Object("tokenEstimation"); tokens.At("enabled") == true {
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

// cacheKey is the request itself, including variables and the environment.
func (p *httpCall) cacheKey(ctx context.Context, ask proviso.Ask) (string, error) {
	c, err := p.prepare(ctx, ask)
	if err != nil {
		return "", err
	}
	parts := []string{"http", c.method, c.url.String(), string(c.body)}
	for _, name := range slices.Sorted(maps.Keys(c.header)) {
		if !proviso.IsSecret(name) {
			parts = append(append(parts, name), c.header[name]...)
		}
	}
	return blobs.Key(parts...), nil
}

// Answer makes the request, and repeats it until it succeeds or no retry can help.
func (p *httpCall) Answer(ctx context.Context, ask proviso.Ask) (proviso.Output, error) {
	c, err := p.prepare(ctx, ask)
	if err != nil {
		return proviso.Output{}, err
	}
	ctx = transport.WithSample(ctx, ask.Sample)
	e := *p.endpoint
	e.secrets, e.varies = c.secrets(), !p.request.constant()
	var a *callAnswer
	err = e.persist(ctx, len(c.body), func(t *throttle.Ticket) (err error) {
		a, err = p.send(ctx, &e, c, t)
		return err
	})
	if err != nil {
		return proviso.Output{}, worded(&e, err)
	}
	return p.output(ctx, ask, c, a)
}

// send makes one HTTP request and decides whether its status is a success.
func (p *httpCall) send(ctx context.Context, e *endpoint, c *call, t *throttle.Ticket) (*callAnswer, error) {
	start := e.clock.Now()
	resp, body, err := e.roundTrip(ctx, c.method, c.url.String(), c.header, c.body, maxAnswer, t)
	if err != nil {
		return nil, err
	}
	a := &callAnswer{status: resp.StatusCode, text: string(body), header: headersOf(resp)}
	if a.latency, _ = transport.RecordedLatency(resp); a.latency == 0 {
		a.latency = e.clock.Now().Sub(start)
	}
	ok, err := p.accepted(ctx, a.status)
	if err != nil {
		return nil, err
	}
	if !ok {
		_, err := read(resp, body, e.clock.Now(), false)
		if err == nil { // an HTTP success that validateStatus rejects
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

// headersOf returns the headers that scripts see, with lower-case names. Keys that are not valid
// header names were added locally and are left out.
func headersOf(resp *http.Response) *value.Object {
	o := value.NewObject(len(resp.Header))
	for _, name := range slices.Sorted(maps.Keys(resp.Header)) {
		if !strings.Contains(name, " ") {
			o.Set(strings.ToLower(name), strings.Join(resp.Header[name], ", "))
		}
	}
	return o
}
