package store

import (
	"context"

	"github.com/proviso-eval/proviso/permit"
)

// Rates are how often the processes of a store, together, may ask the endpoints of models.
type Rates interface {
	// ShareRate takes note of what a process tells of its requests to an endpoint, and returns
	// what it may send next: see [permit.Endpoint]. The endpoint is a name without secrets, such
	// as a hash, of which the store keeps only a hash with a key of its own.
	ShareRate(ctx context.Context, endpoint string, a permit.Ask) (permit.Grant, error)
}

// CheckEndpoint returns why a text cannot be the name of an endpoint, or nil.
func CheckEndpoint(name string) error { return checkText("endpoint", name, MaxName) }
