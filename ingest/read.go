package ingest

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/internal/kind"
	"github.com/proviso-eval/proviso/value"
)

// Limits of one event, in bytes unless stated otherwise.
const (
	MaxName     = 200       // ids and names
	MaxText     = 2 << 20   // input, output, context, prompt and metadata, each
	MaxSegments = 16        // members of segment
	MaxError    = 10_000    // the error
	maxComment  = 4_000     // the comment of a thumb
	MaxFuture   = time.Hour // how far an agent's clock may be ahead; later times are rejected
	MaxCost     = 1e6       // US dollars per event
)

// reader reads the members of an object.
type reader struct {
	o        *value.Object
	now      time.Time
	mistakes []*proviso.Error
}

func (r *reader) wrong(code, key, format string, args ...any) {
	e := proviso.Errorf(code, format, args...)
	if key != "" {
		e.Pointer = document.Join("", key)
	}
	r.mistakes = append(r.mistakes, e)
}

// known reports unknown members.
func (r *reader) known(valid []string) {
	for key := range r.o.All() {
		if slices.Contains(valid, key) {
			continue
		}
		r.wrong(proviso.Invalid, key, "unknown field %s%s", quoted(key), document.DidYouMean(key, valid))
		r.mistakes[len(r.mistakes)-1].Valid = valid
	}
}

// text reads a text. A text that is too long or not UTF-8 is a mistake.
func (r *reader) text(key string, most int) string {
	v, ok := r.o.Get(key)
	if !ok || v == nil {
		return ""
	}
	s, ok := v.(string)
	if !ok {
		r.wrong(proviso.Invalid, key, "%s has to be text, not %s", key, kind.Of(v))
		return ""
	}
	return r.bounded(key, s, most)
}

func (r *reader) bounded(key, s string, most int) string {
	switch {
	case len(s) > most:
		r.wrong(proviso.Limit, key, "%s has %d bytes, and at most %d are allowed", key, len(s), most)
		return ""
	case !utf8.ValidString(s):
		r.wrong(proviso.Invalid, key, "%s is not UTF-8", key)
		return ""
	}
	return s
}

// name reads an id or a name: a text on one line. Dots and a single slash are rejected, because
// they cannot be the end of a URL.
func (r *reader) name(key string) string {
	s := r.text(key, MaxName)
	switch {
	case s == "":
	case !IsName(s):
		r.wrong(proviso.Invalid, key, "%s has to be a text on one line, without control characters, not %s", key, quoted(s))
		return ""
	case s == "." || s == ".." || s == "/":
		r.wrong(proviso.Invalid, key, "%s cannot be %s, which means another place in an address", key, quoted(s))
		return ""
	}
	return s
}

// IsName reports whether a text can be shown in a list: it is not blank, and has no characters that
// control a terminal or the direction of text.
func IsName(s string) bool {
	return strings.TrimSpace(s) != "" && !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) })
}

// structure reads a text, or any other value as JSON.
func (r *reader) structure(key string) string {
	switch v := r.o.At(key).(type) {
	case nil:
		return ""
	case string:
		return r.bounded(key, v, MaxText)
	default:
		return r.bounded(key, value.Stringify(v), MaxText)
	}
}

// number reads a number from 0 to most. A missing number is 0.
func (r *reader) number(key string, most float64) float64 {
	v := r.o.At(key)
	if v == nil {
		return 0
	}
	if f, ok := v.(float64); ok && f >= 0 && f <= most {
		return f
	}
	r.wrong(proviso.Invalid, key, "%s has to be a number from 0 to %g, not %s", key, most, excerpt.Bytes(value.Stringify(v), 40))
	return 0
}

