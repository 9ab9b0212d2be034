package check

import (
	"context"
	"errors"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/flowyaml"
	"github.com/proviso-eval/proviso/internal/jsonschema"
	"github.com/proviso-eval/proviso/value"
)

// newIsJSON is `is-json`: the whole output is JSON, and matches a schema if there is
// one.
func newIsJSON(c *Compiler, s *Spec) (Check, error) {
	schema, err := c.schemaOf(s)
	if err != nil {
		return nil, err
	}
	return Func(func(ctx context.Context, sub *Subject) (Finding, error) {
		v, err := value.ParseReply(ctx, sub.Text)
		if unread(ctx, err) {
			return Finding{}, err
		}
		if err != nil || schema == nil {
			return Finding{Pass: err == nil, Score: one(err == nil), Reason: "Expected output to " + s.not() + "be valid JSON"}, nil
		}
		mistakes, err := schema.ValidateContext(ctx, v)
		if err != nil {
			return Finding{}, err
		}
		return conforms(s, mistakes, "Output is JSON that conforms to the provided schema"), nil
	}), nil
}

// unread reports whether reading JSON was abandoned. That says nothing about the
// text.
func unread(ctx context.Context, err error) bool {
	return err != nil && (ctx.Err() != nil || errors.Is(err, value.ErrTooMany))
}

// conforms is the finding on a value that was validated against a schema.
func conforms(s *Spec, mistakes []jsonschema.Error, negated string) Finding {
	f := found(mistakes == nil)
	switch {
	case f.Pass && s.Not:
		f.Reason = negated
	case !f.Pass && !s.Not:
		f.Reason = "JSON does not conform to the provided schema. Errors: " + jsonschema.ErrorsText(mistakes)
	}
	return f
}

func one(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// newContainsJSON is `contains-json`: the output contains an object, which matches
// the schema if there is one. What counts as an object is broad, see package
// flowyaml.
func newContainsJSON(c *Compiler, s *Spec) (Check, error) {
	schema, err := c.schemaOf(s)
	// A keyword of a later draft matters only once there is an object to check.
	var unknown *jsonschema.KeywordError
	if err != nil && !errors.As(err, &unknown) {
		return nil, err
	}
	return Func(func(ctx context.Context, sub *Subject) (Finding, error) {
		last := Finding{Reason: "Expected output to " + s.not() + "contain valid JSON"}
		for o, limit := range flowyaml.Objects(sub.Text) {
			switch {
			case limit != nil:
				return Finding{}, limit
			case err != nil:
				return Finding{}, err
			case schema == nil:
				last.Pass, last.Score = true, 1
				return last, nil
			}
			mistakes, err := schema.ValidateContext(ctx, o)
			if err != nil {
				return Finding{}, err
			}
			last = conforms(s, mistakes, "Output contains JSON conforming to the provided schema")
			if last.Pass {
				break
			}
		}
		return last, nil
	}), nil
}

// schemaOf returns the schema in the value; nil if there is none. Text is parsed as
// YAML, which includes JSON.
func (c *Compiler) schemaOf(s *Spec) (*jsonschema.Schema, error) {
	if !value.Truthy(s.Value) {
		return nil, nil
	}
	switch v := s.Value.(type) {
	case string:
		return c.cachedSchema(s.context(), "text:"+v, func() (*jsonschema.Schema, error) {
			doc, err := document.ParseYAMLContext(s.context(), "the schema", []byte(v))
			if err != nil {
				return nil, proviso.Errorf(proviso.Invalid, "%w", err)
			}
			return c.compileSchema(s.context(), doc.Root)
		})
	case *value.Object, []any:
		return c.schema(s.context(), v)
	}
	return nil, s.badValue("a schema: an object, or a text that holds one")
}

// schema compiles a schema once, regardless of how many assertions have an equal one.
func (c *Compiler) schema(ctx context.Context, v any) (*jsonschema.Schema, error) {
	o, _ := v.(*value.Object)
	if last := c.lastSchema.Load(); last != nil && c.Frozen && last.object == o {
		return last.schema, nil
	}
	schema, err := c.cachedSchema(ctx, string(value.AppendJSON(make([]byte, 0, 1<<10), v)), func() (*jsonschema.Schema, error) { return c.compileSchema(ctx, v) })
	if err == nil && c.Frozen && o != nil {
		c.lastSchema.Store(&schemaOfObject{o, schema})
	}
	return schema, err
}

func (c *Compiler) compileSchema(ctx context.Context, v any) (*jsonschema.Schema, error) {
	return jsonschema.Compile(v, jsonschema.Options{Lax: c.LaxSchemas, Pattern: c.schemaPattern, Context: ctx})
}

// schemaPattern compiles a pattern of a schema.
func (c *Compiler) schemaPattern(text, flags string) (jsonschema.Matcher, error) {
	re, err := c.Engines.patterns.Compile(text, flags)
	if err != nil {
		return nil, err
	}
	return re.Match, nil
}

// schemaOfObject saves encoding a schema again that the lines of a file share.
type schemaOfObject struct {
	object *value.Object
	schema *jsonschema.Schema
}

type compiledSchema struct {
	schema *jsonschema.Schema
	err    error
}

// cachedSchema returns the schema, or the error, for a key. If ctx ends during
// compilation, the result is not kept.
func (c *Compiler) cachedSchema(ctx context.Context, key string, compile func() (*jsonschema.Schema, error)) (*jsonschema.Schema, error) {
	known, ok := c.schemas.Get(key)
	if !ok {
		if known.schema, known.err = compile(); known.err != nil && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		c.schemas.Add(key, known)
	}
	return known.schema, known.err
}
