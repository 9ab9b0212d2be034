package monitor

import (
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/ingest"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/duration"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/internal/kind"
	"github.com/proviso-eval/proviso/value"
)

// Defaults of a watch, and its limits.
const (
	usualRate       = 0.1
	leastRate       = 1e-6
	usualPerDays    = 30
	usualTraffic    = 24 * time.Hour
	usualVerdicts   = 6 * time.Hour
	maxWhere        = 10_000
	maxObjectives   = 1000
	maxTargets      = 20
	maxFloor        = 1_000_000
	maxBudget       = 1e6
	maxPerDays      = 3650
	shortestSilence = time.Minute
	longestSilence  = 366 * 24 * time.Hour
)

// maxName is the maximum length of a watch name in bytes. A server stores the assertions
// that come with a watch as a set named watch-NAME, and set names have at most 100 bytes.
const maxName = 94

// CheckName returns an error if s is not a valid watch name. The error is a
// *proviso.Error.
func CheckName(s string) error {
	if validName(s) {
		return nil
	}
	return proviso.Errorf(proviso.Invalid, "the name of a watch has 1 to %d letters, digits, dots, hyphens and underscores, and begins with a letter or digit; not %s", maxName, shown(s))
}

// ReadWatches reads watches by name, in the form of PUT /v1/watches and of the file for
// `proviso monitor apply`. It returns all mistakes at once, with pointers into o.
func ReadWatches(o *value.Object) ([]Watch, []*proviso.Error) {
	r := &reader{}
	var list []Watch
	if o.Len() == 0 {
		r.wrong("", "there is no watch; a watch is NAME: {match: {agent: …}, assertions: …}")
	}
	for name, v := range o.All() {
		at := document.Join("", name)
		if err := CheckName(name); err != nil {
			r.wrong(at, "%w", err)
		}
		if members, ok := r.object(at, v, "a watch"); ok {
			list = append(list, r.watch(name, at, members))
		}
	}
	return list, r.mistakes
}

