package check

import (
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// toolArgKeys are the attributes that hold the arguments of a tool, in order of
// precedence.
var toolArgKeys = [...]string{
	"tool.args", "tool.arguments", "tool.input", "tool_args", "tool_arguments", "tool_input",
	"function.args", "function.arguments", "function.input", "function_args", "function_arguments",
	"ai.toolCall.args", "ai.toolCall.arguments", "ai.toolCall.input",
	"gen_ai.tool.args", "gen_ai.tool.arguments", "gen_ai.tool.input", "gen_ai.tool.call.args", "gen_ai.tool.call.arguments",
	"agent.tool.args", "agent.tool.arguments", "agent.tool.input",
	"codex.mcp.args", "codex.mcp.arguments", "codex.mcp.input",
	"args", "arguments", "input",
}

// mcpArgument is the prefix of the attributes that hold one argument each.
const mcpArgument = "mcp.request.argument."

// argsOf returns the arguments of the tool that a span runs: a structure, or a text
// that is not JSON.
func argsOf(a *value.Object) (any, bool) {
	for _, key := range toolArgKeys {
		if v, ok := structure(a.At(key)); ok {
			return v, true
		}
	}
	single := &value.Object{}
	for key, v := range a.All() {
		if name, ok := strings.CutPrefix(key, mcpArgument); ok {
			single.Set(name, v)
			continue
		}
		key = strings.ToLower(key)
		if containsAny(key, "result", "output", "error", "status", "mime_type") || !hasPart(key, "arguments", "args", "input") {
			continue
		}
		if v, ok := structure(v); ok {
			return v, true
		}
	}
	return single, single.Len() > 0
}

// structure reads an attribute. A JSON text is parsed.
func structure(v any) (any, bool) {
	switch v := v.(type) {
	case nil, value.Undefined:
		return nil, false
	case string:
		text := value.TrimSpace(v)
		if text == "" {
			return nil, false
		}
		if parsed, err := value.ParseJSON(text); err == nil {
			return parsed, true
		}
		return text, true
	}
	return v, true
}

// commandOf returns the command line that a span runs, "" if it runs none.
func (r stepReader) commandOf(s *proviso.Span, tool string, args any, kind spanKind) string {
	if text := firstText(s.Attributes, []string{"codex.command", "command", "command.name", "command_name"}); text != "" {
		return text
	}
	if kind != otherSpan {
		for key, v := range s.Attributes.All() {
			text, _ := v.(string)
			key = strings.ToLower(key)
			if text = value.TrimSpace(text); text != "" && strings.Contains(key, "command") && !containsAny(key, "output", "result") {
				return text
			}
		}
	}
	if o, ok := args.(*value.Object); ok && tool != "" && r.runs(tool) {
		if line := commandLine(o); line != "" {
			return line
		}
	}
	if line, ok := strings.CutPrefix(s.Name, "exec "); ok {
		return value.TrimSpace(line)
	}
	return ""
}

// commandLine makes one line from the arguments of a tool that runs commands.
func commandLine(args *value.Object) string {
	for _, from := range [...]struct{ key, between string }{{"cmd", " "}, {"command", " "}, {"commands", "; "}} {
		v, ok := args.Get(from.key)
		if !ok {
			continue
		}
		switch v := v.(type) {
		case string:
			return value.TrimSpace(v)
		case []any:
			var words []string
			for _, e := range v {
				if word := value.TrimSpace(value.ToString(e)); word != "" {
					words = append(words, word)
				}
			}
			return strings.Join(words, from.between)
		}
		return ""
	}
	return ""
}
