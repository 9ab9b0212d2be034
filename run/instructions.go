package run

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/value"
)

// assertionsName is the variable that prompts find the instructions of their
// assertions in: {{ assertions.instructions }}. A variable of the case with this name
// takes precedence.
const assertionsName = "assertions"

// withInstructions adds the instructions of the assertions that apply to a row to the
// variables of a prompt that uses them, as a list in Markdown. They are never
// templates: they were rendered once. Reports and assertions do not see the variable.
func (p *Plan) withInstructions(ctx context.Context, pc *prepared, col *column, raw string, vars *value.Object, foreign map[string]bool) (*value.Object, map[string]bool, error) {
	if !strings.Contains(raw, assertionsName) || vars.Has(assertionsName) {
		return vars, foreign, nil
	}
	set := pc.set
	if s, ok := pc.byPrompt[col.prompt]; ok {
		set = s
	}
	row := &check.Row{Vars: vars, Case: pc.Case, Provider: col.spec, Label: col.prompt.Label}
	var lines []string
	for _, set := range []*check.Set{pc.criteria, set} {
		list, err := set.Instructions(ctx, row)
		if err != nil {
			return nil, nil, proviso.Errorf(proviso.Undecided, "assertions.instructions: %w", err)
		}
		for _, text := range list {
			if line := "- " + strings.Join(strings.Fields(text), " "); !slices.Contains(lines, line) {
				lines = append(lines, line)
			}
		}
	}
	added := vars.Clone().OrEmpty()
	added.Set(assertionsName, value.ObjectOf("instructions", strings.Join(lines, "\n")))
	names := maps.Clone(foreign)
	if names == nil {
		names = map[string]bool{}
	}
	names[assertionsName] = true
	return added, names, nil
}

// instructed reports whether an assertion of a case in a column has an instruction.
func instructed(c *proviso.Case, col *column) bool {
	var has func([]*proviso.Assertion) bool
	has = func(list []*proviso.Assertion) bool {
		return slices.ContainsFunc(list, func(a *proviso.Assertion) bool { return strings.TrimSpace(a.Instruction) != "" || has(a.Assert) })
	}
	return has(c.Set) || has(c.Assert) || has(col.prompt.Assert)
}
