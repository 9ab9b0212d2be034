package suite

import (
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/kind"
	"github.com/proviso-eval/proviso/value"
)

// assertionSet reads the assertion set: a list under assertions, or files of them.
// Every member has a unique id, because results are counted by id.
func (r *reading) assertionSet(doc *document.Document, cfg *value.Object) []*proviso.Assertion {
	set := setReader{reading: r, ids: map[string]bool{}}
	set.all(doc, "/assertions", cfg.At("assertions"), 0)
	return set.list
}

// setReader collects the assertions of a set.
type setReader struct {
	*reading
	list []*proviso.Assertion
	ids  map[string]bool
}

// maxSetFiles limits how deeply files of assertions refer to each other.
const maxSetFiles = 8

func (s *setReader) all(doc *document.Document, at string, v any, depth int) {
	switch v := v.(type) {
	case nil:
	case string:
		s.file(doc, at, v, depth)
	case *value.Object:
		if inner, ok := v.At("assertions").([]any); ok {
			s.all(doc, document.Join(at, "assertions"), inner, depth)
			return
		}
		s.one(doc, at, v)
	case []any:
		for i, e := range v {
			at := document.Join(at, i)
			if name, ok := e.(string); ok && strings.HasPrefix(name, "file://") {
				s.file(doc, at, name, depth)
				continue
			}
			s.one(doc, at, e)
		}
	default:
		s.mistake(doc, at, proviso.Invalid, nil, "assertions are a list, not %s", kind.Shown(v))
	}
}

func (s *setReader) file(doc *document.Document, at, name string, depth int) {
	d, err := s.yaml(name)
	switch {
	case err != nil:
		s.failed(doc, at, err)
	case depth == maxSetFiles:
		s.mistake(doc, at, proviso.Limit, nil, "files of assertions name each other more than %d deep", maxSetFiles)
	default:
		s.all(d, "", d.Root, depth+1)
	}
}

// one reads one assertion. With an instruction, criteria or a check it is judged,
// unless it has another type.
func (s *setReader) one(doc *document.Document, at string, v any) {
	if _, ok := v.(*value.Object); !ok {
		s.mistake(doc, at, proviso.Invalid, nil, "%s", notMember(v))
		return
	}
	d := s.decoder(doc)
	a := &proviso.Assertion{}
	switch ok := d.Assertion(a, s.at(doc, at), v); {
	case a.Broken && ok:
		s.list = append(s.list, a) // so that further mistakes are found
	case ok:
		s.member(doc, at, a)
	}
}

func (s *setReader) member(doc *document.Document, at string, a *proviso.Assertion) {
	for _, e := range memberMistakes(a, s.ids) {
		s.mistake(doc, at+e.Pointer, e.Code, nil, "%s", e.Message)
	}
	s.list = append(s.list, a)
}
