package check

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// The types of a [Step].
const (
	StepTool      = "tool"
	StepCommand   = "command"
	StepSearch    = "search"
	StepReasoning = "reasoning"
	StepMessage   = "message"
	StepSpan      = "span" // anything else
)

// Step is one step of an agent, read from a span of its trace.
type Step struct {
	Type    string // one of the constants
	Name    string // name of the tool, the command line, the query, or else the span's name
	Args    any    // arguments of a tool or a command
	HasArgs bool
	Span    *proviso.Span

	aliases []string // texts that a pattern may match, including Name and the span's name
}

// String returns type and name, as in reasons.
func (s *Step) String() string { return s.Type + ":" + spanName(s.Name) }

// Steps reads the spans of a trace as the steps of an agent, in the order in which
// they began. It supports the semantic conventions of OpenTelemetry for generative AI
// and for MCP, their older names, OpenInference, OpenLLMetry, the Vercel AI SDK, and
// attributes with similar names. commandTools names further tools that run commands,
// ignoring case.
func Steps(spans []proviso.Span, commandTools []string) []Step {
	order := make([]*proviso.Span, len(spans))
	for i := range spans {
		order[i] = &spans[i]
	}
	slices.SortStableFunc(order, func(a, b *proviso.Span) int {
		return cmp.Or(a.Start.Compare(b.Start), endOf(a).Compare(endOf(b)))
	})
	steps := make([]Step, len(order))
	r := stepReader{commandTools: commandTools}
	for i, s := range order {
		steps[i] = r.step(s)
	}
	return steps
}

func endOf(s *proviso.Span) time.Time {
	if s.End.IsZero() {
		return s.Start
	}
	return s.End
}

// stepReader reads spans as steps.
type stepReader struct{ commandTools []string }

// commands are the tools that always run commands.
var commands = [...]string{"exec_command", "local_shell", "shell"}

// runs reports whether a tool runs commands.
func (r stepReader) runs(tool string) bool {
	same := func(name string) bool { return strings.EqualFold(value.TrimSpace(name), tool) }
	return slices.ContainsFunc(commands[:], same) || slices.ContainsFunc(r.commandTools, same)
}

// step reads one span.
func (r stepReader) step(s *proviso.Span) Step {
	kind := kindOfSpan(s.Attributes)
	tool := toolOf(s, kind)
	var args any
	hasArgs := false
	if tool != "" {
		args, hasArgs = argsOf(s.Attributes)
	}
	command := r.commandOf(s, tool, args, kind)
	out := Step{Type: StepSpan, Name: s.Name, Span: s, aliases: []string{s.Name}}
	switch query := searchOf(s, kind); {
	case command != "" && tool != "" && r.runs(tool):
		out.as(StepCommand, command, tool, firstWord(command))
		out.Args, out.HasArgs = args, hasArgs
	case tool != "":
		out.as(StepTool, tool)
		out.Args, out.HasArgs = args, hasArgs
	case command != "":
		out.as(StepCommand, command, firstWord(command))
	case query != "":
		out.as(StepSearch, query)
	case isReasoning(s):
		out.Type = StepReasoning
		out.aliases = append(out.aliases, StepReasoning)
	case s.Attributes.At("codex.item.type") == "agent_message" || s.Name == "agent response" || s.Name == "send input":
		out.Type = StepMessage
		out.aliases = append(out.aliases, StepMessage)
	}
	return out
}

// as sets the type and name of a step, and further names for it.
func (s *Step) as(kind, name string, more ...string) {
	s.Type, s.Name = kind, name
	s.aliases = append(append(s.aliases, name), more...)
}

func firstWord(s string) string {
	if words := strings.FieldsFunc(s, value.IsSpace); len(words) > 0 {
		return words[0]
	}
	return s
}

// spanKind is the kind of a span, if a convention has a name for it.
type spanKind uint8

const (
	unsaid     spanKind = iota
	toolSpan            // it runs a tool
	searchSpan          // it searches for something
	otherSpan           // a model, an agent, a chain: tool names in it are those that it may call or requests
)

// kindOfSpan reads the attributes that name the kind of a span. A kind for tools
// takes precedence.
func kindOfSpan(a *value.Object) spanKind {
	kind := unsaid
	for _, key := range [...]string{"gen_ai.operation.name", "openinference.span.kind", "traceloop.span.kind", "langsmith.span.kind", "mcp.method.name"} {
		text, _ := a.At(key).(string)
		switch strings.ToLower(text) {
		case "":
		case "execute_tool", "tool", "tools/call":
			return toolSpan
		case "retriever", "retrieval":
			kind = searchSpan
		default:
			if kind == unsaid {
				kind = otherSpan
			}
		}
	}
	return kind
}

