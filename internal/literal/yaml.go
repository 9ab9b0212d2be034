package literal

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/value"
)

// inYAML finds a value by its path, or the only value under a key at any depth.
func inYAML(file, text, name string) (any, error) {
	doc, err := document.Parse(file, []byte(text))
	if err != nil {
		return nil, err
	}
	if v, ok := byPath(doc.Root, strings.Split(name, ".")); ok {
		return usable(v, name, 0)
	}
	y := &keys{}
	y.walk(doc.Root, "", "")
	var found []string
	for _, path := range y.paths {
		if path == name || strings.HasSuffix(path, "."+name) {
			found = append(found, path)
		}
	}
	switch len(found) {
	case 0:
		return nil, unknown(name, y.names(), file)
	case 1:
		v, _ := byPath(doc.Root, strings.Split(found[0], "."))
		return usable(v, name, doc.Place(y.pointers[found[0]]).Line)
	}
	return nil, &Error{Message: fmt.Sprintf("%d texts are called %s: %s", len(found), name, strings.Join(found[:min(len(found), 8)], ", "))}
}

func usable(v any, name string, line int) (any, error) {
	switch v.(type) {
	case string, []any, *value.Object:
		return v, nil
	}
	return nil, &Error{Line: line, Message: name + " is not a text"}
}

func byPath(v any, path []string) (any, bool) {
	pointer := ""
	for _, key := range path {
		pointer = document.Join(pointer, key)
	}
	return document.Lookup(v, pointer)
}

// keys collects the paths of texts, lists and objects.
type keys struct {
	paths    []string
	texts    []string
	pointers map[string]string
}

// maxKeys bounds the number of paths.
const maxKeys = 10_000

func (k *keys) walk(v any, path, pointer string) {
	if len(k.paths) >= maxKeys || strings.Count(pointer, "/") > maxNest {
		return
	}
	if k.pointers == nil {
		k.pointers = map[string]string{}
	}
	add := func(key string, v any) {
		at, to := key, document.Join(pointer, key)
		if path != "" {
			at = path + "." + key
		}
		k.paths = append(k.paths, at)
		k.pointers[at] = to
		if _, ok := v.(string); ok {
			k.texts = append(k.texts, at)
		}
		k.walk(v, at, to)
	}
	switch v := v.(type) {
	case *value.Object:
		for key, inner := range v.All() {
			add(key, inner)
		}
	case []any:
		for i, inner := range v {
			add(strconv.Itoa(i), inner)
		}
	}
}

// names returns the paths of texts, and their last keys, for suggestions.
func (k *keys) names() []string {
	list := append([]string(nil), k.texts...)
	for _, path := range k.texts {
		if i := strings.LastIndexByte(path, '.'); i >= 0 {
			list = append(list, path[i+1:])
		}
	}
	return list
}
