package check

import (
	"context"
	"path"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/jsonschema"
	"github.com/proviso-eval/proviso/value"
)

// newFunctionCall is `is-valid-function-call` and `is-valid-openai-function-call`:
// the output is a call of a function in the provider's configuration, with arguments
// that match its schema.
func newFunctionCall(c *Compiler, _ *Spec) (Check, error) {
	return Func(func(ctx context.Context, sub *Subject) (Finding, error) {
		p := sub.Row.Provider
		if p == nil {
			return setUp("Provider does not have functionality for checking function call."), nil
		}
		format := proviso.ToolsUnknown
		if facts, _ := c.Providers.Of(p.ID); facts != nil {
			format = facts.Tools
		}
		tools, err := c.declared(ctx, p.Config, "tools", sub.Row.Vars)
		if err != nil {
			return Finding{}, err
		}
		if google := googleFunctions(tools); google != nil || format == proviso.ToolsGoogle {
			f, err := c.googleCall(ctx, sub.Value, google)
			return whole(ctx, f, err)
		}
		functions, err := c.declared(ctx, p.Config, "functions", sub.Row.Vars)
		if err != nil {
			return Finding{}, err
		}
		if functions == nil && format != proviso.ToolsOpenAI {
			return setUp("Provider does not have functionality for checking function call."), nil
		}
		f, err := c.openAICall(ctx, functionCallOf(sub.Value), functions)
		return whole(ctx, f, err)
	}), nil
}

// whole returns a finding, or an error if ctx ended before the finding was
// complete.
func whole(ctx context.Context, f Finding, err error) (Finding, error) {
	if ctx.Err() != nil {
		return Finding{}, context.Cause(ctx)
	}
	return f, err
}

// setUp is a failure of the configuration, not of the output: not- does not invert
// it.
func setUp(reason string) Finding { return Finding{Final: true, Reason: reason} }

// declared returns the functions or tools under key in a provider's configuration,
// inline or in a file. Templates in it are rendered.
func (c *Compiler) declared(ctx context.Context, config *value.Object, key string, vars *value.Object) ([]any, error) {
	v, err := c.renderAll(ctx, config.At(key), vars, 0)
	if err != nil {
		return nil, err
	}
	if name, ok := v.(string); ok {
		if name, ok = strings.CutPrefix(name, "file://"); !ok {
			return nil, nil
		}
		if v, err = c.declarations(name); err != nil {
			return nil, err
		}
	}
	list, _ := v.([]any)
	return list, nil
}

func (c *Compiler) declarations(name string) (any, error) {
	switch strings.ToLower(path.Ext(name)) {
	case ".json", ".yaml", ".yml":
	default:
		return nil, proviso.Errorf(proviso.Unsupported, "%s: functions are read from .json, .yaml and .yml files", name)
	}
	return c.readData(name)
}

// renderAll renders the templates in the texts of v, which is copied if it contains
// any.
func (c *Compiler) renderAll(ctx context.Context, v any, vars *value.Object, depth int) (any, error) {
	if depth > value.MaxDepth {
		return nil, proviso.Errorf(proviso.Limit, "the provider's configuration nests deeper than %d", value.MaxDepth)
	}
	if s, ok := v.(string); ok {
		if !hasTemplate(s) {
			return v, nil
		}
		if c.Templates == nil {
			return nil, proviso.Errorf(proviso.Unavailable, "templates cannot be rendered: no template engine is available")
		}
		return c.Templates.Render(ctx, s, vars)
	}
	var err error
	v = document.Map("", v, func(_, _ string, e any) any {
		if err != nil {
			return e
		}
		var made any
		made, err = c.renderAll(ctx, e, vars, depth+1)
		return made
	})
	return v, err
}

// functionCallOf unwraps {function_call}.
func functionCallOf(v any) any {
	if o, ok := v.(*value.Object); ok && value.Truthy(o.At("function_call")) {
		return o.At("function_call")
	}
	return v
}

// openAICall checks one call of the form {name, arguments: JSON text}.
func (c *Compiler) openAICall(ctx context.Context, call any, functions []any) (Finding, error) {
	o, _ := call.(*value.Object)
	name, ok1 := o.At("name").(string)
	arguments, ok2 := o.At("arguments").(string)
	if !ok1 || !ok2 {
		return Finding{Reason: "OpenAI did not return a valid-looking function call: " + value.Stringify(call)}, nil
	}
	args, err := value.ParseReply(ctx, arguments)
	if unread(ctx, err) {
		return Finding{}, err
	}
	if err != nil {
		return Finding{Reason: "The arguments of the call to \"" + name + "\" are not JSON: " + err.Error()}, nil
	}
	parameters, ok := parametersOf(functions, name)
	if !ok {
		return unknownFunction(name, functions), nil
	}
	return c.arguments(ctx, args, parameters, "Call to \""+name+"\" does not match schema: "), nil
}

