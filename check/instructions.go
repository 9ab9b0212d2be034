package check

import (
	"context"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// Instructions returns the instructions of the assertions of the set that apply to the
// row, in order: of those without `when`, and of those whose `when` holds. Templates in
// them are rendered with the variables of the row. Assertions without an instruction
// are left out. A nil set has none. The error is that of a `when` or a template.
func (s *Set) Instructions(ctx context.Context, row *Row) ([]string, error) {
	if s == nil {
		return nil, nil
	}
	row.fromGo()
	return instructions(ctx, s.members, row, nil)
}

func instructions(ctx context.Context, members []*compiled, row *Row, list []string) ([]string, error) {
	for _, m := range members {
		if m.Instruction == "" && len(m.members) == 0 {
			continue
		}
		var v proviso.Verdict
		applies, err := m.applies(ctx, row, &v)
		if err != nil {
			return nil, err
		}
		if !applies {
			continue
		}
		if text := m.Instruction; value.TrimSpace(text) != "" {
			if hasTemplate(text) && m.c.Templates != nil {
				if text, err = m.c.Templates.Render(ctx, text, row.Vars); err != nil {
					return nil, err
				}
			}
			list = append(list, text)
		}
		if list, err = instructions(ctx, m.members, row, list); err != nil {
			return nil, err
		}
	}
	return list, nil
}
