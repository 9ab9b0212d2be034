package subsume

import (
	"context"
	_ "embed" // for the script
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/spade/candidate/python"
	"github.com/proviso-eval/proviso/value"
)

// claim is the meaning of an assertion in a comparable form.
type claim struct {
	frame     string // scope and conditions; claims with equal frames apply to the same text
	condition string // the frame without the scope
	scope     proviso.Scope
	plain     bool // applies to the whole output, unconditionally
	parts     bool // every part must satisfy it; with any, one part, or there are no parts
	any       bool
	not       bool
	*fact
}

// fact is the claimed property, in all forms in which it can be compared. All of them are
// about the text of the output or part, except key. Equal claims share it.
type fact struct {
	key string // equal keys have the same meaning

	phrases *phrases
	text    *language // texts that have the property
	exact   *string   // the only text that has the property
	value   any       // the only JSON value that has the property, if isValue
	isValue bool
	counted string // what is counted
	amounts amounts
	measure string // what is measured
	limit   *limit
	schema  *schemaFact
	name    string             // a property with exactly one value per output
	of      string             // value of that property
	pure    *proviso.Assertion // decides the fact from the text alone; nil if unknown

	passes, fails []rune   // texts that satisfy it and that do not, in code units; nil for none or the empty text
	seen          []uint64 // sample texts that satisfy it
	exist         bool     // seen is computed
}

// claims converts assertions to claims.
type claims struct {
	languages *languages
	facts     map[string]*fact
	trees     pythonTrees
}

// of returns the claims of an assertion, all of which must hold. It returns nil if nothing is
// known.
func (c *claims) of(a *proviso.Assertion) []claim {
	if a.Raw == nil || a.Weight != nil && *a.Weight == 0 {
		return nil // its meaning is only partly known; it passes whatever it finds
	}
	base, negated := strings.CutPrefix(a.Type, "not-")
	one := c.framed(a)
	one.not = negated
	if base == proviso.TypeJudge && !negated {
		if list := c.judged(a, one); list != nil {
			return list
		}
	}
	one.fact = c.fact(base, a)
	if one.parts && a.Scope.Match == "none" {
		if one.opaque() {
			one.frame += " none"
		} else {
			one.not = !one.not // negated any: no part satisfies it
		}
	}
	return []claim{one}
}

// opaque reports whether a fact can only be compared with an equal fact.
func (f *fact) opaque() bool {
	return f.phrases == nil && f.text == nil && f.exact == nil && !f.isValue && f.amounts == nil && f.limit == nil && f.schema == nil && f.name == ""
}

// framed returns a claim with only its frame.
func (c *claims) framed(a *proviso.Assertion) claim {
	one := claim{}
	if a.Scope != nil {
		one.scope = *a.Scope
		if one.scope.Of == "output" {
			one.scope.Of = ""
		}
		one.parts = one.scope.Each != ""
		one.any = one.scope.Match == "any"
	}
	s := one.scope
	one.plain = a.When == "" && a.Transform == "" && s == (proviso.Scope{})
	one.condition = value.Stringify([]any{a.When, a.Transform})
	one.frame = value.Stringify([]any{a.When, a.Transform, s.Of, s.From, s.To, s.Each})
	return one
}

// judged returns the parts of a judged assertion: its check and its criteria. It returns nil
// if they cannot be separated.
func (c *claims) judged(a *proviso.Assertion, one claim) []claim {
	clauses := len(a.Criteria)
	if a.Check != nil {
		clauses++
	}
	if clauses > 1 && one.parts && one.scope.Match != "" && one.scope.Match != "all" || one.scope.Match == "none" {
		return nil // "all hold for some part" is more than "each holds for some part"
	}
	var list []claim
	if a.Check != nil {
		inner := c.of(a.Check)
		simple := a.Check.Scope == nil && a.Check.Transform == "" && a.Check.When == ""
		if inner == nil || !one.plain && !simple {
			return nil
		}
		for _, in := range inner {
			if !one.plain {
				fact, negated := in.fact, in.not
				in = one
				in.fact, in.not = fact, negated
			}
			list = append(list, in)
		}
	}
	for _, criterion := range a.Criteria {
		asked := one
		asked.fact = c.share(value.Stringify([]any{"criterion", a.Instruction, criterion.Text, criterion.Template, canonical(criterion.Params), canonical(a.Provider)}), nil)
		list = append(list, asked)
	}
	return list
}

