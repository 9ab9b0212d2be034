package provider

import (
	"context"

	"github.com/proviso-eval/proviso/permit"
)

// SharedRates limits how often several processes, together, ask an endpoint. It is safe for
// concurrent use.
type SharedRates interface {
	// Share tells what this process asked of an endpoint, and returns what it may ask next.
	// The name of the endpoint is a hash.
	Share(ctx context.Context, endpoint string, a permit.Ask) (permit.Grant, error)
	// Alone tells that Share fails, or with a nil error that it succeeds again. Until then the
	// process asks the endpoint as often as its last share allows, in requests a second; 0 if
	// there was no limit.
	Alone(err error, share float64)
}
