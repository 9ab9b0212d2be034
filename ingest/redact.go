package ingest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/internal/kind"
	"github.com/proviso-eval/proviso/value"
)

// MaxRules bounds the rules of a [Redactor].
const MaxRules = 100

// Removed replaces text that a pattern matches.
const Removed = "[redacted]"

// HashMark is the prefix of the hash that replaces a field.
const HashMark = "hash:"

// Rule redacts one thing: the matches of Pattern in all texts of an event, or the whole field
// Field.
type Rule struct {
	Pattern string // RE2
	Field   string // user, conversation, input, output, context, prompt, error, segment.NAME or metadata.NAME
	HashEnv string // variable with the salt; if set, the field is hashed instead of removed
}

// ruleFields are the members of a rule.
var ruleFields = []string{"pattern", "field", "hash_env"}

// redactable are the fields that a rule may name. For segment and metadata it names a member.
var redactable = []string{"user", "conversation", "input", "output", "context", "prompt", "error", "segment", "metadata"}

// ReadRules reads a list of rules from a configuration. The mistakes have pointers below at.
func ReadRules(v any, at string) ([]Rule, []*proviso.Error) {
	list, ok := v.([]any)
	all := reader{}
	if !ok && v != nil {
		all.wrong(proviso.Invalid, "", "the rules have to be a list, not %s", kind.Of(v))
		all.mistakes[0].Pointer = at
	}
	var rules []Rule
	for i, v := range list {
		o, ok := v.(*value.Object)
		r := reader{o: o}
		if ok {
			r.known(ruleFields)
			rules = append(rules, Rule{Pattern: r.text("pattern", 10_000), Field: r.text("field", MaxName), HashEnv: r.text("hash_env", MaxName)})
			if len(r.mistakes) == 0 {
				r.rule(&rules[len(rules)-1])
			}
		} else {
			r.wrong(proviso.Invalid, "", "a rule has to be an object with pattern or field, not %s", kind.Of(v))
		}
		for _, e := range r.mistakes {
			e.Pointer = document.Join(at, i) + e.Pointer
		}
		all.mistakes = append(all.mistakes, r.mistakes...)
	}
	return rules, all.mistakes
}

// rule reports why a rule is invalid.
func (r *reader) rule(rule *Rule) {
	switch {
	case (rule.Pattern == "") == (rule.Field == ""):
		r.wrong(proviso.Invalid, "", "a rule needs either a pattern or a field")
	case rule.HashEnv != "" && rule.Field == "":
		r.wrong(proviso.Invalid, "hash_env", "hash_env is for a field; what a pattern matches is removed")
	case rule.Pattern != "":
		if re, err := regexp.Compile(rule.Pattern); err != nil {
			r.wrong(proviso.Invalid, "pattern", "the pattern is not a valid RE2 regular expression: %w", err)
		} else if re.MatchString("") {
			r.wrong(proviso.Invalid, "pattern", "the pattern matches the empty text, so that it would match everywhere")
		}
	default:
		r.field(rule.Field)
	}
}

// field reports why a rule cannot name a field.
func (r *reader) field(text string) {
	name, member, found := strings.Cut(text, ".")
	hasMembers := name == "segment" || name == "metadata"
	if hasMembers == found && (!found || member != "") && slices.Contains(redactable, name) {
		return
	}
	message := "there is no field " + quoted(text) + document.DidYouMean(name, redactable)
	if hasMembers {
		message = text + " has to name a member, such as " + name + ".customer"
	}
	r.wrong(proviso.Invalid, "field", "%s", message)
	r.mistakes[len(r.mistakes)-1].Valid = redactable
}

// Redactor removes data that must not be stored from events. It is safe for concurrent use; nil
// redacts nothing. Its time is linear in the length of the text.
type Redactor struct {
	patterns []pattern
	fields   []field
}

type field struct {
	name, member string
	salt         []byte // nil removes the field
}

// NewRedactor compiles rules. Salts come from env. A missing or empty salt is an error that names
// the variable.
func NewRedactor(rules []Rule, env proviso.Env) (*Redactor, error) {
	if len(rules) > MaxRules {
		return nil, proviso.Errorf(proviso.Limit, "there are %d rules, and at most %d are allowed", len(rules), MaxRules)
	}
	r := &Redactor{}
	for i := range rules {
		rule := &rules[i]
		check := reader{}
		if check.rule(rule); len(check.mistakes) > 0 {
			return nil, check.mistakes[0]
		}
		if rule.Pattern != "" {
			p, err := compilePattern(rule.Pattern)
			if err != nil {
				return nil, err // check.rule has compiled it
			}
			r.patterns = append(r.patterns, p)
			continue
		}
		f := field{}
		f.name, f.member, _ = strings.Cut(rule.Field, ".")
		if rule.HashEnv != "" {
			salt, ok := "", false
			if env != nil {
				salt, ok = env.Lookup(rule.HashEnv)
			}
			if !ok || salt == "" {
				return nil, proviso.Errorf(proviso.Invalid, "hash_env, the salt for %s: %w", rule.Field, proviso.UnsetVariable(rule.HashEnv))
			}
			f.salt = []byte(salt)
		}
		r.fields = append(r.fields, f)
	}
	return r, nil
}

