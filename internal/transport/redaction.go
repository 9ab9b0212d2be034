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

// The headers that are stored. Headers that are not in these lists never reach a file;
// those of requests distinguish exchanges.
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

// Secret reports whether a header or a parameter of a URL with this name is likely
// to hold a key or a signature. Such are never recorded.
func Secret(name string) bool {
	if proviso.IsSecret(name) {
		return true
	}
	name = strings.ToLower(name)
	return name == "code" || strings.HasPrefix(name, "x-amz-") || strings.HasPrefix(name, "x-goog-") ||
		slices.ContainsFunc([]string{"key", "token", "sig", "auth", "passw", "cred", "session"},
			func(part string) bool { return strings.Contains(name, part) })
}

// cleanURL returns an address without user name, fragment, keys and signatures,
// its parameters in order, and the values that were taken out.
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

// secretsOf collects likely keys in a request, to remove them from everything else that
// is stored, such as a response that quotes them.
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

// shortSecret is the length below which a key is treated as a word, because it would
// match ordinary text.
const shortSecret = 8

// hide removes from text what may not be stored.
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

// cleanRequest removes secrets from a request: by name, by --redact, and the given
// texts. Without those texts the result is what the key is made of.
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

// clean removes secrets from a body; with names, also members with the names of
// secrets.
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

// memberSecrets returns the texts of members of a JSON request with the names of
// secrets.
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

// content makes a body of bytes.
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

// promptOf is the beginning of what a request asks: the last text in it that
// stands where APIs have prompts, or all of it.
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

// rewrite replaces those strings and numbers of a valid JSON text that hide changes,
// and leaves every other byte as it is. It passes hide whether a string is a member
// with the name of a secret.
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

// put writes the text as it was, or what it became as a string.
func put(out *bytes.Buffer, raw []byte, was, is string) {
	if was == is {
		out.Write(raw)
		return
	}
	out.Write(value.AppendQuoted(nil, is))
}

// isName reports whether a string that after follows is the name of a member.
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
