package provider

import (
	"cmp"
	"context"
	"slices"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/blobs"
	"github.com/proviso-eval/proviso/value"
)

// opening lists the settings that select the endpoint, the credentials, the
// retries and the price. They belong to a provider; a prompt or a case cannot
// change them.
var opening = [...]string{
	"apiKey", "apiKeyEnvar", "apiKeyRequired", "apiBaseUrl", "apiHost", "apiVersion", "organization", "modelName", "rpm", "tpm",
	"cost", "inputCost", "outputCost", "region", "projectId", "credentials", "publisher", "expressMode", "endpoint", "profile",
	"accessKeyId", "secretAccessKey", "sessionToken",
	"azureClientId", "azureClientSecret", "azureTenantId", "azureAuthorityHost", "azureTokenScope",
}

// settings merges the settings of one request over those of the provider and
// renders the templates among them.
func (m *model) settings(ctx context.Context, ask *proviso.Ask) (*value.Object, error) {
	cfg, late, err := m.overlaid(ask.Config)
	if err != nil || len(late) == 0 {
		return cfg, err
	}
	if cfg == m.config {
		cfg = cfg.Clone()
	}
	for _, name := range late {
		v, err := m.fill.fill(ctx, cfg.At(name), ask.AllVars().OrEmpty(), 0)
		if err != nil {
			return nil, proviso.Errorf(cmp.Or(proviso.CodeOf(err), proviso.Undecided), "%s: config.%s: %w", m.id, name, err)
		}
		cfg.Set(name, v)
	}
	return cfg, nil
}

// overlaid merges the settings of a request over those of the provider. It also returns the names
// of the settings that contain templates.
func (m *model) overlaid(over *value.Object) (cfg *value.Object, late []string, err error) {
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
		return nil, nil, proviso.Errorf(cmp.Or(proviso.CodeOf(err), proviso.Invalid), "%s: %w", m.id, err)
	}
	for _, name := range m.late {
		if !over.Has(name) {
			late = append(late, name)
		}
	}
	return overlaid(m.config, over), late, nil
}

// endpointFor returns the endpoint with the changes of one request: the retry limit and headers.
func (m *model) endpointFor(over *value.Object) *endpoint {
	n, again := over.At("maxRetries").(float64)
	headers := over.Object("headers")
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

// cacheKey covers what a request depends on besides the prompt: rendered
// templates, files in the settings, and variables.
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
	return blobs.Key("settings", value.Stringify(value.Sorted(proviso.Keyless(cfg)))), nil
}

// unstreamed returns the settings without those that request streaming, and
// whether there were any. Answers are read whole, so streaming changes nothing.
func unstreamed(cfg *value.Object) (*value.Object, bool) {
	asked := false
	without := func(o *value.Object) *value.Object {
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

// warn reports a problem that does not prevent the provider from opening.
func (s settings) warn(message string) {
	if s.o.Warn != nil {
		s.o.Warn(&proviso.Error{Code: proviso.Invalid, Pointer: s.spec.Pointer, Message: s.spec.ID + ": " + message, Warning: true})
	}
}
