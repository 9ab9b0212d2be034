package check

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/value"
)

// newSpanCount is `trace-span-count`: how many spans have a name that matches.
func newSpanCount(c *Compiler, s *Spec) (Check, error) {
	o, _ := s.Value.(*value.Object)
	pattern := o.Text("pattern")
	if value.TrimSpace(pattern) == "" {
		return nil, s.badValue("an object with a pattern")
	}
	least, most := boundOf(o, "min"), boundOf(o, "max")
	return c.decideSpans(s, func(spans []proviso.Span) Finding {
		matching := spansNamed(spans, pattern)
		n := float64(len(matching))
		f := found(true)
		f.Reason = fmt.Sprintf("Found %d spans matching pattern \"%s\"", len(matching), pattern)
		switch {
		case least.set && n < least.value:
			f = Finding{Reason: f.Reason + ", expected at least " + least.text}
		case most.set && n > most.value:
			f = Finding{Reason: f.Reason + ", expected at most " + most.text}
		default:
			f.Reason += within(least, most)
		}
		if len(matching) > 0 {
			f.Reason += ". Matched spans: " + listed(spanNames(matching))
		}
		if f.Pass == s.Not {
			f.Evidence = worst(orAll(matching, spans))
		}
		return f
	}), nil
}

// orAll returns the matching spans or steps, or all if there are none.
func orAll[T any](matching, all []T) []T {
	if len(matching) == 0 {
		return all
	}
	return matching
}

// bound is min or max, with JavaScript's comparison.
type bound struct {
	set   bool
	value float64 // NaN compares with nothing
	text  string
}

func boundOf(o *value.Object, key string) bound {
	v, ok := o.Get(key)
	if !ok || v == nil {
		return bound{}
	}
	return bound{true, value.ToNumber(v), value.ToString(v)}
}

// within describes the expected range, in parentheses; "" if there is none.
func within(least, most bound) string {
	switch {
	case least.set && most.set:
		return " (expected " + least.text + "-" + most.text + ")"
	case least.set:
		return " (expected at least " + least.text + ")"
	case most.set:
		return " (expected at most " + most.text + ")"
	}
	return ""
}

// spanNames returns the names of spans without duplicates.
func spanNames(spans []proviso.Span) []string {
	seen := map[string]bool{}
	var names []string
	for i := range spans {
		if name := spans[i].Name; !seen[name] {
			seen[name] = true
			names = append(names, spanName(name))
		}
	}
	return names
}

// newSpanDuration is `trace-span-duration`: the duration of all spans, or of the one
// at a percentile.
func newSpanDuration(c *Compiler, s *Spec) (Check, error) {
	o, _ := s.Value.(*value.Object)
	most, ok := o.At("max").(float64)
	if !ok {
		return nil, s.badValue("an object with max, a number of milliseconds,")
	}
	pattern, err := s.spanPattern(o)
	if err != nil {
		return nil, err
	}
	d := spanDurations{pattern: pattern, most: most}
	if v := o.At("percentile"); v != nil {
		p, ok := v.(float64)
		if !ok || !(p >= 0 && p <= 100) {
			return nil, proviso.Errorf(proviso.Invalid, "percentile of %q must be a number from 0 to 100, found %s", s.Type, value.Stringify(v))
		}
		d.percentile = &p
	}
	return c.decideSpans(s, func(spans []proviso.Span) Finding {
		f, slow := d.decide(spans)
		if f.Pass == s.Not {
			f.Evidence = worst(slow)
		}
		return f
	}), nil
}

// spanDurations is the value of trace-span-duration.
type spanDurations struct {
	pattern    string
	most       float64
	percentile *float64
}

// spanPattern reads the pattern for span names; the default matches any name.
func (s *Spec) spanPattern(o *value.Object) (string, error) {
	switch v := o.At("pattern").(type) {
	case nil:
		return "*", nil
	case string:
		return cmp.Or(v, "*"), nil
	default:
		return "", proviso.Errorf(proviso.Invalid, "pattern of %q must be a text, found %s", s.Type, value.Stringify(v))
	}
}

// decide returns the finding, and the longest spans.
func (d *spanDurations) decide(spans []proviso.Span) (Finding, []proviso.Span) {
	timed := slices.DeleteFunc(slices.Clone(spansNamed(spans, d.pattern)), func(s proviso.Span) bool {
		_, ok := duration(&s)
		return !ok
	})
	if len(timed) == 0 {
		f := found(true)
		f.Reason = fmt.Sprintf("No spans found matching pattern \"%s\" with complete timing data", d.pattern)
		return f, nil
	}
	slices.SortStableFunc(timed, func(a, b proviso.Span) int {
		x, _ := duration(&a)
		y, _ := duration(&b)
		return int(min(max(y-x, -1), 1)) // the longest first
	})
	if d.percentile != nil {
		return d.atPercentile(timed), timed
	}
	limit := value.FormatNumber(d.most) + "ms"
	slow := slices.IndexFunc(timed, func(s proviso.Span) bool { return took(&s) <= d.most })
	if slow < 0 {
		slow = len(timed)
	}
	if slow > 0 {
		return Finding{Reason: fmt.Sprintf("%d span(s) exceed duration threshold %s. Slowest: %s", slow, limit, slowest(timed[:slow]))}, timed[:slow]
	}
	f := found(true)
	f.Reason = fmt.Sprintf("All %d spans matching pattern \"%s\" completed within %s (max: %sms)", len(timed), d.pattern, limit, value.FormatNumber(took(&timed[0])))
	return f, timed
}

