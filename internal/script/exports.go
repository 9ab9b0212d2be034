package script

import (
	"slices"
	"strings"

	"github.com/proviso-eval/proviso/internal/jstoken"
)

// export is one export of an ECMAScript module, other than the names of another
// module.
type export struct {
	start int // start of the word export
	body  int // start of the exported declaration or value
	end   int // end of a list

	isDefault bool
	name      string            // name of the declaration; "" for a default export without one
	list      map[string]string // names in a list: exported name → name in the module
	// listedDefault removes the default export from a list, if it is there.
	listedDefault edit
}

// edit replaces a part of a text.
type edit struct {
	start, end int
	by         string
}

// edited applies edits, which are in order and do not overlap.
func edited(text string, edits []edit) string {
	var b strings.Builder
	at := 0
	for _, e := range edits {
		b.WriteString(text[at:e.start])
		b.WriteString(e.by)
		at = e.end
	}
	b.WriteString(text[at:])
	return b.String()
}

// source is a text with its tokens.
type source struct {
	text   string
	tokens []jstoken.Token
}

func newSource(text string) *source {
	s := &source{text: text}
	for scan := jstoken.New(text); ; {
		t, ok := scan.Next()
		if !ok {
			return s
		}
		s.tokens = append(s.tokens, t)
	}
}

// at is the source of token i, "" out of range.
func (s *source) at(i int) string {
	if i < 0 || i >= len(s.tokens) {
		return ""
	}
	return s.text[s.tokens[i].Start:s.tokens[i].End]
}

// start is the offset of token i.
func (s *source) start(i int) int {
	if i >= len(s.tokens) {
		return len(s.text)
	}
	return s.tokens[i].Start
}

func (s *source) isName(i int) bool {
	return i < len(s.tokens) && s.tokens[i].Kind == jstoken.Name
}

// exports finds the exports of a module.
func exports(text string) []export {
	if !strings.Contains(text, "export") {
		return nil
	}
	s := newSource(text)
	var found []export
	for i := range s.tokens {
		if s.at(i) != "export" || s.tokens[i].Kind != jstoken.Name || !s.begins(i) {
			continue
		}
		if e, ok := s.export(i); ok {
			found = append(found, e)
		}
	}
	return found
}

// begins reports whether token i can be the first of a statement.
func (s *source) begins(i int) bool {
	return i == 0 || s.tokens[i].LineBreak && s.at(i-1) != "." || slices.Contains([]string{";", "}"}, s.at(i-1))
}

// export reads the declaration after token i, the word export.
func (s *source) export(i int) (export, bool) {
	e := export{start: s.start(i)}
	i++
	if s.at(i) == "default" {
		e.isDefault = true
		i++
	}
	e.body = s.start(i)
	if s.at(i) == "{" && !e.isDefault {
		return s.list(e, i+1)
	}
	for s.at(i) == "async" && s.at(i+1) == "function" || s.at(i) == "abstract" && s.at(i+1) == "class" {
		i++
	}
	switch s.at(i) {
	case "function":
		i++
		if s.at(i) == "*" {
			i++
		}
	case "class":
		i++
	case "const", "let", "var":
		if e.isDefault {
			return e, true
		}
		i++
	default:
		return e, e.isDefault
	}
	if s.isName(i) && s.at(i) != "extends" {
		e.name = s.at(i)
	}
	return e, e.isDefault || e.name != ""
}

// list reads the exported names from token i on, which follows the brace.
func (s *source) list(e export, i int) (export, bool) {
	e.list = map[string]string{}
	for i < len(s.tokens) && s.at(i) != "}" {
		first, own := i, s.at(i)
		exported := own
		if s.at(i+1) == "as" {
			exported = s.at(i + 2)
			i += 2
		}
		i++
		if s.at(i) == "," {
			i++
		}
		e.list[exported] = own
		if exported == "default" {
			e.listedDefault = edit{start: s.start(first), end: s.start(i)}
		}
	}
	if s.at(i+1) == "from" {
		return e, false
	}
	if s.at(i+1) == ";" {
		i++
	}
	if i < len(s.tokens) {
		e.end = s.tokens[i].End
	}
	return e, i < len(s.tokens)
}
