package python

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/suite"
)

// Read reads candidates from a Python file: each top-level function of three parameters, which
// by position are the variables, the prompt and the response, whatever their names. A
// candidate includes what its function uses from the rest of the file, directly or indirectly:
// imports, constants and other functions. So a missing module affects only the functions that
// use it. A function that only asks a model becomes a judged candidate. If two functions have
// the same name, the later one counts, as in Python. A warning names each statement that no
// candidate uses.
func Read(file string, data []byte) ([]*proviso.Assertion, proviso.Mistakes) {
	code := strings.ReplaceAll(strings.TrimPrefix(string(data), "\ufeff"), "\r\n", "\n")
	f := &pythonFile{file: file, by: map[string][]int{}, used: map[int]bool{}, listed: map[string]bool{}}
	if strings.ContainsRune(code, 0) {
		f.wrong(0, false, "it is not a text")
		return nil, f.mistakes
	}
	f.read(code)
	if len(f.found) == 0 {
		f.wrong(0, false, "no candidate is in it: a function name(example, prompt, response) is expected")
		return nil, f.mistakes
	}
	entries := make([]any, 0, len(f.found))
	size := 0
	for _, i := range f.found {
		s := &f.all[i].pythonStatement
		o, judged := pythonCandidate(s)
		if !judged {
			text := f.module(i)
			size += len(text)
			o.Set("type", Type)
			o.Set("value", pythonValue(text, s.name))
		}
		entries = append(entries, o)
	}
	f.sayUnused()
	if size > maxPreambles {
		f.wrong(0, false, "%d candidates with the other code that they use are too much: at most %d MiB", len(f.found), maxPreambles>>20)
		return nil, f.mistakes
	}
	assertions, errs := suite.DecodeSet(check.Facts(), entries, "")
	for _, e := range errs {
		f.wrong(0, e.Warning, "%s", e.Error())
	}
	if f.mistakes.Err() != nil {
		return nil, f.mistakes
	}
	return assertions, f.mistakes
}

// pythonFile is a Python file of candidates.
type pythonFile struct {
	file     string
	all      []pythonPart
	found    []int            // positions of the candidates in all, in order
	by       map[string][]int // parts that bind a name
	used     map[int]bool     // parts that a candidate includes
	listed   map[string]bool  // names of lists of candidates, and whether a warning says that they are ignored
	mistakes proviso.Mistakes
}

// pythonPart is a statement with the names that it binds and the names that it uses.
type pythonPart struct {
	pythonStatement
	binds, uses []string
}

func (f *pythonFile) wrong(line int, warning bool, format string, args ...any) {
	f.mistakes = append(f.mistakes, proviso.Mistake{Place: proviso.Place{File: f.file, Line: line}, Code: proviso.Invalid, Message: fmt.Sprintf(format, args...), Warning: warning})
}

// read finds the statements and decides which of them are candidates.
func (f *pythonFile) read(code string) {
	for _, s := range pythonStatements(code) {
		for _, s := range s.imports() {
			f.all = append(f.all, pythonPart{pythonStatement: s, binds: s.binds(), uses: pythonNames(s.text)})
		}
	}
	called, listed := map[string]bool{}, map[string]bool{} // names used by functions, and by other statements
	for i, s := range f.all {
		for _, name := range s.binds {
			f.by[name] = append(f.by[name], i)
		}
		for _, name := range s.uses {
			called[name] = called[name] || s.name != "" && s.name != name
			listed[name] = listed[name] || s.name == ""
		}
	}
	names := map[string]int{}
	for i, s := range f.all {
		params := s.parameters()
		if len(params) != len(pythonParams) || s.name == askLLM || !slices.Equal(params, pythonParams) && called[s.name] && !listed[s.name] {
			continue // such as a helper that candidates call and that is in no list of them
		}
		if before, ok := names[s.name]; ok {
			f.wrong(s.line, true, "a function %s is defined earlier; this one counts", s.name)
			f.found = slices.DeleteFunc(f.found, func(k int) bool { return k == before })
			f.used[before] = true
		}
		names[s.name] = i
		f.found = append(f.found, i)
	}
}

// module returns a candidate with what it uses, in file order.
func (f *pythonFile) module(candidate int) string {
	has := map[int]bool{candidate: true}
	known := map[string]bool{askLLM: true} // the judge answers it
	var add func(i int)
	add = func(i int) {
		has[i] = true
		for _, name := range f.all[i].uses {
			if known[name] {
				continue
			}
			known[name] = true
			for _, k := range f.by[name] {
				if !has[k] && f.all[k].name != f.all[candidate].name {
					add(k)
				}
			}
		}
	}
	add(candidate)
	for i, s := range f.all { // such as LIST.append("x")
		future := strings.HasPrefix(s.text, "from __future__")
		if len(s.binds) == 0 && slices.ContainsFunc(s.uses, func(name string) bool { return known[name] && len(f.by[name]) > 0 }) || future {
			add(i)
		}
	}
	var b strings.Builder
	for i, s := range f.all {
		if has[i] {
			f.used[i] = true
			b.WriteString(strings.TrimRight(s.text, "\n") + "\n")
			if s.name != "" || i+1 < len(f.all) && f.all[i+1].name != "" {
				b.WriteString("\n")
			}
		}
	}
	return b.String()
}