// time reads a time. A missing time is now.
func (r *reader) time(key string) time.Time {
	v := r.o.At(key)
	if v == nil {
		return r.now.UTC()
	}
	text, ok := v.(string)
	found := kind.Of(v)
	if ok {
		found = quoted(text)
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		r.wrong(proviso.Invalid, key, "%s has to be a time such as 2026-01-31T09:00:00Z, not %s", key, found)
		return r.now
	}
	switch {
	case t.Year() < 2000:
		r.wrong(proviso.Invalid, key, "%s is before the year 2000", key)
	case !r.now.IsZero() && t.Sub(r.now) > MaxFuture:
		r.wrong(proviso.Invalid, key, "%s is %s ahead of the clock of the server; at most %s are allowed", key, t.Sub(r.now).Round(time.Second), MaxFuture)
	}
	return t.UTC()
}

// required reports the first member that is missing or empty.
func (r *reader) required(keys ...string) {
	for _, key := range keys {
		switch v := r.o.At(key); v {
		case nil:
			r.wrong(proviso.Invalid, "", "%s is missing", key)
		case "":
			r.wrong(proviso.Invalid, key, "%s is empty", key)
		}
	}
}

func quoted(text string) string { return strconv.Quote(excerpt.Bytes(text, 60)) }

// eventFields are the members of an event.
var eventFields = []string{"id", "agent", "time", "conversation", "trace_id", "input", "output", "context", "version", "prompt", "model",
	"segment", "user", "metadata", "usage", "cost", "latency_ms", "error"}

// ReadEvent reads an event as a member of the body of POST /v1/events. now is the time of an event
// that has none, and the clock for rejecting times in the future. If now is zero, a time is
// required and is not compared. The mistakes have pointers into the event.
func ReadEvent(o *value.Object, now time.Time) (Event, []*proviso.Error) {
	r := reader{o: o, now: now}
	r.known(eventFields)
	r.required("id", "agent")
	if now.IsZero() {
		r.required("time")
	}
	e := Event{
		ID: r.name("id"), Agent: r.name("agent"), Time: r.time("time"), Conversation: r.name("conversation"),
		TraceID: r.name("trace_id"), Input: r.structure("input"), Output: r.structure("output"), Context: r.structure("context"),
		Version: r.name("version"), Prompt: r.text("prompt", MaxText), Model: r.name("model"), User: r.name("user"),
		Segment: r.segment(), Metadata: r.metadata(), Usage: r.usage(), Cost: r.number("cost", MaxCost),
		Latency: time.Duration(r.number("latency_ms", float64(math.MaxInt64/int64(time.Millisecond))) * float64(time.Millisecond)), Error: r.text("error", MaxError),
	}
	if o.At("output") == nil && e.Error == "" { // null means no answer, unlike an empty text
		r.wrong(proviso.Invalid, "", "output and error are missing; an event needs one of them")
	}
	return e, r.mistakes
}

// segment reads the groups of traffic. Numbers and booleans become text.
func (r *reader) segment() map[string]string {
	v := r.o.At("segment")
	if v == nil {
		return nil
	}
	o, ok := v.(*value.Object)
	switch {
	case !ok:
		r.wrong(proviso.Invalid, "segment", "segment has to be an object such as {\"lang\": \"de\"}, not %s", kind.Of(v))
		return nil
	case o.Len() > MaxSegments:
		r.wrong(proviso.Limit, "segment", "segment has %d members, and at most %d are allowed", o.Len(), MaxSegments)
		return nil
	}
	m := make(map[string]string, o.Len())
	for key, v := range o.All() {
		switch v.(type) {
		case string, float64, bool:
			text := value.ToString(v)
			if len(text) > MaxName || len(key) > MaxName {
				r.wrong(proviso.Limit, "segment", "a member of segment has more than %d bytes", MaxName)
				return nil
			}
			if !utf8.ValidString(text) || !utf8.ValidString(key) || text != "" && !IsName(text) || !IsName(key) {
				r.wrong(proviso.Invalid, "segment", "the names and values of segment have to be texts on one line, not %s: %s", quoted(key), quoted(text))
				return nil
			}
			m[key] = text
			continue
		default:
			r.wrong(proviso.Invalid, "segment", "segment.%s has to be text, not %s", excerpt.Bytes(key, 40), kind.Of(v))
		}
		return nil
	}
	return m
}

