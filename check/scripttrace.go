package check

import (
	"context"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/jstoken"
	"github.com/proviso-eval/proviso/value"
)

// traceMention finds the ways in which JavaScript, Python and Ruby read trace from
// their context: as a member, by its name, and by destructuring. It is compiled when
// the first script contains the word.
type traceMention struct {
	once    sync.Once
	pattern *regexp.Regexp
}

const traceMentions = `\.\s*trace\b` +
	`|\[\s*(?:["'` + "`" + `]trace["'` + "`" + `]|:trace)\s*\]` +
	`|\b(?:get|dig|fetch|key\?|pop|hasattr|getattr|hasOwn)\s*\([^()]*["':]trace\b` +
	`|["']trace["']\s+(?:not\s+)?in\b` +
	`|\{[^{}]*\btrace\b[^{}]*\}\s*(?:=[^=>]|[,)])`

// mentionsTrace reports whether a script uses the trace in its context. Spans are
// received and waited for only then. In JavaScript, comments do not count.
func (c *Compiler) mentionsTrace(language, code string) bool {
	if !strings.Contains(code, "trace") {
		return false
	}
	if language == "javascript" {
		code = jstoken.WithoutComments(code)
	}
	c.mention.once.Do(func() { c.mention.pattern = regexp.MustCompile(traceMentions) })
	return c.mention.pattern.MatchString(code)
}

// traceKey is the key of a row's trace in the form for scripts.
type traceKey struct{}

// addTrace adds the trace of the row to the context of a script, as in promptfoo.
// Without tracing there is none. The error is the reason why the spans are unknown; a
// script must not decide without them.
func (c *Compiler) addTrace(ctx context.Context, to *value.Object, s *Subject, base string) error {
	if c.Spans == nil {
		return nil
	}
	spans, err := c.spans(ctx, s, base)
	if err != nil {
		return err
	}
	to.Set("trace", memo(s, traceKey{}, func() *value.Object { return traceOf(s.Row.Output.TraceID, spans) }))
	return nil
}

// traceOf returns a trace in promptfoo's form for scripts. Times are milliseconds
// since 1970.
func traceOf(id string, spans []proviso.Span) *value.Object {
	if parts := strings.Split(id, "-"); len(parts) >= 4 {
		id = parts[1] // of a traceparent
	}
	list := make([]any, len(spans))
	for i := range spans {
		span := &spans[i]
		o := value.ObjectOf("spanId", span.ID)
		if span.ParentID != "" {
			o.Set("parentSpanId", span.ParentID)
		}
		o.Set("name", span.Name)
		setTime(o, "startTime", span.Start)
		setTime(o, "endTime", span.End)
		o.Set("attributes", span.Attributes.OrEmpty())
		o.Set("statusCode", float64(span.StatusCode))
		if span.StatusMessage != "" {
			o.Set("statusMessage", span.StatusMessage)
		}
		list[i] = o
	}
	return value.ObjectOf("traceId", strings.ToLower(id), "spans", list)
}

// setTime sets an instant, if the span has it.
func setTime(o *value.Object, key string, at time.Time) {
	if !at.IsZero() {
		o.Set(key, float64(at.UnixNano())/float64(time.Millisecond))
	}
}

// Needs returns the needs of the assertions of a set, including nested ones and the
// traces that their scripts use.
func (s *Set) Needs() Needs {
	var all Needs
	if s != nil {
		for _, m := range s.members {
			all |= m.needs()
		}
	}
	return all
}

// needs returns the needs of an assertion.
func (m *compiled) needs() Needs {
	if m.kind == nil {
		return 0
	}
	all := m.kind.Needs
	if text, ok := m.Value.(string); m.value.traced || ok && all&NeedsCode != 0 && m.check == nil && m.c.mentionsTrace(m.base, text) {
		all |= NeedsTrace
	}
	if k, ok := m.check.(interface{ needs() Needs }); ok {
		all |= k.needs()
	}
	for _, inner := range m.members {
		all |= inner.needs()
	}
	return all
}

// needs returns the needs of the deterministic parts.
func (j *judged) needs() Needs {
	var all Needs
	for _, cl := range j.clauses {
		if cl.counted != nil {
			all |= cl.counted.needs()
		}
	}
	return all
}
