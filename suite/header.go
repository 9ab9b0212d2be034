package suite

import (
	"math"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/jstoken"
	"github.com/proviso-eval/proviso/internal/kind"
	"github.com/proviso-eval/proviso/value"
)

// header reads the suite's own description and the settings of its runs.
func (r *reading) header(s *proviso.Suite, doc *document.Document, cfg *value.Object) {
	s.Description, _ = cfg.At("description").(string)
	if r.options.Description != "" {
		s.Description = r.options.Description
	}
	if id := cfg.At("id"); id != nil {
		s.ID = value.ToString(id)
	}
	s.Threshold = r.share(doc, "/threshold", cfg.At("threshold"))
	s.Tags = r.tags(doc, cfg)
	s.Filters = r.filters(doc, cfg)
	s.Extensions = r.extensions(doc, cfg)
	s.Sandbox = r.sandbox(doc, cfg)
	s.Derived = r.derived(doc, cfg)
	s.Options = r.runOptions(doc, cfg)
	s.Tracing = r.tracing(doc, cfg)
	s.Outputs = texts(cfg.At("outputPath"))
	if flags, ok := cfg.At("commandLineOptions").(*value.Object); ok {
		if named := texts(flags.At("output")); len(named) > 0 {
			s.Outputs = named
		}
	}
	r.confineHeader(s, doc, cfg)
}

// share reads a number from 0 to 1, which is 1 if absent. promptfoo does not have the
// key, so in a suite of its shape an invalid value is ignored.
func (r *reading) share(doc *document.Document, at string, v any) float64 {
	if v == nil {
		return 1
	}
	if f, ok := v.(float64); ok && f >= 0 && f <= 1 {
		return f
	}
	if r.promptfoo {
		r.warn(doc, at, "threshold is ignored: it must be a number from 0 to 1, not %s, and promptfoo has no such key", kind.Shown(v))
	} else {
		r.mistake(doc, at, proviso.Invalid, nil, "the threshold must be a number from 0 to 1, not %s", kind.Shown(v))
	}
	return 1
}

func (r *reading) tags(doc *document.Document, cfg *value.Object) *value.Object {
	all := &value.Object{}
	flags, _ := cfg.At("commandLineOptions").(*value.Object)
	for _, source := range []struct {
		at    string
		value any
	}{{"/tags", cfg.At("tags")}, {"/commandLineOptions/tags", flags.At("tags")}} {
		o, _ := source.value.(*value.Object)
		for name, v := range o.All() {
			switch v.(type) {
			case string, float64, bool:
				all.Set(name, value.ToString(v))
			default:
				r.mistake(doc, document.Join(source.at, name), proviso.Invalid, nil, "a tag is a text, not %s", kind.Shown(v))
			}
		}
	}
	return all
}

// filters reads nunjucksFilters: names of filters and their scripts.
func (r *reading) filters(doc *document.Document, cfg *value.Object) *value.Object {
	o, _ := cfg.At("nunjucksFilters").(*value.Object)
	for name, v := range o.All() {
		at := document.Join("/nunjucksFilters", name)
		if r.refusesCode(doc, at, "the filter "+quoteName(name)) {
			continue
		}
		file, ok := v.(string)
		if !ok {
			r.mistake(doc, at, proviso.Invalid, nil, "a filter is a script file, not %s", kind.Shown(v))
			continue
		}
		script, _ := splitScript(file)
		if !r.files.Exists(script) {
			r.exists(doc, at, script)
		}
	}
	if r.trust != nil {
		return nil
	}
	return o
}

func (r *reading) derived(doc *document.Document, cfg *value.Object) []proviso.DerivedMetric {
	list, _ := cfg.At("derivedMetrics").([]any)
	var all []proviso.DerivedMetric
	seen := map[string]bool{}
	for i, v := range list {
		at := document.Join("/derivedMetrics", i)
		o, ok := v.(*value.Object)
		if !ok {
			r.mistake(doc, at, proviso.Invalid, nil, "a derived metric is {name, value}, not %s", kind.Shown(v))
			continue
		}
		r.keys(doc, at, o, derivedKeys())
		name, _ := o.At("name").(string)
		val := ""
		if o.At("value") != nil {
			val = value.ToString(o.At("value"))
		}
		switch {
		case name == "":
			r.mistake(doc, at, proviso.Invalid, nil, "a derived metric needs a name")
		case val == "":
			r.mistake(doc, at, proviso.Invalid, nil, "the derived metric %q needs a value, an expression over named scores", name)
		case seen[name]:
			r.mistake(doc, document.Join(at, "name"), proviso.Invalid, nil, "a second derived metric is named %q", name)
		}
		seen[name] = true
		if (scriptFile(val) || jstoken.IsFunction(val)) && r.refusesCode(doc, document.Join(at, "value"), quoteName(val)) {
			continue
		}
		all = append(all, proviso.DerivedMetric{Name: name, Value: val, Pointer: r.at(doc, at)})
	}
	return all
}

