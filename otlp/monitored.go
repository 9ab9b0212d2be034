package otlp

import (
	"encoding/hex"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/excerpt"
)

// Monitored is a verdict on an event of production.
type Monitored struct {
	Assertion    string // id
	Status       proviso.Status
	Score        *float64 // nil if there is none
	Reason       string
	Agent        string
	AgentVersion string
	Watch        string
	Judge        string // identity, "" if none was asked
	Event        string // id
	Conversation string
	TraceID      string // as of [proviso.Output]
	ResponseID   string // the vendor's id of the answer, "" if it is unknown
	At           time.Time
}

// AddMonitored sends a verdict of a watch. What was skipped is not sent.
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

// record is a LogRecord for the verdict.
func (m *Monitored) record(more []attribute) []byte {
	severity := uint64(severityInfo)
	var a attributeList
	a.text("event.name", evaluationEvent) // where event_name is not known yet
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
