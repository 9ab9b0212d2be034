package check

import (
	"errors"
	"path"
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso"
)

// scriptFile is a function in a file of the suite.
type scriptFile struct {
	language string
	file     string
	entry    string // as in the suite; "" is the default
	standard string // its default name in Python and Ruby; JavaScript has a default export
}

// LanguageOf returns the language of a script file by its suffix; "" for a file that
// is not a script.
func LanguageOf(file string) string {
	switch strings.ToLower(path.Ext(file)) {
	case ".js", ".cjs", ".mjs", ".ts", ".cts", ".mts":
		return "javascript"
	case ".py":
		return "python"
	case ".rb":
		return "ruby"
	}
	return ""
}

// splitEntry splits file.py:function into the file and the function; "" if the name
// has none.
func splitEntry(name string) (file, entry string) {
	if i := strings.LastIndexByte(name, ':'); i > 0 && LanguageOf(name[:i]) != "" {
		return name[:i], name[i+1:]
	}
	return name, ""
}

// compileFile compiles a script file of the suite. traced reports whether it uses the
// trace in its context.
func (c *Compiler) compileFile(s scriptFile) (fn proviso.Function, traced bool, err error) {
	if c.Code == nil {
		return nil, false, proviso.Errorf(proviso.Unavailable, "%s: no interpreter for %s is available", s.file, s.language)
	}
	data, err := c.readFile(s.file)
	if err != nil {
		return nil, false, err
	}
	if s.entry == "" && s.language != "javascript" {
		s.entry = s.standard
	}
	fn, err = c.function(proviso.Source{
		Language: s.language, Name: s.file, Text: string(data), Form: proviso.Module, Entry: s.entry, File: path.Clean(s.file), Purpose: proviso.Deciding,
	})
	if err != nil {
		return nil, false, FileMistake(Shown(c.Files, s.file), err)
	}
	return fn, c.mentionsTrace(s.language, string(data)), nil
}

// Shown returns the name of a file for messages: relative to the working folder, if
// files supports that.
func Shown(files proviso.Files, name string) string {
	if f, ok := files.(interface{ Show(name string) string }); ok {
		return f.Show(name)
	}
	return name
}

// FileMistake returns a message that says why a script file cannot be used. An
// error of the interpreter gets its place in the file; other known errors keep
// their code and names.
func FileMistake(file string, err error) error {
	var e *proviso.Error
	if errors.As(err, &e) {
		message := err.Error()
		if !strings.Contains(message, path.Base(file)) {
			message = file + ": " + message
		}
		named := proviso.Because(err, e.Code, "%s%s", message, functions(e))
		named.Pointer, named.Valid = e.Pointer, e.Valid
		return named
	}
	var thrown *proviso.ScriptError
	if !errors.As(err, &thrown) {
		return proviso.Errorf(proviso.Invalid, "%s: %w", file, err)
	}
	at := file
	if thrown.Line > 0 {
		at += ":" + strconv.Itoa(thrown.Line)
		if thrown.Column > 0 {
			at += ":" + strconv.Itoa(thrown.Column)
		}
	}
	code := proviso.Invalid
	if lacksModule(thrown) {
		code = proviso.Unavailable
	}
	return proviso.Because(err, code, "%s: %v", at, thrown)
}

// functions lists the functions of a file that lacks the requested one; "" if e is
// about something else.
func functions(e *proviso.Error) string {
	const most = 8
	if e.Code != proviso.NotFound || len(e.Valid) == 0 {
		return ""
	}
	list := strings.Join(e.Valid[:min(most, len(e.Valid))], ", ")
	if len(e.Valid) > most {
		list += ", …"
	}
	return "; it has " + list
}
