package jstoken

import (
	"slices"
	"strings"
)

// window is a token with its neighbours.
type window struct {
	before, before2, text, after, after2 string
	token                                Token
	next                                 Token
}

// windows calls yield with each token and its neighbours until it returns false.
// The texts of strings and templates are those of the source, quotes included.
func windows(src string, yield func(w *window) bool) {
	s := New(src)
	read := func() (Token, string) {
		t, ok := s.Next()
		if !ok {
			return Token{Kind: Punct, LineBreak: true}, ""
		}
		return t, s.Text(t)
	}
	w := window{}
	var after2 Token
	w.token, w.text = read()
	w.next, w.after = read()
	after2, w.after2 = read()
	for w.text != "" && yield(&w) {
		w.before2, w.before = w.before, w.text
		w.token, w.text = w.next, w.after
		w.next, w.after = after2, w.after2
		after2, w.after2 = read()
	}
}

// member reports whether the token is the name of a member: after a dot, or before the
// colon of a property.
func (w *window) member() bool {
	return w.before == "." || w.before == "?." || w.after == ":" && (w.before == "{" || w.before == ",")
}

// Imports reports whether the source loads other files or packages, or uses its own
// location: with import, export from, import.meta, require, __dirname or
// __filename.
func Imports(src string) bool {
	found := false
	from := fromClause{}
	windows(src, func(w *window) bool {
		found = from.ends(w) || w.token.Kind == Name && w.imports()
		return !found
	})
	return found
}

func (w *window) imports() bool {
	switch w.text {
	case "import":
		return !w.member()
	case "require":
		loads := w.after == "(" || w.after == "." || w.after == "?."
		return loads && w.before != "function" && (!w.member() || w.before2 == "module" || w.before2 == "mainModule")
	case "__dirname", "__filename":
		return !w.member() && w.before != "typeof"
	}
	return false
}

// fromClause finds `export … from`.
type fromClause struct {
	inExport bool // after export { or export *
}

// ends reports whether the token is the from of an export.
func (f *fromClause) ends(w *window) bool {
	if f.inExport {
		f.inExport = w.token.Kind == Name || w.text == "," || w.text == "{" || w.text == "}" || w.text == "*" || w.token.Kind == String
		return f.inExport && w.text == "from" && w.next.Kind == String && (w.before == "}" || w.before == "*" || w.before2 == "as")
	}
	f.inExport = w.text == "export" && w.token.Kind == Name && !w.member() && (w.after == "{" || w.after == "*")
	return false
}

// Uses reports whether the source uses one of the given globals other than as a
// member, a property or a name that the source itself declares. A mere typeof test
// does not count.
func Uses(src string, globals []string) bool {
	var used, declared []string
	windows(src, func(w *window) bool {
		if w.token.Kind != Name || !slices.Contains(globals, w.text) {
			return true
		}
		switch {
		case w.declares():
			declared = append(declared, w.text)
		case w.global() && !slices.Contains(used, w.text):
			used = append(used, w.text)
		}
		return len(declared) <= len(globals)
	})
	return slices.ContainsFunc(used, func(name string) bool { return !slices.Contains(declared, name) })
}

// declares reports whether the name is declared as a variable, a function, a class,
// or the last or only parameter of a function. A name to which the code assigns counts, too.
func (w *window) declares() bool {
	if w.after == "=>" || w.after == "=" && w.after2 != "=" && w.before != "." {
		return true // a parameter, or a variable to which the code assigns
	}
	switch w.before {
	case "function", "class", "const", "let", "var", "import", "get", "set":
		return true
	case "(", ",", "...":
		return w.after == ")" && (w.after2 == "=>" || w.after2 == "{")
	}
	return false
}

func (w *window) global() bool {
	if w.before == "." || w.before == "?." {
		return w.before2 == "globalThis" || w.before2 == "global"
	}
	return w.before != "typeof" && !w.member()
}

// IsModule reports whether the source is an ECMAScript module: it has an import or
// an export outside brackets, or uses import.meta.
func IsModule(src string) bool {
	found, depth := false, 0
	windows(src, func(w *window) bool {
		if w.token.Kind != Name {
			depth += nesting(w)
			return true
		}
		switch w.text {
		case "import":
			found = !w.member() && (w.after == "." && w.after2 == "meta" || depth == 0 && w.after != "(" && w.after != "." && w.begins())
		case "export":
			found = depth == 0 && w.begins()
		}
		return !found
	})
	return found
}

// begins reports whether the token can be the first of a statement.
func (w *window) begins() bool {
	switch w.before {
	case "", ";", "}", ")":
		return true
	}
	return w.token.LineBreak && w.before != "." && w.before != "?."
}

// nesting is the number of brackets that a token opens, negative if it closes some.
func nesting(w *window) int {
	switch {
	case w.token.Kind == Template && w.text[0] == '`' && closed(w.text), w.token.Kind == String, w.token.Kind == Regexp:
		return 0
	case w.token.Kind == Template && w.text[0] == '`':
		return 1
	case w.token.Kind == Template && closed(w.text):
		return -1
	}
	switch w.text {
	case "(", "[", "{":
		return 1
	case ")", "]", "}":
		return -1
	}
	return 0
}

// closed reports whether a token of a template is its last one.
func closed(text string) bool { return text[len(text)-1] == '`' && len(text) > 1 }

// IsFunction reports whether the source is a single function: it begins with
// function, or with the parameters of an arrow function.
func IsFunction(src string) bool {
	s := New(src)
	t, ok := s.Next()
	if ok && t.Kind == Name && s.Text(t) == "async" {
		t, ok = s.Next()
	}
	if !ok {
		return false
	}
	switch {
	case t.Kind == Name && s.Text(t) == "function":
		return true
	case t.Kind == Name:
	case s.Text(t) != "(":
		return false
	default:
		for depth := 1; depth > 0 && ok; {
			t, ok = s.Next()
			if ok && t.Kind == Punct {
				depth += nesting(&window{text: s.Text(t), token: t})
			}
		}
	}
	t, ok = s.Next()
	return ok && s.Text(t) == "=>"
}

// WithoutComments returns the source without its comments and without the contents
// of its regular expressions. Line numbers do not change.
func WithoutComments(src string) string {
	var b strings.Builder
	s := New(src)
	for end := 0; ; {
		t, ok := s.Next()
		between := src[end:min(max(t.Start, end), len(src))]
		if !ok {
			between = src[end:]
		}
		switch {
		case strings.TrimSpace(between) == "":
			b.WriteString(between)
		default:
			b.WriteString(" " + strings.Repeat("\n", strings.Count(between, "\n")))
		}
		if !ok {
			return b.String()
		}
		if t.Kind == Regexp {
			b.WriteString("/ /")
		} else {
			b.WriteString(s.Text(t))
		}
		end = t.End
	}
}
