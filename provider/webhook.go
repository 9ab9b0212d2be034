package provider

import (
	"context"
	"errors"
	"net/url"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/value"
)

// webhook calls an endpoint that accepts {prompt, config} and returns {output}.
type webhook struct {
	name   string // the id in the suite; the endpoint's id contains no keys
	config *value.Object
	*endpoint
}

func newWebhook(spec proviso.ProviderSpec, arg string, o Options) (proviso.Provider, error) {
	s := settings{spec, o}
	u, err := url.Parse(arg)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		s.spec.ID = "webhook" // it is unclear where a password in the rest ends
		return nil, s.invalid("expected the URL of an endpoint, as in webhook:https://example.com/answer")
	}
	e := s.anyEndpoint(arg)
	e.id = "webhook:" + transport.URL(u)
	e.header.Set("Content-Type", "application/json")
	return &webhook{spec.ID, spec.Config, e}, nil
}

// anyEndpoint is an endpoint without a vendor: it has no key and no base URL of
// its own.
func (s settings) anyEndpoint(address string) *endpoint {
	return s.newEndpoint(address, address, anyHost)
}

func (w *webhook) ID() string { return w.name }

// Answer calls the endpoint.
func (w *webhook) Answer(ctx context.Context, ask proviso.Ask) (proviso.Output, error) {
	body := value.ObjectOf("prompt", ask.Prompt)
	if cfg := overlaid(w.config, ask.Config); cfg != nil {
		body.Set("config", cfg)
	}
	r, err := w.ask(transport.WithSample(ctx, ask.Sample), "", body)
	if err != nil {
		return proviso.Output{}, worded(w.endpoint, err)
	}
	out := outputOf(r.Object)
	if !r.Has("output") {
		return proviso.Output{}, proviso.Errorf(proviso.Unavailable, "%s: expected {\"output\": …}, got %s", w.id, excerpt(value.AppendJSON(nil, r.Object)))
	}
	latency := r.latency
	out.Latency = &latency
	if out.Usage.Requests == 0 {
		out.Usage.Requests = 1
	}
	return out, nil
}

// worded turns a fault into an error with a message. Other errors are returned unchanged.
func worded(e *endpoint, err error) error {
	var f *fault
	if errors.As(err, &f) {
		return e.failure(f)
	}
	return err
}
