package check

import (
	"context"
	"errors"
	"strings"

	"github.com/proviso-eval/proviso"
)

// Transform is a script that replaces an output by another value.
type Transform struct {
	label string
	fn    proviso.Function
}

// Transform compiles the transform of an assertion, a case or a provider: one
// line is an expression, several are a function body with an explicit return,
// `file://x.js[:function]` is a script of the suite, in JavaScript, Python or Ruby.
func (c *Compiler) Transform(text string) (*Transform, error) {
	return c.compileTransform(text, "output")
}

// VarsTransform compiles a script that replaces the variables of a case; it is
// written as a transform is, with vars in place of output.
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
		return nil, proviso.Errorf(proviso.Unavailable, "transform: no interpreter here")
	}
	form := proviso.Expression
	if strings.Contains(text, "\n") {
		form = proviso.Body
	}
	fn, err := c.function(proviso.Source{
		Language: "javascript", Name: "transform", Text: text, Form: form, Params: []string{subject, "context"}, Purpose: proviso.Deciding,
	})
	if err != nil {
		return nil, named("transform "+short(text), err)
	}
	return &Transform{label: "[inline transform]: " + text, fn: fn}, nil
}

// named says which script an error is about, and keeps its code.
func named(script string, err error) error {
	var e *proviso.Error
	if errors.As(err, &e) {
		about := proviso.Because(err, e.Code, "%s: %v", script, err)
		about.Valid = e.Valid
		return about
	}
	return proviso.Errorf(proviso.Invalid, "%s: %w", script, err)
}

// short is the beginning of a script, on one line.
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
	context := proviso.ObjectOf("vars", row.Vars, "prompt", proviso.ObjectOf("label", row.Label))
	if row.Output != nil && row.Output.Metadata != nil {
		context.Set("metadata", row.Output.Metadata)
	}
	v, err := t.fn.Call(ctx, output, context)
	if err != nil {
		return nil, proviso.Errorf(proviso.Undecided, "transform failed (%s): %w", t.label, err)
	}
	switch v.(type) {
	case nil, proviso.Undefined:
		return nil, proviso.Errorf(proviso.Undecided, "transform function did not return a value (%s)", t.label)
	}
	return v, nil
}
