package suite

import (
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/value"
)

// guard finds forbidden parts of an untrusted suite in values and reports them at
// their place. The zero value finds nothing.
type guard struct {
	*Trust
	facts  proviso.Facts
	files  *Files
	report func(at, message string)
}

// refuses reports whether look finds anything forbidden.
func (g guard) refuses(look func(guard)) bool {
	found, report := false, g.report
	g.report = func(at, message string) {
		found = true
		report(at, message)
	}
	look(g)
	return found
}

// guard returns a guard whose pointers are those of a document.
func (r *reading) guard(d *document.Document) guard {
	return guard{r.trust, r.options.Facts, r.files, func(at, message string) { r.refuse(d, at, "%s", message) }}
}

// guard returns a guard whose pointers are those of the whole suite.
func (d *decoder) guard() guard {
	return guard{d.trust, d.facts, d.files, func(at, message string) {
		d.Failed = true
		d.Report(proviso.ErrorAt(at, proviso.Refused, "%s", message))
	}}
}

// assertion checks an assertion without the assertions within it.
func (g guard) assertion(at string, o *value.Object) {
	if g.Trust == nil {
		return
	}
	kind, _ := o.At("type").(string)
	kind = strings.TrimPrefix(kind, "not-")
	switch facts := g.facts.Types.Of(kind); {
	case len(g.facts.Types) == 0 || facts != nil && facts.Code: // without a table, every type may be code
		g.report(at+"/type", codeRefused(kind))
		return
	case facts != nil && facts.Address:
		g.address(at+"/value", o.At("value"))
	}
	g.references(at+"/value", o.At("value"))
	g.code(at, o, "transform", "contextTransform")
	g.references(at+"/rubricPrompt", o.At("rubricPrompt"))
	g.references(at+"/config", o.At("config"))
	g.provider(at+"/provider", o.At("provider"))
}

// testCase checks a case without its assertions.
func (g guard) testCase(at string, o *value.Object, own *ownParts, env proviso.Env) {
	if g.Trust == nil {
		return
	}
	options, _ := o.At("options").(*value.Object)
	g.code(at, o, "assertScoringFunction")
	g.provider(at+"/provider", o.At("provider"))
	g.code(at+"/options", options, "transform", "postprocess", "transformVars")
	g.provider(at+"/options/provider", options.At("provider"))
	for key, v := range options.All() {
		if !slices.Contains([]string{"transform", "postprocess", "transformVars"}, key) {
			g.references(document.Join(at+"/options", key), v)
		}
	}
	g.env(at, o, env)
	if _, inline := o.At("vars").(*value.Object); !inline {
		g.env(at+"/vars", own.vars, env)
	}
}

// code refuses the members of an object that are always code.
func (g guard) code(at string, o *value.Object, keys ...string) {
	for _, key := range keys {
		if s, ok := o.At(key).(string); ok && s != "" {
			g.report(document.Join(at, key), codeRefused(key))
		}
	}
}

// references refuses references in a value to files of code and to files that may not
// be read.
func (g guard) references(at string, v any) {
	for at, text := range document.Texts(at, v) {
		if strings.HasSuffix(at, "/$ref") {
			continue // those were followed, or refused, already
		}
		if scriptFile(text) {
			g.report(at, codeRefused(document.Excerpt(text)))
		} else if name, ok := strings.CutPrefix(text, "file://"); ok {
			g.file(at, name)
		}
	}
}

// file refuses the name of a file that may not be read.
func (g guard) file(at, name string) {
	if g.files == nil || strings.Contains(name, "{{") {
		return
	}
	if _, err := g.files.local(g.files.Clean(name)); err != nil {
		g.report(at, err.Error())
	}
}

// env refuses environment variables in the templates of a value.
func (g guard) env(at string, v any, env proviso.Env) {
	for at, text := range document.Texts(at, v) {
		for _, name := range g.forbidden(text, env) {
			g.report(at, envRefused(name))
		}
	}
}

