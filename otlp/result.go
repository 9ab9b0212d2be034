package otlp

import (
	"cmp"
	"encoding/hex"
	"math"
	"sync"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/excerpt"
)

// LogsPath is the path for log records, including events.
const LogsPath = "/v1/logs"

// evaluationEvent is the event for the result of an evaluation (OpenTelemetry
// semantic conventions for generative AI, "Event: gen_ai.evaluation.result").
const evaluationEvent = "gen_ai.evaluation.result"

const (
	eventsAtOnce   = 256     // events per request
	maxExplanation = 4 << 10 // bytes of a reason
)

// SeverityNumbers.
const severityInfo, severityWarn = 9, 13

// Results sends verdicts as events, many per request. It is safe for concurrent use.
type Results struct {
	exporter *Exporter
	about    Origin

	mu      sync.Mutex
	records []byte // encoded, as fields of a ScopeLogs
	n       int
}

// Origin identifies the run whose results are sent.
type Origin struct {
	Version string // version of proviso
	Agent   string // id of the agent; "" if the suite has none
	Suite   string // name of the suite
}

// NewResults returns a sender of a run's verdicts to e.
func NewResults(e *Exporter, o Origin) *Results { return &Results{exporter: e, about: o} }

// Add sends the verdicts of a row: one event for each assertion that was
// decided or was an error. Skipped assertions are not sent.
func (r *Results) Add(res *proviso.Result) {
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, list := range [][]proviso.Verdict{res.Verdicts, res.SetVerdict} {
		for i := range list {
			if v := &list[i]; v.Status != proviso.Skip && v.Assertion != nil {
				r.verdict(res, v, now)
			}
		}
	}
}

// Flush sends the remaining events.
func (r *Results) Flush() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.flush()
}

// flush sends an ExportLogsServiceRequest; r.mu is held.
func (r *Results) flush() {
	if r.n == 0 {
		return
	}
	var resource attributeList
	resource.text("service.name", "proviso")
	resource.text("service.version", r.about.Version)
	scope := appendText(appendText(nil, 1, "github.com/proviso-eval/proviso"), 2, r.about.Version)
	scopeLogs := append(appendBytes(nil, 1, scope), r.records...)
	resourceLogs := appendBytes(appendBytes(nil, 1, resource.as(1)), 2, scopeLogs)
	r.exporter.Send(protoType, appendBytes(nil, 1, resourceLogs), r.n)
	r.records, r.n = nil, 0
}

// verdict adds the verdict of one assertion; r.mu is held.
func (r *Results) verdict(res *proviso.Result, v *proviso.Verdict, at time.Time) {
	m := Monitored{
		Assertion: nameOf(v.Assertion), Status: v.Status, Score: &v.Score, Reason: v.Reason, Agent: r.about.Agent,
		TraceID: res.Output.TraceID, ResponseID: responseID(&res.Output), At: at,
	}
	if v.Unscored {
		m.Score = nil
	}
	more := []attribute{{"proviso.assertion.type", v.Assertion.Type}, {"proviso.suite", r.about.Suite}}
	if res.Case != nil {
		more = append(more, attribute{"proviso.case.id", res.Case.ID})
	}
	if res.Provider != nil {
		more = append(more, attribute{"proviso.provider", proviso.RedactedURL(res.Provider.Name())})
	}
	r.add(&m, more...)
}

// nameOf returns the name of an assertion in reports.
func nameOf(a *proviso.Assertion) string { return cmp.Or(a.Metric, a.ID, a.Type) }

// responseID returns the vendor's id of the answer; "" if unknown.
func responseID(o *proviso.Output) string {
	keys := []string{"responseId", "response_id", "id"}
	return cmp.Or(first(o.Metadata, keys...), first(o.Raw, keys...))
}

func appendFixed64(b []byte, number protowire.Number, v uint64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(b, number, protowire.Fixed64Type), v)
}

// attribute is an attribute with a text.
type attribute struct{ key, text string }

// attributeList is a list of encoded KeyValues.
type attributeList [][]byte

// text adds an attribute unless its value is empty.
func (a *attributeList) text(key, value string) {
	if value != "" {
		a.add(key, appendText(nil, 1, value))
	}
}

// number adds an attribute if its value is finite.
func (a *attributeList) number(key string, value float64) {
	if !math.IsNaN(value) && !math.IsInf(value, 0) {
		a.add(key, appendFixed64(nil, 4, math.Float64bits(value)))
	}
}

func (a *attributeList) add(key string, value []byte) {
	*a = append(*a, appendBytes(appendText(nil, 1, key), 2, value))
}

// as encodes the attributes as fields with this number.
func (a attributeList) as(number protowire.Number) []byte {
	var b []byte
	for _, pair := range a {
		b = appendBytes(b, number, pair)
	}
	return b
}

// Monitored is a verdict on a production event.
type Monitored struct {
	Assertion    string // id of the assertion
	Status       proviso.Status
	Score        *float64 // nil if there is none
	Reason       string
	Agent        string
	AgentVersion string
	Watch        string
	Judge        string // identity of the judge; "" if none was asked
	Event        string // id of the event
	Conversation string
	TraceID      string // see [proviso.Output]
	ResponseID   string // the vendor's id of the answer; "" if unknown
	At           time.Time
}

// AddMonitored sends a verdict of a watch. Skipped assertions are not sent.
func (r *Results) AddMonitored(m *Monitored) {
	if m.Status == proviso.Skip {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add(m)
}

// add adds a LogRecord for the verdict, with further attributes; r.mu is held.
func (r *Results) add(m *Monitored, more ...attribute) {
	r.records = appendBytes(r.records, 2, m.record(more))
	if r.n++; r.n >= eventsAtOnce {
		r.flush()
	}
}

// record returns a LogRecord for the verdict.
func (m *Monitored) record(more []attribute) []byte {
	severity := uint64(severityInfo)
	var a attributeList
	a.text("event.name", evaluationEvent) // for backends that do not know event_name yet
	a.text("gen_ai.evaluation.name", m.Assertion)
	if m.Status == proviso.Errored {
		severity = severityWarn
		a.text("error.type", "undecided")
	} else {
		if m.Score != nil {
			a.number("gen_ai.evaluation.score.value", *m.Score)
		}
		a.text("gen_ai.evaluation.score.label", m.Status.String())
	}
	a.text("gen_ai.evaluation.explanation", excerpt.Bytes(m.Reason, maxExplanation))
	a.text("gen_ai.response.id", m.ResponseID)
	a.text("gen_ai.agent.id", m.Agent)
	a.text("gen_ai.conversation.id", m.Conversation)
	a.text("proviso.agent.version", m.AgentVersion)
	a.text("proviso.watch", m.Watch)
	a.text("proviso.judge", m.Judge)
	a.text("proviso.event.id", m.Event)
	for _, one := range more {
		a.text(one.key, one.text)
	}
	at := uint64(m.At.UnixNano())
	b := appendFixed64(nil, 1, at)
	b = appendFixed64(b, 11, at)
	b = protowire.AppendVarint(protowire.AppendTag(b, 2, protowire.VarintType), severity)
	b = append(b, a.as(6)...)
	if id, err := hex.DecodeString(TraceID(m.TraceID)); err == nil && len(id) == 16 {
		b = appendBytes(b, 9, id)
	}
	return appendText(b, 12, evaluationEvent)
}
