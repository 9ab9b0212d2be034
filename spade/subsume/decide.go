package subsume

import (
	"context"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/value"
)

// byValue uses the engine if one of the two claims is about a single output: only that output
// passes a, and it passes b; or only that output fails b, and it fails a.
func (p *Prover) byValue(a, b *claim) bool {
	if text, ok := a.single(b.fact); ok && !a.not {
		status, known := p.decide(b.fact, text)
		return known && (status == proviso.Pass) != b.not
	}
	if text, ok := b.single(a.fact); ok && b.not {
		status, known := p.decide(a.fact, text)
		return known && (status == proviso.Pass) == a.not
	}
	return false
}

// single returns the only text that satisfies a fact, if the engine can decide other on that
// text and automata cannot compare the two.
func (f *fact) single(other *fact) (string, bool) {
	switch {
	case other.pure == nil:
	case f.exact != nil && other.text == nil:
		return *f.exact, true
	case f.isValue && other.schema != nil && !other.schema.within && other.schema.paths == nil:
		return value.Stringify(f.value), true
	}
	return "", false
}

// decide runs the engine on a text; known is false if the fact cannot be decided.
func (p *Prover) decide(f *fact, text string) (proviso.Status, bool) {
	if p.left--; p.left < 0 {
		p.unsure++
		return 0, false
	}
	set, ok := p.decided[f]
	if !ok {
		compiled, mistakes := p.c.Compile([]*proviso.Assertion{f.pure})
		if len(mistakes) == 0 {
			set = compiled
		}
		p.decided[f] = set
	}
	if set == nil {
		return 0, false
	}
	row := &check.Row{Output: &proviso.Output{Value: text}, Vars: value.NewObject(0)}
	for _, v := range set.Eval(context.Background(), row) {
		return v.Status, v.Status == proviso.Pass || v.Status == proviso.Fail
	}
	return 0, false
}

// partOf compares claims about a part of the output with claims about all of it: text that
// occurs in a part occurs in the whole, and text that does not occur in the whole occurs in no
// part. It skips phrases with white space, because a part may have different white space.
func partOf(a, b *claim) ProofKind {
	switch {
	case !a.not && b.whole() && !b.not && a.condition == b.condition && a.scope != (proviso.Scope{}) && (!a.parts || a.any):
		if a.fact.phrases != nil && b.fact.phrases != nil && a.scope.Of == b.scope.Of && b.fact.phrases.solid() && a.fact.phrases.entails(b.fact.phrases) {
			return ByPart
		}
	case a.not && a.whole() && b.not && a.condition == b.condition && b.parts && !b.any && b.scope.From == "" && b.scope.To == "":
		if a.fact.phrases != nil && b.fact.phrases != nil && a.scope.Of == b.scope.Of && a.fact.phrases.solid() && b.fact.phrases.entails(a.fact.phrases) {
			return ByPart
		}
	}
	return ""
}

// whole reports whether a claim is about the entire output or prompt.
func (c *claim) whole() bool { return c.scope == (proviso.Scope{Of: c.scope.Of}) }
