package engine

import (
	"context"
	"errors"
	"testing"

	"github.com/proviso-eval/proviso"
)

// box is a proviso.Code that replaces the workers.
type box struct{ closed *bool }

func (b box) Compile(context.Context, proviso.Source) (proviso.Function, error) {
	return nil, errors.New("in a worker")
}

func (b box) Close() error {
	*b.closed = true
	return nil
}

// TestWhereCodeRuns checks which code runs in process and which in workers, and that workers
// are not opened before they are needed.
func TestWhereCodeRuns(t *testing.T) {
	t.Parallel()
	opened, closed := 0, false
	c := newCodes(false, func() proviso.Code { opened++; return box{&closed} })
	here := []proviso.Source{
		{Language: "javascript", Text: "return require('fs')", Form: proviso.Body},
		{Language: "javascript", Text: "module.exports = () => 1", Form: proviso.Module, File: "a.js"},
		{Language: "javascript", Text: "// import x from 'y'\n/* require('z') */\nexport default () => 1", Form: proviso.Module, File: "a.mjs", Name: "a.mjs"},
		{Language: "javascript", Text: "return typeof fetch + ' process'", Form: proviso.Body, Purpose: proviso.Deciding},
		{Language: "javascript", Text: "module.exports = () => 1; // important", Form: proviso.Module, File: "a.js", Purpose: proviso.Acting},
	}
	for _, src := range here {
		if _, err := c.Compile(t.Context(), src); err != nil {
			t.Errorf("%q: %v", src.Text, err)
		}
	}
	if opened != 0 {
		t.Error("workers were opened before they were needed")
	}
	there := []proviso.Source{
		{Language: "python", Text: "1"},
		{Language: "ruby", Text: "1"},
		{Language: "javascript", Form: proviso.Module, File: "a.ts", Text: "export default () => 1"},
		{Language: "javascript", Form: proviso.Module, File: "a.MTS", Text: "export default () => 1"},
		{Language: "javascript", Form: proviso.Module, File: "a.js", Text: "const fs = require('fs')"},
		{Language: "javascript", Form: proviso.Module, File: "a.mjs", Text: "import fs from 'node:fs'\nexport default () => 1"},
		{Language: "javascript", Form: proviso.Module, File: "a.mjs", Text: "export { default } from './b.mjs'"},
		{Language: "javascript", Form: proviso.Module, File: "a.mjs", Text: "export default async () => (await import('./b.mjs')).x"},
		{Language: "javascript", Form: proviso.Module, File: "a.js", Text: "module.exports = () => fetch('x')", Purpose: proviso.Acting},
		{Language: "javascript", Form: proviso.Module, File: "a.js", Text: "module.exports = () => fetch('x')", Purpose: proviso.Deciding},
		{Language: "javascript", Form: proviso.Expression, Text: "process.env.A === output", Purpose: proviso.Deciding},
		{Language: "javascript", Form: proviso.Module, File: "a.js", Text: "module.exports = () => process.env.A", Purpose: proviso.Acting},
	}
	for _, src := range there {
		if _, err := c.Compile(t.Context(), src); err == nil || err.Error() != "in a worker" {
			t.Errorf("%q: %v", src.Text, err)
		}
	}
	if opened != 1 {
		t.Errorf("workers were opened %d times", opened)
	}
	here[0].Purpose = proviso.Synthesised
	if _, err := c.Compile(t.Context(), here[0]); err == nil || err.Error() != "in a worker" {
		t.Errorf("JavaScript that a model wrote: %v", err)
	}
	c.confined = true
	for _, src := range here[1:] {
		if _, err := c.Compile(t.Context(), src); err == nil || err.Error() != "in a worker" {
			t.Errorf("%q, confined: %v", src.Text, err)
		}
	}
	if err := c.Close(); err != nil || !closed {
		t.Errorf("closing: %v, workers closed: %v", err, closed)
	}
}
