package judge

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/assertion"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/judge/criteria"
	"github.com/proviso-eval/proviso/suite"
	"github.com/proviso-eval/proviso/value"
)

// requestFields are the fields of a request.
var requestFields = []string{"agent_input", "agent_output", "assertions", "threshold", "allow_errors", "vars", "metadata", "trace_id"}

// ReadRequest reads a request strictly: unknown or missing fields, values of the wrong
// type, values that are too long, and invalid UTF-8 are mistakes. The error is
// [Mistakes] with all of them and their JSON pointers, except that unknown fields beyond
// about 100 are only counted.
func ReadRequest(data []byte) (*Request, error) {
	return ReadRequestContext(context.Background(), data)
}

// ReadRequestContext is [ReadRequest] with a context. If ctx ends, the error is its
// cause.
func ReadRequestContext(ctx context.Context, data []byte) (*Request, error) {
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
		return nil, Mistakes{proviso.Errorf(proviso.Invalid, "the request must be a JSON object, found %s", jsonKind(v))}
	}
	r := requestReader{ctx: ctx, o: o}
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

// invalidUTF8 returns the offset of the first byte that is not UTF-8, or -1.
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

// maxMistakes is the number of mistakes from which on unknown fields are no longer
// reported.
const maxMistakes = 100

// requestReader collects the mistakes of a request.
type requestReader struct {
	ctx      context.Context
	o        *value.Object
	mistakes Mistakes
	more     int             // unknown fields that are not among the mistakes
	compiler *check.Compiler // nil until there is a mistake
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
	req.TraceID, _ = r.optional("trace_id", "a text", func(v any) bool { _, ok := v.(string); return ok }).(string)
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
		r.wrong(proviso.Invalid, document.Join("", key), "%s must be a text, found %s", key, jsonKind(v))
	}
	return text
}

// optional reads a field that may be missing or null.
func (r *requestReader) optional(key, want string, is func(any) bool) any {
	v := r.o.At(key)
	if v != nil && !is(v) {
		r.wrong(proviso.Invalid, document.Join("", key), "%s must be %s, found %s", key, want, jsonKind(v))
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
		r.wrong(proviso.Invalid, "/assertions", "assertions must be a list, found %s", jsonKind(v))
		return nil
	}
	if len(list) > MaxAssertions {
		r.wrong(proviso.Limit, "/assertions", "%d assertions, and at most %d are allowed", len(list), MaxAssertions)
		return nil
	}
	known := make([]any, len(list))
	explained := map[string]bool{} // pointers of assertions with a mistake that explains others
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
		if len(r.mistakes) > 0 && !explained[a.Pointer] { // without mistakes, the request is checked as a whole later
			r.limits(a.Pointer, &one)
			r.compile(a)
		}
	}
	return all
}

// compile checks one assertion of a request that already has mistakes, so that all
// mistakes are reported at once. It leaves out assertions that need files.
func (r *requestReader) compile(a *proviso.Assertion) {
	if len(a.Criteria) == 0 && a.Check == nil || strings.Contains(value.Stringify(a.Raw), "file://") {
		return
	}
	if r.compiler == nil {
		r.compiler = check.New(check.Options{Code: noCode{}, Expand: criteria.Expand})
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
		r.wrong(proviso.Invalid, at, "an assertion is an object {id, instruction, criteria}, found %s", jsonKind(v))
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
		e.Message += "; did you mean \"" + near + "\"?"
	} else if _, isType := check.Lookup(strings.TrimPrefix(key, "not-")); isType || key == "value" || key == "threshold" {
		e.Message += "; what is decided without a model stands under check, such as {\"type\": \"contains\", \"value\": \"…\"}"
	}
}

// jsonKind names the kind of a JSON value.
func jsonKind(v any) string {
	switch v.(type) {
	case nil, value.Undefined:
		return "null"
	case bool:
		return "a boolean"
	case float64:
		return "a number"
	case string:
		return "a text"
	case []any:
		return "a list"
	}
	return "an object"
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
	out.Description, _ = a.Raw.At("description").(string)
	for _, c := range a.Criteria {
		out.Criteria = append(out.Criteria, Criterion{Text: c.Text, Template: c.Template, Params: c.Params})
	}
	return out
}

