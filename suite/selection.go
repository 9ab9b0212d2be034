package suite

import (
	"regexp"
	"slices"
	"strconv"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/value"
)

// selection applies the filters of the options, or those of commandLineOptions where
// the options have none.
func (r *reading) selection(s *proviso.Suite, doc *document.Document, cfg *value.Object) {
	flags, _ := cfg.At("commandLineOptions").(*value.Object)
	evaluate, _ := cfg.At("evaluateOptions").(*value.Object)
	x := optionReader{r, doc, "/commandLineOptions", flags}
	for _, key := range [...]string{"filterProviders", "filterTargets"} {
		s.Providers = selected(x, key, "provider", s.Providers, nameOfProvider)
	}
	s.Prompts = selected(x, "filterPrompts", "prompt", s.Prompts, nameOfPrompt)
	f := r.options.Filter
	if f.Range == "" {
		take(optionReader{r, doc, "/evaluateOptions", evaluate}, "filterRange", &f.Range)
		take(x, "filterRange", &f.Range)
	}
	if f.Pattern == "" {
		take(x, "filterPattern", &f.Pattern)
	}
	if len(f.Metadata) == 0 {
		f.Metadata = texts(flags.At("filterMetadata"))
	}
	x.number("filterFirstN", &f.First)
	x.number("filterSample", &f.Sample)
	seed := -1
	x.number("filterSampleSeed", &seed)
	if f.Seed == nil && seed >= 0 {
		n := uint64(seed)
		f.Seed = &n
	}
	if f.Rows == nil {
		f.Rows = r.rows(x)
	}
	if f.empty() {
		return
	}
	if r.wrongFilter(doc, flags, f) {
		return
	}
	source, err := Select(s.CaseSource, f)
	if err != nil {
		r.failed(doc, "/commandLineOptions", err)
		return
	}
	s.CaseSource = source
}

// wrongFilter reports the mistakes of a filter at its place: a flag of the command,
// or the suite, whose commandLineOptions are flags.
func (r *reading) wrongFilter(doc *document.Document, flags *value.Object, f Filter) bool {
	wrong := false
	ours := r.options.Filter.parts()
	for i, part := range f.parts() {
		_, err := part.only.compile()
		if err == nil {
			continue
		}
		wrong = true
		switch {
		case !ours[i].only.empty():
			r.failed(document.Virtual(part.flag, nil), "", err)
		case flags.Has(part.key):
			r.failed(doc, document.Join("/commandLineOptions", part.key), err)
		default:
			r.failed(doc, document.Join("/evaluateOptions", part.key), err)
		}
	}
	return wrong
}

// empty reports whether the filter keeps all cases.
func (f Filter) empty() bool {
	return len(f.Metadata) == 0 && f.Rows == nil && f.Pattern == "" && f.Range == "" && f.First == 0 && f.Sample == 0
}

// number reads a whole number, which may be text, unless to is already set.
func (x optionReader) number(key string, to *int) {
	if *to > 0 {
		return
	}
	s, isText := x.from.At(key).(string)
	if !isText {
		x.count(key, to, 0)
		return
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		x.mistake(x.doc, document.Join(x.at, key), proviso.Invalid, nil, "%s is a whole number, not %s", key, quoteName(s))
		return
	}
	*to = n
}

// rows reads the report for a filter of commandLineOptions, relative to the suite's
// folder.
func (r *reading) rows(x optionReader) *RowSet {
	for _, source := range [...]struct {
		key  string
		kind RowKind
	}{{"filterFailing", NotPassed}, {"filterFailingOnly", Failures}, {"filterErrorsOnly", Errors}} {
		name, _ := x.from.At(source.key).(string)
		if name == "" {
			continue
		}
		at := document.Join(x.at, source.key)
		file, err := r.files.Open(name)
		if err != nil {
			r.failed(x.doc, at, err)
			return nil
		}
		defer file.Close()
		rows, err := ReadRows(r.files.Show(name), file, source.kind)
		if err != nil {
			r.failed(x.doc, at, err)
		}
		return rows
	}
	return nil
}

// selected returns the providers or prompts whose id or label matches a filter, if it is
// given.
func selected[T any](x optionReader, key, what string, list []T, nameOf func(T) nameable) []T {
	re := x.pattern(key)
	if re == nil {
		return list
	}
	list = slices.DeleteFunc(list, func(e T) bool {
		name := nameOf(e)
		return !re.MatchString(name.id) && !re.MatchString(name.label)
	})
	if len(list) == 0 {
		x.mistake(x.doc, document.Join(x.at, key), proviso.Invalid, nil, "no %s is left by this filter", what)
	}
	return list
}

// pattern compiles a filter that is a regular expression (RE2), nil without one.
func (x optionReader) pattern(key string) *regexp.Regexp {
	text, _ := x.from.At(key).(string)
	if text == "" {
		return nil
	}
	re, err := regexp.Compile(text)
	if err != nil {
		x.mistake(x.doc, document.Join(x.at, key), proviso.Invalid, nil, "%s is not a regular expression: %s", key, err)
	}
	return re
}
