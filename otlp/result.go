package otlp

import (
	"cmp"
	"math"
	"sync"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/proviso-eval/proviso"
)

// LogsPath is the path for log records, including events.
const LogsPath = "/v1/logs"

// evaluationEvent is the event for the result of an evaluation (OpenTelemetry
// semantic conventions for generative AI, "Event: gen_ai.evaluation.result").
const evaluationEvent = "gen_ai.evaluation.result"

const (
	eventsAtOnce   = 256     // in one request
	maxExplanation = 4 << 10 // bytes of a reason
)

// SeverityNumbers.
const severityInfo, severityWarn = 9, 13

// Results sends verdicts as events, many in one request. It is safe for
// concurrent use.
type Results struct {
	exporter *Exporter
	about    Origin

	mu      sync.Mutex
	records []byte // encoded, as fields of a ScopeLogs
	n       int
}

// Origin identifies the run whose results are sent.
type Origin struct {
	Version string // of proviso
	Agent   string // id of the agent, "" if the suite gives none
	Suite   string // name of the suite
}

// NewResults returns a sender of the verdicts of a run to e.
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

// nameOf is the name of an assertion in reports.
func nameOf(a *proviso.Assertion) string { return cmp.Or(a.Metric, a.ID, a.Type) }

// responseID is the vendor's id of the answer, "" if it is unknown.
func responseID(o *proviso.Output) string {
	keys := []string{"responseId", "response_id", "id"}
	return cmp.Or(first(o.Metadata, keys...), first(o.Raw, keys...))
}

func appendFixed64(b []byte, number protowire.Number, v uint64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(b, number, protowire.Fixed64Type), v)
}

// attribute is an attribute that is a text.
type attribute struct{ key, text string }

// attributeList is encoded KeyValues.
type attributeList [][]byte

// text adds an attribute, unless its value is empty.
func (a *attributeList) text(key, value string) {
	if value != "" {
		a.add(key, appendText(nil, 1, value))
	}
}

// number adds an attribute, unless its value is not finite.
func (a *attributeList) number(key string, value float64) {
	if !math.IsNaN(value) && !math.IsInf(value, 0) {
		a.add(key, appendFixed64(nil, 4, math.Float64bits(value)))
	}
}

func (a *attributeList) add(key string, value []byte) {
	*a = append(*a, appendBytes(appendText(nil, 1, key), 2, value))
}

// as returns the attributes as fields with a field number.
func (a attributeList) as(number protowire.Number) []byte {
	var b []byte
	for _, pair := range a {
		b = appendBytes(b, number, pair)
	}
	return b
}
