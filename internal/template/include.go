package template

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/recent"
	"github.com/proviso-eval/proviso/value"
)

const (
	// maxIncluded is the number of files that one template may include, directly or
	// indirectly.
	maxIncluded = 256
	// maxIncludedBytes is the maximum total size of these files.
	maxIncludedBytes = 8 << 20
)

// Including returns an engine whose templates may include files. read returns the
// text of a file; it is called when a template is compiled. The two engines share
// their JavaScript engines; closing e closes both.
func (e *Engine) Including(read func(name string) (string, error)) *Engine {
	return &Engine{library: e.library, filters: e.filters, env: e.env, read: read, cache: recent.New[string](recent.Options[*Template]{Entries: cachedTemplates})}
}

// inspect compiles the template and the files that it includes in JavaScript.
func (t *Template) inspect(ctx context.Context) error {
	names, err := t.compileText(ctx, t.text, "")
	if err != nil {
		return err
	}
	t.words = words(t.text)
	for _, text := range t.files.All() {
		t.words = append(t.words, words(value.ToString(text))...)
	}
	slices.Sort(t.words)
	t.words = slices.Compact(t.words)
	t.variables = names
	t.all = len(t.engine.filters) > 0 || slices.Contains(t.words, "constructor")
	return nil
}

// compileText compiles text, which is that of the named file unless file is "", and the
// files that it includes. It returns the variables that they use.
func (t *Template) compileText(ctx context.Context, text, file string) ([]string, error) {
	v, err := t.engine.library.Call(ctx, "compileTemplate", text, file)
	if err != nil {
		return nil, wrap(err)
	}
	o, _ := v.(*value.Object)
	list, ok := o.At("variables").([]any)
	if !ok {
		return nil, mistake(proviso.Invalid, v)
	}
	var names []string
	for _, name := range list {
		names = append(names, value.ToString(name))
	}
	files, _ := o.At("files").([]any)
	for _, f := range files {
		include, _ := f.(*value.Object)
		more, err := t.include(ctx, include)
		if err != nil {
			return nil, err
		}
		for _, name := range more {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names, nil
}

// include reads and compiles a file, unless that was already done. It leaves out a
// missing file if the include permits that.
func (t *Template) include(ctx context.Context, include *value.Object) ([]string, error) {
	name := value.ToString(include.At("name"))
	if t.files.Has(name) {
		return nil, nil
	}
	text, err := t.readFile(name)
	if missing(err) && include.At("optional") == true {
		return nil, nil
	}
	if err == nil {
		if t.files == nil {
			t.files = value.NewObject(1)
		}
		t.files.Set(name, text)
		var names []string
		if names, err = t.compileText(ctx, text, name); err == nil {
			return names, nil
		}
	}
	line, _ := include.At("line").(float64)
	column, _ := include.At("column").(float64)
	return nil, proviso.Errorf(codeOf(err), "template, line %d, column %d: including %s: %w", int(line), int(column), strconv.Quote(name), err)
}

// readFile returns the text of an included file, within the limits.
func (t *Template) readFile(name string) (string, error) {
	if t.engine.read == nil {
		return "", proviso.Errorf(proviso.NotFound, "only a prompt that is written in the suite, or in a file of it, can include files")
	}
	if t.files.Len() >= maxIncluded {
		return "", proviso.Errorf(proviso.Limit, "a template includes at most %d files", maxIncluded)
	}
	text, err := t.engine.read(name)
	if err != nil {
		return "", err
	}
	size := len(text)
	for _, other := range t.files.All() {
		size += len(value.ToString(other))
	}
	if size > maxIncludedBytes {
		return "", proviso.Errorf(proviso.Limit, "the files that a template includes are larger than %d MiB", maxIncludedBytes>>20)
	}
	return text, nil
}

// included is the argument that holds the included files.
func included(files *value.Object) any {
	if files == nil {
		return nil
	}
	return files
}

func missing(err error) bool { return err != nil && codeOf(err) == proviso.NotFound }

// codeOf is the code of an error; an error without one is a mistake in the
// template.
func codeOf(err error) string {
	return cmp.Or(proviso.CodeOf(err), proviso.Invalid)
}
