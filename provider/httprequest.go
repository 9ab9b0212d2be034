package provider

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/value"
)

// Default content types of bodies.
const (
	typeJSON = "application/json"
	typeForm = "application/x-www-form-urlencoded"
)

// requestTemplate is a request in which every text may be a template.
type requestTemplate struct {
	method, url string
	header      *value.Object // name to template
	query       *value.Object
	body        any // text, list or object; nil for none
	json        bool
	templates   Templates
}

// call is a request that is ready to send.
type call struct {
	method string
	url    *url.URL
	header http.Header
	body   []byte
	prompt string
}

// requestTemplate reads the configuration.
func (s settings) requestTemplate() (requestTemplate, error) {
	cfg := s.spec.Config
	t := requestTemplate{method: strings.ToUpper(s.text("method")), url: s.text("url"), body: cfg.At("body"), templates: s.o.Templates}
	if s.spec.ID != "http" && s.spec.ID != "https" && t.url == "" {
		t.url = s.spec.ID
	}
	t.header, _ = cfg.At("headers").(*value.Object)
	t.query, _ = cfg.At("queryParams").(*value.Object)
	if raw := s.text("request"); raw != "" {
		if err := s.raw(&t, raw); err != nil {
			return t, err
		}
	}
	if t.url == "" {
		return t, s.invalid("config.url or config.request must name the endpoint")
	}
	if t.method == "" {
		t.method = http.MethodGet
		if t.body != nil || cfg.Has("transformRequest") {
			t.method = http.MethodPost
		}
	}
	if !token(t.method) {
		return t, s.invalid("%q is not a method of HTTP", t.method)
	}
	if t.method == http.MethodPost && t.body == nil && !cfg.Has("transformRequest") && !cfg.Has("request") {
		return t, s.invalid("config.body is missing: a POST without one asks nothing")
	}
	return t, s.settle(&t)
}

// settle decides the content type of the body.
func (s settings) settle(t *requestTemplate) error {
	kind := ""
	for name, v := range t.header.All() {
		if strings.EqualFold(name, "Content-Type") {
			kind = strings.ToLower(value.ToString(v))
		}
		if !token(name) {
			return s.invalid("%q is not the name of a header", name)
		}
	}
	_, text := t.body.(string)
	t.json = strings.Contains(kind, "json") || kind == "" && !text
	if kind != "" && !t.json && t.body != nil && !text {
		return s.invalid("config.body is a structure, but its Content-Type is %s: write it as text", kind)
	}
	switch {
	case kind != "" || t.body == nil && !s.spec.Config.Has("transformRequest"):
		return nil
	case text:
		kind = typeForm
	default:
		kind = typeJSON
	}
	t.header = t.header.Clone()
	t.header.Set("Content-Type", kind)
	return nil
}

// raw reads a request that is written in the form of HTTP/1.1.
func (s settings) raw(t *requestTemplate, text string) error {
	if name, ok := strings.CutPrefix(text, "file://"); ok {
		data, found := referred(name, s.o.Files)
		if !found {
			return s.failed(proviso.NotFound, "config.request: %s cannot be read", name)
		}
		text = string(data)
	}
	r, err := parseRawRequest(text)
	if err != nil {
		return s.invalid("config.request: %w", err)
	}
	scheme := "http"
	if s.spec.Config.At("useHttps") == true || strings.HasPrefix(t.url, "https:") || strings.HasPrefix(s.spec.ID, "https:") {
		scheme = "https"
	}
	t.method, t.query, t.header, t.body = r.method, nil, value.NewObject(len(r.header)), nil
	if t.url = r.target; strings.HasPrefix(r.target, "/") {
		if r.host == "" {
			return s.invalid("config.request: the header Host is missing")
		}
		t.url = scheme + "://" + r.host + r.target
	}
	for _, h := range r.header {
		t.header.Set(h.name, h.value)
	}
	if r.body != "" {
		t.body = r.body
	}
	return nil
}

