package subsume

import (
	"slices"
	"strings"

	"github.com/proviso-eval/proviso/internal/regex"
	"github.com/proviso-eval/proviso/value"
)

// phrases are texts of which all, or any, must occur.
type phrases struct {
	list []string
	low  []string // the list in lower case, where that is unambiguous (see lowered)
	sure []bool   // low is known
	any  bool
	fold bool // the output is lowercased first
}

// newPhrases reads a list. If no letter has another case, folding changes nothing.
func newPhrases(list []string, any, fold bool, cased func(rune) bool) *phrases {
	p := &phrases{list: list, any: any, fold: fold, low: make([]string, len(list)), sure: make([]bool, len(list))}
	letters := false
	for i, s := range list {
		p.low[i], p.sure[i] = lowered(s)
		letters = letters || !p.sure[i] || strings.ContainsFunc(s, cased)
	}
	p.fold = fold && letters
	return p
}

// entails reports whether a text that satisfies p satisfies q. Only phrases inside phrases can
// prove that: a text of p's phrases, with something else between them, contains no others.
func (p *phrases) entails(q *phrases) bool {
	if p.fold && !q.fold {
		return false
	}
	if p.any { // whichever phrase of p occurs
		for i := range p.list {
			if !q.follow(func(j int) bool { return p.has(i, q, j) }) {
				return false
			}
		}
		return true
	}
	return q.follow(func(j int) bool {
		if q.list[j] == "" {
			return true
		}
		for i := range p.list {
			if p.has(i, q, j) {
				return true
			}
		}
		return false
	})
}

// follow reports whether there returns true for all phrases of p, or for any.
func (p *phrases) follow(there func(j int) bool) bool {
	for j := range p.list {
		if there(j) == p.any {
			return p.any
		}
	}
	return !p.any
}

// has reports whether phrase i of p contains phrase j of q.
func (p *phrases) has(i int, q *phrases, j int) bool {
	if q.fold {
		return p.sure[i] && q.sure[j] && strings.Contains(p.low[i], q.low[j])
	}
	return strings.Contains(p.list[i], q.list[j])
}

// example returns a text that satisfies p, in code units.
func (p *phrases) example() []rune {
	list := p.list
	if p.any {
		list = list[:min(1, len(list))]
	}
	return regex.Units(strings.Join(list, " "))
}

// solid reports whether no phrase has white space.
func (p *phrases) solid() bool {
	return !slices.ContainsFunc(p.list, func(s string) bool { return strings.ContainsFunc(s, value.IsSpace) })
}
