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
	"github.com/proviso-eval/proviso/value"
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
	now := uint64(time.Now().UnixNano())
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, list := range [][]proviso.Verdict{res.Verdicts, res.SetVerdict} {
		for i := range list {
			if v := &list[i]; v.Status != proviso.Skip && v.Assertion != nil {
				r.records = appendBytes(r.records, 2, r.record(res, v, now))
				r.n++
			}
		}
		if r.n >= eventsAtOnce {
			r.flush()
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

// record is a LogRecord for the verdict of one assertion.
func (r *Results) record(res *proviso.Result, v *proviso.Verdict, now uint64) []byte {
	severity := uint64(severityInfo)
	var a attributeList
	a.text("event.name", evaluationEvent) // where event_name is not known yet
	a.text("gen_ai.evaluation.name", nameOf(v.Assertion))
	if v.Status == proviso.Errored {
		severity = severityWarn
		a.text("error.type", "undecided")
	} else {
		if !v.Unscored {
			a.number("gen_ai.evaluation.score.value", v.Score)
		}
		a.text("gen_ai.evaluation.score.label", v.Status.String())
	}
	a.text("gen_ai.evaluation.explanation", excerpt.Bytes(v.Reason, maxExplanation))
	a.text("gen_ai.response.id", responseID(&res.Output))
	a.text("gen_ai.agent.id", r.about.Agent)
	a.text("proviso.assertion.type", v.Assertion.Type)
	a.text("proviso.suite", r.about.Suite)
	if res.Case != nil {
		a.text("proviso.case.id", res.Case.ID)
	}
	if res.Provider != nil {
		a.text("proviso.provider", proviso.RedactedURL(res.Provider.Name()))
	}
	b := appendFixed64(nil, 1, now)
	b = appendFixed64(b, 11, now)
	b = protowire.AppendVarint(protowire.AppendTag(b, 2, protowire.VarintType), severity)
	b = append(b, a.as(6)...)
	if id, err := hex.DecodeString(TraceID(res.Output.TraceID)); err == nil && len(id) == 16 {
		b = appendBytes(b, 9, id)
	}
	return appendText(b, 12, evaluationEvent)
}

// nameOf is the name of an assertion in reports.
func nameOf(a *proviso.Assertion) string { return cmp.Or(a.Metric, a.ID, a.Type) }

// responseID is the vendor's id of the answer, "" if it is unknown.
func responseID(o *proviso.Output) string {
	for _, from := range []*value.Object{o.Metadata, o.Raw} {
		for _, key := range []string{"responseId", "response_id", "id"} {
			if id, ok := from.At(key).(string); ok && id != "" {
				return id
			}
		}
	}
	return ""
}

func appendFixed64(b []byte, number protowire.Number, v uint64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(b, number, protowire.Fixed64Type), v)
}

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