// address refuses the host of a URL.
func (g guard) address(at string, v any) {
	s, _ := v.(string)
	if host := g.refusedHost(s); host != "" {
		g.report(at, hostRefused(host))
	}
}

// provider checks a provider: an id, or {id, config}, or a list of them by purpose.
func (g guard) provider(at string, v any) {
	if g.Trust == nil {
		return
	}
	switch v := v.(type) {
	case string:
		g.providerID(at, v)
	case *value.Object:
		if id, ok := v.At("id").(string); ok {
			g.providerID(at+"/id", id)
		} else {
			for key, e := range v.All() {
				if inner, ok := e.(*value.Object); !ok || inner.Has("id") {
					g.provider(document.Join(at, key), e)
				}
			}
		}
		g.providerSettings(at, v)
	}
}

// providerSettings checks an entry without its id.
func (g guard) providerSettings(at string, o *value.Object) {
	g.code(at, o, "transform")
	config, _ := o.At("config").(*value.Object)
	g.providerConfig(at+"/config", config)
}

func (g guard) providerID(at, id string) {
	if runsCode(g.facts.Providers, id) {
		g.report(at, codeRefused("the provider "+document.Excerpt(id)))
		return
	}
	facts, rest := g.facts.Providers.Of(id)
	switch {
	case facts != nil && facts.File:
		g.file(at, rest)
	case facts != nil && facts.URL:
		id = rest
	}
	g.address(at, id)
}

// addressKeys are the settings of providers that hold a URL or a host.
var addressKeys = [...]string{"apiBaseUrl", "apiHost", "baseUrl", "baseURL", "base_url", "endpoint", "tokenUrl", "url"}

// providerConfig checks the settings of a provider.
func (g guard) providerConfig(at string, o *value.Object) {
	g.references(at, o)
	for _, key := range addressKeys {
		s, _ := o.At(key).(string)
		if key == "apiHost" && s != "" && !strings.Contains(s, "://") {
			s = "https://" + s
		}
		g.address(document.Join(at, key), s)
	}
	g.code(at, o, "transformResponse", "responseParser", "validateStatus")
	if s, ok := o.At("transformRequest").(string); ok && !onlyTemplate(s) {
		g.report(at+"/transformRequest", codeRefused("transformRequest"))
	}
	g.rawRequest(at+"/request", o.At("request"))
	if auth, ok := o.At("auth").(*value.Object); ok {
		g.providerConfig(at+"/auth", auth)
	}
	if name, ok := o.At("apiKeyEnvar").(string); ok {
		for _, forbidden := range g.forbidden("{{ env['"+name+"'] }}", proviso.EnvMap{}) {
			g.report(at+"/apiKeyEnvar", envRefused(forbidden))
		}
	}
	if !asksNothing(o.At("mcp")) {
		g.report(at+"/mcp", codeRefused("an MCP server of this machine"))
	}
}

// onlyTemplate reports whether a text that may be a template or a script is certainly
// not a script.
func onlyTemplate(s string) bool {
	if !strings.Contains(s, "{{") && !strings.Contains(s, "{%") {
		return false
	}
	return !slices.ContainsFunc([]string{"file://", "=>", "return ", "function"}, func(sign string) bool { return strings.Contains(s, sign) })
}

// rawRequest refuses the hosts in the request line and headers of a raw HTTP/1.1
// request.
func (g guard) rawRequest(at string, v any) {
	s, _ := v.(string)
	head, _, _ := strings.Cut(strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")), "\n\n")
	for i, line := range strings.Split(head, "\n") {
		name, value, _ := strings.Cut(line, ":")
		if strings.EqualFold(strings.TrimSpace(name), "host") {
			g.address(at, "http://"+strings.TrimSpace(value))
		}
		if fields := strings.Fields(line); i == 0 && len(fields) > 1 {
			g.address(at, fields[1])
		}
	}
}