// toolNameKeys are the attributes that hold the name of a tool, in order of
// precedence.
var toolNameKeys = [...]string{
	"tool.name", "tool_name", "tool", "function.name", "function_name", "ai.toolCall.name",
	"gen_ai.tool.name", "agent.tool_name", "agent.tool", "agent.toolName", "codex.mcp.tool", "mcp.tool.name",
}

// toolOf returns the name of the tool that a span runs, "" if it runs none.
func toolOf(s *proviso.Span, kind spanKind) string {
	if name := firstText(s.Attributes, toolNameKeys[:]); name != "" {
		return name
	}
	if kind == otherSpan || kind == searchSpan {
		return ""
	}
	for key, v := range s.Attributes.All() {
		text, _ := v.(string)
		if text = value.TrimSpace(text); text == "" || structured(text) {
			continue
		}
		key = strings.ToLower(key)
		if near(key, "tool", "name") || near(key, "function", "name") {
			return text
		}
		if kind == unsaid && hasPart(key, "tool") && !containsAny(key, "result", "output", "definition") {
			return text
		}
	}
	if name, ok := strings.CutPrefix(s.Name, "mcp "); ok {
		if i := strings.LastIndexByte(name, '/'); i >= 0 && i < len(name)-1 {
			return value.TrimSpace(name[i+1:])
		}
	}
	if kind != toolSpan {
		return ""
	}
	if name := firstText(s.Attributes, []string{"traceloop.entity.name"}); name != "" {
		return name
	}
	name := s.Name
	for _, prefix := range [...]string{"execute_tool ", "tools/call "} {
		name = strings.TrimPrefix(name, prefix)
	}
	return value.TrimSpace(name)
}

// firstText returns the first of the attributes that is a non-empty text.
func firstText(a *value.Object, keys []string) string {
	for _, key := range keys {
		if text, ok := a.At(key).(string); ok {
			if text = value.TrimSpace(text); text != "" {
				return text
			}
		}
	}
	return ""
}

// structured reports whether a text is a JSON list or object, which is never a name.
func structured(text string) bool {
	if text[0] != '[' && text[0] != '{' {
		return false
	}
	_, err := value.ParseJSON(text)
	return err == nil
}

// near reports whether a key contains one word and then another, with at most one
// character between them.
func near(key, first, second string) bool {
	for {
		i := strings.Index(key, first)
		if i < 0 {
			return false
		}
		key = key[i+len(first):]
		if strings.HasPrefix(key, second) || key != "" && strings.HasPrefix(key[1:], second) {
			return true
		}
	}
}

// hasPart reports whether a key, split at dots and underscores, has one of the parts.
func hasPart(key string, parts ...string) bool {
	for part := range strings.FieldsFuncSeq(key, func(r rune) bool { return r == '.' || r == '_' }) {
		if slices.Contains(parts, part) {
			return true
		}
	}
	return false
}

func containsAny(s string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(s, p) })
}

// searchOf returns the query of a span; "" if it does not search.
func searchOf(s *proviso.Span, kind spanKind) string {
	if query := firstText(s.Attributes, []string{"codex.search.query", "search.query", "search_query", "gen_ai.retrieval.query.text"}); query != "" {
		return query
	}
	if query := firstText(s.Attributes, []string{"query"}); query != "" && (kind == searchSpan || searching(s)) {
		return query
	}
	if query, ok := strings.CutPrefix(s.Name, "search "); ok {
		return value.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(query, `"`), `"`))
	}
	if kind == searchSpan {
		if query := firstText(s.Attributes, []string{"input.value"}); query != "" {
			return query
		}
		return s.Name
	}
	return ""
}

// searching reports whether names in a span indicate a search.
func searching(s *proviso.Span) bool {
	between := func(r rune) bool { return value.IsSpace(r) || strings.ContainsRune("._:/-", r) }
	for part := range strings.FieldsFuncSeq(strings.ToLower(s.Name), between) {
		switch part {
		case "search", "find", "lookup", "retrieve", "retrieval":
			return true
		}
	}
	for key := range s.Attributes.All() {
		if key != "query" && hasPart(strings.ToLower(key), "search", "lookup", "retrieve", "retrieval") {
			return true
		}
	}
	return false
}

func isReasoning(s *proviso.Span) bool {
	if s.Attributes.At("codex.item.type") == "reasoning" {
		return true
	}
	const word = "reasoning"
	if len(s.Name) < len(word) || !strings.EqualFold(s.Name[:len(word)], word) {
		return false
	}
	rest := s.Name[len(word):]
	return rest == "" || rest[0] == '_' || value.IsSpace(rune(rest[0]))
}