// address returns the constant beginning of the URL.
func (t *requestTemplate) address() string {
	before, _, _ := strings.Cut(t.url, "{{")
	return before
}

// constant reports whether all requests go to one address.
func (t *requestTemplate) constant() bool {
	return !strings.Contains(t.url, "{{") && !strings.Contains(t.url, "{%")
}

// name is the provider's name in messages: its id, or its address without keys.
func (t *requestTemplate) name(id string) string {
	if u, err := url.Parse(t.address()); err == nil && u.Host != "" {
		return transport.URL(u)
	}
	id, _, _ = strings.Cut(id, "?")
	return id
}

// prepare builds the request for a prompt.
func (p *httpCall) prepare(ctx context.Context, ask proviso.Ask) (*call, error) {
	c, err := p.build(ctx, ask)
	if err != nil {
		return nil, proviso.Errorf(proviso.Undecided, "%s: %w", p.endpoint.id, err)
	}
	return c, nil
}

func (p *httpCall) build(ctx context.Context, ask proviso.Ask) (*call, error) {
	t := &p.request
	vars := ask.AllVars().Clone()
	vars.Set("prompt", ask.Prompt)
	changed, err := p.transformed(ctx, ask, vars)
	if err != nil {
		return nil, err
	}
	body := t.body
	if text, ok := changed.(string); ok {
		vars.Set("prompt", text)
	} else if changed != nil {
		body = t.merged(changed, vars)
	}
	c := &call{method: t.method, header: http.Header{}, prompt: ask.Prompt}
	if c.url, err = t.renderURL(ctx, vars); err != nil {
		return nil, err
	}
	for name, v := range t.header.All() {
		val, err := t.render(ctx, value.ToString(v), vars)
		if err != nil {
			return nil, err
		}
		c.header.Set(name, val)
	}
	if t.method != http.MethodGet && t.method != http.MethodHead {
		c.body, err = t.renderBody(ctx, body, vars)
	}
	return c, err
}

// transformed is the result of transformRequest for the prompt; nil if there is
// none.
func (p *httpCall) transformed(ctx context.Context, ask proviso.Ask, vars *value.Object) (any, error) {
	switch {
	case p.before == nil:
		return nil, nil
	case p.before.template != "":
		return p.request.renderEscaped(ctx, p.before.template, vars)
	}
	v, err := p.before.call(ctx, ask.Prompt, vars, contextOf(ask))
	if err != nil {
		return nil, err
	}
	switch v.(type) {
	case string, *value.Object, []any:
		return v, nil
	}
	if empty(v) {
		return nil, proviso.Errorf(proviso.Undecided, "transformRequest gives nothing")
	}
	return value.ToString(v), nil
}

// merged merges the result of transformRequest over the body. If the body is
// text, the result becomes its prompt.
func (t *requestTemplate) merged(v any, vars *value.Object) any {
	switch body := t.body.(type) {
	case string:
		vars.Set("prompt", value.Stringify(v))
		return body
	case *value.Object:
		if over, ok := v.(*value.Object); ok {
			all := body.Clone()
			for name, e := range over.All() {
				all.Set(name, literalValue{e})
			}
			return all
		}
	}
	return literalValue{v}
}

// literalValue is a part of a body that is not a template.
type literalValue struct{ v any }

// secrets are the values of headers and parameters that may be keys.
func (c *call) secrets() []string {
	var list []string
	add := func(value string) {
		if _, token, ok := strings.Cut(value, " "); ok {
			value = token
		}
		if len(value) >= 8 {
			list = append(list, value)
		}
	}
	for name, values := range c.header {
		for _, v := range values {
			if !proviso.IsPlainHeader(name) {
				add(v)
			}
		}
	}
	for name, values := range c.url.Query() {
		for _, v := range values {
			if proviso.IsSecret(name) {
				add(v)
			}
		}
	}
	return list
}
