package proxy

import (
	"cmp"
	"errors"
	"math"
	"net"
	"net/http"
	"net/netip"
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
	"github.com/proviso-eval/proviso/value"
)

// ReadConfig reads a configuration in YAML, or in JSON if the name of the file ends in
// .json. env has the keys and salts that it names. It reports all mistakes at once;
// there is no configuration if one of them is more than a warning.
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
	root := r.object("", doc.Root, "upstreams, record, identify, versions and redact")
	r.known("", root, "upstreams", "record", "identify", "versions", "redact")
	r.upstreams(c, root)
	r.record(c, root)
	r.identify(c, root)
	if v, ok := root.Get("versions"); ok {
		c.Versions = r.oneOf("/versions", v, SystemPrompt, NoVersions)
	}
	r.redact(c, root)
	slices.SortStableFunc(r.mistakes, func(a, b proviso.Mistake) int {
		return cmp.Or(a.Place.Line-b.Place.Line, a.Place.Column-b.Place.Column)
	})
	if r.more > 0 {
		r.mistakes = append(r.mistakes, proviso.MoreMistakes(r.more, false))
	}
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
	more     int // mistakes that are not among them
}

// maxMistakes bounds the mistakes that are reported: to find the place of one takes time in
// proportion to the file.
const maxMistakes = 100

// add reports a mistake, and returns it for what else is known of it.
func (r *configReader) add(place func(string) proviso.Place, at, message string) *proviso.Mistake {
	if len(r.mistakes) == maxMistakes {
		r.more++
		return &proviso.Mistake{}
	}
	r.mistakes = append(r.mistakes, proviso.Mistake{Place: place(at), Code: proviso.Invalid, Message: message})
	return &r.mistakes[len(r.mistakes)-1]
}

// wrong reports a mistake at the value of a pointer, or of the nearest parent.
func (r *configReader) wrong(at, format string, args ...any) *proviso.Mistake {
	return r.add(r.doc.Place, at, proviso.Errorf(proviso.Invalid, format, args...).Message)
}

// known reports the keys of an object that are none of the valid ones.
func (r *configReader) known(at string, o *value.Object, valid ...string) {
	for key := range o.All() {
		if !slices.Contains(valid, key) {
			r.add(r.doc.KeyPlace, document.Join(at, key), "unknown key "+quoted(key)+", expected "+strings.Join(valid, ", ")).Nearest = document.Nearest(key, valid)
		}
	}
}

// object returns a value that has to be an object; nil, which is empty, if it is not.
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

// reserved are the first parts of the paths that the proxy itself serves.
var reserved = []string{"healthz", "readyz", "metrics"}

func (r *configReader) upstreams(c *Config, root *value.Object) {
	v, ok := root.Get("upstreams")
	if !ok {
		if root != nil {
			r.wrong("", "upstreams is missing, such as {openai: https://api.openai.com}")
		}
		return
	}
	const example = "names and addresses, such as {openai: https://api.openai.com}"
	o := r.object("/upstreams", v, example)
	if o != nil && o.Len() == 0 {
		r.wrong("/upstreams", "expected an object with %s, found an empty one", example)
	}
	c.Upstreams = map[string]*url.URL{}
	for name, v := range o.All() {
		at := document.Join("/upstreams", name)
		switch {
		case slices.Contains(reserved, name):
			r.wrong(at, "the name %s is taken: the proxy itself answers at /%s", name, name)
		case name == "" || len(name) > 64 || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_.") != "" || name[0] == '.':
			r.wrong(at, "the name %s stands in paths: expected lower case letters, digits, hyphens, dots and underscores", quoted(name))
		}
		if u := r.address(at, v); u != nil {
			c.Upstreams[name] = u
		}
	}
}

// address reads the address of a server.
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