// object returns an assertion in the form of a suite.
func (a *Assertion) object() *value.Object {
	o := value.ObjectOf("id", a.ID)
	set := func(key, text string) {
		if text != "" {
			o.Set(key, text)
		}
	}
	set("type", cmp.Or(a.Type, judged))
	set("instruction", a.Instruction)
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
	set("when", a.When)
	if a.Weight != nil {
		o.Set("weight", *a.Weight)
	}
	set("severity", a.Severity)
	if a.Scope != nil {
		o.Set("scope", a.Scope)
	}
	return o
}

// value returns a criterion in the form of a suite.
func (c *Criterion) value() any {
	if c.Template == "" && c.Params == nil {
		return c.Text
	}
	o := value.NewObject(3)
	if c.Text != "" {
		o.Set("text", c.Text)
	}
	if c.Template != "" {
		o.Set("template", c.Template)
	}
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

// Decode checks the request as a whole and returns its assertions in the form that
// package check compiles.
func (r *Request) Decode() ([]*proviso.Assertion, Mistakes) {
	w := requestReader{}
	w.bounds(r)
	switch n := len(r.Assertions); {
	case n == 0:
		w.wrong(proviso.Invalid, "/assertions", "there are no assertions to evaluate")
	case n > MaxAssertions:
		w.wrong(proviso.Limit, "/assertions", "%d assertions, and at most %d are allowed", n, MaxAssertions)
		return nil, w.mistakes
	}
	list := make([]any, len(r.Assertions))
	all := 0
	for i := range r.Assertions {
		a := &r.Assertions[i]
		list[i] = a.object()
		all += len(a.Criteria)
		w.limits(document.Join("/assertions", i), a)
	}
	if all > MaxAllCriteria {
		w.wrong(proviso.Limit, "/assertions", "%d criteria in all, and at most %d are allowed", all, MaxAllCriteria)
	}
	decoded, wrong := suite.DecodeSet(check.Facts(), list, "/assertions")
	w.mistakes = append(w.mistakes, wrong...)
	return decoded, w.mistakes
}

// bounds checks the limits of a request, except those of its assertions.
func (r *requestReader) bounds(req *Request) {
	for _, t := range [...]struct{ key, text string }{{"agent_input", req.Input}, {"agent_output", req.Output}} {
		if len(t.text) > MaxText {
			r.wrong(proviso.Limit, document.Join("", t.key), "%s has %d bytes, and at most %d (2 MiB) are allowed", t.key, len(t.text), MaxText)
		}
	}
	if t := req.Threshold; t != nil && !(*t >= 0 && *t <= 1) {
		r.wrong(proviso.Invalid, "/threshold", "the threshold must be a number from 0 to 1, not %s", value.FormatNumber(*t))
	}
	if req.TraceID != "" && !isTraceID(req.TraceID) {
		r.wrong(proviso.Invalid, "/trace_id", "a trace has an id of 32 hexadecimal digits, not %q", document.Excerpt(req.TraceID))
	}
}

// isTraceID reports whether a text is a trace id or a traceparent (W3C Trace Context,
// section 3.2.2).
func isTraceID(text string) bool {
	if parts := strings.Split(text, "-"); len(parts) == 4 {
		text = parts[1]
	}
	id, err := hex.DecodeString(text)
	return err == nil && len(id) == 16 && slices.ContainsFunc(id, func(b byte) bool { return b != 0 })
}

// limits checks the limits of one assertion.
func (r *requestReader) limits(at string, a *Assertion) {
	if a.Type != "" && a.Type != judged && a.Type != "not-"+judged {
		e := r.wrong(proviso.Invalid, at+"/type", "an assertion of a request is a judge or a not-judge, not %q; other types stand under check", a.Type)
		e.Valid = []string{judged, "not-" + judged}
	}
	over := func(pointer, what string, is, most int) {
		if is > most {
			r.wrong(proviso.Limit, at+pointer, "%s: %d, and at most %d are allowed", what, is, most)
		}
	}
	over("/id", "bytes of an id", len(a.ID), MaxID)
	over("/instruction", "bytes of an instruction", len(a.Instruction), MaxInstruction)
	over("/criteria", "criteria of an assertion", len(a.Criteria), MaxCriteria)
	for i := range a.Criteria {
		over(document.Join("/criteria", i), "bytes of a criterion", len(a.Criteria[i].Text), MaxCriterion)
	}
	if len(a.Criteria) == 0 && a.Check == nil {
		r.wrong(proviso.Invalid, at, "the assertion %q has no criteria and no check", a.ID)
	}
}
