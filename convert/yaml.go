package convert

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/proviso-eval/proviso/value"
)

// yamlOf writes a suite as YAML, with comments above the keys that have some.
func yamlOf(root *value.Object, head string, comments map[string]string) ([]byte, error) {
	n := nodeOf(root)
	for i := 0; i < len(n.Content); i += 2 {
		if c := comments[n.Content[i].Value]; c != "" {
			n.Content[i].HeadComment = c
		}
	}
	data, err := yaml.Dump(n, yaml.WithIndent(2), yaml.WithLineWidth(-1))
	if err != nil {
		return nil, err
	}
	return append([]byte(head), data...), nil
}

// nodeOf returns the YAML node of a value. Texts that YAML would read as something else
// are quoted.
func nodeOf(v any) *yaml.Node {
	switch v := v.(type) {
	case *value.Object:
		n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		for key, m := range v.All() {
			n.Content = append(n.Content, textNode(key), nodeOf(m))
		}
		return n
	case []any:
		n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for _, e := range v {
			n.Content = append(n.Content, nodeOf(e))
		}
		return n
	case string:
		return textNode(v)
	case bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: strconv.FormatBool(v)}
	case float64:
		n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: value.FormatNumber(v)}
		if strings.ContainsAny(n.Value, ".eE") {
			n.Tag = "!!float"
		}
		return n
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}
}

// textNode returns the node of a text. Half of a surrogate pair, which JSON can hold and
// YAML cannot, becomes U+FFFD.
func textNode(s string) *yaml.Node {
	s = strings.ToValidUTF8(s, "\uFFFD")
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
	if strings.Contains(strings.TrimSuffix(s, "\n"), "\n") {
		n.Style = yaml.LiteralStyle
	}
	return n
}

// YAML returns a value as YAML in block style. Texts that YAML would read as something
// else are quoted.
func YAML(v any) ([]byte, error) {
	return yaml.Dump(nodeOf(v), yaml.WithIndent(2), yaml.WithLineWidth(-1))
}
