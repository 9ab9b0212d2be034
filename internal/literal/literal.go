// Package literal finds the text that a program or a YAML file assigns to a name: a
// constant, a member of an object, or a key. It runs no code. Start at [Find].
//
// It reads string literals of Python, JavaScript and TypeScript, even if they are
// concatenated, in brackets, or inside a call such as dedent. An expression
// inserted into a text, as in an f-string, becomes a variable in braces, or its
// text if the same file defines it.
package literal

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso/internal/document"
)

// Files lists the supported kinds of files, for messages.
const Files = "Python, JavaScript, TypeScript and YAML"

// Limits of a text.
const (
	maxText  = 16 << 20 // bytes
	maxSteps = 100_000  // parts of a composed text
	maxNest  = 64       // nesting depth of brackets, and of names that refer to others
)

// Error means that a file has no text with a name.
type Error struct {
	Line    int // line of the name, if its value is not text; else 0
	Message string
	Nearest string // the name that was probably meant; "" if none is near
}

// Error implements error.
func (e *Error) Error() string { return e.Message }

// Reads reports whether files with this name are supported, judged by the
// extension.
func Reads(file string) bool { return languageOf(file) != "" }

func languageOf(file string) string {
	switch strings.ToLower(filepath.Ext(file)) {
	case ".py", ".pyi":
		return "python"
	case ".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts":
		return "script"
	case ".yaml", ".yml":
		return "yaml"
	}
	return ""
}

// Find returns the value of a name in a file: a text or, in YAML, also a list or an
// object. In a program, the outermost definition counts, and of several the last.
// In YAML, a name may be a path with dots. The error is an *[Error], or says why
// the file cannot be read.
func Find(file, text, name string) (any, error) {
	language := languageOf(file)
	if language == "yaml" {
		return inYAML(file, text, name)
	}
	p := parsed(language, text)
	d := p.defined[name]
	if line := p.others[name]; d == nil && line > 0 {
		return nil, &Error{Line: line, Message: name + " is not a text"}
	}
	if d == nil {
		return nil, unknown(name, p.names(), file)
	}
	e := &evaluation{defined: p.defined, numbers: p.numbers, open: []string{name}}
	out, ok := e.text(d.value, 0)
	switch {
	case e.tooLong:
		return nil, &Error{Line: d.line, Message: fmt.Sprintf("the text %s is longer than the %d MiB that are read", name, maxText>>20)}
	case !ok:
		return nil, &Error{Line: d.line, Message: name + " is not a text"}
	}
	return out, nil
}

// Names returns the names of the texts in a program, sorted; none for YAML and
// other files.
func Names(file, text string) []string {
	language := languageOf(file)
	if language == "" || language == "yaml" {
		return nil
	}
	p := parsed(language, text)
	return p.names()
}

// parsed finds the definitions of a program.
func parsed(language, text string) *parser {
	tokens := pythonTokens
	if language == "script" {
		tokens = scriptTokens
	}
	p := &parser{tokens: tokens(text), adjacent: language == "python", defined: map[string]*definition{}, others: map[string]int{}, numbers: map[string]string{}}
	p.definitions()
	return p
}

func unknown(name string, names []string, file string) error {
	e := &Error{Message: fmt.Sprintf("no text is called %s", name), Nearest: document.Nearest(name, names)}
	switch {
	case len(names) == 0:
		e.Message += "; no text in " + filepath.Base(file) + " has a name"
	case e.Nearest == "":
		e.Message += "; the texts are " + strings.Join(names[:min(len(names), 20)], ", ")
	}
	return e
}

// definition is the last value of a name at its outermost depth.
type definition struct {
	value node
	depth int
	line  int
}

// names returns the names of texts, sorted.
func (p *parser) names() []string {
	var list []string
	e := &evaluation{defined: p.defined}
	for name, d := range p.defined {
		if e.open = []string{name}; d.value.literal {
			list = append(list, name)
		} else if _, ok := e.text(d.value, 0); ok { // a name for another text
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}
