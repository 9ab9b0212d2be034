package check

import (
	"context"
	"errors"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// Transform is a script that replaces an output by another value.
type Transform struct {
	label string
	fn    proviso.Function
}

// Transform compiles the transform of an assertion, a case or a provider: one line is
// an expression, several are a function body with an explicit return,
// `file://x.js[:function]` is a script of the suite, in JavaScript, Python or Ruby.
func (c *Compiler) Transform(text string) (*Transform, error) {
	return c.compileTransform(text, "output")
}

// VarsTransform compiles a script that replaces the variables of a case. It has the
// form of a transform, with vars in place of output.
func (c *Compiler) VarsTransform(text string) (*Transform, error) {
	return c.compileTransform(text, "vars")
}

func (c *Compiler) compileTransform(text, subject string) (*Transform, error) {
	if name, ok := strings.CutPrefix(text, "file://"); ok {
		file, entry := splitEntry(name)
		language := LanguageOf(file)
		if language == "" {
			return nil, proviso.Errorf(proviso.Invalid, "transform %s: expected a script file (.js, .ts, .py, .rb)", text)
		}
		fn, _, err := c.compileFile(scriptFile{language: language, file: file, entry: entry, standard: "get_transform"})
		if err != nil {
			return nil, named("transform "+text, err)
		}
		return &Transform{label: text, fn: fn}, nil
	}
	if c.Code == nil {
		return nil, proviso.Errorf(proviso.Unavailable, "transform: no interpreter is available")
	}
	body := text
	if !strings.Contains(text, "\n") {
		body = "return " + text // text may end with a semicolon
	}
	fn, err := c.function(proviso.Source{
		Language: "javascript", Name: "transform", Text: body, Form: proviso.Body, Params: []string{subject, "context", "process"}, Purpose: proviso.Deciding,
	})
	if err != nil {
		return nil, named("transform "+short(text), shifted(err, len(text)-len(body)))
	}
	return &Transform{label: "[inline transform]: " + text, fn: fn}, nil
}

// shifted moves the place of a syntax error in the first line by a number of columns.
func shifted(err error, columns int) error {
	var e *proviso.ScriptError
	if columns == 0 || !errors.As(err, &e) || e.Line != 1 {
		return err
	}
	placed := *e
	placed.Column = max(1, e.Column+columns)
	return &placed
}

// named adds the script to an error, and keeps its code.
func named(script string, err error) error {
	var e *proviso.Error
	if errors.As(err, &e) {
		about := proviso.Because(err, e.Code, "%s: %v", script, err)
		about.Valid = e.Valid
		return about
	}
	return proviso.Errorf(proviso.Invalid, "%s: %w", script, err)
}

// short returns the beginning of a script, on one line.
func short(text string) string {
	const most = 60
	line, _, more := strings.Cut(strings.TrimSpace(text), "\n")
	if r := []rune(line); len(r) > most {
		line, more = string(r[:most]), true
	}
	if more {
		line += " …"
	}
	return line
}

// Apply calls the script with the output and a context of vars, prompt and
// metadata. A script that throws or returns nothing gives an error.
func (t *Transform) Apply(ctx context.Context, output any, row *Row) (any, error) {
	context := value.ObjectOf("vars", row.Vars, "prompt", value.ObjectOf("label", row.Label))
	if row.Output != nil && row.Output.Metadata != nil {
		context.Set("metadata", row.Output.Metadata)
	}
	v, err := t.fn.Call(ctx, output, context)
	if err != nil {
		return nil, proviso.Errorf(proviso.Undecided, "transform failed (%s): %w", t.label, err)
	}
	switch v.(type) {
	case nil, value.Undefined:
		return nil, proviso.Errorf(proviso.Undecided, "transform function did not return a value (%s)", t.label)
	}
	return v, nil
}
