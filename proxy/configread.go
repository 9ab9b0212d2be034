package proxy

import (
	"cmp"
	"errors"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/ingest"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/internal/kind"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/value"
)

// ReadConfig reads a configuration in YAML, or in JSON if the file name ends in .json. env supplies
// the keys and salts that it names. All mistakes are reported at once; if one of them is more than
// a warning, the configuration is nil.
func ReadConfig(file string, data []byte, env proviso.Env) (*Config, proviso.Mistakes) {
	doc, err := document.Parse(file, data)
	if err != nil {
		var syntax *document.SyntaxError
		if errors.As(err, &syntax) {
			return nil, proviso.Mistakes{{Place: syntax.Place, Code: proviso.Invalid, Message: syntax.Message}}
		}
		return nil, proviso.Mistakes{{Place: proviso.Place{File: file}, Code: proviso.Invalid, Message: err.Error()}}
	}
	r := configReader{doc: doc, env: env}
	c := &Config{Versions: SystemPrompt}
	root := r.members("", doc.Root,
		member{"upstreams", func(at string, v any) { c.Upstreams = r.upstreams(at, v) }},
		member{"record", func(at string, v any) { c.Record = r.record(at, v) }},
		member{"identify", func(at string, v any) { r.identify(&c.Identify, at, v) }},
		member{"versions", func(at string, v any) { c.Versions = r.oneOf(at, v, SystemPrompt, NoVersions) }},
		member{"redact", func(at string, v any) { c.Redact = r.redact(at, v) }})
	if root != nil && !root.Has("upstreams") {
		r.wrong("", "upstreams is missing, such as {openai: https://api.openai.com}")
	}
	slices.SortStableFunc(r.mistakes, func(a, b proviso.Mistake) int {
		return cmp.Or(a.More-b.More, a.Place.Line-b.Place.Line, a.Place.Column-b.Place.Column)
	})
	if r.mistakes.Err() != nil {
		return nil, r.mistakes
	}
	return c, r.mistakes
}

// configReader reads a configuration and collects its mistakes.
type configReader struct {
	doc      *document.Document
	env      proviso.Env
	mistakes proviso.Mistakes
}

// add reports a mistake and returns it, so that the caller can add details.
func (r *configReader) add(place func(string) proviso.Place, at, message string) *proviso.Mistake {
	r.mistakes.AddAt(func() proviso.Place { return place(at) }, proviso.Mistake{Code: proviso.Invalid, Message: message})
	if last := &r.mistakes[len(r.mistakes)-1]; last.More == 0 {
		return last
	}
	return &proviso.Mistake{}
}

// wrong reports a mistake at the value that a pointer names, or at its nearest parent.
func (r *configReader) wrong(at, format string, args ...any) *proviso.Mistake {
	return r.add(r.doc.Place, at, proviso.Errorf(proviso.Invalid, format, args...).Message)
}

// member is a member of an object in the configuration, and the function that reads its value.
type member struct {
	key  string
	read func(at string, v any)
}

// members reads an object and reports unknown keys. If the value is not an object, it returns nil,
// which reads as empty.
func (r *configReader) members(at string, v any, list ...member) *value.Object {
	names := make([]string, len(list))
	for i, m := range list {
		names[i] = m.key
	}
	last := len(names) - 1
	o := r.object(at, v, strings.Join(names[:last], ", ")+" and "+names[last])
	for key, v := range o.All() {
		at := document.Join(at, key)
		if i := slices.Index(names, key); i >= 0 {
			list[i].read(at, v)
			continue
		}
		r.add(r.doc.KeyPlace, at, "unknown key "+quoted(key)+", expected "+strings.Join(names, ", ")).Nearest = document.Nearest(key, names)
	}
	return o
}

// object returns a value that must be an object. If it is not, it returns nil, which reads as
// empty.
func (r *configReader) object(at string, v any, with string) *value.Object {
	o, ok := v.(*value.Object)
	if !ok {
		r.wrong(at, "expected an object with %s, found %s", with, kind.Of(v))
	}
	return o
}

func (r *configReader) text(at string, v any, expected string) string {
	s, ok := v.(string)
	switch {
	case !ok:
		r.wrong(at, "expected %s, found %s", expected, kind.Of(v))
	case s == "":
		r.wrong(at, "expected %s, found an empty text", expected)
	}
	return s
}

