// Package secrets redacts known secrets from stored and printed text: the keys that a
// run was given, wherever they occur. An answer may echo its request, and a program
// may print its environment.
//
// Start at [Set].
package secrets

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// Shortest is the minimum length, in bytes, of a value that is redacted. A shorter
// value would match ordinary words.
const Shortest = 8

// Set holds the known secrets. It is safe for concurrent use. A nil Set has no
// secrets, and its methods return their arguments unchanged.
type Set struct {
	mu     sync.Mutex
	values []string
	known  atomic.Pointer[index] // nil while no secrets are known
}

// Add adds secrets. It ignores values that are too short or contain a template.
func (s *Set) Add(values ...string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	before := len(s.values)
	for _, v := range values {
		v = strings.TrimSpace(v)
		if len(v) >= Shortest && !strings.Contains(v, "{{") && v != proviso.Redaction && !slices.Contains(s.values, v) {
			s.values = append(s.values, v)
		}
	}
	if len(s.values) == before {
		return
	}
	var forms [][]byte
	for _, v := range s.values {
		forms = appendForms(forms, v)
	}
	s.known.Store(newIndex(forms))
}

// AddConfig adds the secrets in a provider's configuration.
func (s *Set) AddConfig(cfg *value.Object) {
	if s == nil {
		return
	}
	for _, v := range proviso.SecretsIn(cfg) {
		s.Add(v)
		if _, credentials, ok := strings.Cut(v, " "); ok { // Authorization: Bearer …
			s.Add(credentials)
		}
	}
}

// appendForms adds the forms in which a value is searched for: unchanged, as JSON
// encodes it, and inside base64 at each of its three possible offsets.
func appendForms(forms [][]byte, val string) [][]byte {
	forms = append(forms, []byte(val))
	if quoted := value.AppendQuoted(nil, val); len(quoted) != len(val)+2 {
		forms = append(forms, quoted[1:len(quoted)-1])
	}
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for offset := range 3 {
			encoded := encoding.EncodeToString(append(make([]byte, offset), val...))
			// Characters that also hold bits of the text before or after the value differ from
			// text to text.
			start := (offset*8 + 5) / 6
			end := (offset + len(val)) * 8 / 6
			form := []byte(encoded[start:end])
			if !slices.ContainsFunc(forms, func(f []byte) bool { return bytes.Equal(f, form) }) {
				forms = append(forms, form)
			}
		}
	}
	return forms
}

// Redact returns text without the known secrets. If there are none, it returns text
// itself. It never changes its argument.
func (s *Set) Redact(text []byte) []byte {
	if !s.In(text) {
		return text
	}
	for _, form := range s.known.Load().forms {
		text = bytes.ReplaceAll(text, form, []byte(proviso.Redaction))
	}
	return text
}

// RedactJSON is [Set.Redact] for JSON. It redacts only inside strings, so the result
// is valid JSON.
func (s *Set) RedactJSON(data []byte) []byte {
	if !s.In(data) {
		return data
	}
	out := make([]byte, 0, len(data))
	for len(data) > 0 {
		start := bytes.IndexByte(data, '"')
		if start < 0 {
			break
		}
		end := start + 1
		for end < len(data) && data[end] != '"' {
			if data[end] == '\\' {
				end++
			}
			end++
		}
		end = min(end, len(data))
		out = append(append(out, data[:start+1]...), s.Redact(data[start+1:end])...)
		data = data[end:]
		if len(data) > 0 { // the closing quote
			out, data = append(out, '"'), data[1:]
		}
	}
	return append(out, data...)
}

// RedactValue is [Set.Redact] for the texts in a value. Parts without secrets are
// shared with the original.
func (s *Set) RedactValue(v any) any {
	if !s.In(value.AppendJSON(nil, v)) {
		return v
	}
	clean, err := value.ParseJSON(string(s.RedactJSON(value.AppendJSON(nil, v))))
	if err != nil { // not reached: redacted JSON is still JSON
		return proviso.Redaction
	}
	return clean
}

// RedactText is [Set.Redact] for a string.
func (s *Set) RedactText(text string) string { return string(s.Redact([]byte(text))) }

// In reports whether text contains a known secret.
func (s *Set) In(text []byte) bool {
	if s == nil {
		return false
	}
	known := s.known.Load()
	return known != nil && known.in(text)
}

// AddEnv adds the secrets that a started program inherits: variables whose names
// are those of secrets. It ignores a value that looks like a path or a word,
// because that value would also match ordinary text.
func (s *Set) AddEnv(env proviso.Env) {
	if s == nil || env == nil {
		return
	}
	for _, name := range env.Names() {
		if v, _ := env.Lookup(name); secretVariable(name, v) && (len(v) >= 16 || strings.ContainsAny(v, "0123456789")) {
			s.Add(v)
		}
	}
}

// secretVariable reports whether an environment variable holds a secret. PWD names
// a password elsewhere, and a folder here.
func secretVariable(name, value string) bool {
	return proviso.IsSecret(name) && !strings.HasPrefix(value, "/") && name != "PWD" && name != "OLDPWD"
}

// Env returns an environment that adds a variable to the set when it is looked up,
// if its name is that of a secret. A variable that is never looked up cannot leak.
func (s *Set) Env(env proviso.Env) proviso.Env {
	if s == nil || env == nil {
		return env
	}
	return noting{env, s}
}

type noting struct {
	proviso.Env
	set *Set
}

// Lookup records the value of a secret.
func (n noting) Lookup(name string) (string, bool) {
	v, ok := n.Env.Lookup(name)
	if ok && secretVariable(name, v) {
		n.set.Add(v)
	}
	return v, ok
}
