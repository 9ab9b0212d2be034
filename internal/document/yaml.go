package document

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v4"
	"go.yaml.in/yaml/v4/plugin/loaderlimits"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// Limits of a YAML or JSON file, far above normal use.
const (
	MaxKeys     = 10_000    // keys of one mapping or object
	maxAnchors  = 10_000    // anchors of a YAML file
	maxDepth    = 500       // nesting depth of a YAML file
	maxExpanded = 1_000_000 // number of values that aliases may add
)

// ParseYAML reads one YAML document: plain scalars resolve as in js-yaml (YAML
// 1.2 core), merge keys are applied, duplicate keys are mistakes. The error is a
// *[SyntaxError].
func ParseYAML(file string, data []byte) (*Document, error) {
	return ParseYAMLContext(context.Background(), file, data)
}

// ParseYAMLContext is [ParseYAML] until ctx ends; then the error is the cause of ctx.
func ParseYAMLContext(ctx context.Context, file string, data []byte) (*Document, error) {
	d, err := newText(file, data)
	if err != nil {
		return nil, err
	}
	loader, err := yaml.NewLoader(untilDone{ctx, strings.NewReader(d.text)}, yaml.WithPlugin(
		loaderlimits.New(loaderlimits.DepthValue(maxDepth), loaderlimits.AliasNone())))
	if err != nil {
		return nil, &SyntaxError{Place: proviso.Place{File: file}, Message: err.Error()}
	}
	var root yaml.Node
	switch err := loader.Load(&root); {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, io.EOF):
		return d, nil
	case err != nil:
		return nil, d.yamlError(err)
	}
	var second yaml.Node
	switch err := loader.Load(&second); {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, io.EOF):
	case err != nil:
		return nil, d.yamlError(err)
	case second.Line > 0:
		return nil, d.fail(second.Line, second.Column, "a second YAML document begins here; a file holds one")
	}
	d.node = &root
	b := builder{ctx: ctx, doc: d, done: map[*yaml.Node]built{}}
	v, err := b.value(&root, 0)
	if err != nil {
		return nil, err
	}
	d.Root = v.value
	return d, nil
}

// untilDone reads in small steps until its context ends.
type untilDone struct {
	ctx context.Context
	in  io.Reader
}

// Read reads at most 16 KiB.
func (r untilDone) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.in.Read(p[:min(len(p), 16<<10)])
}

// built is the value of a node and the number of values in it. Values of aliases
// are counted each time.
type built struct {
	value any
	size  int
}

// builder turns nodes into values.
type builder struct {
	ctx   context.Context // nil without cancellation
	steps int             // number of nodes visited
	doc   *Document
	done  map[*yaml.Node]built // anchored nodes; a zero value marks one that is being built
	added int                  // number of values that aliases added
}

func (b *builder) fail(n *yaml.Node, format string, args ...any) error {
	return b.doc.fail(n.Line, n.Column, format, args...)
}

func (b *builder) value(n *yaml.Node, depth int) (built, error) {
	if b.steps++; b.steps%1024 == 0 && b.ctx != nil && b.ctx.Err() != nil {
		return built{}, context.Cause(b.ctx)
	}
	if depth > maxDepth {
		return built{}, b.fail(n, "values nest deeper than %d", maxDepth)
	}
	if n.Anchor != "" && n.Kind != yaml.AliasNode {
		if b.done[n] = (built{}); len(b.done) > maxAnchors {
			return built{}, b.fail(n, "the file has more than %d anchors", maxAnchors)
		}
		v, err := b.content(n, depth)
		b.done[n] = v
		return v, err
	}
	return b.content(n, depth)
}

func (b *builder) content(n *yaml.Node, depth int) (built, error) {
	switch n.Kind {
	case yaml.DocumentNode:
		if len(n.Content) == 0 {
			return built{size: 1}, nil
		}
		return b.value(n.Content[0], depth)
	case yaml.ScalarNode:
		v, err := b.scalar(n)
		return built{v, 1}, err
	case yaml.SequenceNode:
		return b.sequence(n, depth)
	case yaml.MappingNode:
		return b.mapping(n, depth)
	case yaml.AliasNode:
		return b.alias(n)
	}
	return built{}, b.fail(n, "this YAML construct is not supported here")
}

func (b *builder) alias(n *yaml.Node) (built, error) {
	v := b.done[n.Alias]
	if v.size == 0 {
		return v, b.fail(n, "the alias *%s is inside the value that it names", n.Value)
	}
	b.added += v.size
	if b.added > maxExpanded {
		return v, b.fail(n, "aliases expand to more than %d values", maxExpanded)
	}
	return v, nil
}

func (b *builder) sequence(n *yaml.Node, depth int) (built, error) {
	list, size := make([]any, len(n.Content)), 1
	for i, c := range n.Content {
		v, err := b.value(c, depth+1)
		if err != nil {
			return built{}, err
		}
		list[i] = v.value
		size += v.size
	}
	return built{list, size}, nil
}

func (b *builder) mapping(n *yaml.Node, depth int) (built, error) {
	if keys := len(n.Content) / 2; keys > MaxKeys {
		return built{}, b.fail(n, "the mapping has %d keys, and at most %d are read", keys, MaxKeys)
	}
	o, size := value.NewObject(len(n.Content)/2), 1
	var merges []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, c := n.Content[i], n.Content[i+1]
		if isMerge(k) {
			merges = append(merges, c)
			continue
		}
		key, err := b.key(n, k)
		if err != nil {
			return built{}, err
		}
		if o.Has(key) {
			return built{}, b.fail(k, "the key %q is repeated; the first is on line %d", key, findKey(n, key).Line)
		}
		v, err := b.value(c, depth+1)
		if err != nil {
			return built{}, err
		}
		o.Set(key, v.value)
		size += v.size
	}
	for _, m := range merges {
		v, err := b.value(m, depth+1)
		if err != nil {
			return built{}, err
		}
		if err := b.merge(o, m, v.value); err != nil {
			return built{}, err
		}
		size += v.size
	}
	return built{o, size}, nil
}

