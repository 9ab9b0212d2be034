package suite

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/kind"
	"github.com/proviso-eval/proviso/value"
)

// gateKeys are the keys of gate, sorted.
func gateKeys() []keyRow {
	return []keyRow{
		{Key: "alpha", Kind: kind.Number | kind.Text, Doc: "the chance of a false \"fail\", as a share; 0.05 by default"},
		{Key: "assertions", Kind: kind.Object, Doc: "rules of single assertions: name → {min, margin}"},
		{Key: "cost", Kind: kind.Object, Doc: "limits of the cost: {max, margin}"},
		{Key: "latency", Kind: kind.Object, Doc: "limits of the latency: {p95, margin}"},
		{Key: "margin", Kind: kind.Number | kind.Text, Doc: "how far the score of the suite may fall, as a share; 0.03 by default"},
		{Key: "minCases", Kind: kind.Number, Doc: "pairs of cases that a \"pass\" needs; 50 by default"},
		{Key: "minScore", Kind: kind.Number | kind.Text, Doc: "the lowest score of the suite that passes, as a share, whatever the baseline is"},
		{Key: "mustPass", Kind: kind.List, Doc: "names of assertions that must pass in every case"},
	}
}

// gateAssertionKeys are the keys of gate.assertions.NAME, sorted.
func gateAssertionKeys() []keyRow {
	return []keyRow{
		{Key: "margin", Kind: kind.Number | kind.Text, Doc: "the least drop of the pass rate that fails, if chance does not explain it, as a share; twice the margin of the suite by default"},
		{Key: "min", Kind: kind.Number | kind.Text, Doc: "the lowest pass rate, as a share"},
	}
}

// gateCostKeys are the keys of gate.cost, sorted.
func gateCostKeys() []keyRow {
	return []keyRow{
		{Key: "margin", Kind: kind.Number | kind.Text, Doc: "by which share the median cost of a row may rise"},
		{Key: "max", Kind: kind.Number, Doc: "US dollars for each row, on average"},
	}
}

// gateLatencyKeys are the keys of gate.latency, sorted.
func gateLatencyKeys() []keyRow {
	return []keyRow{
		{Key: "margin", Kind: kind.Number | kind.Text, Doc: "by which share the median latency of a row may rise"},
		{Key: "p95", Kind: kind.Number, Doc: "milliseconds that 95 % of the rows stay under"},
	}
}

// gateReader reads the rules of a gate. A rule with a mistake would guard nothing,
// so each mistake is an error, even in a suite of promptfoo's shape.
type gateReader struct {
	*reading
	doc   *document.Document
	named []namedAt
}

// namedAt is the name of an assertion in a rule, with the rule's place.
type namedAt struct{ name, at string }

// gate reads the rules of the suite's gate; nil if there are none. It comes after the
// cases, so that it can compare the names in the rules with the assertions.
func (r *reading) gate(doc *document.Document, cfg *value.Object, cases proviso.CaseSource) *proviso.GateRules {
	o, ok := cfg.At("gate").(*value.Object)
	if !ok {
		return nil
	}
	lenient := r.promptfoo
	r.promptfoo = false
	defer func() { r.promptfoo = lenient }()
	g := &gateReader{reading: r, doc: doc}
	r.keys(doc, "/gate", o, gateKeys())
	rules := &proviso.GateRules{MustPass: r.names(doc, "/gate/mustPass", o.At("mustPass"))}
	for i, name := range rules.MustPass {
		g.named = append(g.named, namedAt{name, document.Join("/gate/mustPass", i)})
	}
	if g.share("/gate", o, "margin", &rules.Margin); rules.Margin != nil && *rules.Margin == 0 {
		r.mistake(doc, "/gate/margin", proviso.Invalid, nil, "margin is more than 0, such as 3%%: no number of cases shows that nothing changed at all")
	}
	g.share("/gate", o, "minScore", &rules.MinScore)
	if g.share("/gate", o, "alpha", &rules.Alpha); rules.Alpha != nil && !(*rules.Alpha > 0 && *rules.Alpha < 0.5) {
		r.mistake(doc, "/gate/alpha", proviso.Invalid, nil, "alpha is more than 0 and less than 0.5, such as 0.05")
	}
	if r.wholeNumber(doc, "/gate/minCases", o.At("minCases"), 1e6, &rules.MinCases); rules.MinCases != nil && *rules.MinCases == 0 {
		r.mistake(doc, "/gate/minCases", proviso.Invalid, nil, "minCases is at least 1")
	}
	g.assertions(o, rules)
	if o := g.part(o, "cost", gateCostKeys()); o != nil {
		g.positive("/gate/cost", o, "max", &rules.Cost.Max)
		g.share("/gate/cost", o, "margin", &rules.Cost.Margin)
	}
	if o := g.part(o, "latency", gateLatencyKeys()); o != nil {
		g.positive("/gate/latency", o, "p95", &rules.Latency.P95)
		g.share("/gate/latency", o, "margin", &rules.Latency.Margin)
	}
	g.checkNames(cases)
	return rules
}

