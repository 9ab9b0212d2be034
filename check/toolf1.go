package check

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso/value"
)

// newToolCallF1 is `tool-call-f1`: the harmonic mean of precision and recall of the
// called tools, compared with the expected set.
func newToolCallF1(_ *Compiler, s *Spec) (Check, error) {
	expected, err := toolNames(s)
	if err != nil {
		return nil, err
	}
	limit := s.threshold()
	return Func(func(ctx context.Context, sub *Subject) (Finding, error) {
		called, err := calledTools(ctx, sub.answer())
		if err != nil {
			return Finding{}, err
		}
		hits := 0
		for _, name := range called {
			if slices.Contains(expected, name) {
				hits++
			}
		}
		var precision, recall, f1 float64
		if hits > 0 {
			precision = float64(hits) / float64(len(called))
			recall = float64(hits) / float64(len(expected))
			f1 = 2 * precision * recall / (precision + recall)
		}
		f := Finding{Pass: f1 >= limit, Score: f1, Always: true}
		names := fmt.Sprintf("Expected: [%s], Called: [%s]", strings.Join(expected, ", "), orNone(called))
		if f.Pass != s.Not {
			f.Reason = fmt.Sprintf("Tool Call F1: %.3f (precision=%.3f, recall=%.3f). %s", f1, precision, recall, names)
			return f, nil
		}
		side := "below"
		if s.Not {
			side = "above"
		}
		f.Reason = fmt.Sprintf("Tool Call F1 score %.3f is %s threshold %s. %s. Precision=%.3f, Recall=%.3f",
			f1, side, value.FormatNumber(limit), names, precision, recall)
		return f, nil
	}), nil
}

func orNone(names []string) string {
	if text := strings.Join(names, ", "); text != "" {
		return text
	}
	return "(none)"
}

// toolNames returns the expected names, sorted and without duplicates or empty names.
func toolNames(s *Spec) ([]string, error) {
	var names []string
	switch v := s.Value.(type) {
	case string:
		for part := range strings.SplitSeq(v, ",") {
			names = append(names, value.TrimSpace(part))
		}
	case []any:
		for _, e := range v {
			names = append(names, value.TrimSpace(value.ToString(e)))
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool { return name == "" })
	if len(names) == 0 {
		return nil, s.badValue("names of tools: a list, or a text with commas")
	}
	return distinct(names), nil
}

func distinct(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

// calledTools returns the names of tools in an output of any provider's shape, sorted
// and without duplicates. A text may contain calls as JSON between lines of prose.
func calledTools(ctx context.Context, v any) ([]string, error) {
	text, ok := v.(string)
	if !ok {
		return distinct(toolsIn(nil, v)), nil
	}
	parsed, err := value.ParseReply(ctx, text)
	if unread(ctx, err) {
		return nil, err
	}
	if err == nil {
		if _, quoted := parsed.(string); quoted {
			return calledTools(ctx, parsed)
		}
		return distinct(toolsIn(nil, parsed)), nil
	}
	var names []string
	err = jsonBlocks(ctx, text, func(v any) { names = toolsIn(names, v) })
	return distinct(names), err
}

// toolsIn adds the names of the calls in v: a list of calls, or an object that is a
// call or contains some.
func toolsIn(names []string, v any) []string {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			if call, ok := e.(*value.Object); ok {
				names = addCall(names, call)
			}
		}
	case *value.Object:
		names = addCalls(names, v)
	}
	return names
}

// addCall adds the name of one entry of a list.
func addCall(names []string, call *value.Object) []string {
	if _, named := call.At("name").(string); named && call.At("type") == "tool_use" {
		return addName(names, call)
	}
	for _, key := range [...]string{"functionCall", "function"} {
		if held := call.At(key); isObject(held) {
			return addName(names, held)
		}
	}
	return addName(names, call)
}

// addCalls adds the names in a single object.
func addCalls(names []string, o *value.Object) []string {
	if list, ok := o.At("tool_calls").([]any); ok {
		for _, e := range list {
			call, _ := e.(*value.Object)
			names = addName(addName(names, call.At("function")), call)
		}
		return names
	}
	if _, named := o.At("name").(string); named && (o.At("type") == "tool_use" || o.At("type") == "function_call") {
		return addName(names, o)
	}
	if held := o.At("functionCall"); isObject(held) {
		return addName(names, held)
	}
	live, _ := o.At("toolCall").(*value.Object)
	list, _ := live.At("functionCalls").([]any)
	for _, e := range list {
		names = addName(names, e)
	}
	return names
}

// isObject reports whether v is an object in JavaScript, which includes lists.
func isObject(v any) bool {
	switch v.(type) {
	case *value.Object, []any:
		return true
	}
	return false
}

func addName(names []string, holder any) []string {
	o, _ := holder.(*value.Object)
	if name, ok := o.At("name").(string); ok {
		names = append(names, name)
	}
	return names
}