func (r *configReader) oneOf(at string, v any, valid ...string) string {
	s, _ := v.(string)
	if slices.Contains(valid, s) {
		return s
	}
	found := kind.Of(v)
	if s != "" {
		found = quoted(s)
	}
	r.wrong(at, "expected %s, found %s", strings.Join(valid, " or "), found).Nearest = document.Nearest(s, valid)
	return s
}

// reserved are the first path parts that the proxy serves itself.
var reserved = []string{"healthz", "readyz", "metrics"}

func (r *configReader) upstreams(at string, v any) map[string]*url.URL {
	const example = "names and addresses, such as {openai: https://api.openai.com}"
	o := r.object(at, v, example)
	if o != nil && o.Len() == 0 {
		r.wrong(at, "expected an object with %s, found an empty one", example)
	}
	list := map[string]*url.URL{}
	for name, v := range o.All() {
		at := document.Join(at, name)
		switch {
		case slices.Contains(reserved, name):
			r.wrong(at, "the name %s is taken: the proxy itself answers at /%s", name, name)
		case name == "" || len(name) > 64 || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_.") != "" || name[0] == '.':
			r.wrong(at, "the name %s is used in paths: expected lower case letters, digits, hyphens, dots and underscores", quoted(name))
		}
		if u := r.address(at, v); u != nil {
			list[name] = u
		}
	}
	return list
}

// address reads a server address.
func (r *configReader) address(at string, v any) *url.URL {
	const expected = "an address such as https://api.example.com"
	s := r.text(at, v, expected)
	if s == "" {
		return nil
	}
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		r.wrong(at, "expected %s, found %s", expected, quoted(proviso.RedactedURL(s)))
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		r.wrong(at, "expected an address without user, query and fragment: keys are forwarded from requests, and key_env names that of the server")
	case dotted(u.EscapedPath()):
		r.wrong(at, "expected an address without . and .. in its path, found %s", quoted(s))
	default:
		u.Path, u.RawPath = strings.TrimSuffix(u.Path, "/"), strings.TrimSuffix(u.RawPath, "/")
		return u
	}
	return nil
}

func (r *configReader) record(at string, v any) *Record {
	c := &Record{Sample: 1, Buffer: defaultBuffer}
	o := r.members(at, v,
		member{"to", func(at string, v any) { c.To = r.address(at, v) }},
		member{"key_env", func(at string, v any) {
			if name := r.text(at, v, "the name of an environment variable"); name != "" {
				c.Key = r.variable(at, name)
			}
		}},
		member{"sample", func(at string, v any) {
			f, isNumber := v.(float64)
			if c.Sample = f; !isNumber || !(f >= 0 && f <= 1) {
				r.wrong(at, "expected a share from 0 to 1, found %s", shown(v))
			}
		}},
		member{"buffer", func(at string, v any) { c.Buffer = r.size(at, v) }})
	if o != nil && !o.Has("to") {
		r.wrong(at, "to is missing: the address of a proviso server, such as http://127.0.0.1:8080")
	}
	if c.To != nil && c.Key != "" && c.To.Scheme == "http" && !transport.ThisMachine(c.To.Hostname()) {
		r.wrong(document.Join(at, "to"), "the key and all events go to %s as they are: use https", c.To.Host).Warning = true
	}
	return c
}

// variable looks up an environment variable that must be set.
func (r *configReader) variable(at, name string) string {
	var v string
	if r.env != nil {
		v, _ = r.env.Lookup(name)
	}
	switch {
	case v == "":
		r.wrong(at, "%w", proviso.UnsetVariable(name))
	case !httpguts.ValidHeaderFieldValue(v):
		r.wrong(at, "the value of the environment variable %s holds characters that no key has", quoted(name))
	}
	return v
}

// units are the units of sizes.
var units = []struct {
	name  string
	bytes float64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"B", 1}, {"", 1}}

// size reads bytes.
func (r *configReader) size(at string, v any) int64 {
	n := math.NaN()
	switch v := v.(type) {
	case float64:
		n = v
	case string:
		for _, u := range units {
			if digits, ok := strings.CutSuffix(v, u.name); ok {
				if f, err := strconv.ParseFloat(strings.TrimSpace(digits), 64); err == nil {
					n = f * u.bytes
				}
				break
			}
		}
	}
	if !(n >= minBuffer && n <= maxBuffer) {
		r.wrong(at, "expected a size from 1MiB to 16GiB, such as 64MiB, found %s", shown(v))
		return defaultBuffer
	}
	return int64(n)
}

