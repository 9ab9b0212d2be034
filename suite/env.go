package suite

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/value"
)

// Environment returns an environment in which the variables that a suite adds
// override those of around.
func Environment(added *value.Object, around proviso.Env) proviso.Env {
	if around == nil {
		around = proviso.EnvMap{}
	}
	if added.Len() == 0 {
		return around
	}
	return layered{added, around}
}

type layered struct {
	added  *value.Object
	around proviso.Env
}

// Lookup returns the value of name and whether it is set.
func (e layered) Lookup(name string) (string, bool) {
	if v, ok := e.added.Get(name); ok {
		return value.ToString(v), true
	}
	return e.around.Lookup(name)
}

// Names returns the names that are set, in unspecified order.
func (e layered) Names() []string {
	names := e.around.Names()
	for _, name := range e.added.Keys() {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// flag reports whether the environment switches a PROMPTFOO_ name on.
func (r *reading) flag(name string) bool {
	return isOn(r.setting(name))
}

// Switch reads an on/off environment variable like promptfoo: 1, true, yes and on, in
// any case, are on.
func Switch(env interface{ Lookup(string) (string, bool) }, name string) bool {
	v, _ := env.Lookup(name)
	return isOn(v)
}

func isOn(value string) bool {
	switch strings.ToLower(value) {
	case "1", "true", "yes", "on":
		return true
	}
	return false
}

// renderEnv fills in {{ env.NAME }} in every text below v. Other templates stay for
// the run. A value without any is not copied. A variable that is not set stays too,
// because a template renders it empty later, and is a warning.
func (r *reading) renderEnv(d *document.Document, pointer string, v any) any {
	if s, ok := v.(string); ok {
		r.refuseEnv(d, pointer, s)
		if !strings.Contains(s, "{{") {
			return v
		}
		s, unset := r.renderText(s)
		for _, name := range unset {
			r.warnUnset(d, pointer, name)
		}
		return s
	}
	o, _ := v.(*value.Object)
	return document.Map(pointer, v, func(at, key string, e any) any {
		if key == "providerOutput" {
			return e // a model's text is not a template
		}
		if n := r.renderEnv(d, at, e); !isQuestion(o, key) {
			return n
		}
		return e
	})
}

// isQuestion reports whether a key of an assertion holds a question for a judge.
// Its env templates are not rendered here: a value written into the question could
// change the question. Their values are filled in later, as those of variables are.
func isQuestion(assertion *value.Object, key string) bool {
	kind, typed := assertion.At("type").(string)
	judged := strings.TrimPrefix(kind, "not-") == proviso.TypeJudge || !typed && assertion.Has("criteria")
	return judged && (key == "criteria" || key == "instruction")
}

// warnUnset warns of an unset environment variable, unless it was refused.
func (r *reading) warnUnset(d *document.Document, pointer, name string) {
	if r.trust == nil || slices.Contains(r.trust.Env, name) {
		r.warn(d, pointer, "the environment has no %s", name)
	}
}

// renderText fills in the env templates of one text and returns the variables that
// are not set.
func (r *reading) renderText(s string) (string, []string) {
	if r.flag("PROMPTFOO_DISABLE_TEMPLATE_ENV_VARS") {
		return s, nil
	}
	var b strings.Builder
	var unset []string
	for {
		i := strings.Index(s, "{{")
		if i < 0 {
			break
		}
		name, fallback, falsy, n := envTemplate(s[i:])
		if n == 0 {
			b.WriteString(s[:i+2])
			s = s[i+2:]
			continue
		}
		b.WriteString(s[:i])
		value, ok := r.env.Lookup(name)
		switch {
		case ok && (value != "" || !falsy):
			b.WriteString(value)
		case fallback != nil && (r.trust == nil || slices.Contains(r.trust.Env, name)):
			b.WriteString(*fallback)
		default:
			unset = append(unset, name)
			b.WriteString(s[i : i+n])
		}
		s = s[i+n:]
	}
	b.WriteString(s)
	return b.String(), unset
}

// envTemplate reads {{ env.NAME }} or {{ env['NAME'] }}, with an optional
// default('text') or … or 'text', at the beginning of s. It returns the length, or 0
// for anything else. falsy is set if the fallback also replaces an empty value, as or
// does.
func envTemplate(s string) (name string, fallback *string, falsy bool, length int) {
	end := strings.Index(s, "}}")
	if end < 0 || !strings.Contains(s[:end], "env") {
		return "", nil, false, 0
	}
	m := envParts().FindStringSubmatch(s[2:end])
	if m == nil {
		return "", nil, false, 0
	}
	if quoted := m[4] + m[5]; quoted != "" {
		text := quoted[1 : len(quoted)-1]
		fallback = &text
	}
	return m[1] + m[2] + m[3], fallback, m[5] != "", end + 2
}

// envParts matches the inside of such a template. Quoted texts have no escapes and no
// quotes in them.
var envParts = sync.OnceValue(func() *regexp.Regexp {
	const s, name, text = `[\s\v\x{85}\p{Z}]*`, `([A-Za-z_][A-Za-z0-9_]*)`, `('[^'"\\]*'|"[^'"\\]*")`
	const index = `\[` + s + `(?:'` + name + `'|"` + name + `")` + s + `\]`
	const or = `('[^'"\\|]*'|"[^'"\\|]*")`
	return regexp.MustCompile(`^` + s + `env(?:\.` + name + `|` + index + `)` + s +
		`(?:\|` + s + `default\(` + s + text + s + `\)` + s + `| or ` + s + or + s + `)?$`)
})
