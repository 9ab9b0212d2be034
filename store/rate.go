package store

import (
	"context"
	"time"
)

// Rates are how often the processes of a store, together, may ask the endpoints of models. A
// rate is learnt: it is not limited until an endpoint refuses a request because of its rate.
// Then it is lowered, at most once for the requests that were under way together, and grows
// slowly again (additive increase, multiplicative decrease; Chiu and Jain, 1989).
type Rates interface {
	// TakePermits gives a process permits for its next requests to an endpoint.
	TakePermits(ctx context.Context, r PermitRequest) (Permits, error)
	// LowerRate records that an endpoint refused a request because of its rate.
	LowerRate(ctx context.Context, r RateRefusal) error
}

// RateRefusal is a request that an endpoint refused because of its rate.
type RateRefusal struct {
	Endpoint string
	Sent     int           // as in [PermitRequest]
	Ago      time.Duration // since the request was sent
	Wait     time.Duration // for which the endpoint wants no request, 0 if it did not say
}

// PermitRequest asks for permits.
type PermitRequest struct {
	Endpoint  string  // a name for it without secrets, such as a hash
	Sent      int     // requests that this process sent since it asked before
	PerMinute float64 // requests that the suite or the operator allows, 0 if any number
}

// Permits are what a process may send: without a limit any number of requests, or else N of
// them, one after every Every. The first may be sent after Wait, which is negative if that time has passed. After For it must ask again.
type Permits struct {
	Limited          bool
	N                int
	Wait, Every, For time.Duration
}

// CheckEndpoint returns why a text cannot be the name of an endpoint, or nil.
func CheckEndpoint(name string) error { return checkText("endpoint", name, MaxName) }
