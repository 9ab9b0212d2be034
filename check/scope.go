package check

import (
	"context"
	"fmt"
	"slices"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/segment"
)

var (
	scopeOf    = []string{"", "output", "prompt"}
	scopeEach  = []string{"", "item", "line", "paragraph", "sentence"}
	scopeMatch = []string{"", "all", "any", "none"}
)

func checkScope(s *proviso.Scope) error {
	if s == nil {
		return nil
	}
	for _, f := range []struct {
		name, value string
		valid       []string
	}{{"of", s.Of, scopeOf}, {"each", s.Each, scopeEach}, {"match", s.Match, scopeMatch}} {
		if !slices.Contains(f.valid, f.value) {
			return &proviso.Error{Code: proviso.Invalid, Message: fmt.Sprintf("unknown scope %s %q", f.name, f.value), Valid: f.valid[1:]}
		}
	}
	if s.Match != "" && s.Each == "" {
		return proviso.Errorf(proviso.Invalid, "scope match needs each: line, item, paragraph or sentence")
	}
	return nil
}

// scoped decides on the part of the output that the scope selects, or on each of its
// parts.
//
// A negated assertion is negated for each part: no line contains a, rather than not
// every line contains it.
func scoped(ctx context.Context, check Check, m *compiled, s *Subject) (Finding, *pending, error) {
	scope := m.Scope
	text := s.Text
	if scope.Of == "prompt" {
		text = s.Row.Prompt
	}
	part, ok := segment.Section(text, scope.From, scope.To)
	if !ok {
		return Finding{Final: true, Reason: "The section " + sectionName(scope) + " does not occur"}, nil, nil
	}
	if scope.Each == "" {
		return begin(ctx, check, &Subject{Text: part, Value: part, Row: s.Row})
	}
	parts := partsOf(part, scope.Each)
	if m.kind.Needs&needsGrader != 0 && len(parts) > maxJudgedParts {
		return Finding{}, nil, tooManyParts(scope.Each, len(parts))
	}
	f, err := each(ctx, check, m, parts, s.Row)
	return f, nil, err
}

func sectionName(scope *proviso.Scope) string {
	switch {
	case scope.To == "":
		return fmt.Sprintf("after %q", scope.From)
	case scope.From == "":
		return fmt.Sprintf("before %q", scope.To)
	}
	return fmt.Sprintf("from %q to %q", scope.From, scope.To)
}

func partsOf(text, unit string) []string {
	switch unit {
	case "item":
		return segment.Items(text)
	case "paragraph":
		return segment.Paragraphs(text)
	case "sentence":
		return segment.Sentences(text)
	}
	return segment.Lines(text)
}

// each decides on every part, including negation.
func each(ctx context.Context, check Check, m *compiled, parts []string, row *Row) (Finding, error) {
	scope := m.Scope
	hold := 0
	var first Finding // the first part that decides the whole
	var spent Finding // for all parts
	at := -1
	for i, part := range parts {
		f, err := check.Decide(ctx, &Subject{Text: part, Value: part, Row: row})
		spent.spend(f)
		if err != nil {
			return spent, fmt.Errorf("%s %d: %w", scope.Each, i+1, err)
		}
		holds := f.Pass != (m.not && !f.Final)
		if holds {
			hold++
		}
		if at < 0 && holds == (scope.Match == "none") {
			first, at = f, i
		}
	}
	var out Finding
	switch scope.Match {
	case "any":
		out = found(hold > 0)
	case "none":
		out = found(hold == 0)
	default:
		out = found(hold == len(parts))
	}
	out.Final = true // already negated
	out.spend(spent)
	out.Reason = fmt.Sprintf("%d of %d %ss hold, expected %s", hold, len(parts), scope.Each, wanted(scope.Match))
	if at >= 0 && scope.Match != "any" {
		out.Threw = first.Threw
		out.Reason += fmt.Sprintf("; %s %d: %s", scope.Each, at+1, parts[at])
		if first.Reason != "" {
			out.Reason += " (" + first.Reason + ")"
		}
	}
	return out, nil
}

func wanted(match string) string {
	if match == "" {
		return "all"
	}
	return match
}
