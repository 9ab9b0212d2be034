package provider

import (
	"context"
	"slices"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/blobs"
)

// opening are the settings that say who is asked, where, by whom, how often and at
// what price. They belong to a provider; a prompt and a case cannot change them.
var opening = [...]string{
	"apiKey", "apiKeyEnvar", "apiKeyRequired", "apiBaseUrl", "apiHost", "apiVersion", "organization", "modelName", "rpm", "tpm",
	"cost", "inputCost", "outputCost", "region", "projectId", "credentials", "publisher", "expressMode", "endpoint", "profile",
	"accessKeyId", "secretAccessKey", "sessionToken",
	"azureClientId", "azureClientSecret", "azureTenantId", "azureAuthorityHost", "azureTokenScope",
}

// settings lays the settings of one question over those of the provider, and
// renders what are templates.
func (m *model) settings(ctx context.Context, ask *proviso.Ask) (*proviso.Object, error) {
	cfg, late, err := m.overlaid(ask.Config)
	if err != nil || len(late) == 0 {
		return cfg, err
	}
	if cfg == m.config {
		cfg = cfg.Clone()
	}
	for _, name := range late {
		v, err := m.fill.fill(ctx, cfg.At(name), orNone(ask.Vars), 0)
		if err != nil {
			return nil, proviso.Errorf(codeOr(err, proviso.Undecided), "%s: config.%s: %w", m.id, name, err)
		}
		cfg.Set(name, v)
	}
	return cfg, nil
}

// overlaid is the settings of the provider with those of a question, and the names
// of those that are templates.
func (m *model) overlaid(over *proviso.Object) (cfg *proviso.Object, late []string, err error) {
	if over.Len() == 0 {
		return m.config, m.late, nil
	}
	for _, name := range opening {
		if over.Has(name) {
			return nil, nil, proviso.Errorf(proviso.Invalid, "%s: %s is a setting of a provider, which a prompt or a case cannot change: give the case a provider of its own", m.id, name)
		}
	}
	if streams(over) {
		return nil, nil, proviso.Errorf(proviso.Unsupported, "%s: %s", m.id, noStreams)
	}
	over, late, err = m.fill.prepare(over, false)
	if err != nil {
		return nil, nil, proviso.Errorf(codeOr(err, proviso.Invalid), "%s: %w", m.id, err)
	}
	for _, name := range m.late {
		if !over.Has(name) {
			late = append(late, name)
		}
	}
	return overlaid(m.config, over), late, nil
}

// endpointFor is the endpoint with what a question changes of it: how often a call
// is made again, and headers.
func (m *model) endpointFor(over *proviso.Object) *endpoint {
	n, again := over.At("maxRetries").(float64)
	headers := object(over.At("headers"))
	if !again && headers.Len() == 0 {
		return m.endpoint
	}
	e := *m.endpoint
	if again && n >= 0 {
		e.retries = int(min(n, maxRetries))
	}
	if headers.Len() > 0 {
		e.header, e.secrets = e.header.Clone(), slices.Clone(e.secrets)
		e.addHeaders(headers)
	}
	return &e
}

// cacheKey is what templates and files in the settings become, for it is not in
// the prompt.
func (m *model) cacheKey(ctx context.Context, ask proviso.Ask) (string, error) {
	_, late, err := m.overlaid(ask.Config)
	if err != nil || len(late) == 0 && !m.fill.refers(ask.Config) {
		return "", err
	}
	cfg, err := m.settings(ctx, &ask)
	if err != nil {
		return "", err
	}
	return blobs.Key("settings", proviso.Stringify(sorted(proviso.Keyless(cfg)))), nil
}

// noStreams says what to do about a setting that asks for a stream.
const noStreams = "answers are not streamed, which changes nothing about them: leave stream out of the settings"

// streams reports whether settings ask for an answer in pieces.
func streams(cfg *proviso.Object) bool {
	for _, o := range []*proviso.Object{cfg, object(cfg.At("passthrough")), object(cfg.At("extra_body"))} {
		if o.At("stream") == true || o.At("streaming") == true {
			return true
		}
	}
	return false
}

func (s settings) streaming() error {
	return &proviso.Error{Code: proviso.Unsupported, Pointer: s.spec.Pointer, Message: s.spec.ID + ": " + noStreams}
}
