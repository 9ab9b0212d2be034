package judge

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/assertion"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/kind"
	"github.com/proviso-eval/proviso/judge/criteria"
	"github.com/proviso-eval/proviso/suite"
	"github.com/proviso-eval/proviso/value"
)

// requestFields are the fields of a request.
var requestFields = []string{"agent_input", "agent_output", "assertions", "threshold", "allow_errors", "vars", "metadata", "context", "trace_id", "templates"}

// ReadRequest reads a request strictly: unknown or missing fields, values of the wrong
// type, values that are too long, and invalid UTF-8 are mistakes. The error is
// [Mistakes] with all of them and their JSON pointers, except that unknown fields beyond
// about 100 are only counted.
func ReadRequest(data []byte) (*Request, error) {
	return ReadRequestWith(context.Background(), data, nil)
}

// ReadRequestWith is [ReadRequest] for a request whose criteria may name the templates of
// a library; if templates is nil, they may name those in the request. If ctx ends, the
// error is its cause.
func ReadRequestWith(ctx context.Context, data []byte, templates *criteria.Library) (*Request, error) {
	if len(data) > MaxBody {
		return nil, Mistakes{proviso.Errorf(proviso.Limit, "the request has %d bytes, and at most %d (8 MiB) are read", len(data), MaxBody)}
	}
	if at := invalidUTF8(data); at >= 0 {
		return nil, Mistakes{proviso.Errorf(proviso.Invalid, "the request is not UTF-8: byte 0x%02x at offset %d", data[at], at)}
	}
	v, err := value.ParseReply(ctx, strings.TrimPrefix(string(data), "\ufeff"))
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, value.ErrTooMany):
		return nil, Mistakes{proviso.Errorf(proviso.Limit, "%w", err)}
	case err != nil:
		return nil, Mistakes{proviso.Errorf(proviso.Invalid, "the request is not JSON: %w", err)}
	}
	o, ok := v.(*value.Object)
	if !ok {
		return nil, Mistakes{proviso.Errorf(proviso.Invalid, "the request must be a JSON object, found %s", kind.Of(v))}
	}
	r := requestReader{ctx: ctx, o: o, templates: templates}
	req := r.read()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if r.more > 0 {
		r.wrong(proviso.Invalid, "", "and %d more unknown fields", r.more)
	}
	if len(r.mistakes) > 0 {
		return nil, r.mistakes
	}
	return req, nil
}

