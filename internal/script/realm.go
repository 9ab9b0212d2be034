package script

import (
	"container/list"
	"errors"
	"fmt"
	"strings"
	"unique"

	"github.com/proviso-eval/proviso"
	"modernc.org/quickjs"
)

const (
	// maxCompiled and maxCompiledText bound the functions kept in one VM.
	maxCompiled     = 1024
	maxCompiledText = 4 << 20

	// maxModules is how many ECMAScript modules one VM loads. QuickJS frees a
	// module only with its VM.
	maxModules = 200

	// bodyLine is the number of lines before the first of a function body in
	// the text that the Function constructor makes.
	bodyLine = 2

	// expressionColumn is how far the return before an expression moves it.
	expressionColumn = len("return (")
)

// realm is the part of a machine that runs code of suites.
type realm struct {
	compile, call, callCommon, callModule, loadCommon, loadModule, poll quickjs.Value

	compiled map[unique.Handle[program]]*list.Element // of *compiled
	recent   list.List                                // used last first
	text     int                                      // bytes of source in compiled

	modules int    // loaded so far
	loading string // the name of the module being loaded, and its source
	source  string
}

type compiled struct {
	program unique.Handle[program]
	f       quickjs.Value
	size    int
}

func (m *machine) newRealm(api quickjs.Value) error {
	r := &realm{compiled: map[unique.Handle[program]]*list.Element{}}
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

// load gives out the module that was asked for by Go, and no other.
func (r *realm) load(name string) (string, error) {
	if name != r.loading {
		return "", fmt.Errorf("%q is not available: a script has no modules and no access to its host", name)
	}
	return r.source, nil
}

// freeCompiled lets go of all functions before the VM is freed.
func (r *realm) freeCompiled() {
	for e := r.recent.Front(); e != nil; e = e.Next() {
		e.Value.(*compiled).f.Free()
	}
}

// lookup returns the compiled function of a program that is no ECMAScript module.
func (m *machine) lookup(h unique.Handle[program]) (quickjs.Value, error) {
	r := m.realm
	if e, ok := r.compiled[h]; ok {
		r.recent.MoveToFront(e)
		return e.Value.(*compiled).f, nil
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
	c := &compiled{program: h, f: f, size: len(p.text)}
	r.compiled[h] = r.recent.PushFront(c)
	for r.text += c.size; r.recent.Len() > 1 && (r.recent.Len() > maxCompiled || r.text > maxCompiledText); {
		last := r.recent.Remove(r.recent.Back()).(*compiled)
		delete(r.compiled, last.program)
		r.text -= last.size
		last.f.Free()
	}
	return f, nil
}

// checkModule compiles an ECMAScript module without running it.
func (m *machine) checkModule(p program) error {
	if _, err := m.vm.Compile(p.text, quickjs.EvalModule); err != nil {
		return syntaxError(err, p)
	}
	return nil
}

// announce prepares the load of an ECMAScript module under a name of its own,
// because its variables must not last from call to call.
func (m *machine) announce(p program) string {
	r := m.realm
	r.modules++
	r.loading, r.source = fmt.Sprintf("module-%d.mjs", r.modules), p.text
	if r.modules >= maxModules {
		m.spent = true
	}
	return r.loading
}

// syntaxError places an error of the compiler in the user's text.
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
	// The mistake is often noticed in what stands behind the text.
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