func (r *configReader) record(c *Config, root *value.Object) {
	v, ok := root.Get("record")
	if !ok {
		return
	}
	o := r.object("/record", v, "to, key_env, sample and buffer")
	r.known("/record", o, "to", "key_env", "sample", "buffer")
	c.Record = &Record{Sample: 1, Buffer: DefaultBuffer}
	if v, ok := o.Get("to"); ok {
		c.Record.To = r.address("/record/to", v)
	} else if o != nil {
		r.wrong("/record", "to is missing: the address of a proviso server, such as http://127.0.0.1:8080")
	}
	if v, ok := o.Get("key_env"); ok {
		if name := r.text("/record/key_env", v, "the name of an environment variable"); name != "" {
			c.Record.Key = r.variable("/record/key_env", name)
		}
	}
	if v, ok := o.Get("sample"); ok {
		f, isNumber := v.(float64)
		if !isNumber || !(f >= 0 && f <= 1) {
			r.wrong("/record/sample", "expected a share from 0 to 1, found %s", shown(v))
		}
		c.Record.Sample = f
	}
	if v, ok := o.Get("buffer"); ok {
		c.Record.Buffer = r.size("/record/buffer", v)
	}
	if to := c.Record.To; to != nil && c.Record.Key != "" && to.Scheme == "http" && !local(to.Hostname()) {
		r.wrong("/record/to", "the key and all events go to %s as they are: use https", to.Host).Warning = true
	}
}

// local reports whether a host is this machine.
func local(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback() || strings.EqualFold(strings.TrimSuffix(host, "."), "localhost") || net.ParseIP(host).IsLoopback()
}

// variable looks up an environment variable that has to be set.
func (r *configReader) variable(at, name string) string {
	var v string
	if r.env != nil {
		v, _ = r.env.Lookup(name)
	}
	switch {
	case v == "":
		r.wrong(at, "the environment variable %s is not set", quoted(name))
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
		return DefaultBuffer
	}
	return int64(n)
}

// redact reads the rules, and tries them with the salts of the environment.
func (r *configReader) redact(c *Config, root *value.Object) {
	rules, wrong := ingest.ReadRules(root.At("redact"), "/redact")
	c.Redact = rules
	for _, e := range wrong {
		place := r.doc.Place
		if strings.HasPrefix(e.Message, "unknown field") {
			place = r.doc.KeyPlace
		}
		r.add(place, e.Pointer, e.Message).Code = e.Code
	}
	if len(rules) > ingest.MaxRules {
		r.wrong("/redact", "%d rules, and at most %d are allowed", len(rules), ingest.MaxRules)
		return
	}
	for i := range rules {
		if len(wrong) == 0 && rules[i].HashEnv != "" {
			r.variable(document.Join(document.Join("/redact", i), "hash_env"), rules[i].HashEnv)
		}
	}
}

func (r *configReader) identify(c *Config, root *value.Object) {
	v, ok := root.Get("identify")
	if !ok {
		return
	}
	sources := c.Identify.sources()
	names := []string{"agent", "conversation", "user", "event", "version", "segment"}
	o := r.object("/identify", v, strings.Join(names, ", "))
	r.known("/identify", o, names...)
	for name, to := range sources {
		if v, ok := o.Get(name); ok {
			*to = r.source(document.Join("/identify", name), v, name == "agent" || name == "version")
		}
	}
	if v, ok := o.Get("segment"); ok {
		segment := r.object("/identify/segment", v, "names and headers, such as {lang: header:X-Language}")
		if segment.Len() > ingest.MaxSegments {
			r.wrong("/identify/segment", "%d members, and at most %d are allowed", segment.Len(), ingest.MaxSegments)
			return
		}
		c.Identify.Segment = map[string]Source{}
		for name, v := range segment.All() {
			at := document.Join("/identify/segment", name)
			if len(name) > maxName {
				r.wrong(at, "the name has more than %d bytes", maxName)
			}
			c.Identify.Segment[name] = r.source(at, v, true)
		}
	}
}

// kept are headers that an upstream needs, or that hold keys; no event has a name from them.
var kept = []string{"Authorization", "X-Api-Key", "Api-Key", "Cookie", "Proxy-Authorization", "Host", "Content-Length", "Content-Type", "Content-Encoding",
	"Transfer-Encoding", "Connection", "Upgrade", "Expect", "Te", "Trailer", "Keep-Alive", "Proxy-Connection", "Anthropic-Version", "Anthropic-Beta", "Openai-Beta"}

// source reads where a name comes from.
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
