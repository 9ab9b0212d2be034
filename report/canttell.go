package report

import (
	"fmt"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// A criterion is probably unclear if a judge cannot tell for at least this share and this
// number of outputs.
const (
	unclearShare = 0.1
	unclearLeast = 2
)

// cannotTell reports whether the judge cannot tell about a criterion.
func cannotTell(list []proviso.CriterionVerdict) bool {
	for i := range list {
		if list[i].CannotTell {
			return true
		}
	}
	return false
}

// cannotTellIn is cannotTell for a component of a row.
func cannotTellIn(c *value.Object) bool {
	list, _ := c.At("criteria").([]any)
	for _, v := range list {
		if o, ok := v.(*value.Object); ok && o.At("cannot_tell") == true {
			return true
		}
	}
	return false
}

// cannotTellShare returns the share of outputs for which the judge cannot tell; 0 if there
// are no such outputs.
func (a *AssertionSummary) cannotTellShare() float64 {
	if a.CannotTell == 0 || a.Asked() == 0 {
		return 0
	}
	return float64(a.CannotTell) / float64(a.Asked())
}

// unsure formats the number of outputs for which the judge cannot tell, for the end of a
// line.
func (a *AssertionSummary) unsure() string {
	if a.CannotTell == 0 {
		return ""
	}
	return fmt.Sprintf("judge cannot tell in %d of %d (%.0f %%)", a.CannotTell, a.Asked(), 100*a.cannotTellShare())
}

// unclear returns the number of assertions with a criterion that judges often cannot
// decide.
func (s *Summary) unclear() int {
	n := 0
	for _, a := range s.asserted.lines {
		if a.CannotTell >= unclearLeast && a.cannotTellShare() >= unclearShare {
			n++
		}
	}
	return n
}