func validName(s string) bool {
	if s == "" || len(s) > maxName {
		return false
	}
	for i := range len(s) {
		c := s[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && (i == 0 || !strings.ContainsRune("._-", rune(c))) {
			return false
		}
	}
	return true
}

// reader collects mistakes.
type reader struct{ mistakes []*proviso.Error }

func (r *reader) wrong(at, format string, args ...any) *proviso.Error {
	e := proviso.Errorf(proviso.Invalid, format, args...)
	e.Pointer = at
	r.mistakes = append(r.mistakes, e)
	return e
}

func shown(v any) string { return excerpt.Bytes(value.Stringify(v), 60) }

// object reads an object.
func (r *reader) object(at string, v any, what string) (*value.Object, bool) {
	o, ok := v.(*value.Object)
	if !ok {
		r.wrong(at, "%s has to be an object, not %s", what, kind.Of(v))
	}
	return o, ok
}

// field reads one member of an object.
type field struct {
	key  string
	read func(at string, v any)
}

// members reads the members of an object, and reports unknown ones.
func (r *reader) members(at string, o *value.Object, what string, fields ...field) {
	valid := make([]string, len(fields))
	for i, f := range fields {
		valid[i] = f.key
	}
	for key, v := range o.All() {
		i := slices.Index(valid, key)
		if i < 0 {
			r.wrong(document.Join(at, key), "unknown field %s of %s%s", shown(key), what, document.DidYouMean(key, valid)).Valid = valid
			continue
		}
		if v != nil {
			fields[i].read(document.Join(at, key), v)
		}
	}
}

func (r *reader) text(to *string, most int) func(string, any) {
	return func(at string, v any) {
		s, ok := v.(string)
		switch {
		case !ok:
			r.wrong(at, "%s has to be text, not %s", last(at), kind.Of(v))
		case strings.TrimSpace(s) == "" || len(s) > most:
			r.wrong(at, "%s has to be a text of 1 to %d bytes", last(at), most)
		default:
			*to = s
		}
	}
}

// name reads a name in the form that events use.
func (r *reader) name(to *string) func(string, any) {
	return func(at string, v any) {
		if s, ok := v.(string); ok && strings.TrimSpace(s) != "" && !ingest.IsName(s) {
			r.wrong(at, "%s has to be a text on one line, without control characters, not %q", last(at), excerpt.Bytes(s, 60))
			return
		}
		r.text(to, ingest.MaxName)(at, v)
	}
}

func (r *reader) number(to *float64, low, high float64, is string) func(string, any) {
	return func(at string, v any) {
		f, ok := v.(float64)
		if !ok || !(f >= low && f <= high) {
			r.wrong(at, "%s has to be %s, not %s", last(at), is, shown(v))
			return
		}
		*to = f
	}
}

// budget reads US dollars per day. 0 is refused: some readers would take it as no limit,
// others as spending nothing.
func (r *reader) budget(to *float64) func(string, any) {
	return func(at string, v any) {
		if v == 0.0 {
			r.wrong(at, "%s cannot be 0: leave it out for no limit; a watch that spends nothing has a set of checks alone, which ask no model", last(at))
			return
		}
		r.number(to, 0, maxBudget, "US dollars over 0")(at, v)
	}
}

func (r *reader) duration(to *time.Duration, shortest time.Duration) func(string, any) {
	return func(at string, v any) {
		s, _ := v.(string)
		d, err := duration.Parse(s)
		if s == "never" || s == "off" {
			d, err = 0, nil
		} else if err == nil && (d < shortest || d > longestSilence) {
			err = errors.New("out of range")
		}
		if err != nil {
			r.wrong(at, "%s has to be a time from %v to 366d such as 90m, 6h or 2d, or never; not %s", last(at), shortest, shown(v))
			return
		}
		*to = d
	}
}

func (r *reader) nested(what string, fields ...field) func(string, any) {
	return func(at string, v any) {
		if o, ok := r.object(at, v, what); ok {
			r.members(at, o, what, fields...)
		}
	}
}

// last returns the last member of a pointer.
func last(at string) string {
	parts := document.Split(at)
	return excerpt.Bytes(parts[len(parts)-1], 60)
}

// watch reads one watch.
func (r *reader) watch(name, at string, o *value.Object) Watch {
	w := Watch{
		Name: name, Sample: Sample{Rate: usualRate}, FalseAlarms: FalseAlarms{usualPerDays}, Silence: Silence{usualTraffic, usualVerdicts},
	}
	floor := 0.0
	r.members(at, o, "a watch",
		field{"match", r.nested("match",
			field{"agent", r.name(&w.Match.Agent)},
			field{"where", r.text(&w.Match.Where, maxWhere)})},
		field{"assertions", r.text(&w.Assertions, 4096)},
		field{"sample", r.nested("sample",
			field{"rate", r.number(&w.Sample.Rate, leastRate, 1, "a number from 0.000001 to 1")},
			field{"floor", r.number(&floor, 0, maxFloor, "a whole number of evaluations a day")},
			field{"segment", r.name(&w.Sample.Segment)},
			field{"budget_usd_per_day", r.budget(&w.Sample.BudgetPerDay)})},
		field{"objectives", func(at string, v any) { w.Objectives = r.objectives(at, v) }},
		field{"false_alarms", r.nested("false_alarms",
			field{"per_days", r.number(&w.FalseAlarms.PerDays, 1, maxPerDays, "a number of days from 1 to 3650")})},
		field{"anchors", r.nested("anchors",
			field{"file", r.text(&w.Anchors.File, 4096)},
			field{"every", r.duration(&w.Anchors.Every, time.Hour)})},
		field{"silence", r.nested("silence",
			field{"traffic", r.duration(&w.Silence.Traffic, shortestSilence)},
			field{"verdicts", r.duration(&w.Silence.Verdicts, shortestSilence)})},
		field{"notify", func(at string, v any) { w.Notify = r.targets(at, v) }},
	)
	if w.Sample.Floor = int(floor); floor != math.Trunc(floor) {
		r.wrong(document.Join(document.Join(at, "sample"), "floor"), "floor has to be a whole number of evaluations a day, not %v", floor)
	}
	r.complete(at, o, &w)
	return w
}

// complete reports missing and contradictory settings.
func (r *reader) complete(at string, o *value.Object, w *Watch) {
	match, _ := o.At("match").(*value.Object)
	switch {
	case o.At("match") == nil:
		r.wrong(at, "match is missing: match: {agent: NAME} says whose traffic is watched")
	case match != nil && match.At("agent") == nil:
		r.wrong(document.Join(at, "match"), "agent is missing: the name that events have under agent")
	}
	if o.At("assertions") == nil {
		r.wrong(at, "assertions is missing: set:NAME, or file://PATH beside this file")
	}
	if a := w.Assertions; a != "" && !okReference(a) {
		r.wrong(document.Join(at, "assertions"), "assertions has to be set:NAME, set:NAME@VERSION or file://PATH, not %s", shown(a))
	}
	if w.Anchors.Every > 0 && w.Anchors.File == "" {
		r.wrong(document.Join(at, "anchors"), "anchors has no file of outputs to judge again")
	}
	if w.Match.Where != "" {
		if _, err := w.Compile(); err != nil {
			var e *proviso.Error
			if errors.As(err, &e) {
				e.Pointer = document.Join(document.Join(at, "match"), "where")
				r.mistakes = append(r.mistakes, e)
			}
		}
	}
}

func okReference(s string) bool {
	set, isSet := strings.CutPrefix(s, "set:")
	file, isFile := strings.CutPrefix(s, "file://")
	name, version, pinned := strings.Cut(set, "@")
	if isSet {
		return strings.TrimSpace(name) != "" && pinned == (strings.TrimSpace(version) != "") && !strings.Contains(version, "@")
	}
	return isFile && strings.TrimSpace(file) != ""
}

// objectives reads the failure rates that assertions may have until there is a baseline.
func (r *reader) objectives(at string, v any) map[string]Objective {
	o, ok := r.object(at, v, "objectives")
	if !ok {
		return nil
	}
	if o.Len() > maxObjectives {
		r.wrong(at, "there are %d objectives, and at most %d are allowed", o.Len(), maxObjectives)
		return nil
	}
	list := make(map[string]Objective, o.Len())
	for assertion, v := range o.All() {
		at := document.Join(at, assertion)
		one := Objective{MaxFail: -1}
		if members, ok := r.object(at, v, "an objective"); ok {
			r.members(at, members, "an objective", field{"max_fail", r.number(&one.MaxFail, 0, 0.99, "the share of failures in control, from 0 to 0.99")})
			if members.At("max_fail") == nil {
				r.wrong(at, "max_fail is missing: the share of failures that is acceptable, such as 0.05")
			}
		}
		if one.MaxFail >= 0 {
			list[assertion] = one
		}
	}
	return list
}

func (r *reader) targets(at string, v any) []string {
	list, ok := v.([]any)
	if !ok || len(list) > maxTargets {
		r.wrong(at, "notify has to be a list of at most %d names such as slack:oncall", maxTargets)
		return nil
	}
	var names []string
	for i, v := range list {
		name := ""
		if r.text(&name, ingest.MaxName)(document.Join(at, i), v); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
