package jsonschema

import (
	"context"
	"slices"
	"strconv"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// compiler makes nodes from a schema. It compiles only schemas that the root
// reaches, so a mistake in an unused definition is not reported, as in Ajv.
type compiler struct {
	Options
	*resolver
	nodes map[nodeKey]*node // targets of references
	steps int
}

type nodeKey struct {
	schema *value.Object
	path   string
}

func newCompiler(root any, o Options) *compiler {
	if o.Context == nil {
		o.Context = context.Background()
	}
	return &compiler{Options: o, resolver: newResolver(root), nodes: map[nodeKey]*node{}}
}

func (c *compiler) compile() (*node, error) {
	n := &node{called: true}
	if o, ok := c.root.(*value.Object); ok {
		c.nodes[nodeKey{o, "#"}] = n
	}
	return n, c.fill(n, c.root, "#", c.base)
}

// ended returns why compiling must stop, or nil. It checks the context only every
// few calls, because a check costs more than a small schema.
func (c *compiler) ended() error {
	if c.steps++; c.steps%lookAfter == 0 && c.Context.Err() != nil {
		return context.Cause(c.Context)
	}
	return nil
}

// place is the position of a schema: its path for mistakes, its base for
// references.
type place struct{ path, base string }

func (p place) at(segments ...string) place {
	for _, s := range segments {
		p.path += "/" + escapeFragment(s)
	}
	return p
}

// sub compiles a schema inside another.
func (c *compiler) sub(schema any, at place) (*node, error) {
	if err := c.ended(); err != nil {
		return nil, err
	}
	n := &node{}
	return n, c.fill(n, schema, at.path, innerBase(schema, at.base))
}

// useful compiles a schema unless it accepts everything; then it returns nil.
func (c *compiler) useful(schema any, at place) (*node, error) {
	if all, err := c.acceptsAll(schema); all || err != nil {
		return nil, err
	}
	return c.sub(schema, at)
}

// list compiles each schema of a list; skip leaves out those that accept
// everything.
func (c *compiler) list(v any, at place, skip bool) ([]*node, error) {
	schemas, _ := v.([]any)
	nodes := make([]*node, 0, len(schemas))
	for i, s := range schemas {
		make := c.sub
		if skip {
			make = c.useful
		}
		n, err := make(s, at.at(strconv.Itoa(i)))
		if err != nil {
			return nil, err
		}
		if n != nil {
			nodes = append(nodes, n)
		}
	}
	return nodes, nil
}

// reference compiles the target of $ref, once.
func (c *compiler) reference(ref, base string) (*node, error) {
	to, err := c.end(base, ref)
	if err != nil {
		return nil, err
	}
	// Ajv inlines schemas without references.
	path, called := ref, false
	if same(to.schema, c.root) || c.refersOn(to.schema) {
		path, called = "#", true
	}
	o, ok := to.schema.(*value.Object)
	if !ok {
		n := &node{called: called}
		return n, c.fill(n, to.schema, path, to.base)
	}
	key := nodeKey{o, path}
	if n, ok := c.nodes[key]; ok {
		return n, nil
	}
	n := &node{called: called}
	c.nodes[key] = n
	return n, c.fill(n, o, path, to.base)
}

// end follows ref through schemas that contain only $ref.
func (c *compiler) end(base, ref string) (target, error) {
	to, err := c.find(base, ref)
	for hops := 0; err == nil; hops++ {
		o, ok := to.schema.(*value.Object)
		if !ok || !onlyRef(o) || same(o, c.root) {
			break
		}
		next := o.Text("$ref")
		if hops == maxHops {
			return to, invalid("reference %s leads back to itself", ref)
		}
		to, err = c.find(to.base, next)
	}
	return to, err
}

// maxPath bounds the path of a schema, in bytes. Every schema keeps its own path,
// so without a bound the memory of a deep schema would grow with the square of its
// depth.
const maxPath = 8192

// maxHops is the maximum number of consecutive schemas that contain only $ref.
const maxHops = 1000

// fill fills the node n from schema.
func (c *compiler) fill(n *node, schema any, path, base string) error {
	if n.path = path; len(path) > maxPath {
		return proviso.Errorf(proviso.Limit, "the schema nests too deeply: a place in it takes more than %d characters", maxPath)
	}
	switch s := schema.(type) {
	case bool:
		n.boolean, n.accept = true, s
		return nil
	case *value.Object:
		at := place{path, base}
		if err := c.checkKeywords(s); err != nil {
			return err
		}
		if onlyRef(s) {
			return c.fillRef(n, s, at)
		}
		return c.fillGroups(n, s, at)
	}
	return invalid("schema must be object or boolean")
}

func (c *compiler) fillRef(n *node, s *value.Object, at place) (err error) {
	n.general = &generalRules{}
	n.general.ref, err = c.ref(s, at)
	return err
}

func (c *compiler) ref(s *value.Object, at place) (*node, error) {
	ref, ok := s.At("$ref").(string)
	if !ok {
		return nil, invalid(`$ref value must be "string"`)
	}
	return c.reference(ref, at.base)
}

func (c *compiler) fillGroups(n *node, s *value.Object, at place) error {
	if err := c.checkCombination(s); err != nil {
		return err
	}
	set, err := typesOfSchema(s)
	if err != nil {
		return err
	}
	groups := groupsOf(s)
	n.types, n.typeRaw = set, s.At("type")
	if list, ok := n.typeRaw.([]any); ok && s.At("nullable") == true && !slices.Contains(list, any("null")) {
		n.typeRaw = append(slices.Clip(list), "null")
	}
	n.typeText = typeText(n.typeRaw)
	// A single type that has its own keywords here is checked with them.
	if set&groups != 0 && set&(set-1) == 0 {
		n.late = set
	}
	n.early = set != 0 && n.late == 0
	steps := []struct {
		wanted bool
		fill   func(*node, *value.Object, place) error
	}{
		{true, c.fillGeneral},
		{groups&typeNumber != 0, c.fillNumber},
		{groups&typeString != 0, c.fillText},
		{groups&typeArray != 0, c.fillList},
		{groups&typeObject != 0, c.fillObject},
	}
	for _, step := range steps {
		if !step.wanted {
			continue
		}
		if err := step.fill(n, s, at); err != nil {
			return err
		}
	}
	return nil
}

// boundOf reads a keyword whose value is a number.
func boundOf(s *value.Object, keyword string) bound {
	n, ok := s.At(keyword).(float64)
	return bound{n, ok}
}

// same reports whether two schemas are one object.
func same(a, b any) bool {
	x, ok := a.(*value.Object)
	y, _ := b.(*value.Object)
	return ok && x == y
}