// sayUnused warns of the statements that no candidate includes: functions, which may have been
// meant as candidates, one per line, and the rest in one line.
func (f *pythonFile) sayUnused() {
	for _, i := range f.found {
		f.used[i] = true // including those that became judged candidates
	}
	first := 0
	var rest []string
	for i, s := range f.all {
		what := strings.Join(s.binds, ", ")
		switch {
		case f.used[i] || len(s.binds) == 0 && len(s.uses) == 0: // the second case is a string
			continue
		case f.lists(s):
			continue
		case s.name == askLLM || slices.Contains(s.binds, askLLM):
			what = "ask_llm, which the judge answers"
		case s.name != "" && !strings.HasPrefix(s.text, "class"):
			f.wrong(s.line, true, "%s is left out: no candidate calls it, and it is none itself, with %d parameters where 3 are expected", s.name, len(s.parameters()))
			continue
		case what == "":
			what, _, _ = strings.Cut(strings.TrimSpace(s.text), "\n")
			what = excerpt.Head(what, 60)
		}
		if first == 0 {
			first = s.line
		}
		rest = append(rest, fmt.Sprintf("%s (line %d)", what, s.line))
	}
	if len(rest) > 0 {
		f.wrong(first, true, "left out, since no candidate uses it: %s", strings.Join(rest, "; "))
	}
}

// lists reports whether a statement is a list of candidates, such as ALL_FUNCTIONS, or a part
// of one. A list that omits candidates gets a warning, because it is not read.
func (f *pythonFile) lists(s pythonPart) bool {
	if s.name != "" || len(s.binds) != 1 {
		return false
	}
	list := s.binds[0]
	warned, before := f.listed[list] // as in LIST = LIST[:70]
	named := 0
	for _, name := range s.uses {
		switch at := f.by[name]; {
		case name == list:
		case len(at) > 0 && slices.Contains(f.found, at[len(at)-1]):
			named++
		default:
			return false
		}
	}
	if named == 0 && !before {
		return false
	}
	if named < len(f.found) && !warned {
		f.wrong(s.line, true, "%s is not followed: each function of three parameters is a candidate, %d in all; --ban NAME takes one out of a selection", list, len(f.found))
	}
	f.listed[list] = warned || named < len(f.found)
	return true
}

// maxPreambles bounds the total code of all candidates of a file, in bytes.
const maxPreambles = 64 << 20

// bindPatterns find the names that a statement binds.
type bindPatterns struct {
	imports, importOne, importFrom, assigned, defined *regexp.Regexp
}

var binds = sync.OnceValue(func() *bindPatterns {
	return &bindPatterns{
		imports:    regexp.MustCompile(`^import[ \t]+[\w., \t]+$`),
		importOne:  regexp.MustCompile(`(?m)^[ \t]*import[ \t]+(.+)$`),
		importFrom: regexp.MustCompile(`(?m)^[ \t]*from[ \t]+\S+[ \t]+import[ \t]+(?:\(([^()]*)\)|(.+)$)`),
		assigned:   regexp.MustCompile(`(?m)^[ \t]*((?:[A-Za-z_]\w*[ \t]*,?[ \t]*)+)(?::[^=\n]*)?=(?:[^=]|$)`),
		defined:    regexp.MustCompile(`(?m)^[ \t]*(?:async[ \t]+def|def|class)[ \t]+([A-Za-z_]\w*)`),
	}
})

// imports returns the statement, split into one per module if it imports several.
func (s pythonStatement) imports() []pythonStatement {
	bare := strings.TrimRight(s.text, "\n")
	if !strings.Contains(bare, ",") || !binds().imports.MatchString(bare) {
		return []pythonStatement{s}
	}
	var list []pythonStatement
	for part := range strings.SplitSeq(strings.TrimPrefix(bare, "import"), ",") {
		list = append(list, pythonStatement{text: "import " + strings.TrimSpace(part) + "\n", line: s.line})
	}
	return list
}

// binds returns the names that the statement assigns.
func (s *pythonStatement) binds() []string {
	if s.name != "" {
		return []string{s.name}
	}
	code := pythonCode(s.text)
	p := binds()
	if m := p.defined.FindStringSubmatch(code); m != nil && strings.HasPrefix(strings.TrimLeft(code, " \t"), "class") {
		return m[1:2]
	}
	var names []string
	for _, m := range p.importFrom.FindAllStringSubmatch(code, -1) {
		names = append(names, importedNames(m[1]+m[2])...)
	}
	for _, m := range p.importOne.FindAllStringSubmatch(code, -1) {
		names = append(names, importedNames(m[1])...)
	}
	for _, m := range p.assigned.FindAllStringSubmatch(code, -1) {
		names = append(names, python().words.FindAllString(m[1], -1)...)
	}
	for _, m := range p.defined.FindAllStringSubmatch(code, -1) {
		names = append(names, m[1])
	}
	return names
}

// importedNames returns the names that an import list binds.
func importedNames(list string) []string {
	list, _, _ = strings.Cut(list, ";")
	var names []string
	for part := range strings.SplitSeq(list, ",") {
		words := strings.Fields(part)
		switch {
		case len(words) == 3 && words[1] == "as":
			names = append(names, words[2])
		case len(words) > 0:
			name, _, _ := strings.Cut(words[0], ".")
			names = append(names, name)
		}
	}
	return names
}

// pythonNames returns the names in code that are not attributes, each once: the names that it
// may use from its module.
func pythonNames(text string) []string {
	code := pythonCode(text)
	var names []string
	for _, at := range python().words.FindAllStringIndex(code, -1) {
		name := code[at[0]:at[1]]
		if (at[0] == 0 || code[at[0]-1] != '.') && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// pythonCode returns the text without comments and without the text in strings, except for the
// values in f-strings. Line breaks stay.
func pythonCode(text string) string {
	t := pythonText{code: &strings.Builder{}}
	for line := range strings.Lines(text) {
		t.read(line)
		t.code.WriteByte('\n')
	}
	return t.code.String()
}
