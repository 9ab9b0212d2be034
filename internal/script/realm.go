package script

import (
	"errors"
	"fmt"
	"strings"
	"unique"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/recent"
	"modernc.org/quickjs"
)

const (
	// maxCompiled and maxCompiledText bound the functions kept in one VM.
	maxCompiled     = 1024
	maxCompiledText = 4 << 20

	// maxModules is the number of ECMAScript modules that one VM loads. QuickJS frees a
	// module only with its VM.
	maxModules = 200

	// bodyLine is the number of lines that the Function constructor puts before a
	// function body.
	bodyLine = 2

	// expressionColumn is the number of columns by which the return before an
	// expression shifts it.
	expressionColumn = len("return (")
)

// realm is the part of a machine that runs code of suites.
type realm struct {
	compile, call, callCommon, callModule, loadCommon, loadModule, poll quickjs.Value

	compiled *recent.Cache[unique.Handle[program], compiled]

	modules int    // number loaded so far
	loading string // the name of the module being loaded, and its source
	source  string
}

// compiled is a function of the suite, and the size of its source in bytes.
type compiled struct {
	f    quickjs.Value
	size int
}

func (m *machine) newRealm(api quickjs.Value) error {
	r := &realm{compiled: recent.New[unique.Handle[program]](recent.Options[compiled]{
		Entries: maxCompiled,
		Size:    func(c compiled) int { return c.size },
		Total:   maxCompiledText,
		Evicted: func(c compiled) { c.f.Free() },
	})}
	for name, v := range map[string]*quickjs.Value{
		"compile": &r.compile, "call": &r.call, "callCommon": &r.callCommon, "callModule": &r.callModule,
		"loadCommon": &r.loadCommon, "loadModule": &r.loadModule, "poll": &r.poll,
	} {
		var err error
		if *v, err = m.member(api, name); err != nil {
			return err
		}
	}
	m.realm = r
	m.vm.SetModuleLoader(func(_ *quickjs.VM, name string) (string, error) { return r.load(name) },
		func(_ *quickjs.VM, _, name string) (string, error) { return name, nil })
	return nil
}

// load returns the one module that Go is loading, and no other.
func (r *realm) load(name string) (string, error) {
	if name != r.loading {
		return "", fmt.Errorf("%q is not available: a script has no modules and no access to its host", name)
	}
	return r.source, nil
}

// lookup returns the compiled function of a program that is not an ECMAScript
// module.
func (m *machine) lookup(h unique.Handle[program]) (quickjs.Value, error) {
	r := m.realm
	if c, ok := r.compiled.Get(h); ok {
		return c.f, nil
	}
	p := h.Value()
	body := p.text
	if p.form == expressionForm {
		body = "return (" + body + "\n)"
	}
	f, err := r.compile.CallValue(quickjs.UndefinedValue, p.params, body)
	if err != nil {
		return quickjs.Value{}, syntaxError(err, p)
	}
	r.compiled.Add(h, compiled{f: f, size: len(p.text)})
	return f, nil
}

// checkModule compiles an ECMAScript module without running it.
func (m *machine) checkModule(p program) error {
	if _, err := m.vm.Compile(p.text, quickjs.EvalModule); err != nil {
		return syntaxError(err, p)
	}
	return nil
}

// announce prepares the load of an ECMAScript module under a unique name, because
// its variables must not persist between calls.
func (m *machine) announce(p program) string {
	r := m.realm
	r.modules++
	r.loading, r.source = fmt.Sprintf("module-%d.mjs", r.modules), p.text
	if r.modules >= maxModules {
		m.spent = true
	}
	return r.loading
}

// syntaxError places a compiler error in the user's text.
func syntaxError(err error, p program) error {
	var e *quickjs.Error
	if !errors.As(err, &e) || e.Name != "SyntaxError" || isStackOverflow(e) {
		return err
	}
	s := &proviso.ScriptError{Name: e.Name, Message: e.Message, Syntax: true, Line: e.LineNumber, Column: e.ColumnNumber}
	if p.form != moduleForm {
		s.Line -= bodyLine
	}
	if p.form == expressionForm && s.Line == 1 {
		s.Column -= expressionColumn
	}
	// The mistake is often detected only after the end of the text.
	if last := 1 + strings.Count(p.text, "\n"); s.Line > last {
		s.Line, s.Column = last, len(p.text)-strings.LastIndexByte(p.text, '\n')
	}
	s.Line, s.Column = max(s.Line, 1), max(s.Column, 1)
	return s
}

func isSyntax(err error) bool {
	var e *proviso.ScriptError
	return errors.As(err, &e) && e.Syntax
}
