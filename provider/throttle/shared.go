package throttle

import (
	"context"

	"github.com/proviso-eval/proviso/permit"
)

// SharedRates limits how often several processes, together, send requests to an endpoint. It is
// safe for concurrent use.
type SharedRates interface {
	// Share reports this process's requests to an endpoint, and returns what it may send next. The
	// endpoint name is a hash.
	Share(ctx context.Context, endpoint string, a permit.Ask) (permit.Grant, error)
	// Alone reports that Share fails, or, with a nil error, that it succeeds again. In between, the
	// process sends requests at the rate of its last share, in requests per second; 0 means no
	// limit.
	Alone(err error, share float64)
}
