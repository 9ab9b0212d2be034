package conformance

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/assertion"
	"github.com/proviso-eval/proviso/internal/mathjs"
	"github.com/proviso-eval/proviso/internal/template"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/suite"
	"github.com/proviso-eval/proviso/value"
)

// TestConformance decides every record and prints a line for each file.
func TestConformance(t *testing.T) {
	dirs := append([]string{"corpus"}, filepath.SplitList(os.Getenv("PROVISO_CONFORMANCE"))...)
	var misses []string
	for _, dir := range dirs {
		files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
		if err != nil || len(files) == 0 {
			t.Errorf("%s: no files (%v)", dir, err)
		}
		b := newBench(t, dir)
		for _, file := range files {
			line, missed, err := b.file(t, file)
			if err != nil {
				t.Error(err)
				continue
			}
			fmt.Printf("conformance %s/%s %s\n", dir, filepath.Base(file), line)
			misses = append(misses, missed...)
		}
	}
	for _, m := range misses {
		t.Error(m)
	}
}

// bench decides the records of one directory.
type bench struct {
	compiler *check.Compiler
	traces   traces
	files    *suite.Files
	code     proviso.Code
	metrics  *mathjs.Engine // for all configs: it takes long to start
	dir      string
	env      proviso.EnvMap
}

func newBench(t *testing.T, dir string) *bench {
	t.Helper()
	b := &bench{dir: dir, traces: traces{}, code: newCode(t, filepath.Join(dir, "fixtures")), env: proviso.EnvMap{"CONFORMANCE_ENV": "from-env"}}
	b.files = suite.NewFiles(filepath.Join(dir, "fixtures"), suite.FilesOptions{})
	b.compiler = b.newCompiler(check.Options{})
	b.metrics = mathjs.New(mathjs.Options{})
	t.Cleanup(func() { _ = b.metrics.Close() })
	return b
}

func (b *bench) newCompiler(o check.Options) *check.Compiler {
	o.Code, o.Files, o.Env, o.Spans = b.code, b.files, b.env, b.traces
	o.Templates = template.New(template.Options{Env: func() *value.Object {
		return value.ObjectOf("CONFORMANCE_ENV", "from-env")
	}})
	o.Lenient, o.Providers = true, provider.Facts()
	return check.New(o)
}

// file decides one file. It returns the summary line, and a text for every
// difference.
func (b *bench) file(t *testing.T, file string) (string, []string, error) {
	t.Helper()
	records, err := readRecords(file)
	if err != nil {
		return "", nil, err
	}
	if unsupported(file, records) {
		return "unsupported", nil, nil
	}
	if language := strings.TrimSuffix(filepath.Base(file), ".jsonl"); language == "python" && !hasPython(b.code) {
		return "skipped: there is no Python here", nil, nil
	}
	var passed, total, same, quirks int
	var misses []string
	for _, r := range records {
		if r.object("trace") != nil {
			b.traces[r.text("id")] = r.spans()
		}
		err := b.decide(t, r)
		if r.Has("quirk") {
			quirks++
			if err == nil {
				same++
			}
			continue
		}
		total++
		if err == nil {
			passed++
			continue
		}
		misses = append(misses, fmt.Sprintf("%s/%s %s: %v", b.dir, filepath.Base(file), r.text("id"), err))
	}
	return fmt.Sprintf("%d/%d quirks %d/%d", passed, total, same, quirks), misses, nil
}

// unsupported reports whether the file tests an unsupported type.
func unsupported(file string, records []record) bool {
	name := strings.ReplaceAll(strings.TrimSuffix(filepath.Base(file), ".jsonl"), "_", ":")
	if _, ok := check.Lookup(name); ok {
		return false
	}
	return slices.ContainsFunc(records, func(r record) bool {
		kind, _ := r.object("assert").At("type").(string)
		return strings.TrimPrefix(kind, "not-") == name
	})
}

// decide returns the difference between the record and proviso's result.
func (b *bench) decide(t *testing.T, r record) error {
	t.Helper()
	switch r.text("kind") {
	case "csv":
		return b.csv(r)
	case "eval":
		return b.eval(t, r)
	case "assertions":
		return r.compare(b.assertions(t.Context(), r))
	}
	if r.Has("webhook") {
		return b.webhook(t, r)
	}
	return r.compare(b.assertion(t.Context(), b.compiler, r))
}

func (b *bench) assertion(ctx context.Context, c *check.Compiler, r record) verdict {
	v := c.Decide(ctx, assertion.Of(r.object("assert"), ""), r.row())
	if v.Status == proviso.Errored {
		return verdict{err: v.Reason}
	}
	return verdict{pass: v.Status == proviso.Pass, score: v.Score, reason: v.Reason, named: v.Named}
}

func (b *bench) assertions(ctx context.Context, r record) verdict {
	list, _ := r.At("assert").([]any)
	all := make([]*proviso.Assertion, len(list))
	for i, e := range list {
		o, _ := e.(*value.Object)
		all[i] = assertion.Of(o, "")
	}
	set, mistakes := b.compiler.Compile(all)
	for _, e := range mistakes {
		if !e.Warning {
			return verdict{err: e.Error()}
		}
	}
	row := r.row()
	verdicts := set.Eval(ctx, row)
	var threshold *float64
	if f, ok := r.At("threshold").(float64); ok {
		threshold = &f
	}
	a := set.Aggregate(ctx, row, verdicts, threshold)
	if a.Status == proviso.Errored {
		return verdict{err: a.Reason}
	}
	return verdict{pass: a.Status == proviso.Pass, score: a.Score, reason: a.Reason, named: a.Named, components: verdicts, unscored: a.Unscored}
}

func (b *bench) csv(r record) error {
	want := r.object("expect")
	if cell, ok := r.At("expected").(string); ok {
		return sameValue(suite.Cells(check.Facts()).ParseExpected(cell), want.At("assert"), want)
	}
	got, err := suite.Cells(check.Facts()).CaseFromRow(r.object("row"))
	if err != nil {
		if want.Has("error") {
			return nil
		}
		return err
	}
	return sameValue(got, want.At("testCase"), want)
}

func sameValue(got *value.Object, want any, expect *value.Object) error {
	if expect.Has("error") {
		return fmt.Errorf("got %s, want the error %v", value.Stringify(got), expect.At("error"))
	}
	if g, w := value.Stringify(sorted(got)), value.Stringify(sorted(want)); g != w {
		return fmt.Errorf("got %s, want %s", g, w)
	}
	return nil
}

// sorted sorts the keys of objects, whose order does not matter here.
func sorted(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = sorted(e)
		}
		return out
	case *value.Object:
		out := value.NewObject(v.Len())
		for _, k := range slices.Sorted(slices.Values(v.Keys())) {
			out.Set(k, sorted(v.At(k)))
		}
		return out
	}
	return v
}