// atPercentile decides by the span at a percentile, by the nearest rank. timed is
// sorted, the longest first.
func (d *spanDurations) atPercentile(timed []proviso.Span) Finding {
	n := len(timed)
	rank := math.Max(0, math.Ceil(*d.percentile/100*float64(n))-1)
	val := took(&timed[n-1-int(rank)])
	text := fmt.Sprintf("%sth percentile duration (%sms) ", value.FormatNumber(*d.percentile), value.FormatNumber(val))
	limit := value.FormatNumber(d.most) + "ms"
	if val > d.most {
		beyond := slices.IndexFunc(timed, func(s proviso.Span) bool { return took(&s) < val })
		if beyond < 0 {
			beyond = n
		}
		return Finding{Reason: text + "exceeds threshold " + limit + ". Slowest spans: " + slowest(timed[:beyond])}
	}
	f := found(true)
	f.Reason = text + "is within threshold " + limit
	return f
}

// took is the duration of a span that has one, in milliseconds.
func took(s *proviso.Span) float64 {
	d, _ := duration(s)
	return inMillis(d)
}

// slowest names the first three of the sorted spans.
func slowest(timed []proviso.Span) string {
	var names []string
	for i := range timed[:min(len(timed), 3)] {
		d, _ := duration(&timed[i])
		names = append(names, spanName(timed[i].Name)+" ("+millis(d)+")")
	}
	return strings.Join(names, ", ")
}

// newErrorSpans is `trace-error-spans`: the number and the share of spans that ended
// in an error.
func newErrorSpans(c *Compiler, s *Spec) (Check, error) {
	e := errorSpans{pattern: "*"}
	switch v := s.Value.(type) {
	case float64:
		e.most = bound{true, v, value.FormatNumber(v)}
	case *value.Object:
		e.most, e.share = boundOf(v, "max_count"), boundOf(v, "max_percentage")
		var err error
		if e.pattern, err = s.spanPattern(v); err != nil {
			return nil, err
		}
	}
	if !e.most.set && !e.share.set {
		e.most = bound{true, 0, "0"}
	}
	return c.decideSpans(s, func(spans []proviso.Span) Finding {
		matching := spansNamed(spans, e.pattern)
		failed := slices.DeleteFunc(slices.Clone(matching), func(s proviso.Span) bool { return !failedSpan(&s) })
		f := e.decide(failed, len(matching))
		if f.Pass == s.Not {
			f.Evidence = worst(orAll(failed, matching))
		}
		return f
	}), nil
}

// errorSpans is the value of trace-error-spans.
type errorSpans struct {
	pattern     string
	most, share bound
}

func (e *errorSpans) decide(failed []proviso.Span, of int) Finding {
	f := found(true)
	if of == 0 {
		f.Reason = fmt.Sprintf("No spans found matching pattern \"%s\"", e.pattern)
		return f
	}
	n := len(failed)
	share := float64(n) / float64(of) * 100
	shown := toFixed(share, 1)
	switch {
	case e.most.set && float64(n) > e.most.value:
		return Finding{Reason: fmt.Sprintf("Found %d error spans, expected at most %s. Errors: %s", n, e.most.text, described(failed))}
	case e.share.set && share > e.share.value:
		return Finding{Reason: fmt.Sprintf("Error rate %s%% exceeds threshold %s%% (%d errors out of %d spans)", shown, e.share.text, n, of)}
	case n == 0:
		f.Reason = fmt.Sprintf("No errors found in %d spans matching pattern \"%s\"", of, e.pattern)
		return f
	}
	f.Reason = fmt.Sprintf("Found %d error(s) in %d spans (%s%%)", n, of, shown)
	if e.most.set {
		f.Reason += ", within threshold of " + e.most.text
	}
	if e.share.set {
		f.Reason += ", within threshold of " + e.share.text + "%"
	}
	return f
}

// described names the first three of the failed spans.
func described(failed []proviso.Span) string {
	var list []string
	for i := range failed[:min(len(failed), 3)] {
		s := &failed[i]
		text := spanName(s.Name)
		if s.StatusMessage != "" {
			text += " (" + excerpt.Runes(s.StatusMessage, maxErrorText) + ")"
		} else if s.StatusCode != 0 {
			text += fmt.Sprintf(" (status: %d)", s.StatusCode)
		}
		list = append(list, text)
	}
	text := strings.Join(list, ", ")
	if more := len(failed) - 3; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// errorWords are words that indicate an error in a status message.
var errorWords = [...]string{"error", "failed", "failure", "exception", "timeout", "abort"}

// failedSpan reports whether a span ended in an error: by its status, which may be an
// HTTP status, by its attributes, or by the words of its status message.
func failedSpan(s *proviso.Span) bool {
	if s.StatusCode == 2 || s.StatusCode >= 400 {
		return true
	}
	for _, key := range [...]string{"error", "exception", "failed", "failure"} {
		switch v := s.Attributes.At(key).(type) {
		case bool:
			if v {
				return true
			}
		case string:
			if v == "true" {
				return true
			}
		case *value.Object, []any:
			return true
		}
	}
	for _, key := range [...]string{"http.status_code", "http.response.status_code"} { // the older name and the newer one
		if code := s.Attributes.At(key); code != nil && value.ToNumber(code) >= 400 {
			return true
		}
	}
	if s.Attributes.At("otel.status_code") == "ERROR" || s.Attributes.At("status.code") == "ERROR" {
		return true
	}
	if s.StatusMessage == "" {
		return false
	}
	message := strings.ToLower(s.StatusMessage)
	return slices.ContainsFunc(errorWords[:], func(word string) bool { return strings.Contains(message, word) })
}