// share returns the fact with a key; fill fills in a new one.
func (c *claims) share(key string, fill func(f *fact)) *fact {
	if f, ok := c.facts[key]; ok {
		return f
	}
	f := &fact{key: key}
	if fill != nil {
		fill(f)
	}
	c.facts[key] = f
	return f
}

// notOfTheFact are assertion keys that do not affect the fact or are handled elsewhere.
var notOfTheFact = []string{"id", "type", "description", "metric", "severity", "weight", "when", "transform", "scope"}

// fact returns the meaning of an assertion without its frame and negation.
func (c *claims) fact(base string, a *proviso.Assertion) *fact {
	core := value.NewObject(a.Raw.Len() + 1)
	for key, v := range a.Raw.All() {
		switch {
		case slices.Contains(notOfTheFact, key), key == "instruction" && base != proviso.TypeJudge:
			continue
		case key == "config":
			if o, ok := v.(*value.Object); ok {
				v = withoutKey(o, candidate.ProvenanceKey)
			}
			if o, ok := v.(*value.Object); ok && o.Len() == 0 {
				continue
			}
		}
		core.Set(key, v)
	}
	core.Set("type", base)
	if f, ok := python.Of(a); ok { // the function's name does not matter
		core.Set("value", c.trees.of(f))
	}
	return c.share(canonical(core), func(f *fact) { c.fill(f, base, a) })
}

func withoutKey(o *value.Object, key string) *value.Object {
	out := value.NewObject(o.Len())
	for k, v := range o.All() {
		if k != key {
			out.Set(k, v)
		}
	}
	return out
}

// canonical writes a value so that equal values give equal texts, whatever the order of keys.
func canonical(v any) string { return value.Stringify(value.Sorted(v)) }

// treeScript describes Python by its syntax tree. Python's own parser does that, in the
// sandbox: it reads the text of candidates and never runs it.
//
//go:embed tree.py
var treeScript string

// pythonTrees holds the syntax trees of Python candidates as texts, without function names,
// docstrings, comments and formatting. Equal trees decide equally.
type pythonTrees map[python.Function]string

// readTrees reads the trees of the Python candidates. Code that cannot be parsed, or may
// depend on its own text, has no tree; without Python there are no trees.
func readTrees(ctx context.Context, list []proviso.Candidate, code proviso.Code) pythonTrees {
	var functions []python.Function
	var args [][]any
	for i := range list {
		if f, ok := python.Of(list[i].Assertion); ok {
			functions = append(functions, f)
			args = append(args, []any{f.Text, f.Entry})
		}
	}
	if code == nil || len(functions) < 2 {
		return nil
	}
	fn, err := code.Compile(ctx, proviso.Source{
		Language: "python", Name: "syntax trees", Text: treeScript, Form: proviso.Module, Entry: "tree", Purpose: proviso.Synthesised,
	})
	if err != nil {
		return nil
	}
	defer fn.Close()
	trees := pythonTrees{}
	take := func(i int, result any, err error) {
		if tree, ok := result.(string); ok && err == nil {
			trees[functions[i]] = tree
		}
	}
	if series, ok := fn.(proviso.Series); ok {
		series.CallSeries(ctx, args, take)
		return trees
	}
	for i := range args {
		result, err := fn.Call(ctx, args[i]...)
		take(i, result, err)
	}
	return trees
}

// of returns the text by which a function is compared. Without a tree it is the code with the
// function's name, which the code may read.
func (t pythonTrees) of(f python.Function) string {
	if tree, ok := t[f]; ok {
		return "tree " + tree
	}
	return f.Entry + " " + f.Text
}
