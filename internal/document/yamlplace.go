package document

import (
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/proviso-eval/proviso/value"
)

// findNode returns the node that the segments name, or the last one that exists.
// With key it is the key of the last segment.
func findNode(n *yaml.Node, segments []string, key bool) *yaml.Node {
	n = resolveAlias(n)
	for i, s := range segments {
		next := child(n, s)
		if next == nil {
			return n
		}
		if key && i == len(segments)-1 && n.Kind == yaml.MappingNode {
			if k := findKey(n, s); k != nil {
				return k
			}
		}
		// The alias itself is what the user wrote here; it is resolved only to descend
		// further.
		if i == len(segments)-1 {
			return next
		}
		n = resolveAlias(next)
	}
	return n
}

// resolveAlias returns the node behind documents and aliases. Aliases have no cycle
// here, because building the values refused cycles.
func resolveAlias(n *yaml.Node) *yaml.Node {
	for {
		switch {
		case n.Kind == yaml.DocumentNode && len(n.Content) > 0:
			n = n.Content[0]
		case n.Kind == yaml.AliasNode && n.Alias != nil:
			n = n.Alias
		default:
			return n
		}
	}
}

// child returns the member of a mapping or sequence, merge keys included.
func child(n *yaml.Node, segment string) *yaml.Node {
	switch n.Kind {
	case yaml.SequenceNode:
		if i, ok := index(segment, len(n.Content)); ok {
			return n.Content[i]
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if keyIs(n.Content[i], segment) {
				return n.Content[i+1]
			}
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			if isMerge(n.Content[i]) {
				if c := mergedChild(resolveAlias(n.Content[i+1]), segment); c != nil {
					return c
				}
			}
		}
	}
	return nil
}

func mergedChild(n *yaml.Node, segment string) *yaml.Node {
	if n.Kind != yaml.SequenceNode {
		return child(n, segment)
	}
	for _, e := range n.Content {
		if c := child(resolveAlias(e), segment); c != nil {
			return c
		}
	}
	return nil
}

// findKey returns the key node in a mapping; nil if the key is not written there.
func findKey(n *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if keyIs(n.Content[i], key) {
			return n.Content[i]
		}
	}
	return nil
}

func keyIs(k *yaml.Node, key string) bool {
	k = resolveAlias(k)
	if k.Kind != yaml.ScalarNode {
		return false
	}
	if k.Value == key {
		return true
	}
	b := builder{doc: &Document{}}
	v, err := b.scalar(k)
	return err == nil && value.ToString(v) == key
}

// anchored reports whether n or a node below it has an anchor.
func anchored(n *yaml.Node) bool {
	if n.Anchor != "" {
		return true
	}
	return n.Kind != yaml.AliasNode && slices.ContainsFunc(n.Content, anchored)
}
