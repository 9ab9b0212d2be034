package suite

import (
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/kind"
	"github.com/proviso-eval/proviso/value"
)

// maxCombinations limits how many cases the lists in one case's variables make.
const maxCombinations = 100_000

// vars decodes the variables of a layer: an object, or the names of files with
// objects.
func (p *pass) vars(at string, v any) *value.Object {
	switch v := v.(type) {
	case *value.Object:
		if m, ok := v.Get("assert"); ok && isList(m) {
			p.Warn(at+"/assert", "these assertions are a variable named \"assert\" and check nothing; indent them as much as vars")
		}
		return v
	case string:
		return p.varsFiles(at, nil, v)
	case []any:
		var all *value.Object
		for i, e := range v {
			name, ok := e.(string)
			if !ok {
				p.Mistake(document.Join(at, i), "expected the name of a file with variables, got %s", kind.Shown(e))
				continue
			}
			all = p.varsFiles(document.Join(at, i), all, name)
		}
		return all
	case nil:
		return nil
	}
	p.Mistake(at, "expected variables by name, got %s", kind.Shown(v))
	return nil
}

func isList(v any) bool {
	_, ok := v.([]any)
	return ok
}

// varsFiles merges the variables of the files that a name or pattern matches
// into all.
func (p *pass) varsFiles(at string, all *value.Object, name string) *value.Object {
	files, err := p.source.files.Glob(name)
	if err == nil && len(files) == 0 {
		_, err = p.source.files.ReadFile(name)
	}
	if err != nil {
		p.fileError(at, err)
		return all
	}
	for _, file := range files {
		d, err := p.source.load(file)
		if err != nil {
			p.fileError(at, err)
			continue
		}
		o, ok := d.Root.(*value.Object)
		if !ok {
			if p.source.promptfoo {
				p.Warn(at, "%s contains no variables: expected them by name, got %s", p.source.files.Show(file), kind.Shown(d.Root))
			} else {
				p.Mistake(at, "%s: expected variables by name, got %s", p.source.files.Show(file), kind.Shown(d.Root))
			}
			continue
		}
		all = merged(all, o)
	}
	return all
}

// axis is a variable with several values, each of which makes a case.
type axis struct {
	key    string
	values []any
}

// axes returns the variables that make several cases: lists of texts, and file
// patterns. It returns false if the case cannot be built.
func (p *pass) axes(l *layer) ([]axis, bool) {
	if l.noExpansion || p.source.noExpansion {
		return nil, true
	}
	var out []axis
	total := 1
	for key, v := range l.vars.All() {
		var values []any
		switch v := v.(type) {
		case []any:
			if len(v) == 0 {
				continue
			}
			if _, ok := v[0].(string); !ok {
				continue
			}
			values = v
		case string:
			if p.remote || !strings.HasPrefix(v, "file://") || !isGlob(v) {
				continue
			}
			if values = p.varGlob(document.Join(l.proto.Pointer+"/vars", key), v); values == nil {
				return nil, false
			}
		default:
			continue
		}
		out = append(out, axis{key, values})
		if total *= len(values); total > maxCombinations {
			p.fail(proviso.ErrorAt(l.proto.Pointer+"/vars", proviso.Limit, "the lists among the variables make more than %d cases", maxCombinations))
			return nil, false
		}
	}
	return out, true
}

// varGlob returns a reference to each file that a variable's pattern matches.
func (p *pass) varGlob(at, pattern string) []any {
	files, err := p.source.files.Glob(pattern)
	switch {
	case err != nil:
		p.fileError(at, err)
		return nil
	case len(files) == 0:
		p.fail(proviso.ErrorAt(at, proviso.NotFound, "no file matches %q", pattern))
		return nil
	}
	out := make([]any, len(files))
	for i, f := range files {
		out[i] = "file://" + f
	}
	return out
}

// combine calls visit with the variables of each combination; the last list changes
// fastest. It returns false if visit did.
func combine(vars *value.Object, axes []axis, visit func(*value.Object) bool) bool {
	if len(axes) == 0 {
		return visit(vars)
	}
	position := make([]int, len(axes))
	for {
		chosen := vars.Clone()
		for i, a := range axes {
			chosen.Set(a.key, a.values[position[i]])
		}
		if !visit(chosen) {
			return false
		}
		i := len(axes) - 1
		for ; i >= 0; i-- {
			if position[i]++; position[i] < len(axes[i].values) {
				break
			}
			position[i] = 0
		}
		if i < 0 {
			return true
		}
	}
}
