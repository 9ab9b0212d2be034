package propose

import (
	"fmt"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/spade/internal/format"
	"github.com/proviso-eval/proviso/suite"
)

// underCondition gives a candidate the condition of the template around its sentence, if
// it has no other. The note says why it could not.
func underCondition(c proviso.Candidate) (_ proviso.Candidate, note string) {
	switch {
	case c.Delta.Condition == "" || c.Assertion.Raw.Has("when"):
		return c, ""
	case c.Delta.When == "":
		return c, fmt.Sprintf("%s is checked always, though the template asks for it only if %q holds, which is not translated into a when", c.Name, format.Excerpt(c.Delta.Condition))
	}
	o := candidate.Object(&c, true)
	o.Set("when", c.Delta.When)
	list, wrong := suite.DecodeSet(check.Facts(), []any{o}, "")
	if len(wrong) > 0 || len(list) != 1 {
		return c, c.Name + " is checked always: " + format.FirstOf(wrong)
	}
	c.Assertion = list[0]
	return c, ""
}

// sameBut reports whether two candidates check the same, apart from the condition, which
// the first does not have.
func sameBut(c, conditional *proviso.Candidate) bool {
	if c.Assertion.Raw.Has("when") || !conditional.Assertion.Raw.Has("when") {
		return false
	}
	with, _ := underCondition(proviso.Candidate{Name: c.Name, Assertion: c.Assertion, Delta: conditional.Delta})
	return candidate.Check(&with) == candidate.Check(conditional)
}
