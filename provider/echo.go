package provider

import (
	"context"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// noMetadata is the metadata of echo's answers: an empty object, as in
// promptfoo, rather than none. It is never changed.
var noMetadata = value.NewObject(0)

// echo answers with the prompt.
type echo struct{ id string }

func newEcho(spec proviso.ProviderSpec, _ string, _ Options) (proviso.Provider, error) {
	return echo{spec.ID}, nil
}

func (e echo) ID() string { return e.id }

func (e echo) Answer(_ context.Context, ask proviso.Ask) (proviso.Output, error) {
	free := 0.0
	return proviso.Output{Value: ask.Prompt, Cost: &free, Metadata: noMetadata}, nil
}
