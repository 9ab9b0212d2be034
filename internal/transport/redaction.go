package transport

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/value"
)

// The headers that are stored. Headers that are not in these lists never reach a file. Request
// headers are part of the key of an exchange.
var (
	requestHeaders  = [...]string{"Accept", "Anthropic-Beta", "Anthropic-Version", "Content-Type", "Openai-Beta"}
	responseHeaders = [...]string{"Content-Encoding", "Content-Language", "Content-Type", "Location", "Retry-After"}
)

// keep copies the headers that are in the list.
func keep(h http.Header, list []string) map[string]string {
	kept := map[string]string{}
	for _, name := range list {
		if v := h.Values(name); len(v) > 0 {
			kept[name] = strings.Join(v, ", ")
		}
	}
	return kept
}

// Secret reports whether a header or URL parameter with this name is likely to hold a key or a
// signature. Such values are never recorded.
func Secret(name string) bool {
	if proviso.IsSecret(name) {
		return true
	}
	name = strings.ToLower(name)
	return name == "code" || strings.HasPrefix(name, "x-amz-") || strings.HasPrefix(name, "x-goog-") ||
		slices.ContainsFunc([]string{"key", "token", "sig", "auth", "passw", "cred", "session"},
			func(part string) bool { return strings.Contains(name, part) })
}

// cleanURL returns a URL without user name, fragment, keys and signatures and with sorted
// parameters, and the values that were removed.
func cleanURL(u *url.URL) (string, []string) {
	var secrets []string
	if pass, ok := u.User.Password(); ok {
		secrets = append(secrets, pass)
	}
	query := u.Query()
	for name, values := range query {
		if Secret(name) {
			secrets = append(secrets, values...)
			query.Del(name)
		}
	}
	safe := url.URL{Scheme: u.Scheme, Opaque: u.Opaque, Host: u.Host, Path: u.Path, RawPath: u.RawPath, RawQuery: query.Encode()}
	return safe.String(), secrets
}

// secretsOf collects likely keys in a request. They are removed from everything else that is
// stored, such as a response that quotes them.
func secretsOf(req *http.Request) []string {
	_, secrets := cleanURL(req.URL)
	for name, values := range req.Header {
		if !Secret(name) {
			continue
		}
		for _, v := range values {
			secrets = append(secrets, v)
			if _, token, ok := strings.Cut(v, " "); ok { // Bearer
				secrets = append(secrets, token)
			}
		}
	}
	return secrets
}

// shortSecret is the length below which a key is treated as an ordinary word, because it would
// match ordinary text.
const shortSecret = 8

// hide removes secrets from text.
func (c *Cassette) hide(text string, secrets []string) string {
	for _, s := range secrets {
		if len(s) < shortSecret {
			continue
		}
		text = strings.ReplaceAll(text, s, proviso.Redaction)
	}
	for _, re := range c.redact {
		text = re.ReplaceAllLiteralString(text, proviso.Redaction)
	}
	return text
}

// cleanRequest removes secrets from a request: members with secret names, matches of --redact, and
// the given texts. Without given texts, the result is what the key is made of.
func (c *Cassette) cleanRequest(q Request, secrets []string) Request {
	q.URL = c.hide(q.URL, secrets)
	headers := map[string]string{}
	for name, v := range q.Headers {
		headers[name] = c.hide(v, secrets)
	}
	q.Headers = headers
	q.Content = c.clean(q.Content, secrets, true)
	return q
}

// clean removes secrets from a body; if names is set, also the values of members with secret names.
func (c *Cassette) clean(b Content, secrets []string, names bool) Content {
	switch {
	case !names && len(secrets)+len(c.redact) == 0:
	case b.JSON != nil:
		b.JSON = rewrite(b.JSON, func(s string, secret bool) string {
			if names && secret {
				return proviso.Redaction
			}
			return c.hide(s, secrets)
		})
	case b.Text != "":
		b.Text = c.hide(b.Text, secrets)
	}
	return b
}

// memberSecrets returns the texts of members with secret names in a JSON request.
func memberSecrets(raw json.RawMessage) []string {
	var secrets []string
	rewrite(raw, func(s string, secret bool) string {
		if secret {
			secrets = append(secrets, s)
		}
		return s
	})
	return secrets
}

// content returns a body as Content.
func content(data []byte) Content {
	switch {
	case len(data) == 0:
		return Content{}
	case !utf8.Valid(data):
		return Content{Bytes: data}
	case json.Valid(data):
		return Content{JSON: data}
	}
	return Content{Text: string(data)}
}

// promptOf returns the beginning of a request's prompt: the last text where APIs have prompts, or
// else the whole body.
func promptOf(b *Content) string {
	text := b.Text
	if b.JSON != nil {
		v, err := value.ParseJSON(string(b.JSON))
		if text = lastText(v); err != nil || text == "" {
			text = string(b.JSON)
		}
	}
	return excerpt.Runes(text, 80)
}

func lastText(v any) string {
	last := ""
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			if s := lastText(e); s != "" {
				last = s
			}
		}
	case *value.Object:
		for name, e := range v.All() {
			s, isText := e.(string)
			switch {
			case !isText:
				s = lastText(e)
			case !slices.Contains([]string{"content", "text", "prompt", "input", "query", "message", "question"}, name):
				s = ""
			}
			if s != "" {
				last = s
			}
		}
	}
	return last
}

// rewrite replaces the strings and numbers of a valid JSON text that hide changes, and leaves every
// other byte unchanged. It tells hide whether a string is a member with a secret name.
func rewrite(raw []byte, hide func(text string, secret bool) string) []byte {
	var out bytes.Buffer
	secret := false
	for i := 0; i < len(raw); {
		end := i + 1
		switch c := raw[i]; {
		case c == '"':
			end = i + literal(raw[i:])
			text := unquoted(raw[i:end])
			hidden := hide(text, secret)
			secret = isName(raw[end:]) && proviso.IsSecret(text)
			put(&out, raw[i:end], text, hidden)
		case c == '-' || c >= '0' && c <= '9':
			for end < len(raw) && bytes.IndexByte([]byte("0123456789.eE+-"), raw[end]) >= 0 {
				end++
			}
			number := string(raw[i:end])
			put(&out, raw[i:end], number, hide(number, false))
		default:
			out.WriteByte(c)
			secret = secret && c != '{' && c != '[' && c != ','
		}
		i = end
	}
	return out.Bytes()
}

// put writes the original bytes if the text is unchanged, and otherwise the new text as a JSON
// string.
func put(out *bytes.Buffer, raw []byte, was, is string) {
	if was == is {
		out.Write(raw)
		return
	}
	out.Write(value.AppendQuoted(nil, is))
}

// isName reports whether a string that is followed by after is the name of a member.
func isName(after []byte) bool {
	for _, c := range after {
		switch c {
		case ' ', '\t', '\r', '\n':
		default:
			return c == ':'
		}
	}
	return false
}

// literal is the length of the string literal that raw begins with.
func literal(raw []byte) int {
	for i := 1; i < len(raw); i++ {
		switch raw[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(raw)
}

// unquoted decodes a string literal.
func unquoted(literal []byte) string {
	v, _ := value.ParseJSON(string(literal))
	text, _ := v.(string)
	return text
}