// Event redacts an event in place. Its metadata and segment are copied, not changed. Ids, names,
// numbers and times are kept, except the user; a rule may hash the conversation. Texts that then
// exceed the limits of this package are cut.
func (r *Redactor) Event(e *Event) {
	if r == nil {
		return
	}
	for _, f := range r.fields {
		f.apply(e)
	}
	if len(r.patterns) == 0 {
		return
	}
	for _, text := range []*string{&e.Input, &e.Output, &e.Context, &e.Error} {
		*text = excerpt.Head(r.Text(*text), MaxText)
	}
	e.User = r.user(e.User)
	if !IsPromptHash(e.Prompt) {
		e.Prompt = excerpt.Head(r.Text(e.Prompt), MaxText)
	}
	if e.Metadata.Len() > 0 {
		e.Metadata, _ = r.value(e.Metadata).(*value.Object)
	}
	for key, text := range e.Segment {
		if clean := r.Text(text); clean != text {
			e.Segment = maps.Clone(e.Segment)
			e.Segment[key] = excerpt.Head(clean, MaxName)
		}
	}
}

// user redacts the name of a user, unless a rule has already hashed it.
func (r *Redactor) user(name string) string {
	for _, f := range r.fields {
		if f.name == "user" && f.salt != nil {
			return name
		}
	}
	return excerpt.Head(r.Text(name), MaxName)
}

// Feedback redacts the comment of feedback and, as in events, the user.
func (r *Redactor) Feedback(f *Feedback) {
	if r == nil {
		return
	}
	e := Event{User: f.User}
	for _, rule := range r.fields {
		if rule.name == "user" {
			rule.apply(&e)
		}
	}
	f.User, f.Comment = r.user(e.User), excerpt.Head(r.Text(f.Comment), maxComment)
}

// User returns the name under which a user is stored.
func (r *Redactor) User(name string) string {
	f := Feedback{User: name}
	r.Feedback(&f)
	return f.User
}

// Text removes the matches of the patterns.
func (r *Redactor) Text(text string) string {
	if r == nil || text == "" {
		return text
	}
	for i := range r.patterns {
		text = r.patterns[i].redact(text)
	}
	return text
}

// value returns a copy of a value with redacted texts. Object keys are redacted too, because people
// use names as keys.
func (r *Redactor) value(v any) any {
	switch v := v.(type) {
	case string:
		return r.Text(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = r.value(v[i])
		}
		return out
	case *value.Object:
		out := value.NewObject(v.Len())
		for key, member := range v.All() {
			out.Set(r.Text(key), r.value(member))
		}
		return out
	case float64:
		// A number can be sensitive text, such as a card number.
		if text := value.FormatNumber(v); r.Text(text) != text {
			return Removed
		}
	}
	return v
}

// apply removes or hashes one field.
func (f *field) apply(e *Event) {
	texts := map[string]*string{"user": &e.User, "conversation": &e.Conversation, "input": &e.Input, "output": &e.Output, "context": &e.Context, "prompt": &e.Prompt, "error": &e.Error}
	switch f.name {
	case "segment":
		if text, ok := e.Segment[f.member]; ok {
			e.Segment = maps.Clone(e.Segment)
			e.Segment[f.member] = f.text(text)
		}
	case "metadata":
		if v, ok := e.Metadata.Get(f.member); ok {
			e.Metadata = e.Metadata.Clone()
			e.Metadata.Set(f.member, f.text(value.ToString(v)))
		}
	default:
		if to := texts[f.name]; *to != "" {
			*to = f.text(*to)
		}
	}
}

// text returns the replacement of a text. Equal texts have equal hashes under the same salt.
func (f *field) text(text string) string {
	if f.salt == nil {
		return Removed
	}
	mac := hmac.New(sha256.New, f.salt)
	mac.Write([]byte(text))
	return HashMark + hex.EncodeToString(mac.Sum(nil)[:16])
}
