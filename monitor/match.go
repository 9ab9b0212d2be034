package monitor

import (
	"context"
	"time"

	"github.com/proviso-eval/proviso/ingest"
	"github.com/proviso-eval/proviso/internal/expr"
)

// Matcher selects the events of a watch. It is safe for concurrent use.
type Matcher struct {
	agent string
	where *expr.Condition // nil matches all events of the agent
}

// Compile compiles the condition of a watch.
func (w *Watch) Compile() (*Matcher, error) {
	m := &Matcher{agent: w.Match.Agent}
	if w.Match.Where == "" {
		return m, nil
	}
	var err error
	m.where, err = expr.CompileWhere(w.Match.Where)
	return m, err
}

// Match reports whether the watch covers an event. It returns an error if the condition
// cannot be evaluated, such as when the event lacks a member of segment.
func (m *Matcher) Match(e *ingest.Event) (bool, error) {
	if e.Agent != m.agent || m.where == nil {
		return e.Agent == m.agent, nil
	}
	segment := make(map[string]any, len(e.Segment))
	for k, v := range e.Segment {
		segment[k] = v
	}
	metadata := any(map[string]any{})
	if e.Metadata != nil {
		metadata = e.Metadata
	}
	u := e.Usage
	return m.where.HoldsOf(context.Background(), map[string]any{
		"id": e.ID, "agent": e.Agent, "time": e.Time.UTC().Format(time.RFC3339), "conversation": e.Conversation, "input": e.Input, "output": e.Output,
		"context": e.Context, "version": e.Version, "prompt": e.Prompt, "model": e.Model, "segment": segment, "user": e.User, "metadata": metadata,
		"usage": map[string]any{"prompt": float64(u.Prompt), "completion": float64(u.Completion), "cached": float64(u.Cached), "total": float64(u.Total)},
		"cost":  e.Cost, "latency_ms": float64(e.Latency) / float64(time.Millisecond), "error": e.Error,
	})
}