// metadata reads additional data of the agent.
func (r *reader) metadata() *value.Object {
	v := r.o.At("metadata")
	if v == nil {
		return nil
	}
	o, ok := v.(*value.Object)
	switch {
	case !ok:
		r.wrong(proviso.Invalid, "metadata", "metadata has to be an object, not %s", kind.Of(v))
		return nil
	case len(value.AppendJSON(nil, o)) > MaxText:
		r.wrong(proviso.Limit, "metadata", "metadata has more than %d bytes", MaxText)
		return nil
	}
	return o
}

// usageFields are the members of usage, with the names that vendors use for them.
var usageFields = map[string]func(*proviso.Usage) *int64{
	"prompt":            func(u *proviso.Usage) *int64 { return &u.Prompt },
	"prompt_tokens":     func(u *proviso.Usage) *int64 { return &u.Prompt },
	"input_tokens":      func(u *proviso.Usage) *int64 { return &u.Prompt },
	"completion":        func(u *proviso.Usage) *int64 { return &u.Completion },
	"completion_tokens": func(u *proviso.Usage) *int64 { return &u.Completion },
	"output_tokens":     func(u *proviso.Usage) *int64 { return &u.Completion },
	"cached":            func(u *proviso.Usage) *int64 { return &u.Cached },
	"total":             func(u *proviso.Usage) *int64 { return &u.Total },
	"total_tokens":      func(u *proviso.Usage) *int64 { return &u.Total },
	"requests":          func(u *proviso.Usage) *int64 { return &u.Requests },
}

// usage reads token counts. Unknown members are ignored, because vendors add some.
func (r *reader) usage() proviso.Usage {
	var u proviso.Usage
	v := r.o.At("usage")
	if v == nil {
		return u
	}
	o, ok := v.(*value.Object)
	if !ok {
		r.wrong(proviso.Invalid, "usage", "usage has to be an object, not %s", kind.Of(v))
		return u
	}
	for key, v := range o.All() {
		to, ok := usageFields[key]
		if !ok || v == nil {
			continue
		}
		f, ok := v.(float64)
		if !ok || !(f >= 0 && f <= 1e15) || f != math.Trunc(f) {
			r.wrong(proviso.Invalid, "usage", "usage.%s has to be a whole number from 0, not %s", key, excerpt.Bytes(value.Stringify(v), 40))
			continue
		}
		*to(&u) = int64(f)
	}
	if u.Total == 0 {
		u.Total = u.Prompt + u.Completion
	}
	return u
}

// feedbackFields are the members of feedback.
var feedbackFields = []string{"event", "trace_id", "user", "value", "comment", "time"}

// ReadFeedback reads feedback from the body of POST /v1/feedback.
func ReadFeedback(o *value.Object, now time.Time) (Feedback, []*proviso.Error) {
	r := reader{o: o, now: now}
	r.known(feedbackFields)
	f := Feedback{Event: r.name("event"), TraceID: r.name("trace_id"), User: r.name("user"), Comment: r.text("comment", maxComment), Time: r.time("time")}
	if (f.Event == "") == (f.TraceID == "") {
		r.wrong(proviso.Invalid, "", "a thumb needs either an event or a trace_id")
	}
	switch v := o.At("value"); v {
	case 1.0, -1.0:
		f.Value = int(v.(float64))
	case nil:
		r.wrong(proviso.Invalid, "", "value is missing: 1 or -1")
	default:
		r.wrong(proviso.Invalid, "value", "value has to be 1 or -1, not %s", excerpt.Bytes(value.Stringify(v), 40))
	}
	return f, r.mistakes
}