func unknownFunction(name string, functions []any) Finding {
	return Finding{Reason: "Called \"" + name + "\", but there is no function with that name", Final: len(functions) == 0}
}

// parametersOf finds the schema of a function; one without a schema counts as
// unknown.
func parametersOf(functions []any, name string) (any, bool) {
	for _, e := range functions {
		if o, _ := e.(*value.Object); o.At("name") == name {
			return o.At("parameters"), value.Truthy(o.At("parameters"))
		}
	}
	return nil, false
}

// arguments checks the arguments of a call against the schema of its function.
func (c *Compiler) arguments(ctx context.Context, args, parameters any, failure string) Finding {
	schema, err := c.schema(ctx, parameters)
	if err != nil {
		return setUp(err.Error())
	}
	mistakes, err := schema.ValidateContext(ctx, args)
	if err != nil {
		return setUp(err.Error())
	}
	f := found(mistakes == nil)
	if !f.Pass {
		f.Reason = failure + mistakesJSON(mistakes)
	}
	return f
}

func mistakesJSON(mistakes []jsonschema.Error) string {
	list := make([]any, len(mistakes))
	for i, m := range mistakes {
		list[i] = m.Object()
	}
	return value.Stringify(list)
}

// newToolsCall is `is-valid-openai-tools-call`: the output is a list of calls of
// declared tools, or the result of an MCP tool.
func newToolsCall(c *Compiler, _ *Spec) (Check, error) {
	return Func(func(ctx context.Context, sub *Subject) (Finding, error) {
		if f, ok := mcpFinding(sub.Text); ok {
			return f, nil
		}
		if sub.Row.Provider == nil {
			return Finding{}, proviso.Errorf(proviso.Undecided, "there is no provider whose tools could be checked")
		}
		tools, err := c.declared(ctx, sub.Row.Provider.Config, "tools", sub.Row.Vars)
		if err != nil {
			return Finding{}, err
		}
		f, err := c.toolCalls(ctx, sub.answer(), toolFunctions(tools))
		return whole(ctx, f, err)
	}), nil
}

// answer is the value to search for tool calls: the output, or, if that is a text
// without calls, the calls that the provider returned separately.
func (s *Subject) answer() any {
	if _, text := s.Value.(string); text && len(s.Row.Output.ToolCalls) > 0 {
		return s.Row.Output.ToolCalls
	}
	return s.Value
}

func (c *Compiler) toolCalls(ctx context.Context, v any, functions []any) (Finding, error) {
	if o, ok := v.(*value.Object); ok && o.Has("tool_calls") {
		v = o.At("tool_calls")
	}
	list, _ := v.([]any)
	calls := make([]any, 0, len(list))
	for _, e := range list {
		o, _ := e.(*value.Object)
		call, _ := o.At("function").(*value.Object)
		_, ok1 := call.At("name").(string)
		_, ok2 := call.At("arguments").(string)
		if ok1 && ok2 {
			calls = append(calls, call)
		}
	}
	if len(list) == 0 || len(calls) < len(list) {
		return Finding{Reason: "OpenAI did not return a valid-looking tools response: " + value.Stringify(v)}, nil
	}
	for _, call := range calls {
		if f, err := c.openAICall(ctx, call, functions); err != nil || !f.Pass {
			return f, err
		}
	}
	return found(true), nil
}

// toolFunctions returns the declarations of tools of type function.
func toolFunctions(tools []any) []any {
	var functions []any
	for _, e := range tools {
		if o, _ := e.(*value.Object); o.At("type") == "function" {
			functions = append(functions, o.At("function"))
		}
	}
	return functions
}

// mcpFinding checks the text that a provider makes from the results of MCP tools. An
// error takes precedence over results.
func mcpFinding(text string) (Finding, bool) {
	if _, rest, ok := strings.Cut(text, "MCP Tool Error"); ok {
		name, message := mcpName(rest)
		if message == "" {
			message = "unknown error"
		}
		return Finding{Reason: "MCP tool call failed for " + name + ": " + message}, true
	}
	_, rest, ok := strings.Cut(text, "MCP Tool Result")
	if !ok {
		return Finding{}, false
	}
	name, _ := mcpName(rest)
	f := found(true)
	f.Always, f.Reason = true, "MCP tool call succeeded for "+name
	return f, true
}

// mcpName reads " (name): message".
func mcpName(s string) (name, message string) {
	s, ok := strings.CutPrefix(s, " (")
	name, rest, closed := strings.Cut(s, ")")
	if !ok || !closed || name == "" {
		return "unknown", ""
	}
	message, _, _ = strings.Cut(strings.TrimPrefix(rest, ": "), "\n")
	return name, message
}