// part reads the keys of an object under gate.
func (g *gateReader) part(o *value.Object, key string, table []keyRow) *value.Object {
	part, ok := o.At(key).(*value.Object)
	if ok {
		g.keys(g.doc, document.Join("/gate", key), part, table)
	}
	return part
}

// assertions reads the rules of single assertions.
func (g *gateReader) assertions(o *value.Object, rules *proviso.GateRules) {
	list, _ := o.At("assertions").(*value.Object)
	for name, v := range list.All() {
		at := document.Join("/gate/assertions", name)
		rule, ok := v.(*value.Object)
		if !ok {
			g.mistake(g.doc, at, proviso.Invalid, nil, "the rule of an assertion is an object such as {min: 0.9}, not %s", kind.Shown(v))
			continue
		}
		g.keys(g.doc, at, rule, gateAssertionKeys())
		var read proviso.AssertionRule
		g.share(at, rule, "min", &read.Min)
		g.share(at, rule, "margin", &read.Margin)
		if rules.Assertions == nil {
			rules.Assertions = map[string]proviso.AssertionRule{}
		}
		rules.Assertions[name] = read
		g.named = append(g.named, namedAt{name, at + "#"})
	}
}

// share reads a number from 0 to 1, or a percentage.
func (g *gateReader) share(at string, o *value.Object, key string, to **float64) {
	v := o.At(key)
	switch v.(type) {
	case float64, string:
	default:
		return // the key table reports values of another kind
	}
	f, err := ParseShare(v)
	if err != nil {
		g.mistake(g.doc, document.Join(at, key), proviso.Invalid, nil, "%s: %s", key, err.Error())
		return
	}
	*to = &f
}

// positive reads a number above 0.
func (g *gateReader) positive(at string, o *value.Object, key string, to **float64) {
	f, ok := o.At(key).(float64)
	switch {
	case !ok:
	case !(f > 0) || math.IsInf(f, 0):
		g.mistake(g.doc, document.Join(at, key), proviso.Invalid, nil, "%s is a number above 0, not %s", key, value.FormatNumber(f))
	default:
		*to = &f
	}
}

// checkNames compares the names in the rules with the suite's assertions, if all of
// these are known now. Cases in files, from code and from the network are read
// later, and names from templates are known only after rendering.
func (g *gateReader) checkNames(cases proviso.CaseSource) {
	source, ok := cases.(*caseSource)
	if !ok || len(g.named) == 0 || source.unseen || slices.ContainsFunc(source.streams, func(s stream) bool { return !s.inline }) {
		return
	}
	var known AssertionNames
	for c, err := range source.WithBroken().Cases() {
		if g.ctx.Err() != nil {
			return
		}
		if err == nil {
			known.Add(c)
		}
	}
	for _, n := range g.named {
		if !known.Has(n.name) {
			g.mistake(g.doc, n.at, proviso.Invalid, known.names, "no assertion of the suite has the id or metric %s", quoteName(n.name))
		}
	}
}

// AssertionNames collects the names by which gate rules can refer to the assertions
// of cases: the id, else the metric, else the type followed by the value. The zero
// value is empty.
type AssertionNames struct {
	names []string
	seen  map[string]bool
	types []string
	open  bool // some names are not known before the run
}

// Add adds the assertions of a case, with those of the assertion set.
func (n *AssertionNames) Add(c *proviso.Case) {
	n.open = n.open || c.Generator != nil
	n.add(c.Assert)
	n.add(c.Set)
}

func (n *AssertionNames) add(list []*proviso.Assertion) {
	if n.seen == nil {
		n.seen = map[string]bool{}
	}
	for _, a := range list {
		name := cmp.Or(a.ID, a.Metric)
		switch {
		case strings.Contains(name, "{{"):
			n.open = true
		case name == "" && !slices.Contains(n.types, a.Type):
			n.types = append(n.types, a.Type)
		case name != "" && !n.seen[name]:
			n.seen[name] = true
			n.names = append(n.names, name)
		}
		n.add(a.Assert)
	}
}

// Has reports whether an assertion has the name, or may have it: names from code
// and templates are known only after these have run.
func (n *AssertionNames) Has(name string) bool {
	return n.open || n.seen[name] || slices.ContainsFunc(n.types, func(t string) bool { return strings.HasPrefix(name, t) })
}

// Len returns the number of assertions with different names.
func (n *AssertionNames) Len() int { return len(n.names) + len(n.types) }

// Nearest returns the name that a wrong one was probably meant to be; "" if none is
// similar.
func (n *AssertionNames) Nearest(name string) string { return document.Nearest(name, n.names) }

// RulesOf reads the rules of a gate from the configuration of a suite as a run keeps it
// ([proviso.Suite.Config]). name stands for the run in the places of mistakes.
func RulesOf(name string, config *value.Object) (*proviso.GateRules, proviso.Mistakes) {
	r := newReading(context.Background(), Options{})
	rules := r.gate(document.Virtual(name, config), config, nil)
	return rules, r.mistakes
}
