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
		v, err := m.fill.fill(ctx, cfg.At(name), orNone(ask.AllVars()), 0)
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
	over, _ = unstreamed(over)
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

// cacheKey is what a request has beside the prompt: what templates and files in the
// settings become, and what variables add.
func (m *model) cacheKey(ctx context.Context, ask proviso.Ask) (string, error) {
	key, err := m.settingsKey(ctx, ask)
	if err != nil || m.api.reads == nil {
		return key, err
	}
	if more := m.api.reads(&ask); more != "" {
		return blobs.Key("variables", key, more), nil
	}
	return key, nil
}

func (m *model) settingsKey(ctx context.Context, ask proviso.Ask) (string, error) {
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

// unstreamed is settings without those that ask for an answer in pieces, and
// whether there were any. Answers are read whole, which changes nothing about them.
func unstreamed(cfg *proviso.Object) (*proviso.Object, bool) {
	asked := false
	without := func(o *proviso.Object) *proviso.Object {
		if o.At("stream") != true && o.At("streaming") != true {
			return o
		}
		asked = true
		o = o.Clone()
		o.Delete("stream")
		o.Delete("streaming")
		return o
	}
	cfg = without(cfg)
	for _, key := range [...]string{"passthrough", "extra_body"} {
		inner := object(cfg.At(key))
		if rest := without(inner); rest != inner {
			cfg = cfg.Clone()
			cfg.Set(key, rest)
		}
	}
	return cfg, asked
}

// warn reports what is odd about a provider that opens all the same.
func (s settings) warn(message string) {
	if s.o.Warn != nil {
		s.o.Warn(&proviso.Error{Code: proviso.Invalid, Pointer: s.spec.Pointer, Message: s.spec.ID + ": " + message, Warning: true})
	}
}