// key returns the text of a mapping key; other scalars become text as in
// JavaScript.
func (b *builder) key(parent, k *yaml.Node) (string, error) {
	for k.Kind == yaml.AliasNode {
		k = k.Alias
	}
	if k.Kind != yaml.ScalarNode {
		if parent.Style&yaml.FlowStyle != 0 && k.Kind == yaml.MappingNode {
			return "", b.fail(parent, "quote the template: YAML reads {{ … }} without quotes as a mapping")
		}
		return "", b.fail(k, "a key must be text")
	}
	v, err := b.scalar(k)
	return value.ToString(v), err
}

// merge adds the members of a << value, a mapping or a list of mappings, that o
// does not have yet.
func (b *builder) merge(o *value.Object, n *yaml.Node, v any) error {
	switch v := v.(type) {
	case *value.Object:
		for k, m := range v.All() {
			if !o.Has(k) {
				o.Set(k, m)
			}
		}
		return nil
	case []any:
		for _, e := range v {
			p, ok := e.(*value.Object)
			if !ok {
				return b.fail(n, "<< takes a mapping or a list of mappings")
			}
			if err := b.merge(o, n, p); err != nil {
				return err
			}
		}
		return nil
	}
	return b.fail(n, "<< takes a mapping or a list of mappings")
}

func (b *builder) scalar(n *yaml.Node) (any, error) {
	quoted := n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0
	if n.Style&yaml.TaggedStyle == 0 {
		if quoted || n.Tag == "!" {
			return n.Value, nil
		}
		return plainScalar(n.Value), nil
	}
	v := plainScalar(n.Value)
	ok := false
	switch n.Tag {
	case "!!str":
		return n.Value, nil
	case "!!null":
		ok = v == nil
	case "!!bool":
		_, ok = v.(bool)
	case "!!int", "!!float":
		_, ok = v.(float64)
	default:
		return nil, b.fail(n, "unknown tag %s", n.Tag)
	}
	if !ok {
		return nil, b.fail(n, "%q is not a valid %s", n.Value, strings.TrimPrefix(n.Tag, "!!"))
	}
	return v, nil
}

// isMerge reports whether k is a merge key (YAML 1.1 type repository, "merge").
func isMerge(k *yaml.Node) bool {
	return k.Kind == yaml.ScalarNode && k.Value == "<<" &&
		k.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) == 0
}

// yamlError gives an error of the YAML library a place and a helpful message.
func (d *Document) yamlError(err error) error {
	var e *yaml.LoadError
	if !errors.As(err, &e) {
		return &SyntaxError{Place: proviso.Place{File: d.File}, Message: "the YAML cannot be read: " + err.Error()}
	}
	line, column := e.Mark.Line, e.Mark.Column
	text := lineOf(d.text, line)
	var message string
	switch {
	case strings.Contains(e.Message, "exceeded max depth"):
		message = fmt.Sprintf("values nest too deeply: at most %d levels are read", maxDepth)
	case leadingTab(text):
		column = 1 + strings.IndexByte(text, '\t')
		message = "a tab in the indentation; YAML is indented with spaces"
	case unquotedTemplate(text):
		message = "quote the template: a value with {{ … }} at its beginning needs quotes in YAML"
	default:
		message = explain(e)
	}
	return d.fail(line, column, "%s", message)
}

// explain rewrites the most common errors into helpful messages.
func explain(e *yaml.LoadError) string {
	began := ""
	if e.ContextMark.Line > 0 {
		began = fmt.Sprintf(" that begins on line %d", e.ContextMark.Line)
	}
	for _, known := range [...]struct{ found, say string }{
		{"mapping values are not allowed", "a colon that begins no value here; quote the text, or check the indentation"},
		{"cannot start any token", "this character cannot begin a value; quote the text"},
		{"expected ',' or ']'", "the list" + began + " needs a comma or a closing bracket"},
		{"expected ',' or '}'", "the mapping" + began + " needs a comma or a closing brace"},
		{"expected '-' indicator", "the list" + began + " continues with something else; check the indentation"},
		{"expected <document start>", "text after the end of the value; check the indentation"},
		{"unexpected end of stream", "the quoted text" + began + " is not closed"},
		{"could not find expected ':'", "a key without a colon, or a text that needs quotes or indentation"},
		{"unknown escape character", "an unknown escape in double quotes; double the backslash, or use single quotes"},
		{"did not find expected key", "a key was expected; check the indentation and the quotes"},
	} {
		if strings.Contains(e.Message, known.found) {
			return known.say
		}
	}
	if e.ContextMsg != "" {
		return "the YAML cannot be read: " + e.Message + " (" + e.ContextMsg + ")"
	}
	return "the YAML cannot be read: " + e.Message
}

func leadingTab(line string) bool {
	return strings.Contains(line[:len(line)-len(strings.TrimLeft(line, " \t"))], "\t")
}

// unquotedTemplate reports whether a value of the line begins with {{.
func unquotedTemplate(line string) bool {
	for _, before := range []string{": {{", "- {{"} {
		if strings.Contains(line, before) {
			return true
		}
	}
	return false
}