// optionReader reads evaluateOptions and commandLineOptions into one Options. Later
// values win.
type optionReader struct {
	*reading
	doc  *document.Document
	at   string
	from *value.Object
}

func (r *reading) runOptions(doc *document.Document, cfg *value.Object) proviso.Options {
	var o proviso.Options
	for _, key := range [...]string{"evaluateOptions", "commandLineOptions"} {
		from, _ := cfg.At(key).(*value.Object)
		x := optionReader{r, doc, document.Join("", key), from}
		x.count("maxConcurrency", &o.MaxConcurrency, 1)
		x.count("delay", &o.DelayMS, 0)
		x.count("timeoutMs", &o.TimeoutMS, 0)
		x.count("maxEvalTimeMs", &o.MaxTimeMS, 0)
		x.repeat(&o)
		x.passRate(&o)
		x.off("cache", &o.NoCache)
		x.off("showProgressBar", &o.NoProgress)
		x.off("progressBar", &o.NoProgress)
		x.choice("table", &o.Table)
		x.choice("write", &o.Write)
		take(x, "filterRange", &o.FilterRange)
		take(x, "grader", &o.Grader)
		take(x, "verbose", &o.Verbose)
		take(x, "watch", &o.Watch)
	}
	flags, _ := cfg.At("commandLineOptions").(*value.Object)
	o.EnvFiles = append(append(texts(cfg.At("envPath")), texts(flags.At("envPath"))...), texts(flags.At("envFile"))...)
	if r.options.Grader != "" {
		o.Grader = r.options.Grader
	}
	if f, ok := cfg.At("threshold").(float64); ok && f >= 0 && f <= 1 {
		o.Threshold = &f
	}
	return o
}

// count reads a whole number of at least low.
func (x optionReader) count(key string, to *int, low int) {
	f, ok := x.from.At(key).(float64)
	if !ok {
		return
	}
	if f != math.Trunc(f) || f < float64(low) || f > math.MaxInt32 {
		x.mistake(x.doc, document.Join(x.at, key), proviso.Invalid, nil,
			"%s is a whole number of at least %d, not %s", key, low, value.FormatNumber(f))
		return
	}
	*to = int(f)
}

// repeat reads a number, or {n, pass}.
func (x optionReader) repeat(o *proviso.Options) {
	v := x.from.At("repeat")
	if v == nil {
		return
	}
	rep, message := parseRepetition(v)
	if message != "" {
		x.mistake(x.doc, document.Join(x.at, "repeat"), proviso.Invalid, nil, "%s", message)
		return
	}
	o.Repeat, o.RepeatPass = rep.n, rep.pass
}

// passRate reads the share of rows that must pass.
func (x optionReader) passRate(o *proviso.Options) {
	v := x.from.At("passRate")
	switch v.(type) {
	case float64, string:
	default:
		return // the key table reports values of another kind
	}
	share, err := ParseShare(v)
	if err != nil {
		x.mistake(x.doc, document.Join(x.at, "passRate"), proviso.Invalid, nil, "passRate: %s", err.Error())
		return
	}
	o.PassRate = &share
}

// off reads a switch whose false value sets the option.
func (x optionReader) off(key string, to *bool) {
	if v, ok := x.from.At(key).(bool); ok {
		*to = !v
	}
}

func (x optionReader) choice(key string, to **bool) {
	if v, ok := x.from.At(key).(bool); ok {
		*to = &v
	}
}

// take sets an option to the value of a key, if the value has the option's type.
func take[T any](x optionReader, key string, to *T) {
	if v, ok := x.from.At(key).(T); ok {
		*to = v
	}
}
