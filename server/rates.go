package server

import (
	"context"
	"time"

	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/store"
)

// SharedRates keeps what is known of the rates of endpoints in a store, for all processes
// that use it.
func SharedRates(r store.Rates) provider.SharedRates { return sharedRates{r} }

type sharedRates struct{ store.Rates }

func (s sharedRates) Permits(ctx context.Context, endpoint string, sent int, perMinute float64) (provider.Permits, error) {
	p, err := s.TakePermits(ctx, store.PermitRequest{Endpoint: endpoint, Sent: sent, PerMinute: perMinute})
	return provider.Permits(p), err
}

func (s sharedRates) Refused(ctx context.Context, endpoint string, sent int, ago, wait time.Duration) error {
	return s.LowerRate(ctx, store.RateRefusal{Endpoint: endpoint, Sent: sent, Ago: ago, Wait: wait})
}
