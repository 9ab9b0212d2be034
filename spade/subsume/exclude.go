package subsume

import (
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/value"
)

// maxExclusive bounds how many candidates [Exclusive] compares with each other.
const maxExclusive = 300

// Exclusive returns the pairs of candidates that no output can both pass, as far as this is
// proven: whatever passes one fails the other. It compares the first 300 candidates. It does
// not distinguish whole words from parts of words, because nobody requires "sorry" and forbids
// the word "sorry". The compiler may be nil, as in [NewProver].
func Exclusive(list []proviso.Candidate, c *check.Compiler) [][2]int {
	list = list[:min(len(list), maxExclusive)]
	var all []proviso.Candidate
	var from []int
	for i := range list {
		if a := list[i].Assertion; negatable(a) {
			from = append(from, i)
			all = append(all, proviso.Candidate{Assertion: partly(a, a.Type)})
		}
	}
	n := len(all)
	for i := range n {
		a := all[i].Assertion
		base, not := strings.CutPrefix(a.Type, "not-")
		if !not {
			base = "not-" + a.Type
		}
		all = append(all, proviso.Candidate{Assertion: partly(a, base)})
	}
	p := NewProver(all, c)
	defer p.Close()
	var pairs [][2]int
	for i := range n {
		for j := range i {
			if p.Proves(i, n+j) != "" {
				pairs = append(pairs, [2]int{from[j], from[i]})
			}
		}
	}
	return pairs
}

// negatable reports whether the negated assertion is the opposite of an assertion: the
// assertion is about the whole output and always applies.
func negatable(a *proviso.Assertion) bool {
	return a != nil && a.Raw != nil && a.Scope == nil && a.When == "" && a.Transform == "" && a.Type != proviso.TypeJudge
}

// partly returns an assertion of another type that also matches parts of words.
func partly(a *proviso.Assertion, kind string) *proviso.Assertion {
	out := *a
	out.Type, out.WholeWords = kind, false
	out.Raw = value.NewObject(a.Raw.Len())
	for key, v := range a.Raw.All() {
		switch key {
		case "type":
			v = kind
		case "wholeWords":
			continue
		}
		out.Raw.Set(key, v)
	}
	return &out
}

// Covering returns, for each check, the index of the wanted candidate that it implies, so that
// whatever fails the wanted one fails the check; a candidate with the same meaning has
// priority. It is -1 if none is proven. Covering does not distinguish whole words from parts
// of words.
func Covering(checks, wanted []proviso.Candidate, c *check.Compiler) []int {
	var all []proviso.Candidate
	for _, list := range [][]proviso.Candidate{wanted, checks} {
		for i := range list {
			one := proviso.Candidate{Name: list[i].Name, Assertion: list[i].Assertion}
			if a := one.Assertion; a != nil && a.Raw != nil {
				one.Assertion = partly(a, a.Type)
			}
			all = append(all, one)
		}
	}
	p := NewProver(all, c)
	defer p.Close()
	found := make([]int, len(checks))
	for i := range checks {
		found[i] = -1
		at := len(wanted) + i
		for j := range wanted {
			if p.Proves(at, j) == "" {
				continue
			}
			if p.Proves(j, at) != "" {
				found[i] = j
				break
			}
			if found[i] < 0 {
				found[i] = j
			}
		}
	}
	return found
}
