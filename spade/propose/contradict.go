package propose

import (
	"context"
	"fmt"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/spade/delta"
	"github.com/proviso-eval/proviso/spade/internal/format"
	"github.com/proviso-eval/proviso/spade/rules"
	"github.com/proviso-eval/proviso/spade/subsume"
	"github.com/proviso-eval/proviso/value"
)

// read reads the sentences of all versions by rules, whether or not the rules propose: a
// model's candidate must not contradict them.
func (r *proposing) read(ctx context.Context) error {
	read := r.rules
	if read == nil || !r.Dropped {
		var err error
		if read, err = rules.Propose(ctx, r.history, rules.Options{Compiler: r.Compiler, Dropped: true}); err != nil {
			return err
		}
	}
	r.reading = map[string][]proviso.Candidate{}
	for i := range read.Candidates {
		c := &read.Candidates[i]
		key := delta.Key(c.Delta.Text)
		r.reading[key] = append(r.reading[key], *c)
	}
	return nil
}

// contradicts explains that a candidate is the opposite of what the rules read in a sentence
// that it covers; "" if it is not.
func (r *proposing) contradicts(c *proviso.Candidate, covered []DeltaCriterion) string {
	for _, x := range covered {
		for _, read := range r.reading[delta.Key(x.Delta.Text)] {
			if len(subsume.Exclusive([]proviso.Candidate{read, *c}, r.Compiler)) > 0 || otherSide(c.Assertion, read.Assertion) {
				return fmt.Sprintf("it contradicts its sentence, of which this is a check: %s", candidate.Check(&read))
			}
		}
	}
	return ""
}

// otherSide reports whether, of two counts of the same thing, one has only a lower bound and
// the other only an upper bound.
func otherSide(a, b *proviso.Assertion) bool {
	if a.Type != b.Type || strings.HasPrefix(a.Type, "not-") || value.Stringify(a.Raw.At("scope")) != value.Stringify(b.Raw.At("scope")) {
		return false
	}
	one, ok1 := a.Value.(*value.Object)
	two, ok2 := b.Value.(*value.Object)
	if !ok1 || !ok2 {
		return false
	}
	for _, pair := range [][2]*value.Object{{one, two}, {two, one}} {
		for key, v := range pair[0].All() {
			if key != "min" && key != "max" && value.Stringify(v) != value.Stringify(pair[1].At(key)) {
				return false
			}
		}
	}
	low := func(o *value.Object) bool { return o.Has("min") && !o.Has("max") }
	high := func(o *value.Object) bool { return o.Has("max") && !o.Has("min") }
	return low(one) && high(two) || high(one) && low(two)
}

// underCondition gives a candidate the template condition of its sentence, unless it has
// another condition. The note says why that failed.
func underCondition(c proviso.Candidate) (_ proviso.Candidate, note string) {
	switch {
	case c.Delta.Condition == "" || c.Assertion.Raw.Has("when"):
		return c, ""
	case c.Delta.When == "":
		return c, fmt.Sprintf("%s is checked always, though the template asks for it only if %q holds, which is not translated into a when", c.Name, format.Excerpt(c.Delta.Condition))
	}
	o := candidate.Object(&c, true)
	o.Set("when", c.Delta.When)
	a, wrong := candidate.Decoded(o)
	if wrong != "" {
		return c, c.Name + " is checked always: " + wrong
	}
	c.Assertion = a
	return c, ""
}

// sameBut reports whether two candidates are the same check apart from the condition, which
// the first does not have.
func sameBut(c, conditional *proviso.Candidate) bool {
	if c.Assertion.Raw.Has("when") || !conditional.Assertion.Raw.Has("when") {
		return false
	}
	with, _ := underCondition(proviso.Candidate{Name: c.Name, Assertion: c.Assertion, Delta: conditional.Delta})
	return candidate.Check(&with) == candidate.Check(conditional)
}
