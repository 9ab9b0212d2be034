package check

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/internal/glob"
	"github.com/proviso-eval/proviso/value"
)

// spansKey is the key of a row's spans.
type spansKey struct{}

// spansOfRow is the result of getting the trace of a row.
type spansOfRow struct {
	list []proviso.Span
	err  error
}

// spans returns the spans of the row's trace. It waits for them once per row.
func (c *Compiler) spans(ctx context.Context, s *Subject, base string) ([]proviso.Span, error) {
	got := memo(s, spansKey{}, func() spansOfRow {
		id := s.Row.Output.TraceID
		if c.Spans == nil || id == "" {
			return spansOfRow{err: noTrace(base)}
		}
		list, err := c.Spans.Spans(ctx, id)
		s.Row.Output.Spans = list // so that a report shows what was decided on
		return spansOfRow{list, err}
	})
	return got.list, got.err
}

// noTrace is the error for a row without a trace.
func noTrace(base string) error {
	return proviso.Errorf(proviso.Undecided, "No trace data available for %s assertion: the output belongs to no trace that was followed; see tracing in a suite, and trace_id in a request", base)
}

// decideSpans makes a check of the spans of a trace.
func (c *Compiler) decideSpans(s *Spec, decide func(spans []proviso.Span) Finding) Check {
	return Func(func(ctx context.Context, sub *Subject) (Finding, error) {
		spans, err := c.spans(ctx, sub, s.Base)
		if err != nil {
			return Finding{}, err
		}
		f := decide(spans)
		f.Always = true
		return f, nil
	})
}

// spansNamed returns the spans whose names match a pattern.
func spansNamed(spans []proviso.Span, pattern string) []proviso.Span {
	if pattern == "*" {
		return spans
	}
	pattern = lower(pattern)
	var list []proviso.Span
	for i := range spans {
		if glob.Match(pattern, lower(spans[i].Name)) {
			list = append(list, spans[i])
		}
	}
	return list
}

// Limits of the description of spans.
const (
	worstSpans   = 5
	maxListed    = 20  // names in a reason
	maxSpanName  = 120 // characters of one
	maxErrorText = 300
)

// worst returns spans as evidence: up to five, those with an error first, then the
// longest.
func worst(spans []proviso.Span) []proviso.Evidence {
	type badness struct {
		span   *proviso.Span
		failed bool
		took   time.Duration
	}
	var top []badness
	for i := range spans {
		took, _ := duration(&spans[i])
		b := badness{&spans[i], failedSpan(&spans[i]), took}
		at, _ := slices.BinarySearchFunc(top, b, func(x, b badness) int {
			if x.failed != b.failed {
				if x.failed {
					return -1
				}
				return 1
			}
			return cmp.Or(cmp.Compare(b.took, x.took), -1) // equal ones keep their order
		})
		if at < worstSpans {
			top = slices.Insert(top[:min(len(top), worstSpans-1)], at, b)
		}
	}
	list := make([]proviso.Evidence, len(top))
	for i, b := range top {
		list[i] = proviso.Evidence{Quote: spanName(b.span.Name), Start: -1, Note: spanNote(b.span, b.failed)}
	}
	return list
}

// spanName shortens the name of a span.
func spanName(name string) string { return excerpt.Runes(name, maxSpanName) }

// spanNote returns a note on a span: its error, or its duration.
func spanNote(s *proviso.Span, failed bool) string {
	note := "did not end"
	if took, ok := duration(s); ok {
		note = millis(took)
	}
	if failed {
		text := s.StatusMessage
		if text == "" {
			text = "status " + value.FormatNumber(float64(s.StatusCode))
		}
		note = "error: " + excerpt.Runes(text, maxErrorText) + " (" + note + ")"
	}
	return note
}

// duration returns the duration of a span; ok is false if it lacks a time. It is
// negative if the clocks of a trace disagree.
func duration(s *proviso.Span) (d time.Duration, ok bool) {
	if s.Start.IsZero() || s.End.IsZero() {
		return 0, false
	}
	return s.End.Sub(s.Start), true
}

// millis formats a duration for reasons.
func millis(d time.Duration) string { return value.FormatNumber(inMillis(d)) + "ms" }

func inMillis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// listed joins names for a reason, up to a limit.
func listed(names []string) string {
	if len(names) <= maxListed {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:maxListed], ", ") + " and " + value.FormatNumber(float64(len(names)-maxListed)) + " more"
}
