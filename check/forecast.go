package check

import "github.com/proviso-eval/proviso"

// Questions returns the questions to a model about an output of c that are known
// before there is an output: type, assertion, grader, value and criteria. Conditions
// that depend on an output, such as when, are assumed to apply.
func (s *Set) Questions(c *proviso.Case) []proviso.Question {
	var qs []proviso.Question
	for _, m := range s.members {
		qs = m.questions(qs, c)
	}
	return qs
}

func (m *compiled) questions(qs []proviso.Question, c *proviso.Case) []proviso.Question {
	for _, inner := range m.members {
		qs = inner.questions(qs, c)
	}
	if m.broken != nil || m.kind == nil || m.kind.Needs&needsGrader == 0 || m.kind.Needs&NeedsGroup != 0 {
		return qs
	}
	q := proviso.Question{Type: m.base, Assertion: m.Assertion, Value: m.Value, Case: c}
	q.Grader, q.Rubric = graderOf(m.Assertion, c)
	if j, ok := m.check.(*judged); ok {
		if !j.asks() {
			return qs
		}
		q.Instruction = m.Instruction
		for _, cl := range j.clauses {
			if cl.counted == nil {
				q.Criteria = append(q.Criteria, cl.criterion)
			}
		}
	}
	return append(qs, q)
}
