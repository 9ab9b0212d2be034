// Package jsonschema validates JSON values by JSON Schema draft-07 as Ajv 8 with
// ajv-formats does: the same strictness, the same formats and the same messages.
//
// Start at [Compile]. Ajv stops at the first mistake, so a verdict is the text of
// [ErrorsText]; only anyOf, oneOf, contains and propertyNames also list the
// mistakes that caused their own.
package jsonschema

import (
	"context"
	"math"
	"slices"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// Options configure the compilation of a schema.
type Options struct {
	// Lax ignores keywords and formats that Ajv does not know, and combinations of
	// keywords that have no effect. Otherwise they are errors.
	Lax bool

	// Pattern compiles an ECMAScript regular expression. Flags is "u" for the
	// keywords pattern and patternProperties and "" for values of the format
	// "regex". Schemas with patterns cannot be compiled without it.
	Pattern func(pattern, flags string) (Matcher, error)

	// Context ends compilation with its cause as the error; nil never does.
	Context context.Context
}

// Matcher reports whether a text contains a match of a pattern. It is safe for
// concurrent use; an error means that a limit was reached.
type Matcher func(ctx context.Context, text string) (bool, error)

// Schema is a compiled schema. It is safe for concurrent use.
type Schema struct{ root *node }

// Compile reads a schema: a value of package proviso, usually an object. If Ajv refuses
// it, the error is a *[proviso.Error] with the code Invalid. The schema must not be
// changed afterwards.
func Compile(schema any, o Options) (*Schema, error) {
	c := newCompiler(schema, o)
	if err := checkShape(c.Context, schema); err != nil {
		return nil, err
	}
	root, err := c.compile()
	if err != nil {
		return nil, err
	}
	return &Schema{root: root}, nil
}

// checkShape validates a schema against the meta-schema that it names.
func checkShape(ctx context.Context, schema any) error {
	switch s := schema.(type) {
	case bool:
		return nil
	case []any:
		return invalid("schema is invalid: data must be object,boolean")
	case *value.Object:
		if err := checkDialect(s); err != nil {
			return err
		}
	default:
		return invalid("schema must be object or boolean")
	}
	mistakes, err := metaSchema().ValidateContext(ctx, schema)
	if err != nil {
		return err
	}
	if len(mistakes) > 0 {
		return invalid("schema is invalid: %s", ErrorsText(mistakes))
	}
	return nil
}

// Limits of one validation. A schema that refers to itself can require more work
// than any value needs.
const (
	maxChecks   = 10_000_000 // schemas and values visited
	maxNesting  = 30_000     // nesting depth of schemas, references included
	maxMistakes = 1_000      // mistakes kept
)

// Validate returns the mistakes of v, nil if it conforms. An error means that
// the limits did not allow a verdict. Without a mistake nothing is allocated.
func (s *Schema) Validate(v any) ([]Error, error) {
	return s.ValidateContext(context.Background(), v)
}

// ValidateContext is [Schema.Validate] until ctx ends; then the error is the cause of
// ctx.
func (s *Schema) ValidateContext(ctx context.Context, v any) ([]Error, error) {
	quiet := state{ctx: ctx, budget: maxChecks}
	if s.root.check(v, &quiet) && quiet.err == nil {
		return nil, nil
	}
	if quiet.err != nil {
		return nil, quiet.err
	}
	return s.explain(ctx, v)
}

// explain validates again and collects the mistakes.
func (s *Schema) explain(ctx context.Context, v any) ([]Error, error) {
	loud := state{ctx: ctx, budget: maxChecks, collect: true}
	s.root.check(v, &loud)
	if loud.err != nil {
		return nil, loud.err
	}
	for i := range loud.errs {
		loud.errs[i].finish()
	}
	return loud.errs, nil
}

// state is one pass over a value.
type state struct {
	ctx     context.Context
	collect bool // collect the mistakes; otherwise only the verdict matters
	errs    []Error
	budget  int
	depth   int
	err     error // why there is no verdict

	// Ajv leaves a validation function at the first mistake. Inside anyOf, oneOf,
	// contains and propertyNames it also reports the mistake that follows from the
	// first.
	composite bool
	left      bool // the function was left

	name  string // property name, inside propertyNames
	named bool
}

// enter counts one more schema applied inside the current one.
func (s *state) enter() bool {
	s.depth++
	if s.err == nil && s.depth > maxNesting {
		s.err = proviso.Errorf(proviso.Limit, "JSON Schema: references nest deeper than %d", maxNesting)
	}
	return s.step()
}

// lookAfter is the number of steps between two checks of the context.
const lookAfter = 1024

// step counts one step; it returns false if no more steps are allowed.
func (s *state) step() bool {
	s.budget--
	switch {
	case s.err != nil:
	case s.budget < 0:
		s.err = proviso.Errorf(proviso.Limit, "JSON Schema: more than %d steps", maxChecks)
	case s.budget%lookAfter == 0 && s.ctx.Err() != nil:
		s.err = context.Cause(s.ctx)
	}
	return s.err == nil
}

// fail records one mistake of the schema at n; it computes message and params only
// if they are needed.
func (s *state) fail(n *node, keyword string, message func() (string, *value.Object)) bool {
	if !s.collect {
		return false
	}
	if len(s.errs) < maxMistakes {
		text, params := message()
		s.errs = append(s.errs, Error{SchemaPath: n.path + "/" + keyword, Keyword: keyword, Params: params, Message: text,
			PropertyName: s.name, Named: s.named})
	}
	s.left = !s.composite
	return false
}

// compose starts a composite part and returns what to restore after it.
func (s *state) compose() bool {
	was := s.composite
	s.composite = true
	return was
}

// call applies a schema that Ajv makes a separate function.
func (s *state) call(n *node, v any) bool {
	was, name, named := s.composite, s.name, s.named
	s.composite, s.name, s.named = false, "", false
	ok := n.check(v, s)
	s.composite, s.left, s.name, s.named = was, false, name, named
	return ok
}

// within moves the mistakes from mark on below a member of the value.
func (s *state) within(mark int, segment string) {
	for i := mark; i < len(s.errs); i++ {
		s.errs[i].segments = append(s.errs[i].segments, segment)
	}
}

// hush turns collecting off and returns the previous setting.
func (s *state) hush() bool {
	was := s.collect
	s.collect = false
	return was
}

// types is a set of JSON types.
type types uint8

const (
	typeString types = 1 << iota
	typeNumber
	typeInteger
	typeBoolean
	typeNull
	typeArray
	typeObject
)

// typeNames are the names of the types, in order.
var typeNames = [...]string{"string", "number", "integer", "boolean", "null", "array", "object"}

// typeNamed returns the type with a name, 0 if there is none.
func typeNamed(name string) types {
	i := slices.Index(typeNames[:], name)
	if i < 0 {
		return 0
	}
	return 1 << i
}

// typesOf returns every type that v has. Infinities and NaN, which YAML can
// express, have no type.
func typesOf(v any) types {
	switch v := v.(type) {
	case string:
		return typeString
	case float64:
		switch {
		case math.IsNaN(v) || math.IsInf(v, 0):
			return 0
		case v == math.Trunc(v):
			return typeNumber | typeInteger
		}
		return typeNumber
	case bool:
		return typeBoolean
	case nil:
		return typeNull
	case []any:
		return typeArray
	case *value.Object:
		return typeObject
	}
	return 0
}

func invalid(format string, args ...any) error {
	return proviso.Errorf(proviso.Invalid, format, args...)
}
