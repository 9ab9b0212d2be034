package check

import (
	"context"
	"fmt"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/assertion"
	"github.com/proviso-eval/proviso/internal/jsonpath"
	"github.com/proviso-eval/proviso/value"
)

// newJSONPath is `json-path`: a JSONPath (RFC 9535) selects values in the output,
// which must equal a value or satisfy a nested assertion.
func newJSONPath(c *Compiler, s *Spec) (Check, error) {
	k := &pathCheck{spec: s, equals: value.Undefined{}}
	switch v := s.Value.(type) {
	case string:
		k.text = v
	case *value.Object:
		if err := k.read(c, v); err != nil {
			return nil, err
		}
	default:
		return nil, s.badValue("a path, or an object: path with equals or assert")
	}
	var err error
	k.path, err = jsonpath.Compile(k.text)
	return k, err
}

// pathCheck is one json-path assertion.
type pathCheck struct {
	spec   *Spec
	text   string
	path   *jsonpath.Path
	equals any // Undefined if the assertion has none
	inner  *compiled
}

// nester compiles an assertion inside the value of another. It is the compiler,
// behind an interface because compiling uses the table of types, and the table cannot
// refer to itself.
type nester interface {
	assertion(ctx context.Context, a *proviso.Assertion) (*compiled, []*proviso.Error)
}

func (k *pathCheck) read(c *Compiler, o *value.Object) error {
	text, ok := o.At("path").(string)
	if !ok {
		return proviso.Errorf(proviso.Invalid, "json-path needs a text as its path, found %s", kindOf(o.At("path")))
	}
	k.text = text
	if v, ok := o.Get("equals"); ok {
		k.equals = v
	}
	assert, ok := o.Get("assert")
	if !ok || assert == nil {
		return nil
	}
	inner, ok := assert.(*value.Object)
	if !ok || o.Has("equals") {
		return proviso.Errorf(proviso.Invalid, "json-path takes equals or assert, and assert is one assertion")
	}
	m, mistakes := nester(c).assertion(k.spec.context(), assertion.Of(inner, k.spec.Pointer+"/value/assert"))
	for _, e := range mistakes {
		if !e.Warning {
			return e
		}
	}
	if m.kind.New == nil {
		return proviso.Errorf(proviso.Invalid, "%q cannot be used inside json-path", m.Type)
	}
	k.inner = m
	return nil
}

// Decide selects in the output read as JSON.
func (k *pathCheck) Decide(ctx context.Context, sub *Subject) (Finding, error) {
	root, err := value.ParseReply(ctx, sub.Text)
	if unread(ctx, err) {
		return Finding{}, err
	}
	if err != nil {
		return Finding{Reason: "Expected output to be valid JSON"}, nil
	}
	nodes, err := k.path.Select(root)
	if err != nil {
		return Finding{}, err
	}
	if k.inner != nil && len(nodes) > 0 {
		return k.each(ctx, nodes, sub)
	}
	if _, free := k.equals.(value.Undefined); free {
		f := found(len(nodes) > 0)
		if f.Pass == k.spec.Not {
			f.Reason = "Expected " + k.text + " to " + k.spec.not() + "select something"
		}
		return f, nil
	}
	f := found(len(nodes) == 1 && deepEqual(nodes[0], k.equals) || deepEqual(nodes, k.equals))
	if f.Pass == k.spec.Not {
		f.Reason = "Expected " + k.text + " to " + k.spec.not() + "equal " + value.Stringify(k.equals) + ", found " + shownNodes(nodes)
	}
	return f, nil
}

func shownNodes(nodes []any) string {
	switch len(nodes) {
	case 0:
		return "nothing"
	case 1:
		return value.Stringify(nodes[0])
	}
	return value.Stringify(nodes)
}

// each decides the inner assertion on every selected value; all must hold.
func (k *pathCheck) each(ctx context.Context, nodes []any, sub *Subject) (Finding, error) {
	f := found(true)
	held := 0
	for i, v := range nodes {
		out := *sub.Row.Output
		out.Value = v
		row := *sub.Row
		row.Output, row.memo = &out, nil
		verdict := k.inner.eval(ctx, &row)
		switch verdict.Status {
		case proviso.Errored:
			return Finding{}, proviso.Errorf(proviso.Undecided, "value %d of %s: %s", i+1, k.text, verdict.Reason)
		case proviso.Fail:
			if f.Pass {
				f.Pass, f.Reason = false, fmt.Sprintf("value %d of %d at %s: %s", i+1, len(nodes), k.text, verdict.Reason)
			}
		default:
			held++
		}
	}
	f.Score = one(f.Pass)
	if k.spec.Not && f.Pass {
		f.Reason = fmt.Sprintf("Expected a value at %s that does not hold; %d of %d do", k.text, held, len(nodes))
	}
	return f, nil
}
