package flowyaml

import (
	"encoding/base64"
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso/value"
)

// The tags that promptfoo's reader knows; all others are errors.
const (
	tagPrefix = "tag:yaml.org,2002:"
	tagMap    = tagPrefix + "map"
	tagSet    = tagPrefix + "set"
	tagSeq    = tagPrefix + "seq"
	tagOmap   = tagPrefix + "omap"
	tagPairs  = tagPrefix + "pairs"
)

// tag reads a tag and returns its full name, or "!" for the one that only prevents
// resolution.
func (p *parser) tag() (string, error) {
	start := p.i
	if p.peek(1) == '<' {
		for c := p.peek(0); c != '>'; c = p.peek(0) {
			if c == 0 {
				return "", errTag
			}
			p.i++
		}
		p.i++
		return unescapeTag(string(p.buf[start+2 : p.i-1]))
	}
	word := p.word()
	if word == "!" {
		return word, nil
	}
	name, ok := strings.CutPrefix(word, "!!")
	if !ok || name == "" || strings.Contains(name, "!") {
		return "", errTag // local tags and named handles are not supported
	}
	name, err := unescapeTag(name)
	return tagPrefix + name, err
}

func unescapeTag(s string) (string, error) {
	if strings.IndexByte(s, '%') < 0 {
		return s, nil
	}
	var b []byte
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b = append(b, s[i])
			continue
		}
		if i+2 >= len(s) {
			return "", errTag
		}
		v, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
		if err != nil {
			return "", errTag
		}
		b = append(b, byte(v))
		i += 2
	}
	return string(b), nil
}

// scalar makes a node of a text. Without a tag, only plain scalars are resolved.
func scalar(text, tag string, plain bool) (node, error) {
	switch tag {
	case "":
		if plain {
			return resolve(text), nil
		}
		return node{value: text}, nil
	case "!", tagPrefix + "str":
		return node{value: text}, nil
	case tagPrefix + "null", tagPrefix + "bool", tagPrefix + "timestamp", tagPrefix + "merge":
		return tagged(text, tag)
	case tagPrefix + "int":
		if f, ok := integer(text, true); ok {
			return node{value: f}, nil
		}
	case tagPrefix + "float":
		if f, ok := float(text); ok {
			return node{value: f}, nil
		}
	case tagPrefix + "binary":
		return binary(text)
	case tagMap, tagSet:
		if text == "" {
			return node{value: &value.Object{}, complex: true, mapping: true}, nil
		}
	case tagSeq, tagOmap, tagPairs:
		if text == "" {
			return node{value: []any{}, complex: true, list: true}, nil
		}
	}
	return node{}, errTag
}

// tagged checks that a text resolves to the type of its tag.
func tagged(text, tag string) (node, error) {
	n := resolve(text)
	_, isBool := n.value.(bool)
	switch tag[len(tagPrefix):] {
	case "null":
		if n.value == nil {
			return n, nil
		}
	case "bool":
		if isBool {
			return n, nil
		}
	case "timestamp":
		if isTimestamp(text) {
			return timestamp(), nil
		}
	case "merge":
		if n.merge || text == "" {
			return resolve("<<"), nil
		}
	}
	return node{}, errTag
}

// binary reads base64. A script sees an object with a number for each byte.
func binary(text string) (node, error) {
	text = strings.Join(strings.FieldsFunc(text, value.IsSpace), "")
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return node{}, errTag
	}
	o := value.NewObject(len(data))
	for i, b := range data {
		o.Set(strconv.Itoa(i), float64(b))
	}
	return node{value: o, complex: true}, nil
}
