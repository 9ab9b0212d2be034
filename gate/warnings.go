package gate

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/internal/plural"
)

// warn adds warnings about what makes the two runs less comparable.
func (c *Comparison) warn(w *work) {
	say := func(format string, args ...any) { c.Warnings = append(c.Warnings, fmt.Sprintf(format, args...)) }
	differ := func(a, b string) bool { return a != "" && b != "" && a != b }
	base, head := c.Base.Identity, c.Head.Identity
	if differ(base.Judge, head.Judge) {
		say("The judges differ: %s and %s. A difference in judged assertions may come from the judge.", named(base.Judge), named(head.Judge))
	}
	for i := range w.assertions {
		x := &w.assertions[i]
		if b, h := joined(x.baseJudge), joined(x.headJudge); b != h && x.Pairs > 0 && !differ(base.Judge, head.Judge) {
			say("Assertion %s has different judges: %s and %s.", named(x.Assertion), orNone(b), orNone(h))
		}
		if x.criteria > 0 {
			say("Assertion %s has a different criterion in %s: its difference may come from the assertion.", named(x.Assertion), count(x.criteria, "case"))
		}
	}
	if base.Repeats > 0 && head.Repeats > 0 && base.Repeats != head.Repeats {
		say("The runs repeat each case differently often: %d and %d times.", base.Repeats, head.Repeats)
	}
	if b, h := len(c.Cases.OnlyBase), len(c.Cases.OnlyHead); b+h > 0 {
		say("The cases differ: %s only in base and %s only in head. They are left out of the figures. Cases match by their ids, else by their variables.", count(b, "case"), count(h, "case"))
	}
	if b, h := len(c.OnlyBase), len(c.OnlyHead); b+h > 0 {
		say("The prompts or providers differ: %s only in base and %s only in head. They are left out of the figures.", count(b, "column"), count(h, "column"))
	}
	for i := range w.assertions {
		if x := &w.assertions[i]; x.Pairs == 0 && x.OnlyBase > 0 && x.OnlyHead == 0 {
			say("Assertion %s is only in base: nothing decides on it any more. Keep it in the suite unless it should go.", named(x.Assertion))
		} else if x.Pairs == 0 && x.OnlyHead > 0 && x.OnlyBase == 0 {
			say("Assertion %s is only in head: it is compared once the base has it. Until then, give it an absolute rule, such as a least pass rate.", named(x.Assertion))
		} else if x.dropped > 0 {
			say("Assertion %s has no verdict in %s of head that had one in base: it was removed there, or did not apply.", named(x.Assertion), count(x.dropped, "case"))
		}
	}
	if c.LeftOut > 0 {
		say("%s could not be compared, because a verdict is an error or no assertion is on both sides.", capital(count(c.LeftOut, "case")))
	}
}

func joined(set map[string]bool) string {
	return strings.Join(slices.Sorted(maps.Keys(set)), ", ")
}

func orNone(s string) string {
	if s == "" {
		return "no model"
	}
	return named(s)
}

// named quotes a name from a suite, which may be long or hostile.
func named(s string) string { return strconv.Quote(excerpt.Line(s, 80)) }

// count formats a number with its noun.
func count(n int, noun string) string {
	if n == 0 {
		return "no " + noun
	}
	return plural.Of(n, noun)
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