// invalidUTF8 returns the offset of the first invalid UTF-8 byte, or -1.
func invalidUTF8(data []byte) int {
	if utf8.Valid(data) {
		return -1
	}
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// maxMistakes is the number of mistakes beyond which unknown fields are only counted.
const maxMistakes = 100

// requestReader collects the mistakes of a request.
type requestReader struct {
	ctx       context.Context
	o         *value.Object
	mistakes  Mistakes
	more      int             // number of unknown fields that are not among the mistakes
	compiler  *check.Compiler // nil until there is a mistake
	templates *criteria.Library
}

func (r *requestReader) wrong(code, pointer, format string, args ...any) *proviso.Error {
	e := proviso.Errorf(code, format, args...)
	e.Pointer = pointer
	r.mistakes = append(r.mistakes, e)
	return e
}

func (r *requestReader) read() *Request {
	defer func() {
		if r.compiler != nil {
			_ = r.compiler.Close() // it only frees memory
		}
	}()
	for key := range r.o.All() {
		if !slices.Contains(requestFields, key) {
			r.unknown("", key, requestFields)
		}
	}
	req := &Request{Input: r.text("agent_input"), Output: r.text("agent_output")}
	req.AllowErrors, _ = r.optional("allow_errors", "true or false", func(v any) bool { _, ok := v.(bool); return ok }).(bool)
	if f, ok := r.optional("threshold", "a number", func(v any) bool { _, ok := v.(float64); return ok }).(float64); ok {
		req.Threshold = &f
	}
	isObject := func(v any) bool { _, ok := v.(*value.Object); return ok }
	req.Vars, _ = r.optional("vars", "an object", isObject).(*value.Object)
	req.Metadata, _ = r.optional("metadata", "an object", isObject).(*value.Object)
	isText := func(v any) bool { _, ok := v.(string); return ok }
	req.Context, _ = r.optional("context", "a text", isText).(string)
	req.TraceID, _ = r.optional("trace_id", "a text", isText).(string)
	if own, ok := r.optional("templates", "an object of templates by their names", isObject).(*value.Object); ok && r.templates == nil {
		var wrong []*proviso.Error
		r.templates, wrong = criteria.ReadLibrary(own, "/templates")
		r.mistakes = append(r.mistakes, wrong...)
	}
	req.Templates = r.templates
	req.Assertions = r.list()
	if len(r.mistakes) == 0 {
		_, r.mistakes = req.Decode()
	} else {
		r.bounds(req)
	}
	return req
}

// text reads a required field.
func (r *requestReader) text(key string) string {
	v, ok := r.o.Get(key)
	if !ok {
		r.wrong(proviso.Invalid, "", "the request lacks %q", key)
		return ""
	}
	text, ok := v.(string)
	if !ok {
		r.wrong(proviso.Invalid, document.Join("", key), "%s must be a text, found %s", key, kind.Of(v))
	}
	return text
}

// optional reads a field that may be missing or null.
func (r *requestReader) optional(key, want string, is func(any) bool) any {
	v := r.o.At(key)
	if v != nil && !is(v) {
		r.wrong(proviso.Invalid, document.Join("", key), "%s must be %s, found %s", key, want, kind.Of(v))
		return nil
	}
	return v
}

// list reads the assertions.
func (r *requestReader) list() []Assertion {
	v, ok := r.o.Get("assertions")
	if !ok {
		r.wrong(proviso.Invalid, "", `the request lacks "assertions"`)
		return nil
	}
	list, ok := v.([]any)
	if !ok {
		r.wrong(proviso.Invalid, "/assertions", "assertions must be a list, found %s", kind.Of(v))
		return nil
	}
	if len(list) > maxAssertions {
		r.wrong(proviso.Limit, "/assertions", "%d assertions, and at most %d are allowed", len(list), maxAssertions)
		return nil
	}
	known := make([]any, len(list))
	explained := map[string]bool{} // pointers of assertions with a mistake that explains further ones
	for i, v := range list {
		at := document.Join("/assertions", i)
		known[i], explained[at] = r.known(at, v)
	}
	decoded, wrong := suite.DecodeSet(check.Facts(), known, "/assertions")
	r.mistakes = append(r.mistakes, slices.DeleteFunc(wrong, func(e *proviso.Error) bool { return explained[e.Pointer] })...)
	var all []Assertion
	for _, a := range decoded {
		one := assertionOf(a)
		all = append(all, one)
		if len(r.mistakes) > 0 && !explained[a.Pointer] { // a request without mistakes is checked as a whole later
			r.limits(a.Pointer, &one)
			r.compile(a)
		}
	}
	return all
}

// compile checks one assertion of a request that already has mistakes, so that all
// mistakes are reported at once. It skips assertions that need files.
func (r *requestReader) compile(a *proviso.Assertion) {
	if len(a.Criteria) == 0 && a.Check == nil || strings.Contains(value.Stringify(a.Raw), "file://") {
		return
	}
	if r.compiler == nil {
		r.compiler = check.New(check.Options{Code: noCode{}, Expand: r.templates.Expand})
	}
	_, wrong := r.compiler.CompileContext(r.ctx, []*proviso.Assertion{a})
	r.mistakes = append(r.mistakes, wrong...)
}

// noCode is a proviso.Code for assertions that are only checked, never run.
type noCode struct{}

// Compile accepts any source.
func (noCode) Compile(context.Context, proviso.Source) (proviso.Function, error) { return nil, nil }

// known reports the unknown fields of an assertion. It returns the assertion without
// them, so that its other mistakes are found as well, and whether it reported any.
func (r *requestReader) known(at string, v any) (any, bool) {
	o, ok := v.(*value.Object)
	if !ok {
		r.wrong(proviso.Invalid, at, "an assertion is an object {id, instruction, criteria}, found %s", kind.Of(v))
		return v, true
	}
	o = o.Clone()
	before := len(r.mistakes)
	for _, key := range slices.Clone(o.Keys()) {
		if k := assertion.KeyOf(key); k == nil || k.Field == 0 {
			r.unknown(at, key, assertion.Fields())
			o.Delete(key)
		}
	}
	if o.At("type") == nil { // the type is optional in a request
		o.Set("type", judged)
	}
	return o, len(r.mistakes) > before
}

// unknown records an unknown field.
func (r *requestReader) unknown(at, key string, valid []string) {
	if len(r.mistakes) >= maxMistakes {
		r.more++
		return // finding the nearest name is slow
	}
	e := r.wrong(proviso.Invalid, document.Join(at, key), "unknown field %q", document.Excerpt(key))
	e.Valid = valid
	if near := document.Nearest(key, valid); near != "" {
		e.Valid = []string{near}
		e.Message += document.DidYouMean(key, valid)
	} else if _, isType := check.Lookup(strings.TrimPrefix(key, "not-")); isType || key == "value" || key == "threshold" {
		e.Message += "; what is decided without a model belongs under check, such as {\"type\": \"contains\", \"value\": \"…\"}"
	}
}

// assertionOf converts an assertion that a suite's decoder read from a request.
func assertionOf(a *proviso.Assertion) Assertion {
	out := Assertion{
		ID: a.ID, Instruction: a.Instruction, Type: a.Type, When: a.When, Weight: a.Weight, Severity: string(a.Severity),
	}
	if out.Type == judged {
		out.Type = ""
	}
	out.Check, _ = a.Raw.At("check").(*value.Object)
	out.Scope, _ = a.Raw.At("scope").(*value.Object)
	out.Description = a.Raw.Text("description")
	for _, c := range a.Criteria {
		out.Criteria = append(out.Criteria, Criterion{Text: c.Text, Template: c.Template, Params: c.Params})
	}
	return out
}

// object returns an assertion as written in a suite.
func (a *Assertion) object() *value.Object {
	o := value.ObjectOf("id", a.ID)
	o.SetText("type", cmp.Or(a.Type, judged))
	o.SetText("instruction", a.Instruction)
	if len(a.Criteria) > 0 {
		criteria := make([]any, len(a.Criteria))
		for i := range a.Criteria {
			criteria[i] = a.Criteria[i].value()
		}
		o.Set("criteria", criteria)
	}
	if a.Check != nil {
		o.Set("check", a.Check)
	}
	o.SetText("when", a.When)
	if a.Weight != nil {
		o.Set("weight", *a.Weight)
	}
	o.SetText("severity", a.Severity)
	if a.Scope != nil {
		o.Set("scope", a.Scope)
	}
	return o
}

// value returns a criterion as written in a suite.
func (c *Criterion) value() any {
	if c.Template == "" && c.Params == nil {
		return c.Text
	}
	o := value.NewObject(3)
	o.SetText("text", c.Text)
	o.SetText("template", c.Template)
	if c.Params != nil {
		o.Set("params", c.Params)
	}
	return o
}

// MarshalJSON encodes a text as a string, and a template as an object.
func (c Criterion) MarshalJSON() ([]byte, error) { return value.AppendJSON(nil, c.value()), nil }

// UnmarshalJSON decodes a string or an object. [ReadRequest] is stricter.
func (c *Criterion) UnmarshalJSON(data []byte) error {
	*c = Criterion{}
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, &c.Text)
	}
	type plain Criterion
	return json.Unmarshal(data, (*plain)(c))
}
