package selection

import (
	"maps"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
)

// CostOfJudged sets the cost of selecting candidates that a model decides, unless they
// have a cost of their own. Names are those of the matrix; a cost of 0 changes nothing.
func (o *Options) CostOfJudged(list []proviso.Candidate, names []string, cost int) {
	if cost == 0 {
		return
	}
	if o.Cost = maps.Clone(o.Cost); o.Cost == nil {
		o.Cost = map[string]int{}
	}
	for _, c := range list {
		kind, ok := check.Lookup(strings.TrimPrefix(c.Assertion.Type, "not-"))
		asks := ok && kind.Needs&check.NeedsJudge != 0 && !(kind.Type == proviso.TypeJudge && len(c.Assertion.Criteria) == 0 && c.Assertion.Check != nil)
		if _, own := o.Cost[c.Name]; asks && !own && slices.Contains(names, c.Name) {
			o.Cost[c.Name] = cost
		}
	}
}
