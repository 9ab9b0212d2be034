package run

import (
	"context"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/value"
)

// Tracer is a proviso.Spans that starts a trace for each row before the request to its
// provider. If Options.Spans is one, providers get a traceparent.
type Tracer interface {
	proviso.Spans
	// Begin starts a trace; ok is false if there is no receiver for its spans.
	Begin() (id string, tc proviso.TraceContext, ok bool)
	// End drops a trace after its row is decided.
	End(id string)
}

// RowTracer is a [Tracer] that also gets the row of each trace, for example to record
// traces.
type RowTracer interface {
	Tracer
	// BeginRow is Begin for the next request to a provider. needed is true if an assertion uses
	// the spans.
	BeginRow(provider string, about *value.Object, sample proviso.Sample, needed bool) (id string, tc proviso.TraceContext, ok bool)
}

// LooksAtTraces reports whether an assertion of the plan needs the spans of a trace.
func (p *Plan) LooksAtTraces() bool { return p.traced }

// needsTrace reports whether an assertion on a row needs the spans of its trace.
func needsTrace(pc *prepared, prompt *proviso.Prompt) bool {
	return (pc.set.Needs()|pc.byPrompt[prompt].Needs()|pc.criteria.Needs())&check.NeedsTrace != 0
}

// noteTraces records whether rows of a case need the spans of their traces.
func (p *Plan) noteTraces(pc *prepared) {
	for i := range p.Suite.Prompts {
		p.traced = p.traced || needsTrace(pc, &p.Suite.Prompts[i])
	}
}

// follow starts the trace of a row. Requests with the returned context send the traceparent as
// a header. If there is no trace, id is "".
func (p *Plan) follow(ctx context.Context, pc *prepared, prompt *proviso.Prompt, target proviso.Provider, ask *proviso.Ask) (traced context.Context, id string, tc *proviso.TraceContext) {
	t, ok := p.o.Spans.(Tracer)
	if !ok {
		return ctx, "", nil
	}
	needed := needsTrace(pc, prompt) && namedTrace(pc.Metadata) == ""
	var made proviso.TraceContext
	if r, knows := t.(RowTracer); knows {
		about := value.ObjectOf("prompt", ask.Prompt, "label", ask.Label, "config", ask.Config, "vars", ask.Vars)
		id, made, ok = r.BeginRow(target.ID(), about, ask.Sample, needed)
	} else {
		id, made, ok = t.Begin()
	}
	if !ok {
		return ctx, "", nil
	}
	made.Needed = needed
	return transport.WithTraceparent(ctx, made.Parent), id, &made
}

// forget ends the trace of a row.
func (p *Plan) forget(id string) {
	if t, ok := p.o.Spans.(Tracer); ok && id != "" {
		t.End(id)
	}
}

// traceOf returns the trace id of an output: the one in the output's metadata, or in the
// case's, or the one started for the row.
func traceOf(out *proviso.Output, c *proviso.Case, made string) string {
	for _, id := range []string{out.TraceID, namedTrace(out.Metadata), namedTrace(c.Metadata)} {
		if id != "" {
			return id
		}
	}
	return made
}

// namedTrace returns the trace id in metadata, "" if there is none.
func namedTrace(metadata *value.Object) string {
	id, _ := metadata.At("traceId").(string)
	return strings.TrimSpace(id)
}
