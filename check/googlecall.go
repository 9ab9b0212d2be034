package check

import (
	"context"
	"strings"

	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/value"
)

// googleFunctions returns the declarations of tools in Google's form; nil if there
// are none.
func googleFunctions(tools []any) []any {
	var functions []any
	for _, e := range tools {
		o, _ := e.(*value.Object)
		list, _ := o.At("functionDeclarations").([]any)
		functions = append(functions, list...)
	}
	return functions
}

// googleCall checks an output in Google's form: parts, some of which are
// functionCall, or {toolCall: {functionCalls}} of the live API, as a structure or as
// JSON text.
func (c *Compiler) googleCall(ctx context.Context, v any, functions []any) (Finding, error) {
	calls, ok, err := googleCalls(ctx, v)
	if err != nil {
		return Finding{}, err
	}
	if !ok {
		return Finding{Reason: "Google did not return a valid-looking function call: " + value.Stringify(v)}, nil
	}
	for _, call := range calls {
		if f, err := c.oneGoogleCall(ctx, call, functions); err != nil || !f.Pass {
			return f, err
		}
	}
	return found(true), nil
}

func googleCalls(ctx context.Context, v any) ([]any, bool, error) {
	if text, ok := v.(string); ok {
		parsed, err := value.ParseReply(ctx, text)
		if unread(ctx, err) {
			return nil, false, err
		}
		if err != nil {
			return nil, false, nil
		}
		v = parsed
	}
	if o, ok := v.(*value.Object); ok {
		live, _ := o.At("toolCall").(*value.Object)
		calls, ok := live.At("functionCalls").([]any)
		return calls, ok, nil
	}
	parts, ok := v.([]any)
	var calls []any
	for _, e := range parts {
		if o, _ := e.(*value.Object); o.Has("functionCall") {
			calls = append(calls, o.At("functionCall"))
		}
	}
	return calls, ok, nil
}

func (c *Compiler) oneGoogleCall(ctx context.Context, call any, functions []any) (Finding, error) {
	o, _ := call.(*value.Object)
	name, ok := o.At("name").(string)
	if !ok {
		return Finding{Reason: "Google did not return a valid-looking function call: " + value.Stringify(call)}, nil
	}
	args := o.At("args")
	if text, ok := args.(string); ok {
		parsed, err := value.ParseReply(ctx, text)
		if unread(ctx, err) {
			return Finding{}, err
		}
		if err != nil {
			return Finding{Reason: "The arguments of the call to \"" + name + "\" are not JSON: " + err.Error()}, nil
		}
		args = parsed
	}
	var declared *value.Object
	for _, e := range functions {
		if f, _ := e.(*value.Object); f.At("name") == name {
			declared = f
			break
		}
	}
	if declared == nil {
		return unknownFunction(name, functions), nil
	}
	failure := "Call to \"" + name + "\":\n" + value.Stringify(call) + "\ndoes not match schema:\n"
	given, _ := args.(*value.Object)
	parameters := declared.At("parameters")
	switch wants := value.Truthy(parameters); {
	case given.Len() == 0 && !wants:
		return found(true), nil
	case given.Len() == 0 || !wants:
		return Finding{Reason: failure + value.Stringify(parameters)}, nil
	}
	return c.arguments(ctx, args, lowerTypes(parameters, 0), failure), nil
}

// lowerTypes converts a JSON Schema of Google's, which writes types in capitals.
func lowerTypes(v any, depth int) any {
	if depth > value.MaxDepth {
		return v
	}
	return document.Map("", v, func(_, key string, e any) any {
		if text, ok := e.(string); ok && key == "type" {
			return strings.ToLower(text)
		}
		return lowerTypes(e, depth+1)
	})
}
