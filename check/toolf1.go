package check

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
)

// newToolCallF1 is `tool-call-f1`: how well the set of tools that were called
// agrees with the expected one, as the harmonic mean of precision and recall.
func newToolCallF1(_ *Compiler, s *Spec) (Check, error) {
	expected, err := toolNames(s)
	if err != nil {
		return nil, err
	}
	limit := s.threshold(1)
	return Func(func(_ context.Context, sub *Subject) (Finding, error) {
		called := calledTools(sub.answer())
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
			f1, side, proviso.FormatNumber(limit), names, precision, recall)
		return f, nil
	}), nil
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "(none)"
	}
	return strings.Join(names, ", ")
}

// toolNames returns the expected names, sorted, each once.
func toolNames(s *Spec) ([]string, error) {
	var names []string
	switch v := s.Value.(type) {
	case string:
		for part := range strings.SplitSeq(v, ",") {
			names = append(names, proviso.TrimSpace(part))
		}
	case []any:
		for _, e := range v {
			names = append(names, proviso.ToString(e))
		}
	}
	if len(names) == 0 {
		return nil, s.badValue("names of tools: a list, or a text with commas")
	}
	return distinct(names), nil
}

func distinct(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

// calledTools finds the names of tools in an output of any provider's shape,
// sorted, each once.
func calledTools(v any) []string {
	text, ok := v.(string)
	if !ok {
		return distinct(toolsIn(nil, v))
	}
	if v, err := proviso.ParseJSON(text); err == nil {
		return distinct(toolsIn(nil, v))
	}
	// A provider may write one call a line, between lines of prose.
	var names []string
	for line := range strings.SplitSeq(text, "\n") {
		line = proviso.TrimSpace(line)
		if line == "" || line[0] != '{' && line[0] != '[' {
			continue
		}
		if v, err := proviso.ParseJSON(line); err == nil {
			names = toolsIn(names, v)
		}
	}
	return distinct(names)
}

// toolsIn adds the names of the calls in v: a list of calls, or an object that
// holds some.
func toolsIn(names []string, v any) []string {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			call, _ := e.(*proviso.Object)
			for _, holder := range []any{call.At("function"), call.At("functionCall"), call} {
				names = addName(names, holder)
			}
		}
	case *proviso.Object:
		if list, ok := v.At("tool_calls").([]any); ok {
			return toolsIn(names, list)
		}
		if v.At("type") == "tool_use" {
			names = addName(names, v)
		}
		names = addName(names, v.At("functionCall"))
		live, _ := v.At("toolCall").(*proviso.Object)
		if list, ok := live.At("functionCalls").([]any); ok {
			names = toolsIn(names, list)
		}
	}
	return names
}

func addName(names []string, holder any) []string {
	o, _ := holder.(*proviso.Object)
	if name, ok := o.At("name").(string); ok {
		names = append(names, name)
	}
	return names
}