// redact reads the redaction rules and checks them with the salts of the environment.
func (r *configReader) redact(at string, v any) []ingest.Rule {
	rules, wrong := ingest.ReadRules(v, at)
	for _, e := range wrong {
		place := r.doc.Place
		if strings.HasPrefix(e.Message, "unknown field") {
			place = r.doc.KeyPlace
		}
		r.add(place, e.Pointer, e.Message).Code = e.Code
	}
	if len(rules) > ingest.MaxRules {
		r.wrong(at, "%d rules, and at most %d are allowed", len(rules), ingest.MaxRules)
		return nil
	}
	for i := range rules {
		if len(wrong) == 0 && rules[i].HashEnv != "" {
			r.variable(document.Join(document.Join(at, i), "hash_env"), rules[i].HashEnv)
		}
	}
	return rules
}

func (r *configReader) identify(to *Identify, at string, v any) {
	source := func(key string, to *Source, fixed bool) member {
		return member{key, func(at string, v any) { *to = r.source(at, v, fixed) }}
	}
	r.members(at, v, source("agent", &to.Agent, true), source("conversation", &to.Conversation, false), source("user", &to.User, false),
		source("event", &to.Event, false), source("version", &to.Version, true), member{"segment", func(at string, v any) { to.Segment = r.segment(at, v) }})
}

func (r *configReader) segment(at string, v any) map[string]Source {
	o := r.object(at, v, "names and headers, such as {lang: header:X-Language}")
	if o.Len() > ingest.MaxSegments {
		r.wrong(at, "%d members, and at most %d are allowed", o.Len(), ingest.MaxSegments)
		return nil
	}
	list := map[string]Source{}
	for name, v := range o.All() {
		at := document.Join(at, name)
		if len(name) > maxName {
			r.wrong(at, "the name has more than %d bytes", maxName)
		}
		list[name] = r.source(at, v, true)
	}
	return list
}

// kept are headers that an upstream needs or that hold keys. No name may come from them.
var kept = []string{"Authorization", "X-Api-Key", "Api-Key", "Cookie", "Proxy-Authorization", "Host", "Content-Length", "Content-Type", "Content-Encoding",
	"Transfer-Encoding", "Connection", "Upgrade", "Expect", "Te", "Trailer", "Keep-Alive", "Proxy-Connection", "Anthropic-Version", "Anthropic-Beta", "Openai-Beta"}

// source reads the source of a name.
func (r *configReader) source(at string, v any, fixed bool) Source {
	expected := "header:NAME, such as header:X-Proviso-Agent"
	if fixed {
		expected += ", or a text for all requests"
	}
	s := r.text(at, v, expected)
	if name, ok := strings.CutPrefix(s, "header:"); ok {
		header := http.CanonicalHeaderKey(strings.TrimSpace(name))
		switch {
		case !httpguts.ValidHeaderFieldName(header):
			r.wrong(at, "expected %s, found %s", expected, quoted(s))
		case slices.Contains(kept, header) || proviso.IsSecret(header):
			r.wrong(at, "the header %s is needed by the upstream or holds a key; use one of your own, such as X-Proviso-Agent", header)
		}
		return Source{Header: header}
	}
	if s != "" && (!fixed || strings.Contains(s, ":")) {
		m := r.wrong(at, "expected %s, found %s", expected, quoted(s))
		if head, _, ok := strings.Cut(s, ":"); ok && document.Nearest(head, []string{"header"}) != "" {
			m.Nearest = "header:"
		}
	}
	if head := strings.ToLower(s); strings.HasPrefix(head, "x-") && httpguts.ValidHeaderFieldName(s) {
		r.wrong(at, "%s would be the name for all requests; for the header of this name write header:%s", quoted(s), excerpt.Bytes(s, 60)).Nearest = "header:" + excerpt.Bytes(s, 60)
	}
	if len(s) > maxName {
		r.wrong(at, "the text has more than %d bytes", maxName)
	}
	return Source{Text: s}
}

func shown(v any) string {
	if s, ok := v.(string); ok {
		return quoted(s)
	}
	return excerpt.Bytes(value.Stringify(v), 40)
}

func quoted(text string) string { return strconv.Quote(excerpt.Bytes(text, 60)) }
